#include "cli/runs/agents_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/agents_view.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/shared_flags.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {
namespace {

using agents::AgentRunResult;
using agents::RunOptions;
using agents::RunPlan;
using agents::RunPorts;
using agents::TaskResult;
using agents::TaskStatus;

constexpr std::size_t kMaxPromptText = 1 << 20;  // bytes printed by `agents prompt`
constexpr std::size_t kSummaryLength = 72;       // code points in the summary of an ad-hoc task
constexpr std::string_view kDefaultTargets = "src,tests,docs";

RunOptions OptionsOf(const AgentsArguments& arguments) {
  RunOptions options{.workers = arguments.workers,
                     .tasks = arguments.tasks,
                     .only = arguments.only,
                     .target = arguments.target,
                     .engineer = arguments.engineer,
                     .reviewer = arguments.reviewer,
                     .attempts = arguments.attempts};
  if (arguments.dry_run) options.merging = RunOptions::Merging::kDryRun;
  if (arguments.branch) options.merging = RunOptions::Merging::kBranch;
  if (arguments.confine == "none") options.walls.confinement = agents::Confinement::kNone;
  options.walls.degraded = arguments.degraded;
  options.max_cost = arguments.limits.max_cost;
  options.max_tokens = arguments.limits.max_tokens;
  options.max_seconds = arguments.limits.max_seconds;
  if (arguments.keep_worktrees) options.worktrees = RunOptions::Worktrees::kKept;
  if (arguments.no_notes) options.notes = RunOptions::Notes::kNone;
  return options;
}

// The words of the text come last; after `--` any word is allowed.
Status CheckPlaces(const AgentsArguments& arguments, std::span<const std::string> argv) {
  const auto& text = arguments.text;
  const auto marker = std::find(argv.begin(), argv.end(), "--");
  const auto words =
      marker == argv.end()
          ? argv.end() - static_cast<std::ptrdiff_t>(std::min(text.size(), argv.size()))
          : marker + 1;
  if (std::equal(words, argv.end(), text.begin(), text.end())) return {};
  if (marker != argv.end()) {
    return MakeError(ErrorCode::kUsage,
                     "surplus words in front of --: all of the text stands "
                     "behind it");
  }
  return MakeError(ErrorCode::kUsage, "flag after the prompt text: put flags first, or use --");
}

Result<std::string> PromptWords(const AgentsArguments& arguments, Context& context) {
  DOSSIER_RETURN_IF_ERROR(CheckPlaces(arguments, context.argv));
  std::string text = Join(arguments.text, " ");
  if (text == "-") {
    text.clear();
    char c = 0;
    while (text.size() <= kMaxPromptText && context.in.get(c)) text += c;
  }
  if (text.size() > kMaxPromptText) {
    return MakeError(ErrorCode::kUsage, "the prompt text is longer than {} bytes", kMaxPromptText);
  }
  if (!utf8::IsValid(text)) return MakeError(ErrorCode::kUsage, "the prompt text is not UTF-8");
  text = std::string(TrimSpace(text));
  if (text.empty()) return MakeError(ErrorCode::kUsage, "the prompt text is empty");
  return text;
}

Result<sources::Task> AdHocTask(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, PromptWords(arguments, context));
  sources::Task task;
  const auto now = std::chrono::duration_cast<Millis>(SystemClock()->WallNow().time_since_epoch());
  task.id = fmt::format("prompt-{}", now.count());
  task.summary = std::string(utf8::Prefix(text.substr(0, text.find('\n')), kSummaryLength));
  task.description = text;
  task.priority = 1;
  const std::string targets =
      arguments.targets.empty() ? std::string(kDefaultTargets) : arguments.targets;
  for (const std::string_view target : Split(targets, ',')) {
    if (!TrimSpace(target).empty()) task.targets.emplace_back(TrimSpace(target));
  }
  return task;
}

void PrintPlan(const RunPlan& plan, const AgentsArguments& arguments, std::ostream& out) {
  if (arguments.json) {
    JsonArray steps;
    for (const RunPlan::Step& step : plan.steps) {
      steps.push_back(JsonObject{{"task", step.task},
                                 {"summary", step.summary},
                                 {"prompt_tokens", step.prompt_tokens},
                                 {"blocked", step.blocked}});
    }
    out << ToJson(JsonObject{{"schema", "dossier.agents-plan/1"},
                             {"base", plan.base},
                             {"ref", plan.ref},
                             {"engineer", plan.engineer},
                             {"reviewer", plan.reviewer},
                             {"steps", std::move(steps)},
                             {"problems", JsonArray(plan.problems.begin(), plan.problems.end())}})
        << "\n";
    return;
  }
  out << fmt::format("Base: {} ({})\nEngineer: {}\nReviewer: {}\n", plan.base, Safe(plan.ref),
                     Safe(plan.engineer), Safe(plan.reviewer));
  int number = 0;
  for (const RunPlan::Step& step : plan.steps) {
    if (step.blocked.empty()) {
      out << fmt::format("{:>3}. {}  {}  ({} prompt tokens)\n", ++number,
                         OnOneLine(step.task, kMostNamed), OnOneLine(step.summary, kMostNamed),
                         GroupDigits(static_cast<std::uint64_t>(step.prompt_tokens)));
    } else {
      out << fmt::format("  -  {}  blocked: {}\n", OnOneLine(step.task, kMostNamed),
                         OnOneLine(step.blocked, kMostNamed));
    }
  }
  for (const std::string& problem : plan.problems) {
    out << fmt::format("Would not start: {}\n", OnOneLine(problem, kMostNamed));
  }
}

void PrintJson(const AgentRunResult& summary, std::ostream& out) {
  JsonArray results;
  for (const TaskResult& result : summary.results) {
    JsonObject one{{"task-id", result.id}};
    for (auto& [key, value] : agents::ResultToJson(result)) one.emplace(key, value);
    results.push_back(std::move(one));
  }
  out << ToJson(JsonObject{
             {"schema", "dossier.agents/1"},
             {"run", summary.run},
             {"log", summary.log_path},
             {"results", std::move(results)},
             {"not_started", JsonArray(summary.not_started.begin(), summary.not_started.end())}})
      << "\n";
}

// The summary that a person acts on: changes in the branch, refusals and their rule, what waits.
class SummaryText {
 public:
  explicit SummaryText(const AgentRunResult& summary) : summary_(summary) {}

  std::string Text() {
    Group("merged", [](TaskStatus s) { return s == TaskStatus::kMerged; });
    Group("skipped", [](TaskStatus s) { return s == TaskStatus::kSkipped; });
    Group("refused", [](TaskStatus s) {
      return s == TaskStatus::kPolicyViolation || s == TaskStatus::kNeedsFix ||
             s == TaskStatus::kReviewFailed || s == TaskStatus::kMissingPatch;
    });
    Group("failed", [](TaskStatus s) {
      return s == TaskStatus::kEngineFailed || s == TaskStatus::kTimedOut ||
             s == TaskStatus::kApplyFailed || s == TaskStatus::kCommitFailed;
    });
    Group("waits", [](TaskStatus s) {
      return s == TaskStatus::kBlocked || s == TaskStatus::kInterrupted || s == TaskStatus::kBudget;
    });
    for (const std::string& id : summary_.not_started) {
      waiting_ += fmt::format("  {}  not started\n", OnOneLine(id, kMostNamed));
    }
    if (!waiting_.empty()) text_ += "not started:\n" + waiting_;
    text_ += fmt::format("run {}\nlog {}\n", summary_.run, Safe(summary_.log_path));
    return text_;
  }

 private:
  template <typename Fits>
  void Group(std::string_view name, Fits fits) {
    std::string lines;
    int count = 0;
    for (const TaskResult& result : summary_.results) {
      if (!fits(result.status)) continue;
      ++count;
      lines += Line(result);
    }
    if (count > 0) text_ += fmt::format("{} {}:\n{}", name, count, lines);
  }

  static std::string Line(const TaskResult& result) {
    if (result.status == TaskStatus::kMerged) {
      return fmt::format("  {}  {}  {}\n", OnOneLine(result.id, kMostNamed),
                         result.commit.substr(0, 12), OnOneLine(result.summary, kMostNamed));
    }
    std::string line =
        fmt::format("  {}  {}: {}\n", OnOneLine(result.id, kMostNamed),
                    agents::StatusName(result.status), OnOneLine(result.reason, kMostNamed));
    for (const agents::Violation& one : result.violations) {
      line += fmt::format(
          "    rule {}{}{}{}\n", one.rule, one.path.empty() ? "" : ": ",
          OnOneLine(one.path, kMostNamed),
          one.limit.empty() ? "" : fmt::format(" (limit {})", OnOneLine(one.limit, kMostNamed)));
    }
    const bool kept = !result.patch_file.empty() && result.status != TaskStatus::kSkipped;
    if (kept) line += fmt::format("    patch: {}\n", OnOneLine(result.patch_file, kMostNamed));
    return line;
  }

  const AgentRunResult& summary_;
  std::string text_, waiting_;
};

// Prints the results of a finished run and returns its exit code. `work` starts or resumes it.
Result<int> Watch(const AgentsArguments& arguments, Context& context, RunPorts ports,
                  const std::function<Result<AgentRunResult>(const RunPorts& ports)>& work) {
  AgentsViewOptions view_options{.terminal = Terminal::Detect(ParseColorWish(context.flags.color)),
                                 .out = &context.out,
                                 .err = &context.err};
  if (arguments.json) view_options.results = AgentsViewOptions::Results::kNone;
  if (context.flags.quiet) view_options.steps = AgentsViewOptions::Steps::kNone;
  AgentsView view(view_options);
  ports.watch = [&view](const store::Event& event) { view.OnEvent(event); };
  const Result<AgentRunResult> summary = work(ports);
  view.Finish();
  if (!summary) return tl::unexpected(summary.error());
  if (arguments.json) PrintJson(*summary, context.out);
  if (!context.flags.quiet) context.err << SummaryText(*summary).Text();
  if (arguments.dry_run && !arguments.json) {
    for (const TaskResult& result : summary->results) {
      if (!result.patch_file.empty()) context.out << result.patch_file << "\n";
    }
  }
  return summary->exit_code;
}

Result<int> WorkTasks(const AgentsArguments& arguments, Context& context,
                      const RunOptions& options) {
  if (arguments.dry_run && arguments.branch) {
    return MakeError(ErrorCode::kUsage, "--dry-run and --branch exclude each other");
  }
  DOSSIER_ASSIGN_OR_RETURN(RunPorts ports, MakePorts(arguments, context));
  if (arguments.plan) {
    DOSSIER_ASSIGN_OR_RETURN(const RunPlan plan, agents::PlanRun(options, ports));
    PrintPlan(plan, arguments, context.out);
    return 0;
  }
  return Watch(arguments, context, std::move(ports),
               [&](const RunPorts& watched) { return agents::RunTasks(options, watched); });
}

}  // namespace

Result<RunPorts> MakePorts(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  RunPorts ports{.clock = SystemClock()};
  DOSSIER_ASSIGN_OR_RETURN(ports.agents, LoadAgents(context.flags, config, context.err));
  ports.environment = sources::CurrentEnvironment();
  ports.journal_folder = config.user.data + "/runs";
  DOSSIER_ASSIGN_OR_RETURN(ports.assets, AssetFoldersFor("", context.flags, context.err));
  ports.makers = SectionMakersFor(
      {.flags = context.flags, .cancel = context.cancel, .err = context.err, .now = {}});
  ports.cancel = context.cancel;
  ports.warn = [&context](std::string_view text) {
    if (!context.flags.quiet) PrintWarning(context.err, text);
  };
  ModelFlags model;
  model.script = arguments.script;
  model.model = arguments.script.empty() ? "" : "scripted";
  model.prices = arguments.limits.prices;
  model.needs_price = arguments.limits.max_cost.has_value();
  DOSSIER_ASSIGN_OR_RETURN(model, WithConfig(std::move(model), config, context.flags));
  ports.open_model = [model, cancel = context.cancel,
                      &err = context.err](const std::string& name) -> Result<driver::BoundModel> {
    ModelFlags own = model;
    if (name != "default" && own.script.empty()) own.model = name;
    DOSSIER_ASSIGN_OR_RETURN(
        OpenedModel opened,
        OpenModel(own, [&err](std::string_view text) { err << text << "\n"; }, cancel));
    opened.root.sampling.temperature = own.temperature;
    return std::move(opened.root);
  };
  return ports;
}

Result<int> WorkQueue(const AgentsArguments& arguments, Context& context) {
  return WorkTasks(arguments, context, OptionsOf(arguments));
}

Result<int> WorkPrompt(const AgentsArguments& arguments, Context& context) {
  RunOptions options = OptionsOf(arguments);
  DOSSIER_ASSIGN_OR_RETURN(options.ad_hoc, AdHocTask(arguments, context));
  return WorkTasks(arguments, context, options);
}

Result<int> RetryWork(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(RunPorts ports, MakePorts(arguments, context));
  return Watch(arguments, context, std::move(ports),
               [&](const RunPorts& watched) { return agents::RetryRun(arguments.run, watched); });
}

Result<int> MergeWork(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(RunPorts ports, MakePorts(arguments, context));
  return Watch(arguments, context, std::move(ports), [&](const RunPorts& watched) {
    return agents::MergeApproved(
        arguments.task,
        arguments.no_checks ? RunOptions::MergeChecks::kNone : RunOptions::MergeChecks::kAgain,
        watched);
  });
}

Result<int> TidyWork(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Millis age, ReadTimeFlag("--older-than", arguments.older_than));
  DOSSIER_ASSIGN_OR_RETURN(const RunPorts ports, MakePorts(arguments, context));
  using Doing = agents::TidyOptions::Doing;
  DOSSIER_ASSIGN_OR_RETURN(
      const agents::TidyReport report,
      agents::TidyRuns({.older_than = ports.clock->WallNow() - age,
                        .doing = arguments.tell ? Doing::kTell : Doing::kRemove},
                       ports));
  if (arguments.json) {
    context.out << ToJson(JsonObject{
                       {"schema", "dossier.agents-gc/1"},
                       {"removed", JsonArray(report.removed.begin(), report.removed.end())},
                       {"bytes", report.bytes}})
                << "\n";
    return 0;
  }
  for (const std::string& one : report.removed) context.out << OnOneLine(one, kMostNamed) << "\n";
  if (!context.flags.quiet) {
    context.err << fmt::format("{} {}, {}\n", report.removed.size(),
                               arguments.tell ? "to remove" : "removed", FormatSize(report.bytes));
  }
  return 0;
}

Result<int> ResumeWork(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(RunPorts ports, MakePorts(arguments, context));
  if (!arguments.abandon) {
    return Watch(arguments, context, std::move(ports), [&](const RunPorts& watched) {
      return agents::ResumeRun(arguments.run, watched);
    });
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, agents::AbandonRun(arguments.run, ports));
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.agents-closed/1"}, {"run", run}}) << "\n";
  } else {
    context.out << fmt::format("{} is closed\n", run);
  }
  return 0;
}

}  // namespace dossier::cli
