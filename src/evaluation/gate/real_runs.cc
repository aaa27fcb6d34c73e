// The gates with a real model: its recorded replies, replayed; at night the model itself.

#include "base/files/file.h"
#include "base/text/text.h"
#include "evaluation/gate/gate.h"
#include "evaluation/report/summary.h"

namespace dossier::evaluation {
namespace {

constexpr Millis kRealQuestionLimit{600'000};
// A replay sends nothing: nobody listens at this address.
constexpr std::string_view kNowhere = "http://127.0.0.1:9/v1";
// How a replay reports a prompt that is not in its recording.
constexpr std::string_view kNotRecorded = "was not recorded";
constexpr double kWatchPoints = 2;
constexpr std::uint64_t kSeed = 1;
constexpr std::string_view kRecordCommand = "dossier eval gate --tier 2 --record -m MODEL";

std::string RecordingOf(const GateSuite& suite, const AskedTask& asked) {
  return fmt::format("{}/{}.jsonl", suite.recording, asked.task.id);
}

Arm ArmOf(const GateSuite& suite, std::string name, const std::string& program) {
  Arm arm{.name = std::move(name), .system = "dossier", .argv = suite.flags, .program = program};
  arm.argv.insert(arm.argv.end(), {"--seed", std::to_string(kSeed)});
  return arm;
}

// The sentence about the first prompt of a replay that is not in the recording; "" if all are.
std::string ChangedPrompt(const Answer& answer) {
  const std::string all = ToJson(answer.events) + answer.detail;
  const std::size_t at = all.find(kNotRecorded);
  if (at == std::string::npos) return "";
  std::size_t from = all.rfind("request ", at);
  if (from == std::string::npos) from = at;
  const std::string_view rest = std::string_view(all).substr(from);
  return std::string(rest.substr(0, rest.find_first_of("\"\\;\n")));
}

// Results of both programs in a recorded suite, as far as their prompts match the recording.
struct Replayed {
  GateFigures base, head;
  std::vector<GateLine> due;  // one for each task that needs a new recording
};

GateLine RecordLine(const GateSuite& suite, const AskedTask& asked, std::string why) {
  return {.verdict = GateLine::Verdict::kRecord,
          .metric = "prompts of " + asked.task.id,
          .gate = suite.name,
          .said = std::move(why),
          .show = std::string(kRecordCommand)};
}

Result<Answer> Replay(const GateSuite& suite, const AskedTask& asked, const std::string& program,
                      const SystemParts& parts, const CancelToken& cancel) {
  Arm arm = ArmOf(suite, "replay", program);
  arm.argv.insert(arm.argv.end(), {"--replay", RecordingOf(suite, asked)});
  DOSSIER_ASSIGN_OR_RETURN(const auto system, MakeSystem(arm, parts));
  Answer answer = system->Ask({.asked = &asked,
                               .url = std::string(kNowhere),
                               .model = suite.model,
                               .limit = kRealQuestionLimit,
                               .events = Asking::Events::kYes},
                              cancel);
  if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  if (answer.status == RowStatus::kHarnessError) {
    return MakeError(ErrorCode::kNotFound, "{} {}: {}", suite.name, asked.task.id, answer.detail);
  }
  return answer;
}

Result<Replayed> ReplaySuite(const GateSuite& suite, const GatePrograms& programs,
                             const SystemParts& parts, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const AskedSet set, LoadQuestions(suite.questions, cancel, kAnywhere));
  Replayed replayed;
  for (const AskedTask& asked : set.tasks) {
    if (!Exists(RecordingOf(suite, asked))) {
      replayed.due.push_back(RecordLine(suite, asked, "there is no recording"));
      continue;
    }
    DOSSIER_ASSIGN_OR_RETURN(const Answer head, Replay(suite, asked, programs.head, parts, cancel));
    if (std::string changed = ChangedPrompt(head); !changed.empty()) {
      replayed.due.push_back(RecordLine(suite, asked, std::move(changed)));
      continue;
    }
    DOSSIER_ASSIGN_OR_RETURN(const Answer base, Replay(suite, asked, programs.base, parts, cancel));
    // The recording is from the head: a different prompt of an older program is not reported.
    if (!ChangedPrompt(base).empty()) continue;
    AddRun(asked.task.id, base, 0, &replayed.base);
    AddRun(asked.task.id, head, 0, &replayed.head);
  }
  return replayed;
}

// Runs one nightly suite: both programs take turns over the same tasks.
Result<ArmComparison> AskBoth(const GateSuite& suite, const GatePrograms& programs,
                              const EvalModel& model, const SystemParts& parts,
                              const std::string& folder, const CancelToken& cancel) {
  EvalPlan plan{.arms = {ArmOf(suite, "base", programs.base), ArmOf(suite, "head", programs.head)},
                .limits = {.repeats = suite.repeats},
                .seed = kSeed};
  plan.models.emplace("", model);
  DOSSIER_ASSIGN_OR_RETURN(AskedSet set, LoadQuestions(suite.questions, cancel, kAnywhere));
  plan.sets.push_back(std::move(set));
  DOSSIER_ASSIGN_OR_RETURN(
      const Summary summary,
      RunPlan(plan, folder,
              {.systems = parts,
               .score = [](const AskedTask& asked, Row* row) { return ScoreRow(asked, {}, row); }},
              OldRows::kDiscard, cancel, [](const Row&, std::int64_t) {}));
  if (summary.end == Summary::End::kCancelled) {
    return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  }
  if (summary.end != Summary::End::kDone) {
    return MakeError(ErrorCode::kPartial, "{}: {}", suite.name, summary.why);
  }
  DOSSIER_ASSIGN_OR_RETURN(const RunData run, LoadRun({folder}));
  DOSSIER_ASSIGN_OR_RETURN(const PairSummary pair, ComparePair(run, "head", "base"));
  return pair.found;
}

}  // namespace

Result<std::vector<GateLine>> CompareRecorded(const GateConfig& config,
                                              const GatePrograms& programs,
                                              const SystemParts& parts, const CancelToken& cancel) {
  std::vector<GateLine> lines;
  for (const GateSuite& suite : config.recorded) {
    DOSSIER_ASSIGN_OR_RETURN(Replayed found, ReplaySuite(suite, programs, parts, cancel));
    auto differences = CompareFigures(suite.name, found.base, found.head, config.limits);
    for (auto* list : {&differences, &found.due}) {
      std::move(list->begin(), list->end(), std::back_inserter(lines));
    }
  }
  return lines;
}

Result<std::vector<std::string>> RecordSuites(const GateConfig& config, const std::string& program,
                                              const EvalModel& model, const SystemParts& parts,
                                              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const auto proxy, Proxy::Start({.count = parts.count}));
  std::vector<std::string> files;
  for (const GateSuite& suite : config.recorded) {
    if (suite.model != model.upstream.model) {
      return MakeError(ErrorCode::kConfig, "{} is recorded with {}; this is {}", suite.name,
                       suite.model, model.upstream.model);
    }
    DOSSIER_RETURN_IF_ERROR(MakeFolders(suite.recording));
    DOSSIER_ASSIGN_OR_RETURN(const AskedSet set, LoadQuestions(suite.questions, cancel, kAnywhere));
    for (const AskedTask& asked : set.tasks) {
      const std::string file = RecordingOf(suite, asked);
      Arm arm = ArmOf(suite, "record", program);
      arm.argv.insert(arm.argv.end(), {"--record", file});
      DOSSIER_ASSIGN_OR_RETURN(const auto system, MakeSystem(arm, parts));
      const auto question = proxy->Open(model.upstream, {}, "");
      const Answer answer = system->Ask({.asked = &asked,
                                         .url = question->url(),
                                         .model = model.upstream.model,
                                         .limit = kRealQuestionLimit},
                                        cancel);
      question->Close();
      if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
      if (!Exists(file)) {
        return MakeError(ErrorCode::kFailed, "{} {}: nothing was recorded: {}", suite.name,
                         asked.task.id, answer.detail);
      }
      files.push_back(file);
    }
  }
  return files;
}

GateLine NightlyLine(const std::string& gate, const ArmComparison& found) {
  using Verdict = GateLine::Verdict;
  GateLine line{.verdict = Verdict::kOpen, .metric = "score", .gate = gate};
  const std::string size = fmt::format("{} tasks in {} window{}", found.tasks, found.windows,
                                       found.windows == 1 ? "" : "s");
  if (!found.enough()) {
    line.verdict = Verdict::kUnclear;
    line.said = fmt::format("{:+.1f} points, too few to tell: {}, and {} in {} are needed",
                            found.difference, size, kLeastTasks, kLeastWindows);
    return line;
  }
  const std::string verdict = VerdictOf(found);
  if (found.separated) {
    line.verdict = found.difference < 0 ? Verdict::kWorse : Verdict::kBetter;
    line.said = fmt::format("{:+.1f} points ({}), {}", found.difference, RangeText(found), size);
  } else {
    if (found.difference <= -kWatchPoints) line.verdict = Verdict::kWatch;
    line.said = fmt::format("{:+.1f} points, {}, {}", found.difference, verdict, size);
  }
  line.from = "0.0";
  line.to = fmt::format("{:+.1f}", found.difference);
  return line;
}

Result<std::vector<GateLine>> CompareNightly(const GateConfig& config, const GatePrograms& programs,
                                             const EvalModel& model, const SystemParts& parts,
                                             const std::string& folder, const CancelToken& cancel) {
  std::vector<GateLine> lines;
  for (std::size_t i = 0; i < config.nightly.size(); ++i) {
    const GateSuite& suite = config.nightly[i];
    const std::string run = fmt::format("{}/nightly-{}", folder, i);
    DOSSIER_ASSIGN_OR_RETURN(const ArmComparison found,
                             AskBoth(suite, programs, model, parts, run, cancel));
    lines.push_back(NightlyLine(suite.name, found));
    lines.back().show = "dossier eval report " + run;
  }
  return lines;
}

}  // namespace dossier::evaluation
