// context show, context migrate: shows the frozen context of a conversation and the contexts that
// refreshes replaced; freezes the context of old files.

#include <optional>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "chat/context/frozen.h"
#include "chat/store/repair.h"
#include "chat/store/store.h"
#include "cli/commands.h"
#include "cli/conversations/context_commands.h"
#include "cli/conversations/conversations_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/value_kinds.h"
#include "store/content.h"
#include "tokens/counter/counter.h"

namespace dossier::cli {
namespace {

struct ShowArguments {
  std::string id, block;  // name, or number from 1
  bool full = false, json = false;
  bool history = false;            // what refreshes replaced
  std::optional<std::int64_t> at;  // the N-th of these, from 1
};

struct MigrateArguments {
  std::vector<std::string> ids;
  bool all = false, dry_run = false, drop_changed = false, json = false;
};

using chat::NamedBlock;
using chat::ReplacedContext;
using chat::Stored;

// Returns the frozen bytes; for an old file, the blocks in its system message.
std::string FrozenText(const Stored& stored) {
  const chat::StoredMessage* system = stored.System();
  if (!system) return {};
  const std::string text = system->Text();
  if (stored.context) {
    return text.substr(static_cast<std::size_t>(stored.context->offset),
                       static_cast<std::size_t>(stored.context->length));
  }
  std::vector<std::string> texts;
  for (const NamedBlock& block : chat::BlocksOf(text)) texts.push_back(block.text);
  return chat::JoinBlocks(texts);
}

// Finds a block by name, or by number from 1.
Result<NamedBlock> ChooseBlock(const std::vector<NamedBlock>& blocks, const std::string& wanted,
                               std::string_view id) {
  const auto number = ExactNumber<std::size_t>(wanted);
  std::string names;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].name == wanted || number == i + 1) return blocks[i];
    names += (names.empty() ? "" : ", ") + blocks[i].name;
  }
  return MakeError(ErrorCode::kNotFound, "conversation {} has no context block '{}'; it has: {}",
                   id, wanted, names.empty() ? "none" : names);
}

// Returns the whole output of a block, if its command kept it.
Result<std::string> FullOutput(const Stored& stored, const NamedBlock& block,
                               const std::string& content_folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  for (const auto& command : stored.context->commands) {
    if (command.name == block.name && content->Has(command.sha256)) {
      return content->Get(command.sha256);
    }
  }
  return MakeError(ErrorCode::kNotFound,
                   "the whole output of '{}' was not kept; keep_full: true keeps it", block.name);
}

// One call of the command.
class Showing {
 public:
  Showing(const ShowArguments& arguments, const Stored& stored, std::string content_folder,
          std::ostream& out)
      : arguments_(arguments),
        stored_(stored),
        content_folder_(std::move(content_folder)),
        replaced_(chat::ReplacedContexts(stored)),
        out_(out) {}

  Status Run() {
    DOSSIER_RETURN_IF_ERROR(CheckFlags());
    if (arguments_.history) return History();
    DOSSIER_ASSIGN_OR_RETURN(std::string text, Text());
    if (!arguments_.block.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const NamedBlock block,
                               ChooseBlock(chat::BlocksOf(text), arguments_.block, stored_.id));
      text = block.text;
      if (arguments_.full && stored_.context) {
        DOSSIER_ASSIGN_OR_RETURN(text, FullOutput(stored_, block, content_folder_));
      }
    }
    Print(text);
    return {};
  }

 private:
  Status CheckFlags() const {
    if (arguments_.full && arguments_.block.empty()) {
      return MakeError(ErrorCode::kUsage, "--full shows the output of one block: add --block");
    }
    if (arguments_.full && arguments_.at) {
      return MakeError(ErrorCode::kUsage,
                       "--full and --at exclude each other: of a replaced context only what was "
                       "sent is kept");
    }
    if (arguments_.history && (arguments_.at || !arguments_.block.empty())) {
      return MakeError(ErrorCode::kUsage,
                       "--history lists all replaced contexts; --at N shows one of them");
    }
    return {};
  }

  // Returns the context that --at selects; nullptr without --at.
  Result<const ReplacedContext*> Chosen() const {
    if (!arguments_.at) return nullptr;
    const auto number = static_cast<std::size_t>(*arguments_.at);
    if (number <= replaced_.size()) return &replaced_[number - 1];
    return MakeError(ErrorCode::kNotFound,
                     "--at {}: refreshes replaced {} context{} of conversation {}; `dossier "
                     "context show {} --history` lists them",
                     number, replaced_.size(), replaced_.size() == 1 ? "" : "s", stored_.id,
                     stored_.id);
  }

  Result<std::string> Text() const {
    DOSSIER_ASSIGN_OR_RETURN(const ReplacedContext* const chosen, Chosen());
    if (!chosen) return FrozenText(stored_);
    return chat::ReadReplacedContext(content_folder_, *chosen);
  }

  Status History() const {
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder_));
    JsonArray list;
    for (std::size_t i = 0; i < replaced_.size(); ++i) {
      const ReplacedContext& one = replaced_[i];
      const bool kept = content->Has(one.sha256);
      if (arguments_.json) {
        JsonObject json = EntryJson(i + 1);
        json["kept"] = kept;
        list.push_back(std::move(json));
        continue;
      }
      out_ << fmt::format("{:>3}  {}  {:>10} bytes  {}{}\n", i + 1, Safe(one.replaced_at),
                          GroupDigits(one.bytes), Safe(one.sha256.substr(0, 12)),
                          kept ? "" : "  not kept");
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.context-history/1"},
                                {"id", stored_.id},
                                {"history", std::move(list)}})
           << "\n";
    }
    return {};
  }

  JsonObject EntryJson(std::size_t number) const {
    const ReplacedContext& one = replaced_[number - 1];
    return {{"n", number},
            {"sha256", one.sha256},
            {"replaced_at", one.replaced_at},
            {"bytes", one.bytes}};
  }

  void Print(const std::string& text) const {
    if (!arguments_.json) {
      out_ << text;
      if (!text.empty() && text.back() != '\n') out_ << "\n";
      return;
    }
    JsonObject json{{"schema", "dossier.context/1"}, {"id", stored_.id}};
    if (arguments_.at) {
      json["replaced"] = EntryJson(static_cast<std::size_t>(*arguments_.at));
    } else {
      json["context"] = stored_.context ? chat::ToJson(*stored_.context) : Json();
    }
    json["text"] = text;
    out_ << ToJson(json) << "\n";
  }

  const ShowArguments& arguments_;
  const Stored& stored_;
  const std::string content_folder_;
  const std::vector<ReplacedContext> replaced_;
  std::ostream& out_;
};

using chat::ConversationStore;

class Migrating {
 public:
  Migrating(const MigrateArguments& arguments, const ConversationStore& store, Context& context)
      : arguments_(arguments), store_(store), cancel_(context.cancel), out_(context.out) {}

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
    DOSSIER_ASSIGN_OR_RETURN(chat::Loaded loaded, store_.Load(id));
    DOSSIER_ASSIGN_OR_RETURN(chat::Migration done, Change(&loaded.document));
    if (!done.lines.empty() && !arguments_.dry_run) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string backup, store_.BackUp(id, cancel_));
      DOSSIER_RETURN_IF_ERROR(store_.Update(
          id,
          [&](chat::Document* document) -> Status {
            DOSSIER_ASSIGN_OR_RETURN(done, Change(document));
            return {};
          },
          cancel_));
      done.lines.push_back("backup: " + backup);
    }
    Say(id, done);
    return {};
  }

  Result<chat::Migration> Change(chat::Document* document) const {
    using Changed = chat::MigrateOptions::Changed;
    return chat::Migrate(
        {.changed = arguments_.drop_changed ? Changed::kDrop : Changed::kKeep}, store_.Now(),
        *tokens::MakeStandIn("estimate", {.bytes_per_token = 3.3, .margin = 0.15}), document);
  }

  void Say(const std::string& id, const chat::Migration& done) {
    if (arguments_.json) {
      list_.push_back(
          JsonObject{{"id", id}, {"lines", JsonArray(done.lines.begin(), done.lines.end())}});
      return;
    }
    for (const std::string& line : done.lines) out_ << id << ": " << Safe(line) << "\n";
    if (done.lines.empty()) out_ << id << ": nothing to move\n";
  }

  const MigrateArguments& arguments_;
  const ConversationStore& store_;
  const CancelToken& cancel_;
  std::ostream& out_;
  JsonArray list_;
};

Status RunShow(const ShowArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  const ConversationStore store(config.conversations.path);
  DOSSIER_ASSIGN_OR_RETURN(const std::string id, store.Resolve(given.id));
  DOSSIER_ASSIGN_OR_RETURN(const chat::Loaded loaded, store.Load(id));
  for (const std::string& warning : loaded.stored.warnings) PrintWarning(context.err, warning);
  return Showing(given, loaded.stored, config.user.data + "/content", context.out).Run();
}

Status RunMigrate(const MigrateArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  const ConversationStore store(config.conversations.path);
  return Migrating(given, store, context).Run();
}

void DeclareContextShow(Flags& flags, ShowArguments& to) {
  constexpr static ValueKind kNumber{"N"};
  flags.Add("id", &to.id, "id, or 4 and more of its first characters")
      .Kind(kConversation)
      .Required();
  flags.Add("--block", &to.block, "only this one: its name, or its number from 1");
  flags.Add("--full", &to.full, "with --block: its whole output, if it was kept");
  flags.Add("--history", &to.history, "the contexts that refreshes replaced, from 1");
  flags.Add("--at", &to.at, "the N-th replaced context instead of the present one")
      .Kind(kNumber)
      .Positive();
  flags.Add("--json", &to.json, "one object");
}

void DeclareMigrate(Flags& flags, MigrateArguments& to) {
  flags.Add("id", &to.ids, "ids").Kind(kConversation);
  flags.Add("--all", &to.all, "every conversation of the folder");
  flags.Add("--dry-run", &to.dry_run, "only say what would move");
  flags.Add("--drop-changed", &to.drop_changed,
            "remove later copies, too, that differ from the first");
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command ContextCommand() {
  return {
      .name = "context",
      .summary = "the context of conversations: what its commands gave when it began",
      .commands = {
          {.name = "show",
           .summary = "the context as it is sent",
           .binding = Bind(DeclareContextShow, RunShow)},
          {.name = "migrate",
           .summary = "turn the context in the messages of old files into one that is kept once",
           .binding = Bind(DeclareMigrate, RunMigrate)},
          ContextRunCommand(),
          ContextRefreshCommand(),
          ContextDriftCommand()}};
}

}  // namespace dossier::cli
