// context refresh, context drift: compares a frozen context with what its commands output now.

#include <algorithm>
#include <ostream>

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "chat/context/frozen.h"
#include "chat/store/store.h"
#include "chat/turn/refresh_now.h"
#include "cli/conversations/context_commands.h"
#include "cli/conversations/conversations_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "model/catalog/catalog.h"

namespace dossier::cli {
namespace {

using chat::BlockChange;
using chat::DeclaredCommand;
using chat::Differs;
using chat::Refreshed;
using chat::Stored;

struct ContextRefreshArguments {
  std::string id, block;
  ContextFlags context;
  bool dry_run = false, diff = false, json = false;
};

// The token counter of a conversation, and the maximum tokens of its context.
struct Measure {
  std::shared_ptr<const tokens::Counter> counter;
  std::int64_t max_tokens = 0;
};

Result<Measure> MeasureFor(const Stored& stored, const config::Config& config) {
  DOSSIER_ASSIGN_OR_RETURN(model::UserConfig user, model::UserConfigOf(config));
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData(std::move(user)));
  // A model that is no longer known is counted like any unknown model.
  model::Entry entry;
  if (!stored.model.empty()) {
    const auto choice = data.catalog.Choose(
        {.name = stored.model, .config = data.config, .keys = model::Wanted::Keys::kNone},
        Environment);
    if (choice) entry = choice->entry;
  }
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened,
                           model::OpenTokenizer(entry, tokens::DefaultDataPaths()));
  return Measure{std::move(opened.counter),
                 config.context_max_tokens.value_or(entry.capability.window / 4)};
}

std::vector<chat::NamedBlock> FrozenBlocks(const Stored& stored) {
  const chat::SystemHalves parts = chat::SplitSystem(stored);
  return chat::BlocksOf(parts.context.empty() ? parts.text : parts.context);
}

// Parses --block: the name of a command, or the number of a frozen block, from 1.
Result<std::string> FindName(const Stored& stored, std::span<const DeclaredCommand> commands,
                             const std::string& wanted) {
  const auto declared = [&](std::string_view name) {
    return std::any_of(commands.begin(), commands.end(),
                       [name](const DeclaredCommand& one) { return one.name == name; });
  };
  if (declared(wanted)) return wanted;
  const std::vector<chat::NamedBlock> blocks = FrozenBlocks(stored);
  const auto number = ExactNumber<std::size_t>(wanted);
  const bool is_block = number && *number >= 1 && *number <= blocks.size();
  if (is_block && declared(blocks[*number - 1].name)) return blocks[*number - 1].name;
  std::vector<std::string> names;
  for (const DeclaredCommand& command : commands) names.push_back(command.name);
  return MakeError(ErrorCode::kNotFound,
                   "--block {}: no command of the configuration or of --exec makes this block; "
                   "there are: {}",
                   wanted,
                   (names.empty() ? "none" : Join(names, ", ")) + DidYouMean(wanted, names));
}

class Refresher {
 public:
  Refresher(const ContextRefreshArguments& arguments, config::Config config, Context& context)
      : arguments_(arguments),
        global_(context.flags),
        config_(std::move(config)),
        cancel_(context.cancel),
        out_(context.out),
        err_(context.err),
        store_(config_.conversations.path) {}

  Status Refresh() {
    DOSSIER_ASSIGN_OR_RETURN(const chat::Loaded loaded, Load());
    const chat::RefreshParts parts = Parts();
    const Refreshed refreshed = parts.Compare(loaded.stored, gathered_);
    const bool changed = chat::ChangesContext(loaded.stored, refreshed);
    if (changed && !arguments_.dry_run) {
      DOSSIER_RETURN_IF_ERROR(parts.Save(id_, gathered_, cancel_));
      Warn(fmt::format("the context of {} was refreshed: the provider's cached prefix is lost",
                       id_));
    }
    SayRefresh(refreshed, changed);
    return {};
  }

  Result<int> Drift() {
    DOSSIER_ASSIGN_OR_RETURN(const chat::Loaded loaded, Load());
    return SayDrift(Parts().Compare(loaded.stored, gathered_));
  }

 private:
  // Loads the conversation once its commands have run.
  Result<chat::Loaded> Load() {
    DOSSIER_ASSIGN_OR_RETURN(id_, store_.Resolve(arguments_.id));
    DOSSIER_ASSIGN_OR_RETURN(chat::Loaded loaded, store_.Load(id_));
    for (const std::string& warning : loaded.stored.warnings) Warn(warning);
    DOSSIER_ASSIGN_OR_RETURN(measure_, MeasureFor(loaded.stored, config_));
    DOSSIER_RETURN_IF_ERROR(Gather(loaded.stored));
    return loaded;
  }

  chat::RefreshParts Parts() const {
    using chat::OtherBlocks;
    return {.store = store_,
            .counter = *measure_.counter,
            .content_folder = config_.user.data + "/content",
            .others = arguments_.block.empty() ? OtherBlocks::kGo : OtherBlocks::kStay};
  }

  Status Gather(const Stored& stored) {
    DOSSIER_ASSIGN_OR_RETURN(PreparedContext prepared, PrepareContext(arguments_.context, config_));
    chat::CommandContext context(prepared.setup);
    const std::vector<DeclaredCommand> declared = context.Declared();
    std::string only;
    if (!arguments_.block.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(only, FindName(stored, declared, arguments_.block));
    }
    DOSSIER_ASSIGN_OR_RETURN(gathered_,
                             context.Gather(chat::StaticCommands(declared, only),
                                            {*measure_.counter, measure_.max_tokens}, cancel_));
    for (const std::string& warning : gathered_.warnings) Warn(warning);
    return {};
  }

  void SayRefresh(const Refreshed& refreshed, bool changed) {
    if (!arguments_.json) return PrintLines(refreshed.changes);
    out_ << ToJson(JsonObject{{"schema", "dossier.context-refresh/1"},
                              {"id", id_},
                              {"saved", changed && !arguments_.dry_run},
                              {"blocks", ListOf(refreshed.changes)},
                              {"context", chat::ToJson(refreshed.frozen.record)}})
         << '\n';
  }

  int SayDrift(const Refreshed& refreshed) {
    std::int64_t compared = 0, differ = 0;
    for (const BlockChange& change : refreshed.changes) {
      compared += change.what != chat::kNotRefreshed ? 1 : 0;
      differ += Differs(change) ? 1 : 0;
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.context-drift/1"},
                                {"id", id_},
                                {"compared", compared},
                                {"differ", differ},
                                {"blocks", ListOf(refreshed.changes)}})
           << '\n';
    } else {
      out_ << differ << " of " << compared << " context outputs differ from the frozen ones\n";
      PrintLines(refreshed.changes);
    }
    return differ > 0 ? ExitCode(ErrorCode::kCheckFailed) : 0;
  }

  static std::string DiffOf(const BlockChange& change) {
    const auto lines = [](const std::string& block) { return block.empty() ? "" : block + "\n"; };
    return UnifiedDiff("frozen", lines(change.before), "now", lines(change.now));
  }

  // Commands recorded in a conversation file are data and never run.
  void ExplainKept(std::span<const BlockChange> changes) {
    const auto kept = std::count_if(changes.begin(), changes.end(), [](const BlockChange& change) {
      return change.what == chat::kNotRefreshed;
    });
    if (kept == 0 || global_.quiet) return;
    err_ << fmt::format(
        "dossier: {} as {}; a command of --exec is run again only where --exec gives it again\n",
        kept == 1 ? "one block stays" : fmt::format("{} blocks stay", kept),
        kept == 1 ? "it is" : "they are");
  }

  void PrintLines(std::span<const BlockChange> changes) {
    for (const BlockChange& change : changes) {
      out_ << Safe(change.name) << ": " << change.what << "\n";
      if (arguments_.diff && Differs(change)) out_ << Safe(DiffOf(change));
    }
    ExplainKept(changes);
  }

  JsonArray ListOf(std::span<const BlockChange> changes) const {
    JsonArray list;
    for (const BlockChange& change : changes) {
      JsonObject block{{"name", change.name}, {"change", change.what}};
      if (arguments_.diff && Differs(change)) block["diff"] = DiffOf(change);
      list.push_back(std::move(block));
    }
    return list;
  }

  void Warn(const std::string& text) {
    if (!global_.quiet) PrintWarning(err_, text);
  }

  const ContextRefreshArguments& arguments_;
  const GlobalFlags& global_;
  const config::Config config_;
  const CancelToken& cancel_;
  std::ostream& out_;
  std::ostream& err_;
  const chat::ConversationStore store_;
  std::string id_;
  Measure measure_;
  chat::Gathered gathered_;
};

Status RunRefresh(const ContextRefreshArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(context.flags, {}, context.err));
  return Refresher(given, std::move(config), context).Refresh();
}

Result<int> RunDrift(const ContextRefreshArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(context.flags, {}, context.err));
  return Refresher(given, std::move(config), context).Drift();
}

void DeclareBoth(Flags& flags, ContextRefreshArguments& to) {
  flags.Add("id", &to.id, "id, or 4 and more of its first characters")
      .Kind(kConversation)
      .Required();
  AddContextFlags(flags, &to.context);
  flags.Add("--json", &to.json, "one object");
}

void DeclareRefresh(Flags& flags, ContextRefreshArguments& to) {
  DeclareBoth(flags, to);
  flags.Add("--block", &to.block, "only this one: its name, or its number from 1");
  flags.Add("--dry-run", &to.dry_run, "only say what would change");
}

void DeclareDrift(Flags& flags, ContextRefreshArguments& to) {
  DeclareBoth(flags, to);
  flags.Add("--diff", &to.diff, "show the differences, line by line");
}

}  // namespace

Command ContextRefreshCommand() {
  return {.name = "refresh",
          .summary =
              "run the commands again, and keep what they give now; a block of --exec "
              "stays as it is unless --exec is given again",
          .binding = Bind(DeclareRefresh, RunRefresh)};
}

Command ContextDriftCommand() {
  return {.name = "drift",
          .summary =
              "run the commands again and compare with what is kept; change nothing; a "
              "block of --exec is compared only where --exec is given again",
          .binding = Bind(DeclareDrift, RunDrift)};
}

}  // namespace dossier::cli
