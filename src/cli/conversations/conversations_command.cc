// conversations: manages stored conversations. It reads chat's configuration to find them.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/files/output_file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "chat/context/plan.h"
#include "chat/document/document.h"
#include "chat/store/import.h"
#include "chat/store/index.h"
#include "chat/store/repair.h"
#include "chat/store/store.h"
#include "chat/turn/refresh_now.h"
#include "chat/turn/resume.h"
#include "cli/commands.h"
#include "cli/conversations/conversations_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/conversation_trust.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "store/journal.h"
#include "tokens/counter/counter.h"

namespace dossier::cli {
namespace {

using chat::ConversationStore;
using chat::Index;
using chat::Loaded;
using chat::Stored;

struct ConversationsArguments {
  std::string id;                // for commands that take one
  std::vector<std::string> ids;  // for export and delete
  bool json = false;
  std::int64_t limit = 0;  // 0: all
  std::string since;
  std::optional<std::int64_t> turn;  // for show; --at of fork
  bool as_sent = false, context = false, usage = false, compaction = false;
  std::string query, role;
  bool fts = false;
  std::string as;      // for fork
  std::string format;  // for export; "": md
  std::string out_file;
  std::string older_than;
  bool dry_run = false, undo = false;
  std::vector<std::string> files;    // for import
  std::optional<std::string> title;  // for rename
  ModelFlags model;                  // for compact
};

// Returns the earliest time of `--since`: a day, a longer prefix of a time as files write it, or a
// time span before now.
Result<std::string> SinceTime(const std::string& since) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00.000000Z";
  constexpr std::size_t kDay = 10;  // bytes of a date
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
  Conversations(const ConversationsArguments& arguments, config::Config config, Context& context)
      : arguments_(arguments),
        global_(context.flags),
        config_(std::move(config)),
        cancel_(context.cancel),
        store_(config_.conversations.path),
        failure_form_(context.failure),
        out_(context.out),
        err_(context.err) {}

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
    DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments_.id));
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
    for (const chat::IndexHit& hit : hits) {
      if (arguments_.json) {
        list.push_back(JsonObject{
            {"id", hit.id}, {"turn", hit.turn}, {"role", hit.role}, {"snippet", hit.snippet}});
        continue;
      }
      const std::string snippet = ReplaceAll(hit.snippet, "\n", " ");
      out_ << fmt::format("{}:{} {} {}\n", hit.id, hit.turn, Safe(hit.role), Safe(snippet));
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-search/1"},
                                {"hits", std::move(list)}})
           << "\n";
    }
    return {};
  }

  Status Fork() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(arguments_.id));
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
    DOSSIER_ASSIGN_OR_RETURN(const ConversationFormat format,
                             ExportFormatOf(arguments_.format, arguments_.json));
    Exporter exporter(format, arguments_.as_sent ? ExportView::kAsSent : ExportView::kStored);
    for (const std::string& name : arguments_.ids) {
      DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(name));
      exporter.Add(loaded);
    }
    const std::string text = exporter.Text();
    if (!arguments_.out_file.empty())
      return WriteOutput(arguments_.out_file, {text}, {.mode = 0600});
    out_ << text;
    return {};
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
    // Removes the texts from the index now, not only at the next list or search.
    DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Index index, OpenIndex());
    return {};
  }

  Status Import() {
    std::optional<Error> failure;
    const auto fail = [&](const Error& error) {
      if (failure) PrintError(err_, *failure);
      failure = error;
    };
    using Added = chat::ConversationStore::Added;
    using Adding = chat::ConversationStore::Adding;
    const Adding adding = arguments_.dry_run ? Adding::kPlanned : Adding::kDone;
    JsonArray list;
    for (const std::string& file : arguments_.files) {
      auto found = chat::ReadForeign(file, store_.Now());
      const Status followed = found ? chat::FollowRenamed(store_, &*found) : Status();
      if (!found || !followed) {
        fail(found ? followed.error() : found.error());
        continue;
      }
      for (const chat::Document& document : *found) {
        const Result<Added> added = store_.Add(document, adding, cancel_);
        if (!added) fail(added.error());
        if (added == Added::kOther && !failure) failure = OthersHaveIt();
        const std::string_view what = added ? AddedName(*added) : "failed";
        list.push_back(JsonObject{{"id", document.name()}, {"what", what}});
        if (arguments_.json) continue;
        out_ << fmt::format("{}  {:>4} messages  {}\n", document.name(), document.message_count(),
                            what);
      }
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-import/1"},
                                {"conversations", std::move(list)}})
           << "\n";
      failure_form_ = FailureForm::kText;  // the one object is printed
    }
    if (failure) return tl::unexpected(*failure);
    return {};
  }

  Status Rename() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(arguments_.id));
    if (arguments_.as.empty() && !arguments_.title) {
      return MakeError(ErrorCode::kUsage, "rename {}: give the new id, or --title TEXT", id);
    }
    if (arguments_.title) {
      const auto change = [&](chat::Document* document) {
        return document->metadata().Set({"dossier", "title"},
                                        Json(chat::TitleOf(*arguments_.title)));
      };
      DOSSIER_RETURN_IF_ERROR(store_.Update(id, change, cancel_));
    }
    if (!arguments_.as.empty()) {
      DOSSIER_RETURN_IF_ERROR(store_.Rename(id, arguments_.as, cancel_));
    }
    const std::string& now = arguments_.as.empty() ? id : arguments_.as;
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-rename/1"}, {"id", now}}) << "\n";
    } else {
      out_ << now << "\n";
    }
    return {};
  }

  Status Repair() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(arguments_.id));
    DOSSIER_ASSIGN_OR_RETURN(auto bytes, chat::ReadConversation(store_.folder(), id));
    if (!bytes) return MakeError(ErrorCode::kNotFound, "conversation {} is gone", id);
    DOSSIER_ASSIGN_OR_RETURN(chat::Document document, chat::Document::Parse(std::move(*bytes), id));
    const auto counter = tokens::MakeByteCounter();
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                             chat::Repair(*counter, &document));
    std::string backup;
    if (!lines.empty() && !arguments_.dry_run) {
      DOSSIER_ASSIGN_OR_RETURN(backup, store_.BackUp(id, cancel_));
      // Applied to the file as it is now, since it may have grown.
      const auto change = [&](chat::Document* now) {
        return chat::Repair(*counter, now).map([](const std::vector<std::string>&) {});
      };
      DOSSIER_RETURN_IF_ERROR(store_.Update(id, change, cancel_));
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.conversation-repair/1"},
                                {"id", id},
                                {"repaired", JsonArray(lines.begin(), lines.end())},
                                {"backup", backup.empty() ? Json() : Json(backup)}})
           << "\n";
      return {};
    }
    for (const std::string& line : lines) out_ << Safe(line) << "\n";
    if (lines.empty()) out_ << "nothing to repair\n";
    if (!backup.empty()) out_ << "what was is in " << backup << "\n";
    return {};
  }

  Status Compact() {
    DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments_.id));
    if (arguments_.undo) {
      DOSSIER_RETURN_IF_ERROR(store_.Update(loaded.id, chat::UndoCompaction, cancel_));
      return Say(loaded.id, "the last compaction is undone", /*figures=*/std::nullopt);
    }
    const std::string name =
        chat::ChooseModel(loaded.stored.model, arguments_.model.model, config_.model.value_or(""));
    if (arguments_.model.model.empty() && name != config_.model) {
      DOSSIER_RETURN_IF_ERROR(CheckStoredModel(name, config_, global_, err_));
    }
    DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, OpenModelNamed(name));
    // A model named here writes the summary, whatever the configuration says.
    const bool named = !arguments_.model.model.empty() || config_.compaction.model.empty();
    DOSSIER_ASSIGN_OR_RETURN(
        const driver::BoundModel writer,
        named ? Result<driver::BoundModel>(model) : OpenModelNamed(config_.compaction.model));
    using Action = chat::CompactParts::Action;
    DOSSIER_ASSIGN_OR_RETURN(driver::LayoutSources layouts,
                             LayoutSourcesFor(global_, cancel_, err_));
    DOSSIER_ASSIGN_OR_RETURN(
        const chat::CompactedNow done,
        chat::CompactNow({.store = store_,
                          .model = model,
                          .writer = writer,
                          .limits = LimitsOf(config_.compaction),
                          .layouts = std::move(layouts),
                          .action = arguments_.dry_run ? Action::kPlan : Action::kSave},
                         loaded.id, cancel_));
    return Say(loaded.id, done.line, done.figures);
  }

 private:
  Result<Loaded> Load(const std::string& name) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string id, store_.Resolve(name));
    DOSSIER_ASSIGN_OR_RETURN(Loaded loaded, store_.Load(id));
    for (const std::string& warning : loaded.stored.warnings) PrintWarning(err_, warning);
    return loaded;
  }

  static std::string_view AddedName(chat::ConversationStore::Added added) {
    constexpr std::string_view kNames[] = {"new", "longer than before", "there already",
                                           "left out: another conversation has this id"};
    return kNames[static_cast<int>(added)];
  }

  static Error OthersHaveIt() {
    return {ErrorCode::kPartial,
            "other conversations have some of these ids; rename them to import the rest: dossier "
            "conversations rename ID NEW"};
  }

  Result<Index> OpenIndex() { return Index::Open(store_.folder(), config_.user.cache); }

  // Returns the ids selected by --older-than.
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

  void PrintDeleted(std::span<const std::string> ids) {
    out_ << ToJson(JsonObject{{"schema", "dossier.conversation-delete/1"},
                              {"deleted", JsonArray(ids.begin(), ids.end())}})
         << "\n";
  }

  // Deletes their texts in the journal and the contexts that refreshes replaced.
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

  Result<driver::BoundModel> OpenModelNamed(const std::string& name) const {
    ModelFlags flags = arguments_.model;
    if (arguments_.dry_run) flags.use = ModelFlags::Use::kLookedAt;
    flags.model = name;
    const auto say = [this](std::string_view line) { err_ << "dossier: " << line << "\n"; };
    return OpenChatModel(flags, config_, global_, say, cancel_);
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
  const ConversationStore store_;
  FailureForm& failure_form_;
  std::ostream& out_;
  std::ostream& err_;
};

template <Status (Conversations::*kAction)()>
Status Run(const ConversationsArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(context.flags, {}, context.err));
  return (Conversations(given, std::move(config), context).*kAction)();
}

void DeclareJson(Flags& flags, ConversationsArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

void DeclareList(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("--limit", &to.limit, "how many").Positive();
  flags.Add("--since", &to.since, "changed since then: 2026-11-21, or 30d ago").Kind(kTime);
}

void DeclareConversationShow(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.id, "id, or 4 and more of its first characters")
      .Kind(kConversation)
      .Required();
  flags.Add("--turn", &to.turn, "only this turn").Positive();
  flags.Add("--as-sent", &to.as_sent, "as it is sent to the model: old turns summed up");
  flags.Add("--show-context", &to.context, "also how its context was made").Formerly("--context");
  flags.Add("-u,--usage", &to.usage, "tokens of each turn");
  flags.Add("--show-compaction", &to.compaction, "also what stands for old turns in requests")
      .Formerly("--compaction");
}

void DeclareSearch(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("query", &to.query, "words").Required();
  flags.Add("--role", &to.role, "only messages of this role");
  flags.Add("--fts", &to.fts, "the query is in SQLite's full-text syntax (FTS5)");
  flags.Add("--limit", &to.limit, "how many (50)").Positive();
}

void DeclareFork(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.id, "id").Kind(kConversation).Required();
  flags.Add("--at", &to.turn, "the last turn to copy").Positive();
  flags.Add("--as", &to.as, "id of the copy");
}

void DeclareExport(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.ids, "ids").Kind(kConversation).Required();
  flags
      .Add("--format", &to.format,
           "md (default), json (the file as it is), jsonl; --json: one object for all")
      .OneOf({"md", "json", "jsonl"});
  flags.Add("--as-sent", &to.as_sent, "as it is sent to the model: old turns summed up");
  flags.Add("-o,--out", &to.out_file, "write to this file").Kind(kPath);
}

void DeclareDelete(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.ids, "ids").Kind(kConversation);
  flags.Add("--older-than", &to.older_than, "not changed for so long: 30d").Kind(kTime);
}

void DeclareImport(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags
      .Add("file", &to.files,
           "logs.db of llm, a session of aichat (YAML), a conversation of this program (JSON)")
      .Required()
      .Kind(kPath);
  flags.Add("--dry-run", &to.dry_run, "only say what is in it");
}

void DeclareRename(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.id, "id").Kind(kConversation).Required();
  flags.Add("new", &to.as, "the new id");
  flags.Add("--title", &to.title, "the title that the list shows");
}

void DeclareRepair(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.id, "id").Kind(kConversation).Required();
  flags.Add("--dry-run", &to.dry_run, "only say what does not fit");
}

void DeclareCompact(Flags& flags, ConversationsArguments& to) {
  DeclareJson(flags, to);
  flags.Add("id", &to.id, "id").Kind(kConversation).Required();
  flags.Add("--dry-run", &to.dry_run, "say what would be done");
  flags.Add("--undo", &to.undo, "take the last compaction back").Excludes("--dry-run");
  AddModelFlags(flags, &to.model);
}

}  // namespace

Command ConversationsCommand() {
  return {.name = "conversations",
          .summary = "the conversations that chat keeps",
          .examples =
              "dossier conversations list\n"
              "    what there is, the newest first\n"
              "dossier conversations show bug-12\n"
              "    what was said; the first 4 characters of an id are enough\n"
              "dossier conversations import ~/.config/io.datasette.llm/logs.db\n"
              "    go on with conversations of llm",
          .commands = {
              {.name = "list",
               .summary = "the newest first",
               .binding = Bind(DeclareList, Run<&Conversations::List>)},
              {.name = "show",
               .summary = "one conversation",
               .binding = Bind(DeclareConversationShow, Run<&Conversations::Show>)},
              {.name = "search",
               .summary = "messages with all these words",
               .binding = Bind(DeclareSearch, Run<&Conversations::Search>)},
              {.name = "fork",
               .summary = "copy a conversation, to go on in two ways",
               .binding = Bind(DeclareFork, Run<&Conversations::Fork>)},
              {.name = "export",
               .summary = "conversations as text",
               .binding = Bind(DeclareExport, Run<&Conversations::Export>)},
              {.name = "import",
               .summary = "take over conversations of llm and aichat, or files of this program",
               .binding = Bind(DeclareImport, Run<&Conversations::Import>)},
              {.name = "rename",
               .summary = "give a conversation another id or title",
               .binding = Bind(DeclareRename, Run<&Conversations::Rename>)},
              {.name = "repair",
               .summary = "mend a conversation that was edited by hand",
               .binding = Bind(DeclareRepair, Run<&Conversations::Repair>)},
              {.name = "delete",
               .summary = "remove conversations and what the journal has of them",
               .binding = Bind(DeclareDelete, Run<&Conversations::Delete>)},
              {.name = "compact",
               .summary = "let a summary stand for old turns in requests",
               .binding = Bind(DeclareCompact, Run<&Conversations::Compact>)}}};
}

}  // namespace dossier::cli
