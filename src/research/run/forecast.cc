#include "research/run/forecast.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/call/call_sites.h"
#include "research/exec/disk_limit.h"
#include "research/files/cuts.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/run/run_history.h"
#include "research/setup/config_keys.h"

namespace dossier::research {
namespace {

constexpr int kLatest = 3;  // number of runs measured
constexpr double kNanoOfDollar = 1e9, kSecondsOfHour = 3600;
// Defaults without measurements: tokens that a call adds to the first prompt, and of a reply.
constexpr std::int64_t kOwnTokens = 1'500, kReplyTokens = 1'000;

// Number of questions at a call site: per node, per stage end, per run.
struct Asked {
  std::string_view site;
  double node = 0, stage = 0, run = 0;
};

// Assumes that most programs work, and that phase 1 takes two steps.
std::vector<Asked> AskedOf(const RunOrder& order) {
  const RunConfig& config = order.config;
  const bool split = config.exec.phase_mode == PhaseMode::kSplit;
  std::vector<Asked> asked = {{.site = "phase0_plan", .node = split ? 1.0 : 0},
                              {.site = "phase1_step", .node = split ? 2.0 : 0},
                              {.site = "draft", .node = 1},
                              {.site = "execution_review", .node = 1},
                              {.site = "node_summary", .node = 1},
                              {.site = "best_node", .stage = 1},
                              {.site = "journal_summary", .stage = 1},
                              {.site = "stage_notes", .stage = 1},
                              {.site = "seed_injection", .stage = config.num_seeds > 0 ? 1.0 : 0},
                              {.site = "define_metrics", .run = 1},
                              {.site = "run_summary", .stage = 1},
                              {.site = "report", .run = config.generate_report ? 1.0 : 0}};
  if (!Skips(order, RunOrder::Skip::kPlots)) {
    asked.insert(asked.end(), {{.site = "plotting_code", .node = 1},
                               {.site = "vlm_analysis", .node = 1},
                               {.site = "datasets_tested", .node = 1},
                               {.site = "seed_plot", .stage = 1},
                               {.site = "plot_aggregation", .run = 2}});
  }
  if (Skips(order, RunOrder::Skip::kWriteup)) return asked;
  const double sections = config.paper_section_count;
  asked.insert(asked.end(),
               {{.site = "final_outline", .run = 1},
                {.site = "final_section", .run = sections},
                {.site = "final_keywords", .run = sections},
                {.site = "writeup", .run = 1},
                {.site = "writeup_reflection", .run = 1.0 * config.writeup_reflections}});
  const bool sources = !config.citation_bibtex.empty() || !config.citation_search_url.empty();
  if (sources && !Skips(order, RunOrder::Skip::kCitations)) {
    asked.push_back({.site = "citations", .run = 1.0 * config.citation_rounds});
    asked.push_back({.site = "citation_choice", .run = 1.0 * config.citation_rounds});
  }
  if (!Skips(order, RunOrder::Skip::kReview)) {
    asked.push_back({.site = "review", .run = 1.0 * config.review_ensemble});
  }
  return asked;
}

// Nodes that the stages make: from one round, if a stage may end early, to its limit.
Range NodesOf(const RunOrder& order) {
  Range nodes;
  for (const int stage : order.stages) {
    if (order.until &&
        static_cast<int>(*order.until) - static_cast<int>(Step::kStage1) + 1 < stage) {
      continue;
    }
    const std::int64_t cap = order.config.stage_cap(stage);
    std::int64_t round = std::min<std::int64_t>(order.config.num_workers, cap);
    if (stage == 1) round = std::min<std::int64_t>(round, order.config.num_drafts);
    nodes.least += static_cast<double>(stage == 3 ? cap : round);
    nodes.most += static_cast<double>(cap);
  }
  return nodes;
}

// Calls and tokens of one role, as real numbers, since means of calls are fractional.
struct Share {
  double calls = 0, input = 0, output = 0, cached = 0, cache_write = 0;

  void Add(const Share& other, double times) {
    calls += times * other.calls;
    input += times * other.input;
    output += times * other.output;
    cached += times * other.cached;
    cache_write += times * other.cache_write;
  }
};
using Shares = std::map<std::string, Share>;

Share ShareOf(const model::UsageSum& usage) {
  return {.calls = static_cast<double>(usage.calls),
          .input = static_cast<double>(usage.total.input),
          .output = static_cast<double>(usage.total.output),
          .cached = static_cast<double>(usage.total.cached),
          .cache_write = static_cast<double>(usage.total.cache_write)};
}

// Returns what `nodes` nodes use, by the measured mean, which includes the run's other calls.
Shares Measured(const MeasuredRuns& before, double nodes) {
  Shares shares;
  for (const auto& [role, usage] : before.roles) {
    shares[role].Add(ShareOf(usage), nodes / static_cast<double>(before.nodes));
  }
  return shares;
}

Shares Assumed(const ForecastFacts& facts, double nodes) {
  const double stages = static_cast<double>(facts.order->stages.size());
  Shares shares;
  for (const Asked& asked : AskedOf(*facts.order)) {
    const CallSite* site = FindCallSite(asked.site);
    double calls = nodes * asked.node + stages * asked.stage + asked.run;
    if (facts.order->config.memory_enabled && site->first == FirstAsked::kMemory) calls *= 2;
    const Share one{.calls = 1,
                    .input = static_cast<double>(facts.prompt_tokens + kOwnTokens),
                    .output = static_cast<double>(kReplyTokens)};
    shares[std::string(site->role)].Add(one, calls);
  }
  return shares;
}

struct Sum {
  double calls = 0, tokens = 0, usd = 0;
  std::vector<std::string> unpriced;
};

Sum SumOf(const Shares& shares, const std::map<std::string, model::Entry>& models) {
  Sum sum;
  for (const auto& [role, share] : shares) {
    sum.calls += share.calls;
    sum.tokens += share.input + share.output;
    const model::Usage usage{.input = static_cast<std::int64_t>(share.input),
                             .output = static_cast<std::int64_t>(share.output),
                             .cached = static_cast<std::int64_t>(share.cached),
                             .cache_write = static_cast<std::int64_t>(share.cache_write)};
    const auto entry = models.find(role);
    const auto cost = entry == models.end() ? std::nullopt : model::CostOf(usage, entry->second);
    if (cost) sum.usd += static_cast<double>(*cost) / kNanoOfDollar;
    if (!cost && share.calls > 0) sum.unpriced.push_back(role);
  }
  return sum;
}

std::string LimitsOf(const RunConfig& config) {
  std::vector<std::string> limits;
  if (config.max_cost_usd) limits.push_back(UsdText(*config.max_cost_usd) + " USD");
  if (config.max_tokens) {
    limits.push_back(GroupDigits(static_cast<std::uint64_t>(*config.max_tokens)) + " tokens");
  }
  if (config.max_seconds) limits.push_back(fmt::format("{} s", *config.max_seconds));
  return Join(limits, ", ");
}

void AddRun(const std::string& folder, MeasuredRuns* measured) {
  const auto text =
      ReadRegularFile(fmt::format("{}/{}", folder, run_files::kTokenTracker), 1 << 20);
  const auto tracker = text ? ParseJson(*text) : Result<Json>(Json());
  const Json* roles = tracker ? Find(*tracker, "roles") : nullptr;
  if (!roles || !roles->is_object()) return;
  const auto history = ReadRunHistory(folder);
  const std::int64_t nodes = history ? CountNodes(history->results.stages).done : 0;
  if (nodes == 0) return;
  for (const auto& [role, usage] : roles->get_object()) {
    model::UsageSum& sum = measured->roles[std::string(role)];
    const auto read = ReadUsage(usage);
    if (read) sum.Add(*read);
  }
  ++measured->runs;
  measured->nodes += nodes;
  measured->seconds += history->spend.seconds;
  measured->bytes += static_cast<double>(DiskUseOf(folder).bytes);
}

// "1,234" or "1,234 to 5,678".
template <typename Text>
std::string RangeText(const Range& range, const Text& text) {
  const std::string least = text(range.least), most = text(range.most);
  return least == most ? most : fmt::format("{} to {}", least, most);
}

std::string WholeText(double number) {
  return GroupDigits(static_cast<std::uint64_t>(number + 0.5));
}
std::string HoursText(double hours) { return fmt::format("{:.1f}", hours); }
std::string GigabytesText(double bytes) { return fmt::format("{:.2f}", bytes / 1e9); }

JsonArray RangeJson(const Range& range) { return {range.least, range.most}; }
JsonArray WholeJson(const Range& range) {
  return {static_cast<std::int64_t>(range.least + 0.5),
          static_cast<std::int64_t>(range.most + 0.5)};
}
Json RangeJson(const std::optional<Range>& range) {
  return range ? Json(RangeJson(*range)) : Json(nullptr);
}

}  // namespace

MeasuredRuns MeasureRuns(const std::string& out) {
  MeasuredRuns measured;
  const std::vector<std::string> runs = ListRuns(out);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    AddRun(*run, &measured);
    if (measured.runs == kLatest) break;
  }
  return measured;
}

Forecast ForecastRun(const ForecastFacts& facts) {
  const RunConfig& config = facts.order->config;
  const MeasuredRuns& before = *facts.before;
  const bool measured = before.runs > 0;
  Forecast forecast{.nodes = NodesOf(*facts.order), .limits = LimitsOf(config)};
  forecast.reruns = config.num_seeds * static_cast<std::int64_t>(facts.order->stages.size());
  const auto sum_of = [&](double nodes) {
    return SumOf(measured ? Measured(before, nodes) : Assumed(facts, nodes), facts.models);
  };
  const Sum least = sum_of(forecast.nodes.least), most = sum_of(forecast.nodes.most);
  forecast.calls = {least.calls, most.calls};
  forecast.tokens = {least.tokens, most.tokens};
  forecast.unpriced = most.unpriced;
  if (most.unpriced.empty()) forecast.usd = Range{least.usd, most.usd};
  if (measured) {
    const auto scaled = [&](double sum) {
      const double node = sum / static_cast<double>(before.nodes);
      return Range{node * forecast.nodes.least, node * forecast.nodes.most};
    };
    forecast.hours = scaled(before.seconds / kSecondsOfHour);
    forecast.bytes = scaled(before.bytes);
    forecast.basis = fmt::format("{} earlier run{} of this folder, {} nodes", before.runs,
                                 before.runs == 1 ? "" : "s", before.nodes);
    return forecast;
  }
  forecast.basis = fmt::format(
      "the first prompt, {} tokens, and {} tokens for a reply; once a run has ended in "
      "this folder, what it took",
      WholeText(static_cast<double>(facts.prompt_tokens)), WholeText(kReplyTokens));
  forecast.longest = fmt::format(
      "one command of each node, {} at once, takes at most {} h (exec.timeout)", config.parallel(),
      HoursText(forecast.nodes.most * static_cast<double>(config.exec.timeout) / kSecondsOfHour /
                config.parallel()));
  return forecast;
}

std::string ForecastText(const Forecast& forecast) {
  std::string out;
  const auto line = [&](std::string_view name, std::string_view text) {
    out += fmt::format("{:<8} {}\n", name, text);
  };
  line("nodes", fmt::format("{}, and {} reruns with other seeds",
                            RangeText(forecast.nodes, WholeText), forecast.reruns));
  line("calls", RangeText(forecast.calls, WholeText));
  line("tokens", RangeText(forecast.tokens, WholeText));
  line("money", forecast.usd ? RangeText(*forecast.usd, UsdText) + " USD"
                             : fmt::format("not known: no price for the model of {}; --price gives "
                                           "one",
                                           Join(forecast.unpriced, ", ")));
  line("hours", forecast.hours ? RangeText(*forecast.hours, HoursText)
                               : "not known before a first run; " + forecast.longest);
  line("disk", forecast.bytes ? RangeText(*forecast.bytes, GigabytesText) + " GB"
                              : "not known before a first run");
  line("limits", forecast.limits.empty()
                     ? "none; --max-cost, --max-tokens and --max-seconds set them"
                     : forecast.limits + ": the run ends there");
  line("from", forecast.basis);
  return out;
}

JsonObject ForecastJson(const Forecast& forecast) {
  return {{"schema", kPlanSchema},
          {"nodes", WholeJson(forecast.nodes)},
          {"reruns", forecast.reruns},
          {"calls", WholeJson(forecast.calls)},
          {"tokens", WholeJson(forecast.tokens)},
          {"usd", RangeJson(forecast.usd)},
          {"hours", RangeJson(forecast.hours)},
          {"bytes", forecast.bytes ? Json(WholeJson(*forecast.bytes)) : Json(nullptr)},
          {"unpriced", JsonArray(forecast.unpriced.begin(), forecast.unpriced.end())},
          {"limits", forecast.limits},
          {"from", forecast.basis}};
}

Status LookAhead(const RunOrder& order, ForecastFacts* facts, const CancelToken& cancel) {
  for (const std::string_view role : Roles()) {
    const auto model = order.open_model(std::string(role));
    if (model) facts->models.emplace(role, model->entry);
  }
  if (facts->before->runs > 0) return {};
  DOSSIER_ASSIGN_OR_RETURN(const JsonObject preview, PreviewRun(order, cancel));
  facts->prompt_tokens = FindInt(Json(preview), "tokens").value_or(0);
  return {};
}

Result<Forecast> Foresee(RunOrder order, const std::string& out,
                         const std::function<Status(RunOrder* order)>& fill,
                         const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-research"));
  order.folder = folder.path();
  order.resources.clear();  // nothing is fetched for a plan
  DOSSIER_RETURN_IF_ERROR(fill(&order));
  order.journal_folder.clear();
  const MeasuredRuns before = MeasureRuns(out);
  ForecastFacts facts{.order = &order, .before = &before};
  DOSSIER_RETURN_IF_ERROR(LookAhead(order, &facts, cancel));
  return ForecastRun(facts);
}

}  // namespace dossier::research
