#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "base/files/glob.h"
#include "base/files/locations.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/evaluation/eval_run.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/shared_flags.h"
#include "evaluation/run/judge.h"
#include "evaluation/solvers/solvers.h"

namespace dossier::cli {
namespace {

using evaluation::Arm;
using evaluation::AskedSet;
using evaluation::AskedTask;
using evaluation::EvalModel;
using evaluation::QuestionRules;

constexpr std::string_view kDefaultArm = "dossier";

bool NeedsModel(const Arm& arm) {
  for (const evaluation::SystemInfo& info : evaluation::Systems()) {
    if (info.name == arm.system) return info.kind != evaluation::SystemInfo::Kind::kSolver;
  }
  return true;
}

// Replaces the truth by the results of a stub's labels; drops questions without a unique answer,
// and says how many. Errors: kConfig if the set has no answers for this share.
Status UseStubGold(const std::string& share, std::ostream& err, AskedSet* set) {
  std::set<std::string> shares{"0"};
  for (const AskedTask& asked : set->tasks) {
    for (const auto& [name, gold] : asked.task.stub_gold) shares.emplace(name);
  }
  const bool asks_labels = std::ranges::any_of(set->tasks, [](const AskedTask& asked) {
    return asked.task.needs != evaluation::Needs::kStructure;
  });
  if (asks_labels && !shares.contains(share)) {
    const std::vector<std::string> known(shares.begin(), shares.end());
    return MakeError(ErrorCode::kConfig, "--stub-errors {}: {} has answers for {}", share,
                     set->name, Join(known, ", "));
  }
  const std::size_t all = set->tasks.size();
  std::erase_if(set->tasks, [&share](AskedTask& asked) {
    if (asked.task.needs == evaluation::Needs::kStructure) return false;
    const Json* gold = asked.task.stub_gold.if_contains(share);
    if (gold != nullptr) asked.task.gold = *gold;
    return gold == nullptr;
  });
  if (const std::size_t left_out = all - set->tasks.size(); left_out > 0) {
    err << fmt::format(
        "dossier: {} of {} questions have no one answer at --stub-errors {}; they are left out\n",
        left_out, all, share);
  }
  return {};
}

// Keeps the tasks that --only and --sample select, evenly spread.
Status Choose(const EvalRunArguments& given, std::ostream& err, std::vector<AskedSet>* sets) {
  std::size_t left = 0;
  for (AskedSet& set : *sets) {
    if (!given.stub_errors.empty() && given.stub_errors != "0") {
      DOSSIER_RETURN_IF_ERROR(UseStubGold(given.stub_errors, err, &set));
    }
    if (!given.only.empty()) {
      const Glob glob(given.only);
      std::erase_if(set.tasks, [&](const AskedTask& asked) {
        const bool by_tag = std::ranges::any_of(
            asked.tags, [&](const std::string& tag) { return glob.Matches(tag); });
        return !by_tag && !glob.Matches(asked.task.id);
      });
    }
    const auto count = static_cast<std::size_t>(given.sample.value_or(0));
    if (count > 0 && count < set.tasks.size()) {
      std::vector<AskedTask> sample;
      for (std::size_t i = 0; i < count; ++i) {
        sample.push_back(std::move(set.tasks[i * set.tasks.size() / count]));
      }
      set.tasks = std::move(sample);
    }
    left += set.tasks.size();
  }
  if (left > 0) return {};
  return MakeError(ErrorCode::kUsage, "no question is left{}{}",
                   given.only.empty() ? "" : " by --only ", given.only);
}

std::optional<std::int64_t> PriceOfCached(const model::Entry& entry) {
  const auto price = model::CachedPriceOf(entry);
  if (!price) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(price->nano_usd));
}

EvalModel ModelOf(const std::string& name, const app::ModelEndpoint& endpoint) {
  const driver::BoundModel& bound = endpoint.bound;
  const auto& capability = bound.entry.capability;
  return {
      .name = name,
      .upstream = {.base_url = endpoint.base_url, .model = bound.name, .headers = endpoint.headers},
      .window = capability.window,
      .max_output = capability.max_output,
      .price_input = bound.entry.price_input,
      .price_cached = PriceOfCached(bound.entry),
      .price_output = bound.entry.price_output,
      .prices_of = bound.entry.as_of,
      .weights = endpoint.weights,
      .script = endpoint.script,
      .address = endpoint.address};
}

Result<app::ModelEndpoint> OpenModel(const std::string& name, const EvalRunArguments& given,
                                     const config::Config& config, Context& context) {
  ModelFlags flags;
  flags.model = name;
  flags.base_url = given.base_url;
  flags.key_env = given.key_env;
  flags.script = given.script;
  flags.prices = given.prices;
  flags.window = given.window;
  flags.needs_price = given.max_cost.has_value();
  DOSSIER_ASSIGN_OR_RETURN(flags, WithConfig(std::move(flags), config, context.flags));
  DOSSIER_ASSIGN_OR_RETURN(const app::ModelSettings settings, SettingsOf(flags));
  const auto say = [&context](std::string_view line) {
    if (!context.flags.quiet) context.err << "dossier: " << line << "\n";
  };
  return app::OpenEndpoint(settings, say, context.cancel);
}

// Opinions need a model of their own, and no gate counts them as scores.
Status CheckJudge(const EvalRunArguments& given, const evaluation::EvalPlan& plan) {
  std::size_t judged = 0, all = 0;
  std::string first;
  for (const AskedSet& set : plan.sets) {
    for (const AskedTask& asked : set.tasks) {
      ++all;
      if (asked.task.scorer != evaluation::kJudgeScorer) continue;
      if (judged++ == 0) first = asked.task.id;
    }
  }
  if (judged > 0 && given.judge.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "{} is for a judge: name the model that gives its opinion with --judge",
                     first);
  }
  if (judged == all && given.min_score) {
    return MakeError(ErrorCode::kUsage,
                     "--min-score: every question is for a judge, and an opinion is no score; give "
                     "some another scorer");
  }
  return {};
}

Status OpenModels(const EvalRunArguments& given, Context& context, PreparedPlan* prepared) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  std::vector<std::string> names = given.models;
  if (names.empty()) names.emplace_back("");
  for (const std::string& name : names) {
    DOSSIER_ASSIGN_OR_RETURN(app::ModelEndpoint endpoint, OpenModel(name, given, config, context));
    prepared->plan.models[name] = ModelOf(name.empty() ? endpoint.bound.name : name, endpoint);
    prepared->endpoints.push_back(std::move(endpoint));
  }
  if (given.judge.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(app::ModelEndpoint judge,
                           OpenModel(given.judge, given, config, context));
  prepared->plan.judge = judge.bound.name;
  prepared->endpoints.push_back(std::move(judge));
  return {};
}

// Reports, before anything is asked, what `dossier ask` would reject in an arm's flags.
Status CheckFlags(const Arm& arm) {
  if (arm.system != kDefaultArm) return {};
  GlobalFlags global;
  const CommandNode root(RootCommand(&global));
  std::vector<std::string> words{"ask"};
  words.insert(words.end(), arm.argv.begin(), arm.argv.end());
  const auto line = ParseLine(root, words);
  if (!line) {
    return MakeError(line.error().code, "the arm {}: {}", arm.name, line.error().message);
  }
  if (line->wish == ParsedLine::Wish::kRun) return {};
  return MakeError(ErrorCode::kUsage, "the arm {}: its flags ask for help instead of an answer",
                   arm.name);
}

// Makes the grid of the comparison: every arm with every model.
Status MakeArms(const EvalRunArguments& given, std::vector<Arm>* arms) {
  std::map<std::string, Arm> known;
  if (!given.arms_file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(known, evaluation::LoadArms(given.arms_file));
  }
  std::vector<std::string> wanted = given.arms;
  if (wanted.empty()) wanted.emplace_back(kDefaultArm);
  std::vector<std::string> models = given.models;
  if (models.empty()) models.emplace_back("");
  for (const std::string& text : wanted) {
    DOSSIER_ASSIGN_OR_RETURN(const Arm arm, evaluation::ParseArm(text, known));
    DOSSIER_RETURN_IF_ERROR(CheckFlags(arm));
    for (const std::string& model : models) {
      Arm one = arm;
      if (!arm.model.empty() && arm.model != model) continue;
      one.model = model;
      if (!NeedsModel(arm)) {
        one.model = models.front();
        arms->push_back(std::move(one));
        break;
      }
      if (models.size() > 1) one.name += "@" + model;
      arms->push_back(std::move(one));
    }
  }
  return {};
}

// Scores by rule, then asks the judge about the tasks meant for it. A failed opinion is noted in
// the row; it does not end the run.
std::function<Result<void>(const AskedTask&, evaluation::Row*)> ScoreWithJudge(
    evaluation::Judge judge, const CancelToken& cancel) {
  return [judge = std::move(judge), cancel, run = JailedScorer(cancel)](
             const AskedTask& asked, evaluation::Row* row) -> Result<void> {
    DOSSIER_RETURN_IF_ERROR(evaluation::ScoreRow(asked, run, row));
    if (asked.task.scorer != evaluation::kJudgeScorer) return {};
    if (row->status != evaluation::RowStatus::kOk) return {};
    const auto opinion = evaluation::AskJudge(judge, asked, row->answer, cancel);
    if (opinion) {
      row->opinion = *opinion;
      row->rule = "opinion";
    } else if (row->detail.empty()) {
      row->detail = "no opinion: " + opinion.error().message;
    }
    return {};
  };
}

Status AddParts(const CancelToken& cancel, PreparedPlan* prepared) {
  evaluation::SystemParts& systems = prepared->parts.systems;
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, ExecutableFolder());
  systems.program = folder + "/dossier";
  DOSSIER_ASSIGN_OR_RETURN(systems.peers_folder, PeersFolder());
  DOSSIER_ASSIGN_OR_RETURN(systems.loop, HttpLoop::Make());
  const auto counter = prepared->endpoints.front().bound.counter;
  systems.count = [counter](std::string_view text) { return counter->CountText(text).tokens; };
  prepared->parts.score = [run = JailedScorer(cancel)](const AskedTask& asked,
                                                       evaluation::Row* row) {
    return evaluation::ScoreRow(asked, run, row);
  };
  if (!prepared->plan.judge.empty()) {
    const app::ModelEndpoint& judge = prepared->endpoints.back();
    prepared->parts.score = ScoreWithJudge(
        {.model = ModelOf(judge.bound.name, judge).upstream, .loop = systems.loop}, cancel);
  }
  std::map<std::string, std::shared_ptr<const evaluation::TaskSet>> set_of;  // by task
  for (const AskedSet& set : prepared->plan.sets) {
    for (const AskedTask& asked : set.tasks) set_of[asked.task.id] = set.source;
  }
  systems.solve = [set_of = std::move(set_of)](std::string_view name,
                                               const AskedTask& asked) -> Result<std::string> {
    const auto solver = evaluation::SolverByName(name);
    const auto set = set_of.find(asked.task.id);
    if (solver && set != set_of.end() && set->second) {
      return evaluation::Solve(*solver, asked.task, *set->second);
    }
    return MakeError(ErrorCode::kUnavailable, "{} answers tasks of a task set only", name);
  };
  return {};
}

Status ReadLimits(const EvalRunArguments& given, evaluation::RunLimits* limits) {
  DOSSIER_ASSIGN_OR_RETURN(limits->time, ReadTimeFlag("--limit-time", given.limit_time));
  if (!given.max_time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(limits->max_time, ReadTimeFlag("--max-time", given.max_time));
  }
  limits->calls = given.limit_calls;
  limits->max_cost = given.max_cost;
  limits->jobs = static_cast<int>(given.jobs);
  limits->repeats = static_cast<int>(given.repeats);
  return {};
}

}  // namespace

Result<EvalModelInUse> OpenEvalModel(const std::string& name, const EvalRunArguments& given,
                                     Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  DOSSIER_ASSIGN_OR_RETURN(app::ModelEndpoint endpoint, OpenModel(name, given, config, context));
  return EvalModelInUse{.model = ModelOf(name.empty() ? endpoint.bound.name : name, endpoint),
                        .endpoint = std::move(endpoint)};
}

Result<std::string> PeersFolder() {
  DOSSIER_ASSIGN_OR_RETURN(const std::string cache, CacheFolder());
  return cache + "/eval-peers";
}

Result<PreparedPlan> PreparePlan(const EvalRunArguments& given, Context& context) {
  PreparedPlan prepared;
  evaluation::EvalPlan& plan = prepared.plan;
  for (const std::string& path : given.sets) {
    DOSSIER_ASSIGN_OR_RETURN(AskedSet set,
                             evaluation::LoadQuestions(path, context.cancel, given.contexts_from));
    for (const std::string& secret : set.left_out) {
      context.err << fmt::format(
          "dossier: {} is left out, since it is a secret file; --contexts-from {} sends it\n",
          Safe(secret), Safe(secret));
    }
    plan.sets.push_back(std::move(set));
  }
  DOSSIER_RETURN_IF_ERROR(Choose(given, context.err, &plan.sets));
  DOSSIER_RETURN_IF_ERROR(CheckJudge(given, plan));
  DOSSIER_RETURN_IF_ERROR(MakeArms(given, &plan.arms));
  DOSSIER_RETURN_IF_ERROR(ReadLimits(given, &plan.limits));
  DOSSIER_RETURN_IF_ERROR(OpenModels(given, context, &prepared));
  DOSSIER_RETURN_IF_ERROR(AddParts(context.cancel, &prepared));
  plan.temperature = given.temperature;
  plan.seed = given.seed;
  plan.cache = given.cache == "cold" ? QuestionRules::Cache::kCold : QuestionRules::Cache::kWarm;
  plan.argv.assign(context.argv.begin(), context.argv.end());
  plan.version = kVersion;
  plan.binary = BuildId();
  return prepared;
}

}  // namespace dossier::cli
