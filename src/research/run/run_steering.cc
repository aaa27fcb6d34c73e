#include "research/run/run_steering.h"

#include <algorithm>
#include <utility>

#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/run_folder.h"
#include "research/node/select.h"
#include "research/run/run_record.h"
#include "research/run/run_status.h"

namespace dossier::research {
namespace {

// Returns the nodes that an order can mean: each program once, by its original id.
std::vector<const Node*> Steerable(const RunHistory& history) {
  std::vector<const Node*> nodes;
  for (const StageResults& stage : history.results.stages) {
    for (const Node& node : stage.tree.nodes) {
      if (Counts(node)) nodes.push_back(&node);
    }
  }
  for (const Node& node : history.unfinished) {
    if (Counts(node)) nodes.push_back(&node);
  }
  return nodes;
}

// A shorter number is more likely a node number than the start of an id.
constexpr std::size_t kLeastOfId = 6;

Result<const Node*> FindNode(const RunHistory& history, std::string_view word) {
  const std::vector<const Node*> nodes = Steerable(history);
  std::vector<const Node*> found, called;
  std::vector<std::string> names;
  for (const Node* node : nodes) {
    names.push_back(node->name);
    if (node->name == word) called.push_back(node);
    if (word.size() >= kLeastOfId && node->id.starts_with(word)) found.push_back(node);
  }
  if (!called.empty()) found = called;
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    names.clear();
    for (const Node* node : found) names.push_back(node->id.substr(0, 12));
    return MakeError(ErrorCode::kNotFound, "{}: more than one node is \"{}\": {}", history.folder,
                     word, Join(names, ", "));
  }
  constexpr std::size_t kShown = 8;
  if (const auto near = NearestNames(word, names); !near.empty()) names = near;
  const bool more = names.size() > kShown;
  if (more) names.resize(kShown);
  return MakeError(ErrorCode::kNotFound,
                   "{}: no node is called \"{}\" or has such an id; {}{}; `dossier research tree` "
                   "shows all",
                   history.folder, word,
                   names.empty() ? "there is none yet" : "there is " + Join(names, ", "),
                   more ? ", …" : "");
}

// Returns true if the search can still work on the node: it, or its copy, is in the current tree.
bool IsInReach(const RunHistory& history, const Node& node) {
  const StageResults& last = history.results.stages.back();
  if (node.stage == last.name) return true;
  return std::ranges::any_of(last.tree.nodes, [&](const Node& one) {
    return OriginalOf(history.results, one.id) == node.id;
  });
}

Status CheckReach(const RunHistory& history, const Node& node) {
  if (history.end == RunEnd::kDone) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}: the run is done, nothing more comes of its nodes; `dossier research run "
                     "--attempt N` starts another",
                     history.folder);
  }
  if (IsInReach(history, node)) return {};
  const StageResults& last = history.results.stages.back();
  std::vector<std::string> names;
  for (const Node& one : last.tree.nodes) {
    if (!one.is_seed_node && !one.is_seed_agg_node) names.push_back(one.name);
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "{} is of {}, which has ended; the search works on {} now, from {}", node.name,
                   node.stage, last.name, names.empty() ? "nothing" : Join(names, ", "));
}

// After a stage ended, orders can only affect the node that the next one begins with.
Status CheckBeginning(const RunHistory& history, const SteerOrder& order, const Node& node) {
  const StageResults& last = history.results.stages.back();
  if (order.kind == SteerKind::kName || history.over != last.name) return {};
  DOSSIER_ASSIGN_OR_RETURN(const RunRecord record, ReadRunRecord(history.folder));
  if (record.stages.empty() || record.stages.back() <= last.stage) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}: its last stage has ended, no round comes that could heed an order",
                     history.folder);
  }
  const auto best_after = [&](const std::vector<SteerOrder>& orders) {
    RunResults after = history.results;
    SteerNodes(orders, &after);
    const Node* best = BestNode(after.stages.back().tree, "");
    return best ? std::optional(best->steer) : std::nullopt;
  };
  if (order.kind == SteerKind::kPin && best_after({order}) != Steer::kPinned) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{} is buggy and {} has ended: the next stage begins with a program that "
                     "works, so pin such a one",
                     node.name, last.name);
  }
  std::vector<SteerOrder> orders = history.steered;
  orders.insert(orders.end(), history.left.begin(), history.left.end());
  orders.push_back(order);
  if (order.kind != SteerKind::kPrune || best_after(orders)) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "without {} no program that works is left, and {} has ended: the next stage "
                   "would begin with nothing",
                   node.name, last.name);
}

Status CheckText(const RunHistory& history, const SteerRequest& request, const Node& node) {
  const bool name = request.kind == SteerKind::kName;
  const std::size_t most = name ? kMaxNodeName : kMaxHint;
  if (request.text.size() > most) {
    return MakeError(ErrorCode::kInvalidArgument, "a {} has at most {} bytes, this one {}",
                     SteerKindName(request.kind), most, request.text.size());
  }
  if (!name) return {};
  if (IsGivenName(request.text)) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "\"{}\" is a name as the search gives them; choose one that is no kind of node "
        "and a number",
        request.text);
  }
  for (const Node* other : Steerable(history)) {
    if (other->name == request.text && other != &node) {
      return MakeError(ErrorCode::kInvalidArgument, "another node is called \"{}\" already",
                       request.text);
    }
  }
  return {};
}

// Returns true if the order changes nothing, counting orders that wait for the next round.
bool HasAlready(const RunHistory& history, const SteerOrder& order) {
  SteerOrder last{.kind = SteerKind::kFree};
  SteerOrder text;
  for (const auto* orders : {&history.steered, &history.left}) {
    for (const SteerOrder& one : *orders) {
      if (one.node != order.node) continue;
      if (one.kind == SteerKind::kHint || one.kind == SteerKind::kName) {
        if (one.kind == order.kind) text = one;
      } else {
        last = one;
      }
    }
  }
  const bool of_text = order.kind == SteerKind::kHint || order.kind == SteerKind::kName;
  return of_text ? text.text == order.text : last.kind == order.kind;
}

std::string LineOf(const Steered& done, const ResearchProgress& status) {
  const bool already = done.state == Steered::State::kAlready;
  const bool taken_back = done.order.text.empty();
  std::string what;
  switch (done.order.kind) {
    case SteerKind::kPin:
      what = "is pinned";
      break;
    case SteerKind::kPrune:
      what = "is pruned";
      break;
    case SteerKind::kFree:
      what = "is neither pinned nor pruned";
      break;
    case SteerKind::kHint:
      what = taken_back ? "has no hint" : already ? "has this hint" : "has a hint";
      break;
    case SteerKind::kName:
      return taken_back ? fmt::format("{} has its own name again", done.name)
                        : fmt::format("{} is called {}{}", done.name, done.order.text,
                                      already ? " already" : "");
  }
  std::string line =
      fmt::format("{} {}{}", done.name, what, already ? " already" : " from the next round on");
  const std::string next = NextStepOf(status);
  return next.empty() ? line : line + "; " + next;
}

}  // namespace

Result<Steered> SteerRun(const std::string& folder, const SteerRequest& request,
                         const Clock& clock) {
  DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, ReadRunHistory(folder));
  DOSSIER_ASSIGN_OR_RETURN(const Node* node, FindNode(history, request.node));
  if (request.kind != SteerKind::kName) DOSSIER_RETURN_IF_ERROR(CheckReach(history, *node));
  DOSSIER_RETURN_IF_ERROR(CheckText(history, request, *node));
  Steered done{.order = {.kind = request.kind,
                         .node = node->id,
                         .text = Redact(utf8::Sanitize(TrimSpace(request.text))),
                         .time = FormatTime(clock.WallNow())},
               .name = node->name};
  DOSSIER_RETURN_IF_ERROR(CheckBeginning(history, done.order, *node));
  if (HasAlready(history, done.order)) {
    done.state = Steered::State::kAlready;
  } else {
    DOSSIER_RETURN_IF_ERROR(LeaveOrder(folder, done.order));
  }
  done.line = LineOf(done, StatusOf(history, clock));
  return done;
}

}  // namespace dossier::research
