#include "cli/conversations/conversations_command.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/files/file.h"
#include "base/text/text.h"
#include "chat/context/plan.h"
#include "chat/document/document.h"
#include "chat/store/index.h"
#include "chat/store/store.h"
#include "chat/turn/compact_now.h"
#include "chat/turn/forget.h"
#include "cli/conversations/conversations_export.h"
#include "cli/conversations/conversations_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"
#include "cli/wiring/asset_folders.h"
#include "cli/wiring/open_chat_model.h"
#include "cli/wiring/quantity_flags.h"
#include "store/journal.h"

namespace dossier::cli {
namespace {

using chat::Index;
using chat::Loaded;
using chat::Store;
using chat::Stored;

// The least time of `--since`: a day, a longer beginning of a time as files write it, or so long
// ago.
Result<std::string> SinceTime(const std::string& since) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00.000000Z";
  constexpr std::size_t kDay = 10;  // bytes of it
  const bool is_time =
      since.size() >= kDay && since.size() <= kShape.size() &&
      std::equal(since.begin(), since.end(), kShape.begin(), [](char given, char wanted) {
        return wanted == '0' ? given >= '0' && given <= '9' : given == wanted;
      });
  if (since.empty() || is_time) return since;
  const auto age = ParseDuration(since);
  if (age) return chat::FormatMicros(SystemClock()->WallNow() - *age);
  return MakeError(ErrorCode::kUsage,
                   "--since {}: write a day, such as 2026-11-21, or a time back, such as 30d",
                   since);
}

// One call of the command.
class Conversations {
 public:
  Conversations(const ConversationsArguments& arguments, const GlobalFlags& global,
                config::Config config, const CancelToken& cancel, std::ostream& out,
                std::ostream& err)
      : arguments_(arguments),
        global_(global),
        config_(std::move(config)),
        cancel_(cancel),
        store_(config_.conversations.path),
        out_(out),
        err_(err) {}

  Status Run() {
    if (arguments_.action == "list") return List();
    if (arguments_.action == "show") return Show();
    if (arguments_.action == "search") return Search();
    if (arguments_.action == "fork") return Fork();
    if (arguments_.action == "export") return Export();
    if (arguments_.action == "delete") return Delete();
    return Compact();
  }

 private:
  Result<Loaded> Load(const std::string& name) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(name));
    DOSSIER_ASSIGN_OR_RETURN(Loaded loaded, store_.Load(id));
    for (const std::string& warning : loaded.stored.warnings) PrintWarning(err_, warning);
    return loaded;
  }

  Result<Index> OpenIndex() { return Index::Open(store_.folder(), config_.user.cache); }

  Status List() {
    DOSSIER_ASSIGN_OR_RETURN(Index index, OpenIndex());
    DOSSIER_ASSIGN_OR_RETURN(const std::string since, SinceTime(arguments_.since));
    DOSSIER_ASSIGN_OR_RETURN(auto list, index.List({.limit = arguments_.limit, .since = since}));
    for (const auto& one : list) {
      if (!one.problem.empty()) PrintWarning(err_, one.problem);
    }
    std::erase_if(list, [](const auto& one) { return !one.problem.empty(); });
    if (arguments_.json) {
      out_ << ToJson(ListJson(list)) << "\n";
    } else {
      PrintList(list, out_);
    }
    return {};
  }

  Status Show() {
    DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments_.ids.front()));
    const Stored& stored = loaded.stored;
    if (arguments_.turn && arguments_.as_sent) {
      return MakeError(ErrorCode::kUsage,
                       "--turn and --as-sent exclude each other: a request holds all turns");
    }
    if (arguments_.turn && chat::TurnBegin(stored, *arguments_.turn) == stored.messages.size()) {
      return MakeError(ErrorCode::kNotFound, "conversation {} has no turn {}; it has {}", stored.id,
                       *arguments_.turn, chat::TurnCount(stored));
    }
    const auto messages =
        arguments_.as_sent ? MessagesAsSent(stored) : MessagesOf(stored, arguments_.turn);
    if (arguments_.json) {
      out_ << ToJson(ShowJson(stored, messages)) << "\n";
    } else if (arguments_.context) {
      out_ << (stored.context ? ToPrettyJson(chat::ToJson(*stored.context)) : "null") << "\n";
    } else if (arguments_.usage) {
      PrintUsage(stored, out_);
    } else if (arguments_.compaction) {
      PrintCompactions(stored, out_);
    } else {
      if (!arguments_.turn) PrintHeader(stored, out_);
      PrintMessages(messages, out_);
    }
    return {};
  }

  Status Search() {
    DOSSIER_ASSIGN_OR_RETURN(Index index, OpenIndex());
    using Syntax = chat::SearchQuery::Syntax;
    DOSSIER_ASSIGN_OR_RETURN(const auto hits,
                             index.Search({.query = arguments_.query,
                                           .role = arguments_.role,
                                           .syntax = arguments_.fts ? Syntax::kFts : Syntax::kWords,
                                           .limit = arguments_.limit > 0 ? arguments_.limit : 50}));
    JsonArray list;
    for (const chat::Hit& hit : hits) {
      if (arguments_.json) {
        list.push_back(JsonObject{
            {"id", hit.id}, {"turn", hit.turn}, {"role", hit.role}, {"snippet", hit.snippet}});
        continue;
      }
      const std::string snippet = ReplaceAll(hit.snippet, "\n", " ");
      out_ << fmt::format("{}:{} {} {}\n", hit.id, hit.turn, Shown(hit.role), Shown(snippet));
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-search/1"},
                                {"hits", std::move(list)}})
           << "\n";
    }
    return {};
  }

  Status Fork() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(arguments_.ids.front()));
    DOSSIER_ASSIGN_OR_RETURN(const std::string made,
                             store_.Fork(id, arguments_.turn, arguments_.as, cancel_));
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-fork/1"}, {"id", made}}) << "\n";
    } else {
      out_ << made << "\n";
    }
    return {};
  }

  Status Export() {
    DOSSIER_ASSIGN_OR_RETURN(const ExportFormat format,
                             ExportFormatOf(arguments_.format, arguments_.json));
    Exporter exporter(format, arguments_.as_sent ? ExportView::kAsSent : ExportView::kStored);
    for (const std::string& name : arguments_.ids) {
      DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(name));
      exporter.Add(loaded);
    }
    const std::string text = exporter.Text();
    if (!arguments_.out_file.empty()) return WriteFileAtomic(arguments_.out_file, text, 0600);
    out_ << text;
    return {};
  }

  // The ids that --older-than names.
  Result<std::vector<std::string>> OldIds() {
    DOSSIER_ASSIGN_OR_RETURN(const Millis age,
                             ReadTimeFlag("--older-than", arguments_.older_than, Zero::kTaken));
    const std::string before = chat::FormatMicros(SystemClock()->WallNow() - age);
    DOSSIER_ASSIGN_OR_RETURN(Index index, OpenIndex());
    DOSSIER_ASSIGN_OR_RETURN(const auto list, index.List({}));
    std::vector<std::string> ids;
    for (const auto& one : list) {
      if (one.problem.empty() && !one.updated_at.empty() && one.updated_at < before) {
        ids.push_back(one.id);
      }
    }
    return ids;
  }

  Result<std::vector<std::string>> IdsToDelete() {
    if (!arguments_.older_than.empty()) {
      if (!arguments_.ids.empty()) {
        return MakeError(ErrorCode::kUsage, "give ids or --older-than, not both");
      }
      return OldIds();
    }
    if (arguments_.ids.empty()) {
      return MakeError(ErrorCode::kUsage, "nothing to delete: give an id or --older-than 30d");
    }
    std::vector<std::string> ids;
    for (const std::string& name : arguments_.ids) {
      DOSSIER_ASSIGN_OR_RETURN(std::string id, store_.Resolve(name));
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
    return ids;
  }

  Status Delete() {
    DOSSIER_ASSIGN_OR_RETURN(const auto ids, IdsToDelete());
    if (ids.empty()) {
      if (arguments_.json) PrintDeleted(ids);
      return {};
    }
    const std::string question = fmt::format("delete {}?", Join(ids, ", "));
    DOSSIER_ASSIGN_OR_RETURN(const bool agreed, Confirm(global_, question, "-y", err_));
    if (!agreed) return {};
    DOSSIER_RETURN_IF_ERROR(Forget(ids));
    for (const std::string& id : ids) {
      DOSSIER_RETURN_IF_ERROR(store_.Delete(id, cancel_));
      if (!arguments_.json) out_ << "deleted " << id << "\n";
    }
    if (arguments_.json) PrintDeleted(ids);
    // So that nothing of the texts stays in the index until the next list or search.
    DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Index index, OpenIndex());
    return {};
  }

  void PrintDeleted(std::span<const std::string> ids) {
    out_ << ToJson(JsonObject{{"schema", "dossier.conversation-delete/1"},
                              {"deleted", JsonArray(ids.begin(), ids.end())}})
         << "\n";
  }

  // Their words in the journal and what refreshes replaced.
  Status Forget(std::span<const std::string> ids) const {
    const std::string runs = config_.user.data + "/runs";
    std::unique_ptr<store::Journal> journal;
    if (Exists(runs + "/journal.db")) {
      DOSSIER_ASSIGN_OR_RETURN(journal, store::Journal::Open(runs));
    }
    return chat::ForgetTraces({.store = store_,
                               .journal = journal.get(),
                               .content_folder = config_.user.data + "/content"},
                              ids);
  }

  Status Compact() {
    DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments_.ids.front()));
    if (arguments_.undo) {
      DOSSIER_RETURN_IF_ERROR(store_.Update(loaded.id, chat::UndoCompaction, cancel_));
      return Say(loaded.id, "the last compaction is undone", /*figures=*/std::nullopt);
    }
    const chat::ModelChoice choice =
        chat::ChooseModel(loaded.stored.model, arguments_.model.model, config_.model.value_or(""),
                          chat::TurnOptions::Compat::kNo);
    DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, OpenModelNamed(choice.model));
    // A model that is named here writes the summary, whatever the configuration says.
    const bool named = !arguments_.model.model.empty() || config_.compaction.model.empty();
    DOSSIER_ASSIGN_OR_RETURN(
        const driver::BoundModel writer,
        named ? Result<driver::BoundModel>(model) : OpenModelNamed(config_.compaction.model));
    using Action = chat::CompactParts::Action;
    DOSSIER_ASSIGN_OR_RETURN(assembly::AssetFolders folders, AssetFoldersFor("", global_, err_));
    DOSSIER_ASSIGN_OR_RETURN(
        const chat::CompactedNow done,
        chat::CompactNow({.store = store_,
                          .model = model,
                          .writer = writer,
                          .limits = LimitsOf(config_.compaction),
                          .folders = std::move(folders),
                          .action = arguments_.dry_run ? Action::kPlan : Action::kSave},
                         loaded.id, cancel_));
    return Say(loaded.id, done.line, done.figures);
  }

  Result<driver::BoundModel> OpenModelNamed(const std::string& name) const {
    ModelFlags flags = arguments_.model;
    if (arguments_.dry_run) flags.use = ModelFlags::Use::kLookedAt;
    flags.model = name;
    const auto say = [this](std::string_view line) { err_ << "dossier: " << line << "\n"; };
    return OpenChatModel(std::move(flags), config_, global_, say, cancel_);
  }

  Status Say(std::string_view id, std::string_view line,
             const std::optional<chat::CompactionFigures>& figures) {
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-compact/1"},
                                {"id", id},
                                {"compaction", line},
                                {"figures", figures ? Json(ToJson(*figures)) : Json()}})
           << "\n";
    } else {
      out_ << line << "\n";
    }
    return {};
  }

  const ConversationsArguments& arguments_;
  const GlobalFlags& global_;
  const config::Config config_;
  const CancelToken& cancel_;
  const Store store_;
  std::ostream& out_;
  std::ostream& err_;
};

CLI::App& AddAction(CLI::App& group, const char* name, const char* help,
                    ConversationsArguments* arguments) {
  CLI::App& action = *group.add_subcommand(name, help);
  action.add_flag("--json", arguments->json, "one object");
  action.callback([arguments, name] { arguments->action = name; });
  return action;
}

void AddShow(CLI::App& group, ConversationsArguments* arguments) {
  CLI::App& show = AddAction(group, "show", "one conversation", arguments);
  show.add_option("id", arguments->ids, "id, or 4 and more of its first characters")
      ->required()
      ->expected(1);
  show.add_option("--turn", arguments->turn, "only this turn")->check(CLI::PositiveNumber);
  show.add_flag("--as-sent", arguments->as_sent, "as a request holds it: compacted");
  show.add_flag("--context", arguments->context, "how its context was made");
  show.add_flag("--usage", arguments->usage, "tokens of each turn");
  show.add_flag("--compaction", arguments->compaction, "what stands for old turns in requests");
}

void AddDelete(CLI::App& group, ConversationsArguments* arguments) {
  CLI::App& remove = AddAction(group, "delete", "removes conversations", arguments);
  remove.add_option("id", arguments->ids, "ids");
  remove.add_option("--older-than", arguments->older_than, "not changed for so long: 30d");
}

void AddCompact(CLI::App& group, ConversationsArguments* arguments) {
  CLI::App& compact =
      AddAction(group, "compact", "a summary stands for old turns in requests", arguments);
  compact.add_option("id", arguments->ids, "id")->required()->expected(1);
  compact.add_flag("--dry-run", arguments->dry_run, "say what would be done");
  compact.add_flag("--undo", arguments->undo, "take the last compaction back")
      ->excludes("--dry-run");
  AddModelFlags(compact, &arguments->model);
}

}  // namespace

void AddConversationsCommand(CLI::App& group, ConversationsArguments* arguments) {
  group.require_subcommand(1);
  CLI::App& list = AddAction(group, "list", "the newest first", arguments);
  list.add_option("--limit", arguments->limit, "how many")->check(CLI::PositiveNumber);
  list.add_option("--since", arguments->since, "changed since then: 2026-11-21, or 30d ago");
  AddShow(group, arguments);
  CLI::App& search = AddAction(group, "search", "messages with all these words", arguments);
  search.add_option("query", arguments->query, "words")->required();
  search.add_option("--role", arguments->role, "only messages of this role");
  search.add_flag("--fts", arguments->fts, "the query is written in FTS5's syntax");
  search.add_option("--limit", arguments->limit, "how many (50)")->check(CLI::PositiveNumber);
  CLI::App& fork = AddAction(group, "fork", "a copy that goes its own way", arguments);
  fork.add_option("id", arguments->ids, "id")->required()->expected(1);
  fork.add_option("--at", arguments->turn, "the last turn to copy")->check(CLI::PositiveNumber);
  fork.add_option("--as", arguments->as, "id of the copy");
  CLI::App& to_file = AddAction(group, "export", "conversations as text", arguments);
  to_file.add_option("id", arguments->ids, "ids")->required();
  to_file
      .add_option("--format", arguments->format,
                  "md (default), json (the file as it is), jsonl; --json: one object for all")
      ->check(CLI::IsMember({"md", "json", "jsonl"}));
  to_file.add_flag("--as-sent", arguments->as_sent, "as a request holds it: compacted");
  to_file.add_option("-o,--out", arguments->out_file, "write to this file");
  AddDelete(group, arguments);
  AddCompact(group, arguments);
}

int RunConversations(const ConversationsArguments& arguments, const GlobalFlags& global,
                     const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  const auto run = [&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(global, {}, err));
    return Conversations(arguments, global, std::move(config), cancel, out, err).Run();
  };
  const Status done = run();
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  out << std::flush;
  return out.good() ? 0 : kExitClosedStdout;
}

}  // namespace dossier::cli
