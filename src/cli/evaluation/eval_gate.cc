// eval gate: decides whether this build is worse than another one.

#include <ostream>

#include "base/files/file.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/evaluation/eval_run.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "evaluation/gate/gate.h"

namespace dossier::cli {
namespace {

using evaluation::GateConfig;
using evaluation::GateLine;
using evaluation::SpeedResult;

struct GateArguments {
  std::string base, head, gates = "bench/gates.yml", accepted = "bench/accepted.yml",
                          out = "eval-gate";
  std::string bisect, tiers = "0";
  std::string model, base_url, key_env, script;
  bool record = false;

  bool HasTier(char tier) const { return tiers.find(tier) != std::string::npos; }
};

// Opens the model for the nightly suites and for new recordings.
Result<EvalModelInUse> OpenGateModel(const GateArguments& given, Context& context) {
  EvalRunArguments model;
  model.base_url = given.base_url;
  model.key_env = given.key_env;
  model.script = given.script;
  return OpenEvalModel(given.model, model, context);
}

Result<evaluation::SystemParts> Parts() {
  evaluation::SystemParts parts;
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, ExecutableFolder());
  parts.program = folder + "/dossier";
  parts.count = [](std::string_view text) { return static_cast<std::int64_t>(text.size() / 4); };
  return parts;
}

Status AddSpeed(const GateConfig& config, const evaluation::GatePrograms& programs,
                const evaluation::SystemParts& parts, Context& context,
                std::vector<GateLine>* lines) {
  const auto say = [&context](const evaluation::SpeedResults& so_far) {
    if (context.flags.quiet) return;
    context.err << fmt::format("dossier: round {}: CPU {:.2f} [{:.2f}, {:.2f}], wall {:.2f}\n",
                               so_far.cpu.rounds, so_far.cpu.ratio, so_far.cpu.low,
                               so_far.cpu.high, so_far.wall.ratio)
                << std::flush;
  };
  DOSSIER_ASSIGN_OR_RETURN(
      const evaluation::SpeedResults found,
      evaluation::CompareSpeed(programs, config.limits,
                               evaluation::MeasureSuites(config, parts, context.cancel), say));
  for (const auto& [metric, one] : {std::pair("CPU", &found.cpu), std::pair("wall", &found.wall)}) {
    const std::string said = fmt::format(
        "{:.2f} [{:.2f}, {:.2f}]  {} rounds, A/A {:.2f} [{:.2f}, {:.2f}]", one->ratio, one->low,
        one->high, one->rounds, one->same, one->same_low, one->same_high);
    context.err << fmt::format("dossier: all suites, {}  {}\n", metric, said);
    if (one->verdict == GateLine::Verdict::kOpen) continue;
    lines->push_back({.verdict = one->verdict,
                      .metric = metric,
                      .gate = "all suites",
                      .said = said,
                      .from = "1",
                      .to = fmt::format("{:.2f}", one->ratio)});
  }
  return {};
}

int ExitOf(const std::vector<GateLine>& lines) {
  int code = 0;
  for (const GateLine& line : lines) {
    if (line.verdict == GateLine::Verdict::kWorse) return kExitDifferences;
    const bool open =
        line.verdict == GateLine::Verdict::kUnclear || line.verdict == GateLine::Verdict::kRecord;
    if (open) code = ExitCode(ErrorCode::kPartial);
  }
  return code;
}

// Finds the first commit after `good` whose exact figures are worse than those of `good`.
Result<int> Bisect(const GateArguments& given, const GateConfig& config, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto commits,
                           evaluation::CommitsSince(given.bisect, context.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto parts, Parts());
  DOSSIER_ASSIGN_OR_RETURN(const std::string good,
                           evaluation::ProgramOf(given.bisect, config, context.cancel));
  std::vector<GateLine> shown;
  const auto is_bad = [&](std::size_t step) -> Result<bool> {
    DOSSIER_ASSIGN_OR_RETURN(const std::string program,
                             evaluation::ProgramOf(commits[step], config, context.cancel));
    DOSSIER_ASSIGN_OR_RETURN(
        const auto lines,
        evaluation::CompareExactly(config, {good, program}, parts, given.out, context.cancel));
    const bool bad = ExitOf(lines) != 0;
    context.err << fmt::format("dossier: {} is {}\n", commits[step].substr(0, 12),
                               bad ? "worse" : "as good");
    if (bad) shown = lines;
    return bad;
  };
  DOSSIER_ASSIGN_OR_RETURN(const bool any, is_bad(commits.size() - 1));
  if (!any) {
    context.out << "the last commit is as good: nothing to find\n";
    return 0;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t first, evaluation::FirstBad(commits.size(), is_bad));
  context.out << commits[first] << "\n";
  for (const GateLine& line : shown) context.out << line.Text() << "\n";
  return kExitDifferences;
}

// Asks the model the questions of the recorded suites again and stores its replies.
Result<int> RecordAnew(const GateArguments& given, const GateConfig& config,
                       const evaluation::SystemParts& parts, Context& context) {
  if (config.recorded.empty()) {
    return MakeError(ErrorCode::kConfig, "{}: there is no suite under `recorded:`", given.gates);
  }
  std::string program = parts.program;
  if (!given.head.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(program, evaluation::ProgramOf(given.head, config, context.cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(const EvalModelInUse opened, OpenGateModel(given, context));
  DOSSIER_ASSIGN_OR_RETURN(const auto files, evaluation::RecordSuites(config, program, opened.model,
                                                                      parts, context.cancel));
  for (const std::string& file : files) context.out << "recorded " << Safe(file) << "\n";
  return 0;
}

// Adds the tiers that need a real model, or a recording of one.
Status AddReal(const GateArguments& given, const GateConfig& config,
               const evaluation::GatePrograms& programs, const evaluation::SystemParts& parts,
               Context& context, std::vector<GateLine>* lines) {
  const auto add = [lines](std::vector<GateLine> found) {
    std::move(found.begin(), found.end(), std::back_inserter(*lines));
  };
  if (given.HasTier('2')) {
    DOSSIER_ASSIGN_OR_RETURN(auto found,
                             evaluation::CompareRecorded(config, programs, parts, context.cancel));
    add(std::move(found));
  }
  if (given.HasTier('3')) {
    DOSSIER_ASSIGN_OR_RETURN(const EvalModelInUse opened, OpenGateModel(given, context));
    DOSSIER_ASSIGN_OR_RETURN(
        auto found, evaluation::CompareNightly(config, programs, opened.model, parts, given.out,
                                               context.cancel));
    add(std::move(found));
  }
  return {};
}

Result<int> RunGate(const GateArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(GateConfig config, evaluation::LoadGates(given.gates));
  DOSSIER_ASSIGN_OR_RETURN(const auto own, Parts());
  if (given.record) return RecordAnew(given, config, own, context);
  if (!given.HasTier('3')) config.nightly.clear();
  DOSSIER_RETURN_IF_ERROR(evaluation::PrepareSets(own.program, given.out, context.cancel, &config));
  if (!given.bisect.empty()) return Bisect(given, config, context);
  if (given.base.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "eval gate: name what to compare with: --base REF or --base DIR");
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto accepted, evaluation::LoadAccepted(given.accepted));
  const evaluation::SystemParts& parts = own;
  evaluation::GatePrograms programs{.head = parts.program};
  DOSSIER_ASSIGN_OR_RETURN(programs.base,
                           evaluation::ProgramOf(given.base, config, context.cancel));
  if (!given.head.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(programs.head,
                             evaluation::ProgramOf(given.head, config, context.cancel));
  }
  std::vector<GateLine> lines;
  if (given.HasTier('0')) {
    DOSSIER_ASSIGN_OR_RETURN(
        lines, evaluation::CompareExactly(config, programs, parts, given.out, context.cancel));
  }
  if (given.HasTier('1')) {
    DOSSIER_RETURN_IF_ERROR(AddSpeed(config, programs, parts, context, &lines));
  }
  DOSSIER_RETURN_IF_ERROR(AddReal(given, config, programs, parts, context, &lines));
  evaluation::Accept(accepted, &lines);
  evaluation::SortLines(&lines);
  for (const GateLine& line : lines) context.out << line.Text() << "\n";
  if (lines.empty()) context.out << "no difference\n";
  return ExitOf(lines);
}

void DeclareGate(Flags& flags, GateArguments& to) {
  flags.Add("--base", &to.base, "a commit, a folder with a build, or a program").Kind(kPath);
  flags.Add("--head", &to.head, "the same, of what is judged (this program)").Kind(kPath);
  flags.Add("--tier", &to.tiers, "0: exact figures; 1: speed; 2: recorded runs; 3: a real model")
      .OneOf({"0", "1", "0,1", "2", "0,2", "0,1,2", "3"})
      .ShowDefault();
  flags.Add("--record", &to.record, "ask the model anew what tier 2 replays, and keep its replies");
  flags.Add("--bisect", &to.bisect, "name the first commit behind this good one that is worse")
      .Kind(kWord);
  flags.Add("--gates", &to.gates, "what is run, and the limits").Kind(kPath).ShowDefault();
  flags.Add("--accepted", &to.accepted, "changes that are intended").Kind(kPath).ShowDefault();
  flags.Add("--out", &to.out, "folder for transcripts").Kind(kPath).ShowDefault();
  Flags model = flags.In("Model");
  model.Add("-m,--model", &to.model, "model of tier 3 and of --record, as [PROVIDER/]NAME")
      .Kind(kModel);
  AddEndpointFlags(model, &to.base_url, &to.key_env);
  AddScriptFlag(model, &to.script);
}

}  // namespace

Command EvalGateCommand() {
  return {.name = "gate",
          .summary = "did this change make answers, requests, tokens or speed worse?",
          .examples =
              "dossier eval gate --base main\n"
              "    builds main once, and compares exactly",
          .binding = Bind(DeclareGate, RunGate)};
}

}  // namespace dossier::cli
