#include "research/run/run_status.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 7> kStates = {"running", "waiting", "killed", "done",
                                                     "failed",  "limited", "stopped"};
constexpr double kNanoUsd = 1e9;
constexpr std::size_t kShortId = 8;

ResearchState StateOfEnd(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
      return ResearchState::kDone;
    case RunEnd::kFailed:
      return ResearchState::kFailed;
    case RunEnd::kLimited:
      return ResearchState::kLimited;
    case RunEnd::kStopped:
      return ResearchState::kStopped;
  }
  return ResearchState::kDone;
}

// Returns the running process's last report of a wait, unless its time is over.
std::optional<ResearchProgress::Waiting> ReadWaiting(const std::string& folder,
                                                     const Clock& clock) {
  const auto text = ReadRegularFile(folder + "/" + std::string(run_files::kWaiting), 1 << 16);
  const auto json = text ? ParseJson(*text) : Result<Json>(Json());
  if (!json) return std::nullopt;
  const auto since = ParseTime(FindString(*json, "since").value_or(""));
  const std::int64_t seconds = FindInt(*json, "seconds").value_or(0);
  if (!since) return std::nullopt;
  const auto passed =
      std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow() - *since).count();
  if (passed < 0 || passed >= seconds) return std::nullopt;
  return ResearchProgress::Waiting{TextAt(*json, "reason"), seconds - passed};
}

std::string Usd(const RunSpend& spend) {
  const std::optional<std::int64_t>& cost = spend.usage.total.cost_nano_usd;
  return cost ? UsdText(static_cast<double>(*cost) / kNanoUsd) + " USD" : "price not known";
}

std::string Duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

char MarkOf(const Node& node, std::string_view best) {
  if (node.id == best) return '*';
  if (node.is_seed_node || node.is_seed_agg_node) return 's';
  return IsGood(node) ? ' ' : '!';
}

// Returns "draft 1", or the first part of an id that no node of the history has.
std::string NameOf(const RunHistory& history, const std::string& id) {
  if (const Node* node = history.results.Find(id)) return node->name;
  for (const Node& node : history.unfinished) {
    if (node.id == id) return node.name;
  }
  return id.substr(0, kShortId);
}

std::string WhatOf(const SteerOrder& order) {
  if (order.kind == SteerKind::kHint) {
    return order.text.empty() ? "no hint any more" : "hint: " + order.text;
  }
  constexpr std::string_view kStates[] = {"pinned", "pruned", "free again"};
  return std::string(kStates[static_cast<std::size_t>(order.kind)]);
}

// Returns true if both orders are about the same thing: a hint, or where the search works.
bool IsOfSame(const SteerOrder& a, const SteerOrder& b) {
  return a.node == b.node && (a.kind == SteerKind::kHint) == (b.kind == SteerKind::kHint);
}

bool TakesBack(const SteerOrder& order) {
  return order.kind == SteerKind::kFree || (order.kind == SteerKind::kHint && order.text.empty());
}

// Returns the last order about each property of a node, except names, which are shown anyway.
std::vector<SteerOrder> LastOrders(const std::vector<SteerOrder>& orders) {
  std::vector<SteerOrder> last;
  for (const SteerOrder& order : orders) {
    if (order.kind == SteerKind::kName) continue;
    std::erase_if(last, [&](const SteerOrder& one) { return IsOfSame(one, order); });
    last.push_back(order);
  }
  return last;
}

std::string_view SteerName(Steer steer) {
  constexpr std::array<std::string_view, 3> kNames = {"free", "pinned", "pruned"};
  return kNames[static_cast<std::size_t>(steer)];
}

// Makes a model's or program's text safe inside one of our lines: no line breaks, no escape
// sequences.
std::string InLine(std::string_view text) {
  const std::string line = ReplaceAll(utf8::Sanitize(text), "\n", " ");
  return utf8::CleanForTerminal(ReplaceAll(line, "\t", " "));
}

// Returns the end of a node's line: how it went.
std::string Outcome(const Node& node) {
  if (node.is_seed_agg_node) return SeedText(node.summary);
  if (node.metric) return MetricText(*node.metric);
  if (!node.exc_type.empty()) return node.exc_type;
  if (!node.failure.empty()) return node.failure.substr(0, node.failure.find('\n'));
  return node.is_buggy_plots ? "no valid plot" : "N/A";
}

enum class Made : std::uint8_t { kFinished, kRunning };

// Lists each node once, after its parent, whatever a damaged journal says about parents.
class TreeLines {
 public:
  TreeLines(const RunHistory& history, const StageResults& stage)
      : stage_(stage), by_id_(stage.tree) {
    for (const Node& node : history.unfinished) {
      if (node.stage == stage.name) running_[node.parent_id].push_back(&node);
    }
    for (const Node& node : stage_.tree.nodes) {
      if (!by_id_.Find(node.parent_id)) AddAll(node);
    }
    for (const Node& node : history.unfinished) {
      if (node.stage == stage.name && !by_id_.Find(node.parent_id)) AddRunning(node, 0);
    }
    for (const Node& node : stage_.tree.nodes) AddAll(node);  // nodes whose parents form a cycle
  }

  std::string Text() && { return std::move(out_); }

 private:
  static constexpr std::size_t kDeepest = 40;  // maximum indentation level

  struct Next {
    const Node* node;
    std::size_t depth;
    Made made;
  };

  // Adds a node and its descendants, iteratively: a chain of nodes may exceed the stack depth.
  void AddAll(const Node& root) {
    std::vector<Next> next = {{&root, 0, Made::kFinished}};
    while (!next.empty()) {
      const Next now = next.back();
      next.pop_back();
      if (now.made == Made::kRunning) {
        AddRunning(*now.node, now.depth);
      } else if (added_.insert(now.node).second) {
        Add(*now.node, now.depth);
        PushBelow(*now.node, std::min(now.depth + 1, kDeepest), &next);
      }
    }
  }

  // Pushes the last child first.
  void PushBelow(const Node& node, std::size_t depth, std::vector<Next>* next) const {
    const auto running = running_.find(node.id);
    if (running != running_.end()) {
      for (const Node* one : running->second | std::views::reverse) {
        next->push_back({one, depth, Made::kRunning});
      }
    }
    for (const std::string& child : node.children | std::views::reverse) {
      if (const Node* one = by_id_.Find(child)) next->push_back({one, depth, Made::kFinished});
    }
  }

  void Add(const Node& node, std::size_t depth) {
    const std::string label = !node.hyperparam_name.empty() ? " " + node.hyperparam_name
                              : !node.ablation_name.empty() ? " " + node.ablation_name
                                                            : "";
    std::string steered;
    if (node.steer != Steer::kFree) steered = fmt::format("  {}", SteerName(node.steer));
    if (!node.hint.empty()) steered += "  hint: " + node.hint;
    out_ +=
        fmt::format("{:{}}{} {} {}{}{}  {}  {}{}\n", "", 2 * depth, MarkOf(node, stage_.best_node),
                    node.id.substr(0, kShortId), InLine(node.name),
                    node.kind == NodeKind::kCopy ? " (copy)" : "", InLine(label),
                    InLine(Outcome(node)), SecondsText(node.exec_time), InLine(steered));
  }

  void AddRunning(const Node& node, std::size_t depth) {
    out_ += fmt::format("{:{}}~ {} {}\n", "", 2 * depth, node.id.substr(0, kShortId),
                        InLine(node.name));
  }

  const StageResults& stage_;
  const NodeIndex by_id_;
  std::unordered_map<std::string_view, std::vector<const Node*>> running_;  // by their parents
  std::unordered_set<const Node*> added_;
  std::string out_;
};

std::string_view NodeState(const Node& node, Made made) {
  if (made == Made::kRunning) return "running";
  if (IsGood(node)) return "good";
  return node.is_buggy_plots && !node.is_buggy ? "buggy_plots" : "buggy";
}

JsonObject NodeLine(const Node& node, std::string_view best, Made made) {
  const std::optional<std::int64_t>& cost = node.usage.total.cost_nano_usd;
  return {{"id", node.id},
          {"name", node.name},
          {"parent", node.parent_id},
          {"kind", NodeKindName(node.kind)},
          {"step", node.step},
          {"steer", SteerName(node.steer)},
          {"hint", node.hint},
          {"state", NodeState(node, made)},
          {"best", node.id == best},
          {"seed", node.is_seed_node || node.is_seed_agg_node},
          {"metric", node.metric ? Json(MetricJson(*node.metric)) : Json(nullptr)},
          {"error", node.exc_type},
          {"hyperparam", node.hyperparam_name},
          {"ablation", node.ablation_name},
          {"seconds", node.exec_time},
          {"cost_nano_usd", cost ? Json(*cost) : Json(nullptr)},
          {"tokens", node.usage.tokens()}};
}

// Returns the fields that a line needs: long texts of an event are stored elsewhere.
JsonObject ShortNode(const Json& data) {
  JsonObject out;
  const Json* node = Find(data, "node");
  for (const std::string_view field :
       {"id", "kind", "is_buggy", "is_buggy_plots", "is_seed_node", "is_seed_agg_node", "metric",
        "exc_type", "exec_time", "summary"}) {
    if (const Json* value = node ? Find(*node, field) : nullptr) out[field] = *value;
  }
  return out;
}

bool IsShown(const StageResults& stage, int wanted) { return wanted == 0 || stage.stage == wanted; }

}  // namespace

std::string_view RunStateName(ResearchState state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::string NextStepOf(const ResearchProgress& status) {
  const std::string resume = fmt::format("`dossier research resume {}`", ShellQuote(status.folder));
  switch (status.state) {
    case ResearchState::kRunning:
    case ResearchState::kWaiting:
      return "";
    case ResearchState::kKilled:
    case ResearchState::kStopped:
      return resume + " goes on";
    case ResearchState::kLimited:
      return resume + " with a higher limit goes on";
    case ResearchState::kFailed:
      return fmt::format("`dossier research resume {} --retry-failed` {}",
                         ShellQuote(status.folder),
                         status.best_id.empty() ? "makes more nodes" : "asks for it again");
    case ResearchState::kDone:
      return fmt::format("`dossier research report {}` shows what it found, {} its tree",
                         ShellQuote(status.folder), run_files::kTreePage);
  }
  return "";
}

ResearchProgress StatusOf(const RunHistory& history, const Clock& clock) {
  ResearchProgress status{.run = history.run,
                          .folder = history.folder,
                          .title = history.results.title,
                          .round = history.round,
                          .spend = history.spend,
                          .holder = RunLock::HolderOf(history.folder),
                          .reason = history.reason};
  if (!history.results.stages.empty()) status.stage = history.results.stages.back().name;
  status.nodes = CountNodes(history.results.stages);
  std::vector<SteerOrder> in_force = LastOrders(history.steered);
  std::erase_if(in_force, TakesBack);
  for (const SteerOrder& order : in_force) {
    status.steered.push_back({NameOf(history, order.node), WhatOf(order)});
  }
  for (const SteerOrder& order : LastOrders(history.left)) {
    const bool holds =
        std::ranges::any_of(in_force, [&](const SteerOrder& one) { return IsOfSame(one, order); });
    // After the end there is no next round; what was never in force need not be undone.
    if (history.end == RunEnd::kDone || (TakesBack(order) && !holds)) continue;
    status.steered.push_back(
        {NameOf(history, order.node), WhatOf(order), ResearchProgress::Steered::Since::kNextRound});
  }
  for (const StageResults& stage : history.results.stages) {
    const Node* best = stage.tree.Find(history.results.best_node);
    if (!best) continue;
    status.best_id = best->id;
    status.best_name = best->name;
    status.best_metric = best->metric ? MetricText(*best->metric) : "N/A";
    if (best->metric) {
      status.missing_metric = MissingMetric(*best->metric, history.primary_metric);
    }
  }
  if (history.end) {
    status.state = StateOfEnd(*history.end);
  } else if (!status.holder) {
    status.state = history.reason.empty() ? ResearchState::kKilled : ResearchState::kStopped;
  } else {
    status.running = static_cast<std::int64_t>(history.unfinished.size());
    status.waiting = ReadWaiting(history.folder, clock);
    if (status.waiting) status.state = ResearchState::kWaiting;
  }
  return status;
}

std::string StatusText(const ResearchProgress& status) {
  std::string out = fmt::format("{}\n", status.folder);
  if (!status.title.empty()) out += fmt::format("title    {}\n", InLine(status.title));
  out += fmt::format("state    {}{}\n", RunStateName(status.state),
                     status.reason.empty() ? "" : ": " + InLine(status.reason));
  if (const std::string next = NextStepOf(status); !next.empty()) {
    out += fmt::format("         {}\n", next);
  }
  if (status.holder) {
    out += fmt::format("process  {} on {} since {}\n", status.holder->pid, status.holder->host,
                       status.holder->since);
  }
  if (!status.stage.empty()) {
    out += fmt::format("stage    {}, round {}\n", status.stage, status.round);
  }
  out += fmt::format("nodes    {} done, {} good, {} buggy, {} running\n", status.nodes.done,
                     status.nodes.good, status.nodes.buggy, status.running);
  if (!status.best_id.empty()) {
    out += fmt::format("best     {}, {}  {}\n", InLine(status.best_name),
                       status.best_id.substr(0, kShortId), InLine(status.best_metric));
  }
  if (!status.missing_metric.empty()) {
    out += fmt::format("metric   {}\n", InLine(status.missing_metric));
  }
  for (const ResearchProgress::Steered& steered : status.steered) {
    const bool later = steered.since == ResearchProgress::Steered::Since::kNextRound;
    out += fmt::format("steered  {}: {}{}\n", InLine(steered.node), InLine(steered.what),
                       later ? " (from the next round on)" : "");
  }
  out += fmt::format("spent    {}, {} tokens, {}\n", Usd(status.spend),
                     GroupDigits(static_cast<std::uint64_t>(status.spend.usage.tokens())),
                     Duration(status.spend.seconds));
  if (status.waiting) {
    out += fmt::format("waits    {} ({} s left)\n", InLine(status.waiting->reason),
                       status.waiting->seconds);
  }
  return out;
}

JsonObject StatusJson(const ResearchProgress& status) {
  Json best(nullptr), waiting(nullptr);
  if (!status.best_id.empty()) {
    best = JsonObject{
        {"id", status.best_id}, {"name", status.best_name}, {"metric", status.best_metric}};
  }
  if (status.waiting) {
    waiting = JsonObject{{"reason", status.waiting->reason}, {"seconds", status.waiting->seconds}};
  }
  JsonArray steered;
  for (const ResearchProgress::Steered& one : status.steered) {
    const bool in_force = one.since == ResearchProgress::Steered::Since::kInForce;
    steered.push_back(JsonObject{{"node", one.node}, {"what", one.what}, {"in_force", in_force}});
  }
  const std::optional<std::int64_t>& cost = status.spend.usage.total.cost_nano_usd;
  const Json usd = cost ? Json(static_cast<double>(*cost) / kNanoUsd) : Json(nullptr);
  return {{"schema", kStatusSchema},
          {"run", status.run},
          {"folder", status.folder},
          {"title", status.title},
          {"state", RunStateName(status.state)},
          {"reason", status.reason},
          {"stage", status.stage},
          {"round", status.round},
          {"nodes", JsonObject{{"done", status.nodes.done},
                               {"good", status.nodes.good},
                               {"buggy", status.nodes.buggy},
                               {"running", status.running}}},
          {"best", std::move(best)},
          {"missing_metric", status.missing_metric},
          {"spend", JsonObject{{"usd", usd},
                               {"tokens", status.spend.usage.tokens()},
                               {"seconds", status.spend.seconds}}},
          {"steered", std::move(steered)},
          {"waiting", std::move(waiting)},
          {"next", NextStepOf(status)}};
}

std::string TreeText(const RunHistory& history, int stage) {
  std::string out;
  for (const StageResults& one : history.results.stages) {
    if (!IsShown(one, stage)) continue;
    out +=
        fmt::format("{}{}\n{}", out.empty() ? "" : "\n", one.name, TreeLines(history, one).Text());
  }
  return out;
}

JsonObject TreeJson(const RunHistory& history, int stage) {
  JsonArray stages;
  for (const StageResults& one : history.results.stages) {
    if (!IsShown(one, stage)) continue;
    JsonArray nodes;
    for (const Node& node : one.tree.nodes)
      nodes.push_back(NodeLine(node, one.best_node, Made::kFinished));
    for (const Node& node : history.unfinished) {
      if (node.stage == one.name) nodes.push_back(NodeLine(node, one.best_node, Made::kRunning));
    }
    stages.push_back(JsonObject{{"stage", one.stage},
                                {"name", one.name},
                                {"best", one.best_node},
                                {"nodes", std::move(nodes)}});
  }
  return {{"schema", kTreeSchema}, {"run", history.run}, {"stages", std::move(stages)}};
}

std::string EventLine(const store::Event& event) {
  const Json data(event.data);
  const auto text = [&](std::string_view key) { return TextAt(data, key); };
  if (event.type == "round.selected") {
    const Json* picks = Find(data, "picks");
    return fmt::format("{}, round {}: {} nodes", text("stage"), FindInt(data, "round").value_or(0),
                       picks && picks->is_array() ? picks->as_array().size() : 0);
  }
  if (event.type == "node.created") {
    return fmt::format("~ {} {}", text("node").substr(0, kShortId), text("kind"));
  }
  if (event.type == "node.finished") {
    const auto node = ReadNode(ShortNode(data));
    if (!node) return "";
    return fmt::format("{} {} {}  {}  {}", MarkOf(*node, ""), node->id.substr(0, kShortId),
                       NodeKindName(node->kind), InLine(Outcome(*node)),
                       SecondsText(node->exec_time));
  }
  if (event.type == "stage.ended") {
    const std::string best = text("best");
    return fmt::format("{} ended; {}", text("stage"),
                       best.empty() ? "no program is good" : "best " + best.substr(0, kShortId));
  }
  // The caller reports a failed call again, with its consequence.
  if (event.type == "warning" && text("code") == "call_failed") return "";
  if (event.type == "warning") return "warning: " + text("text");
  if (event.type == "limit.reached") return "limit reached: " + text("reason");
  if (event.type == kSteered) {
    return fmt::format("steered: {} {} {}", text("kind"), text("node").substr(0, kShortId),
                       InLine(text("text")));
  }
  if (event.type == "probe.done") return "the machine was looked at";
  if (event.type == "resources.done") return "resources are in place";
  if (event.type == "artefact.written") return "wrote " + text("path");
  return "";
}

}  // namespace dossier::research
