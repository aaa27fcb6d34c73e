#include "agents/task/checks.h"

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

// The last `count` code points of valid UTF-8.
std::string_view LastCodePoints(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  for (std::size_t seen = 0; at > 0 && seen < count; ++seen) {
    do {
      --at;
    } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return text.substr(at);
}

std::string OutputOf(const ConfinedProcess& process) {
  std::string text = ReadFile(process.out_path, kMaxEngineOutput).value_or("") +
                     ReadFile(process.err_path, kMaxEngineOutput).value_or("");
  return std::string(LastCodePoints(utf8::Sanitize(text), kCheckFeedback));
}

std::string HowItEnded(const ProcessOutcome& outcome, const sources::AgentCheck& check) {
  switch (outcome.end) {
    case ProcessOutcome::End::kTimeout:
      return fmt::format("ran out of its {} s", check.timeout.count() / 1000);
    case ProcessOutcome::End::kSignal:
      return outcome.limit.empty() ? fmt::format("was ended by signal {}", outcome.signal)
                                   : fmt::format("was ended by the limit of {}", outcome.limit);
    case ProcessOutcome::End::kCancelled:
      return "was stopped";
    case ProcessOutcome::End::kExit:
      break;
  }
  return fmt::format("ended with exit code {}", outcome.exit_code);
}

ProcessPlaces PlacesOf(const Work& work, const Worktree& worktree,
                       const sources::AgentCheck& check) {
  ProcessPlaces places = PlacesBeside(work, worktree);
  // With git a check may look, and change nothing.
  places.readable.insert(places.readable.end(), places.own.begin(), places.own.end());
  places.own = {worktree.path()};
  for (const std::string& path : check.writable) places.writable.push_back(work.Whole(path));
  for (const std::string& path : check.readable) places.readable.push_back(work.Whole(path));
  return places;
}

// Said behind the output of a check that failed: it may have failed for its walls.
std::string AboutWalls(const Work& work, const sources::AgentCheck& check) {
  if (work.options.walls.confinement == Confinement::kNone) return "";
  return fmt::format("\n(It ran with an empty home, {}, and without other files of the user.)\n",
                     check.network ? "with network" : "without network");
}

}  // namespace

Result<CheckReport> RunChecks(Work& work, const CheckPlace& place, const CancelToken& cancel) {
  CheckReport report;
  for (std::size_t i = 0; i < work.agents.checks.size(); ++i) {
    const sources::AgentCheck& check = work.agents.checks[i];
    DOSSIER_ASSIGN_OR_RETURN(
        const Worktree worktree,
        Worktree::Make(work.git, work.state,
                       {.path = place.worktree, .commit = place.commit, .run = work.run()}));
    const ConfinedProcess process{
        .argv = check.argv,
        .folder = worktree.path(),
        .environment = EngineEnvironment(work.environment, {}),
        .input = {},
        .places = PlacesOf(work, worktree, check),
        .network = check.network ? ConfinedProcess::Network::kAny : ConfinedProcess::Network::kNone,
        .walls = work.options.walls,
        .time_limit = check.timeout,
        .grace = work.options.grace,
        .out_path = fmt::format("{}/check-{}.out", place.folder, i + 1),
        .err_path = fmt::format("{}/check-{}.err", place.folder, i + 1),
        .secrets = &work.secrets};
    const auto outcome = RunConfined(process, cancel);
    if (!outcome && outcome.error().code != ErrorCode::kNotFound &&
        outcome.error().code != ErrorCode::kPermission &&
        outcome.error().code != ErrorCode::kDied) {
      return tl::unexpected(outcome.error());
    }
    const std::string ended = outcome ? HowItEnded(*outcome, check) : outcome.error().message;
    const bool good =
        outcome && outcome->end == ProcessOutcome::End::kExit && outcome->exit_code == 0;
    report.stopped = outcome && outcome->end == ProcessOutcome::End::kCancelled;
    DOSSIER_RETURN_IF_ERROR(work.log.Add(
        "check.finished", place.task,
        {{"check", check.name}, {"result", good ? "passed" : "failed"}, {"reason", ended}}));
    report.text += fmt::format("{}: {}\n", check.name, good ? "passed" : ended);
    if (report.stopped) return report;
    if (good) continue;
    report.failed = check.name;
    report.reason = ended;
    report.feedback = fmt::format("The check {} {}. The end of its output:\n{}{}", check.name,
                                  ended, OutputOf(process), AboutWalls(work, check));
    return report;
  }
  return report;
}

}  // namespace dossier::agents
