#include "cli/runs/runs_command.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/runs_story.h"
#include "cli/terminal/counted.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/quantity_flags.h"
#include "store/journal.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

std::string OneLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  return Safe(utf8::Prefix(trimmed.substr(0, trimmed.find('\n')), width));
}

Json EventJson(const store::Event& event) {
  return JsonObject{{"run", event.run},   {"seq", event.seq},   {"time", event.time},
                    {"call", event.call}, {"type", event.type}, {"data", event.data}};
}

Status List(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  std::optional<std::string> status;
  if (!arguments.status.empty()) status = arguments.status;
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal.List(status, arguments.limit));
  JsonArray list;
  for (const store::RunSummary& run : runs) {
    if (arguments.json) {
      list.push_back(JsonObject{{"run", run.run},
                                {"started", run.started},
                                {"status", run.status},
                                {"question", run.question},
                                {"model", run.model},
                                {"events", run.events},
                                {"answer", run.answer}});
    } else {
      out << fmt::format("{}  {:<11}  {}\n", run.run, run.status, OneLine(run.question, 70));
    }
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.runs/1"}, {"runs", std::move(list)}}) << "\n";
  }
  return {};
}

Status Show(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal.Resolve(arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const auto events, journal.Events(run));
  if (arguments.json) {
    JsonArray list;
    for (const store::Event& event : events) list.push_back(EventJson(event));
    out << ToJson(
               JsonObject{{"schema", "dossier.run/1"}, {"run", run}, {"events", std::move(list)}})
        << "\n";
    return {};
  }
  if (arguments.events) {
    for (const store::Event& event : events) {
      out << fmt::format("{:>5}  {}  {:<18} {}\n", event.seq, event.time, event.type,
                         Safe(ToJson(Json(event.data))));
    }
    return {};
  }
  StoryOptions options{.turn = arguments.turn};
  if (arguments.messages) options.messages = StoryOptions::Messages::kWhole;
  RunStory story(journal, options, out);
  for (const store::Event& event : events) story.Tell(event);
  if (!arguments.turn && events.back().type != "run.finished") {
    DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal.StatusOf(run));
    story.End(status);
  }
  return {};
}

Result<store::PruneRule> RuleOf(const RunsArguments& arguments) {
  store::PruneRule rule{.keep = arguments.keep};
  if (!arguments.older.empty()) {
    if (arguments.older.find_first_not_of("0123456789.") == std::string::npos) {
      return MakeError(ErrorCode::kUsage, "--older {0}: say the unit, as in {0}d", arguments.older);
    }
    DOSSIER_ASSIGN_OR_RETURN(rule.older, ReadTimeFlag("--older", arguments.older, Zero::kTaken));
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

// Somebody at a terminal is asked before anything goes for good. Scripts are not: they named what
// may go by --keep or --older, and nobody is there to answer.
Result<bool> MayPrune(const std::string& folder, const store::PruneRule& rule,
                      const GlobalFlags& flags, std::ostream& err) {
  if (flags.yes || !MayAsk(flags)) return true;
  DOSSIER_ASSIGN_OR_RETURN(
      const store::Pruned found,
      store::PruneRuns(folder, rule, store::PruneAction::kLook, *SystemClock()));
  if (found.runs.empty() && found.bodies == 0) return true;
  return Confirm(flags, fmt::format("remove {} for good?", WhatGoes(found)), "-y", err);
}

Status Prune(const std::string& folder, const RunsArguments& arguments, const GlobalFlags& flags,
             std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const store::PruneRule rule, RuleOf(arguments));
  auto action = store::PruneAction::kLook;
  if (!arguments.dry_run) {
    DOSSIER_ASSIGN_OR_RETURN(const bool agreed, MayPrune(folder, rule, flags, err));
    if (!agreed) return {};
    action = store::PruneAction::kRemove;
  }
  DOSSIER_ASSIGN_OR_RETURN(const store::Pruned pruned,
                           store::PruneRuns(folder, rule, action, *SystemClock()));
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.runs-prune/1"},
                             {"dry_run", arguments.dry_run},
                             {"runs", boost::json::value_from(pruned.runs)},
                             {"bodies", pruned.bodies},
                             {"bytes", pruned.bytes},
                             {"runs_left", pruned.runs_left},
                             {"bytes_left", pruned.bytes_left}})
        << "\n";
    return {};
  }
  out << fmt::format("{} {}; {} and {} {}\n", arguments.dry_run ? "would remove" : "removed",
                     WhatGoes(pruned), Counted(pruned.runs_left, "run"),
                     FormatSize(pruned.bytes_left), arguments.dry_run ? "would stay" : "stay");
  return {};
}

// Nothing of it is lost: the journal holds what a version that can go on needs.
Status Resume(store::Journal& journal, const RunsArguments& arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal.Resolve(arguments.run));
  return MakeError(
      ErrorCode::kUsage,
      "runs resume: this version cannot go on with a run; `dossier runs show {}` shows "
      "what was done, and the same `dossier ask` again takes the replies of its "
      "sub-calls from the store",
      run);
}

Status RunAction(store::Journal& journal, const RunsArguments& arguments, std::ostream& out) {
  if (arguments.action == "list") return List(journal, arguments, out);
  if (arguments.action == "resume") return Resume(journal, arguments);
  return Show(journal, arguments, out);
}

}  // namespace

void AddRunsCommand(CLI::App& runs, RunsArguments* arguments) {
  runs.require_subcommand(1);
  CLI::App& list = *runs.add_subcommand("list", "the newest runs");
  list.add_option("--status", arguments->status, "only runs that ended like this")
      ->check(CLI::IsMember(
          {"running", "final", "extracted", "partial", "none", "interrupted", "failed"}));
  list.add_option("--limit", arguments->limit, "how many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  list.add_flag("--json", arguments->json, "one object");
  CLI::App& show = *runs.add_subcommand("show", "one run: code, output, answers, refusals");
  show.add_option("run", arguments->run, "id, the start of one, or last")->required();
  show.add_option("--turn", arguments->turn, "only this turn");
  show.add_flag("--messages", arguments->messages, "with the exact messages and replies");
  show.add_flag("--events", arguments->events, "the journal's events, one a line");
  show.add_flag("--json", arguments->json, "all events as one object");
  // In no list of commands while it only says that it cannot.
  CLI::App& resume = *runs.add_subcommand("resume", "go on with an interrupted run")->group("");
  resume.add_option("run", arguments->run, "id, or the start of one")->required();
  resume.fallthrough(false)->allow_extras();  // its limits, which no other command here has
  CLI::App& prune = *runs.add_subcommand("prune", "remove old runs and what only they need");
  prune.add_option("--keep", arguments->keep, "not the newest N");
  prune.add_option("--older", arguments->older, "only runs begun longer ago, such as 30d")
      ->type_name("TIME");
  prune.add_flag("--dry-run", arguments->dry_run, "say what would go");
  prune.add_flag("--json", arguments->json, "one object");
  prune.callback([arguments] { arguments->action = "prune"; });
  list.callback([arguments] { arguments->action = "list"; });
  resume.callback([arguments] { arguments->action = "resume"; });
  show.callback([arguments] { arguments->action = "show"; });
}

int RunRuns(const RunsArguments& arguments, const GlobalFlags& flags, std::ostream& out,
            std::ostream& err) {
  const auto run = [&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    // It wants to be alone with the folder, which an open journal is not.
    if (arguments.action == "prune") return Prune(data + "/runs", arguments, flags, out, err);
    DOSSIER_ASSIGN_OR_RETURN(auto journal, store::Journal::Open(data + "/runs"));
    return RunAction(*journal, arguments, out);
  };
  const Status done = run();
  out << std::flush;
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  return out.good() ? 0 : 141;
}

}  // namespace dossier::cli
