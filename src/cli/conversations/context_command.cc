#include "chat/store/migrate.h"
#include "chat/store/store.h"
#include "cli/conversations/context_show.h"
#include "cli/conversations/conversations_command.h"
#include "cli/conversations/conversations_view.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"
#include "tokens/counter/counter.h"

namespace dossier::cli {
namespace {

using chat::Store;

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
  show.add_flag("--history", arguments->history, "the contexts that refreshes replaced, from 1");
  show.add_option("--at", arguments->at, "the N-th replaced context instead of the present one")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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
    if (arguments.action == "show") return ShowContext(arguments, config, out, err);
    return Migrating(arguments, store, cancel, out).Run();
  };
  const Status done = run();
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  out << std::flush;
  return out.good() ? 0 : kExitClosedStdout;
}

}  // namespace dossier::cli
