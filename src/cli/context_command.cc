#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "cli/context_failure.h"
#include "cli/conversations_command.h"
#include "cli/conversations_view.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "conversation/frozen.h"
#include "conversation/migrate.h"
#include "conversation/store.h"
#include "store/content.h"
#include "tokens/counter.h"

namespace dossier::cli {
namespace {

using conversation::NamedBlock;
using conversation::Store;
using conversation::Stored;

// The frozen bytes; of an old file, the blocks in its system message.
std::string FrozenText(const Stored& stored) {
  const conversation::Message* system = stored.System();
  if (!system) return {};
  const std::string text = system->Text();
  if (stored.context) {
    return text.substr(static_cast<std::size_t>(stored.context->offset),
                       static_cast<std::size_t>(stored.context->length));
  }
  std::vector<std::string> texts;
  for (const NamedBlock& block : conversation::BlocksOf(text)) texts.push_back(block.text);
  return conversation::JoinBlocks(texts);
}

// By name, or by number from 1.
Result<NamedBlock> ChooseBlock(const std::vector<NamedBlock>& blocks, const std::string& wanted,
                               std::string_view id) {
  std::size_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const bool is_number = std::from_chars(wanted.data(), end, number).ptr == end;
  std::string names;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].name == wanted || (is_number && number == i + 1)) return blocks[i];
    names += (names.empty() ? "" : ", ") + blocks[i].name;
  }
  return MakeError(ErrorCode::kNotFound, "conversation {} has no context block '{}'; it has: {}",
                   id, wanted, names.empty() ? "none" : names);
}

// The whole output of a block, if its command kept it.
Result<std::string> FullOutput(const Stored& stored, const NamedBlock& block,
                               const std::string& data) {
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(data + "/content"));
  for (const auto& command : stored.context->commands) {
    if (command.name == block.name && content->Has(command.sha256)) {
      return content->Get(command.sha256);
    }
  }
  return MakeError(ErrorCode::kNotFound,
                   "the whole output of '{}' was not kept; keep_full: true keeps it", block.name);
}

Status Show(const ContextArguments& arguments, const config::Config& config, const Store& store,
            std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string id, store.Resolve(arguments.ids.front()));
  DOSSIER_ASSIGN_OR_RETURN(const conversation::Loaded loaded, store.Load(id));
  const Stored& stored = loaded.stored;
  for (const std::string& warning : stored.warnings) PrintWarning(err, warning);
  if (arguments.full && arguments.block.empty()) {
    return MakeError(ErrorCode::kUsage, "--full shows the output of one block: add --block");
  }
  std::string text = FrozenText(stored);
  if (!arguments.block.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const NamedBlock block,
                             ChooseBlock(conversation::BlocksOf(text), arguments.block, id));
    text = block.text;
    if (arguments.full && stored.context) {
      DOSSIER_ASSIGN_OR_RETURN(text, FullOutput(stored, block, config.user.data));
    }
  }
  if (arguments.json) {
    out << ToJson(JsonObject{
               {"schema", "dossier.context/1"},
               {"id", id},
               {"context", stored.context ? conversation::ToJson(*stored.context) : Json()},
               {"text", text}})
        << "\n";
    return {};
  }
  out << text;
  if (!text.empty() && text.back() != '\n') out << "\n";
  return {};
}

class Migrating {
 public:
  Migrating(const ContextArguments& arguments, const Store& store, const CancelToken& cancel,
            std::ostream& out)
      : arguments_(arguments), store_(store), cancel_(cancel), out_(out) {}

  Status Run() {
    if (arguments_.all == !arguments_.ids.empty()) {
      return MakeError(ErrorCode::kUsage, "give ids, or --all for every conversation");
    }
    std::vector<std::string> ids = arguments_.ids;
    if (arguments_.all) {
      DOSSIER_ASSIGN_OR_RETURN(ids, store_.Ids());
    }
    for (const std::string& name : ids) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(name));
      DOSSIER_RETURN_IF_ERROR(MigrateOne(id));
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.migrate/1"}, {"conversations", list_}}) << "\n";
    }
    return {};
  }

 private:
  Status MigrateOne(const std::string& id) {
    DOSSIER_ASSIGN_OR_RETURN(conversation::Loaded loaded, store_.Load(id));
    DOSSIER_ASSIGN_OR_RETURN(conversation::Migration done, Change(&loaded.document));
    if (!done.lines.empty() && !arguments_.dry_run) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string backup, store_.BackUp(id, cancel_));
      DOSSIER_RETURN_IF_ERROR(store_.Update(
          id,
          [&](conversation::Document* document) -> Status {
            DOSSIER_ASSIGN_OR_RETURN(done, Change(document));
            return {};
          },
          cancel_));
      done.lines.push_back("backup: " + backup);
    }
    Say(id, done);
    return {};
  }

  Result<conversation::Migration> Change(conversation::Document* document) const {
    using Changed = conversation::MigrateOptions::Changed;
    return conversation::Migrate(
        {.changed = arguments_.drop_changed ? Changed::kDrop : Changed::kKeep}, store_.Now(),
        *tokens::MakeStandIn("estimate", {.bytes_per_token = 3.3, .margin = 0.15}), document);
  }

  void Say(const std::string& id, const conversation::Migration& done) {
    if (arguments_.json) {
      list_.push_back(
          JsonObject{{"id", id}, {"lines", JsonArray(done.lines.begin(), done.lines.end())}});
      return;
    }
    for (const std::string& line : done.lines) out_ << id << ": " << Shown(line) << "\n";
    if (done.lines.empty()) out_ << id << ": nothing to move\n";
  }

  const ContextArguments& arguments_;
  const Store& store_;
  const CancelToken& cancel_;
  std::ostream& out_;
  JsonArray list_;
};

}  // namespace

void AddContextCommand(CLI::App& group, ContextArguments* arguments) {
  group.require_subcommand(1);
  CLI::App& show = *group.add_subcommand("show", "the context as it is sent");
  show.add_option("id", arguments->ids, "id, or 4 and more of its first characters")
      ->required()
      ->expected(1);
  show.add_option("--block", arguments->block, "only this one: its name, or its number from 1");
  show.add_flag("--full", arguments->full, "the uncut output of --block, if it was kept");
  CLI::App& migrate =
      *group.add_subcommand("migrate", "old files: the context of the messages becomes frozen");
  migrate.add_option("id", arguments->ids, "ids");
  migrate.add_flag("--all", arguments->all, "every conversation of the folder");
  migrate.add_flag("--dry-run", arguments->dry_run, "only say what would move");
  migrate.add_flag("--drop-changed", arguments->drop_changed,
                   "remove later copies, too, that differ from the first");
  for (CLI::App* action : {&show, &migrate}) {
    action->add_flag("--json", arguments->json, "one object");
    action->callback([arguments, action] { arguments->action = action->get_name(); });
  }
}

int RunContextCommand(const ContextArguments& arguments, const GlobalFlags& global,
                      const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  const auto run = [&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(global, {}, err));
    const Store store(config.conversations.path);
    if (arguments.action == "show") return Show(arguments, config, store, out, err);
    return Migrating(arguments, store, cancel, out).Run();
  };
  const Status done = run();
  if (!done) {
    return FailContext(done.error(), "dossier.context-" + arguments.action + "/1",
                       arguments.json ? ContextForm::kJson : ContextForm::kText, out, err);
  }
  out << std::flush;
  return out.good() ? 0 : kExitClosedStdout;
}

}  // namespace dossier::cli
