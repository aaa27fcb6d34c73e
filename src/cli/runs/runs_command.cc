// runs: shows earlier runs of any command, step by step, and removes old runs.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/runs/agents_story.h"
#include "cli/runs/run_story.h"
#include "cli/runs/runs_commands.h"
#include "cli/runs/runs_shared.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "research/run/run_history.h"
#include "research/run/run_status.h"
#include "research/tree/run_log.h"
#include "store/journal.h"
#include "store/postgres/run_queue.h"
#include "store/prune.h"
#include "store/run_states.h"

namespace dossier::cli {

std::string KindOf(const JsonObject& started) {
  return std::string(FindString(Json(started), "kind").value_or("ask"));
}

Result<std::unique_ptr<store::Journal>> OpenRuns() {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  return store::Journal::Open(data + "/runs");
}

namespace {

struct RunsArguments {
  std::string run;    // a unique prefix is enough; last: the newest
  std::string store;  // "": the user's own
  std::string status;
  std::size_t limit = 20;
  std::optional<int> turn;
  bool messages = false, events = false, json = false;
  std::optional<std::size_t> keep;  // for prune
  std::string older;
  bool dry_run = false;
};

constexpr std::string_view kAgents = "agents", kResearch = "research";

std::string OneLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  return Safe(utf8::Prefix(trimmed.substr(0, trimmed.find('\n')), width));
}

// Runs of agents and research store their prompts as files.
Status RefuseTurnFlags(const RunsArguments& arguments, const store::Event& started) {
  const std::string kind = KindOf(started.data);
  if ((!arguments.turn && !arguments.messages) || (kind != kAgents && kind != kResearch)) return {};
  return MakeError(
      ErrorCode::kUsage,
      "{} is for runs of ask and chat, and {} is one of {}: its prompts are shown by {}",
      arguments.turn ? "--turn" : "--messages", started.run, kind,
      kind == kAgents ? "the files below " + AgentsFolder(started)
                      : "`dossier research prompts " + TextAt(Json(started.data), "folder") + "`");
}

// A run of research has its own journal in its folder, which may be gone.
void TellResearch(const store::Event& listed, std::string_view status, std::ostream& out) {
  const std::string folder = TextAt(Json(listed.data), "folder");
  const auto history = research::ReadRunHistory(folder);
  if (!history) {
    out << fmt::format("Title: {}\nStatus: {}\nNothing else is known here: {}\n",
                       Safe(TextAt(Json(listed.data), "question")), status,
                       Safe(history.error().message));
    return;
  }
  out << Safe(research::StatusText(research::StatusOf(*history, *SystemClock())))
      << Safe(research::TreeText(*history, 0));
}

Status CheckTurn(const std::vector<store::Event>& events, std::int64_t turn) {
  std::int64_t last = 0;
  for (const store::Event& event : events) {
    if (event.type != "turn.started") continue;
    last = std::max(last, FindInt(Json(event.data), "turn").value_or(0));
  }
  if (turn >= 0 && turn <= last) return {};  // 0: what was sent before turn 1
  return MakeError(ErrorCode::kNotFound, "run {} has no turn {}; it has {}", events.front().run,
                   turn, last);
}

Status TellStory(store::Journal& journal, const std::vector<store::Event>& events,
                 const RunsArguments& arguments, const SharedState* shared, std::ostream& out) {
  const store::Event& started = events.front();
  DOSSIER_ASSIGN_OR_RETURN(std::string status, journal.StatusOf(started.run));
  const std::string kind = KindOf(started.data);
  out << "Run: " << started.run << " (" << Safe(kind) << ")\n";
  if (shared) {
    status = shared->state;
    out << shared->ToText();
  }
  if (kind == kAgents) {
    TellAgentsRun(journal, events, status, out);
    return {};
  }
  if (kind == kResearch) {
    TellResearch(started, status, out);
    return {};
  }
  if (arguments.turn) DOSSIER_RETURN_IF_ERROR(CheckTurn(events, *arguments.turn));
  StoryOptions options{.turn = arguments.turn};
  if (arguments.messages) options.messages = StoryOptions::Messages::kWhole;
  if (!arguments.store.empty()) options.paths = StoryOptions::Paths::kUnseen;
  TellRun(journal, events, options, status, out);
  return {};
}

// For a run of research, returns the events of its own journal while that exists.
Result<std::vector<store::Event>> EventsOf(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<store::Event> events, journal.Events(run));
  if (KindOf(events.front().data) != kResearch) return events;
  const auto own =
      research::ResearchLog::Reopen(TextAt(Json(events.front().data), "folder"), {}, {});
  return own ? (*own)->Events() : events;
}

template <typename Words>
Status CheckListStatus(const RunsArguments& arguments, const Words& words, std::string_view whose) {
  if (arguments.status.empty() ||
      std::ranges::find(words, arguments.status) != std::ranges::end(words)) {
    return {};
  }
  return MakeError(ErrorCode::kUsage, "--status {}: is none {}; {}", arguments.status, whose,
                   dossier::OneOf(arguments.status, words));
}

Status RunList(const RunsArguments& arguments, Context& context) {
  if (!arguments.store.empty()) {
    DOSSIER_RETURN_IF_ERROR(CheckListStatus(arguments, store::kQueueStates, "of a shared store"));
    return ListShared(arguments.store, {.limit = arguments.limit, .state = arguments.status},
                      FormOf(arguments.json), context);
  }
  DOSSIER_RETURN_IF_ERROR(
      CheckListStatus(arguments, store::kRunStates,
                      "of your own runs; with --store URL the states of its queue count"));
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  std::optional<std::string> status;
  if (!arguments.status.empty()) status = arguments.status;
  // Reads one more than is shown, to know whether there are more.
  DOSSIER_ASSIGN_OR_RETURN(auto runs, journal->List(status, arguments.limit + 1));
  const bool more = runs.size() > arguments.limit;
  if (more) runs.resize(arguments.limit);
  JsonArray list;
  for (const store::RunSummary& run : runs) {
    if (arguments.json) {
      list.push_back(store::SummaryJson(run));
    } else {
      context.out << fmt::format("{:<26}  {:<8}  {:<11}  {}\n", run.run, Safe(run.kind), run.status,
                                 OneLine(run.question, 70));
    }
  }
  if (arguments.json) {
    context.out << ToJson(JsonObject{
                       {"schema", "dossier.runs/1"}, {"runs", std::move(list)}, {"more", more}})
                << "\n";
  } else if (more) {
    context.err << fmt::format("dossier: there are older runs; --limit {} shows more\n",
                               10 * arguments.limit);
  }
  return {};
}

// `journal` null: nothing is recorded yet. `shared` null: the run is in the user's own store.
Status ShowFrom(store::Journal* journal, const std::string& run, const RunsArguments& arguments,
                const SharedState* shared, Context& context) {
  if (!arguments.json && !arguments.events) {
    if (!journal) {
      context.out << "Run: " << run << "\n"
                  << shared->ToText() << "Nothing is recorded of it yet.\n";
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto events, journal->Events(run));
    DOSSIER_RETURN_IF_ERROR(RefuseTurnFlags(arguments, events.front()));
    return TellStory(*journal, events, arguments, shared, context.out);
  }
  std::vector<store::Event> events;
  if (journal) {
    DOSSIER_ASSIGN_OR_RETURN(events, EventsOf(*journal, run));
  }
  if (arguments.json) {
    JsonArray list;
    for (const store::Event& event : events) list.push_back(store::EventJson(event));
    JsonObject whole{{"schema", "dossier.run/1"}, {"run", run}, {"events", std::move(list)}};
    if (shared) {
      whole["state"] = shared->state;
      whole["owner"] = shared->owner;
      whole["worker"] = shared->worker;
      whole["attempts"] = shared->attempts;
      if (!shared->reason.empty()) whole["reason"] = shared->reason;
    }
    context.out << ToJson(whole) << "\n";
    return {};
  }
  for (const store::Event& event : events) {
    context.out << fmt::format("{:>5}  {}  {:<18} {}\n", event.seq, event.time, event.type,
                               Safe(ToJson(Json(event.data))));
  }
  return {};
}

Status RunShow(const RunsArguments& arguments, Context& context) {
  if (!arguments.store.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const ShownRun shared, FetchRun(arguments.store, arguments.run));
    return ShowFrom(shared.fetched.journal.get(), shared.run, arguments, &shared.shared, context);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(arguments.run));
  return ShowFrom(journal.get(), run, arguments, nullptr, context);
}

Result<store::PruneRule> RuleOf(const RunsArguments& arguments) {
  store::PruneRule rule{.keep = arguments.keep};
  if (!arguments.older.empty()) {
    if (arguments.older.find_first_not_of("0123456789.") == std::string::npos) {
      return MakeError(ErrorCode::kUsage, "--older {0}: say the unit, as in {0}d", arguments.older);
    }
    const auto older = ReadTimeFlag("--older", arguments.older, Zero::kTaken);
    if (!older) {
      return MakeError(ErrorCode::kUsage, "--older {}: not understood; write it like 30d or 12h",
                       arguments.older);
    }
    rule.older = *older;
  }
  if (!rule.keep && !rule.older) {
    return MakeError(
        ErrorCode::kUsage,
        "runs prune: say what may go: --keep N (all but the newest N), --older 30d, or "
        "both");
  }
  return rule;
}

std::string WhatGoes(const store::Pruned& pruned) {
  return fmt::format("{} and {} that no run needs any more, {}", Counted(pruned.runs.size(), "run"),
                     Counted(pruned.bodies, "stored text"), FormatSize(pruned.bytes));
}

// Asks a person at a terminal before anything is deleted permanently. Scripts are not asked: they
// chose the runs with --keep or --older, and nobody could answer.
Result<bool> MayPrune(const std::string& folder, const store::PruneRule& rule,
                      const GlobalFlags& flags, std::ostream& err) {
  if (flags.yes || !MayAsk(flags)) return true;
  DOSSIER_ASSIGN_OR_RETURN(
      const store::Pruned found,
      store::PruneRuns(folder, rule, store::PruneAction::kLook, *SystemClock()));
  if (found.runs.empty() && found.bodies == 0) return true;
  return Confirm(flags, fmt::format("remove {} for good?", WhatGoes(found)), "-y", err);
}

Status RunPrune(const RunsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const std::string folder = data + "/runs";
  DOSSIER_ASSIGN_OR_RETURN(const store::PruneRule rule, RuleOf(arguments));
  auto action = store::PruneAction::kLook;
  if (!arguments.dry_run) {
    DOSSIER_ASSIGN_OR_RETURN(const bool agreed, MayPrune(folder, rule, context.flags, context.err));
    if (!agreed) return {};
    action = store::PruneAction::kRemove;
  }
  DOSSIER_ASSIGN_OR_RETURN(const store::Pruned pruned,
                           store::PruneRuns(folder, rule, action, *SystemClock()));
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.runs-prune/1"},
                                     {"dry_run", arguments.dry_run},
                                     {"runs", boost::json::value_from(pruned.runs)},
                                     {"bodies", pruned.bodies},
                                     {"bytes", pruned.bytes},
                                     {"runs_left", pruned.runs_left},
                                     {"bytes_left", pruned.bytes_left}})
                << "\n";
    return {};
  }
  context.out << fmt::format("{} {}; {} and {} {}\n",
                             arguments.dry_run ? "would remove" : "removed", WhatGoes(pruned),
                             Counted(pruned.runs_left, "run"), FormatSize(pruned.bytes_left),
                             arguments.dry_run ? "would stay" : "stay");
  return {};
}

void DeclareList(Flags& flags, RunsArguments& to) {
  std::vector<std::string> states(std::begin(store::kRunStates), std::end(store::kRunStates));
  for (const std::string_view state : store::kQueueStates) {
    if (std::ranges::find(states, state) == states.end()) states.emplace_back(state);
  }
  flags.Add("--status", &to.status, "only runs that ended like this; with --store: in this state")
      .OneOf(std::move(states));
  flags.Add("--limit", &to.limit, "how many").Positive().ShowDefault();
  AddStoreFlag(flags, &to.store);
  flags.Add("--json", &to.json, "one object");
}

void DeclareShow(Flags& flags, RunsArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  flags.Add("--turn", &to.turn, "only this turn");
  flags.Add("--messages", &to.messages, "show the exact messages and replies, too");
  flags.Add("--events", &to.events, "the journal's events, one a line");
  AddStoreFlag(flags, &to.store);
  flags.Add("--json", &to.json, "all events as one object");
}

void DeclarePrune(Flags& flags, RunsArguments& to) {
  flags.Add("--keep", &to.keep, "keep the newest N");
  flags.Add("--older", &to.older, "only runs begun longer ago, such as 30d").Kind(kTime);
  flags.Add("--dry-run", &to.dry_run, "say what would go");
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command RunsCommand() {
  Command runs{
      .name = "runs",
      .summary = "what ask, chat, agents and research did before, step by step",
      .examples =
          "dossier runs list\n"
          "    what was asked before\n"
          "dossier runs show last --messages\n"
          "    the newest run with the exact messages sent\n"
          "dossier runs resume last\n"
          "    go on with a run that was interrupted\n"
          "dossier runs prune --older 30d --dry-run\n"
          "    what would go of older runs",
      .commands = {
          {.name = "list", .summary = "the newest runs", .binding = Bind(DeclareList, RunList)},
          {.name = "show",
           .summary =
               "one run: code, output, answers, refusals; of agents: tasks, verdicts, commits",
           .binding = Bind(DeclareShow, RunShow)}}};
  for (auto make : {AgainCommands, ExchangeCommands, SharedCommands}) {
    for (Command& command : make()) runs.commands.push_back(std::move(command));
  }
  runs.commands.push_back({.name = "prune",
                           .summary = "remove old runs and what only they need",
                           .binding = Bind(DeclarePrune, RunPrune)});
  return runs;
}

}  // namespace dossier::cli
