#include "research/search/round.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "research/files/cuts.h"
#include "research/files/replies.h"
#include "research/node/driver.h"
#include "research/node/node_request.h"
#include "research/search/slots.h"
#include "research/search/stage_rules.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

// Chooses what the slots of stages 2 and 4 try: one idea per slot, asked one after another, so that
// each question includes the earlier ideas, also pending ones.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::optional<TrialIdea> idea,
//                            AskTrialIdea(driver, {.tree = &tree, .node = &node, .base = &best,
//                                                  .pending = pending}, cancel));
//   if (!idea) continue;          // five bad replies: the slot stays empty
//
// Errors: those of RoleCaller::Call. Thread-safety: blocks the caller.

struct TrialQuestion {
  const Tree* tree = nullptr;
  const Node* node = nullptr;  // node of the slot: kTuning or kAblation
  const Node* base = nullptr;
  std::span<const TrialIdea> pending;  // from this round's earlier slots
  int stage = 2;
};

struct TrialSite {
  std::string_view site, name_key, description_key;
};
constexpr TrialSite kTuningSite{"tuning_idea", "HYPERPARAM NAME", "DESCRIPTION"};
constexpr TrialSite kAblationSite{"ablation_idea", "ABLATION NAME", "ABLATION DESCRIPTION"};

const TrialSite& SiteOf(NodeKind kind) {
  return kind == NodeKind::kAblation ? kAblationSite : kTuningSite;
}

const std::string& TrialName(const Node& node) {
  return node.kind == NodeKind::kAblation ? node.ablation_name : node.hyperparam_name;
}

JsonArray Tried(const TrialQuestion& question) {
  JsonArray tried;
  for (const Node& node : question.tree->nodes) {
    if (node.kind != question.node->kind || node.is_seed_node) continue;
    tried.push_back(JsonObject{{"name", TrialName(node)},
                               {"params", node.plan},
                               {"metrics", node.metric ? MetricText(*node.metric) : "N/A"}});
  }
  for (const TrialIdea& idea : question.pending) {
    tried.push_back(
        JsonObject{{"name", idea.name}, {"params", idea.description}, {"metrics", "pending"}});
  }
  return tried;
}

// Adds a program's components and expected results, according to its plan.
void AddComponents(const Node& base, CallRequest* request) {
  const Json* strategy = Find(base.phase0_plan, "implementation_strategy");
  request->sections.push_back({"components", strategy ? *strategy : Json(base.plan)});
  request->sections.push_back(
      {"expected_impact", Json(FindString(base.summary, "significance").value_or(""))});
}

Result<std::optional<TrialIdea>> AskTrialIdea(const Driver& driver, const TrialQuestion& question,
                                              const CancelToken& cancel) {
  const TrialSite& site = SiteOf(question.node->kind);
  CallRequest request{
      .site = std::string(site.site),
      .scope = ScopeOf(*question.node, site.site),
      .alias = fmt::format("stage{}_{}_prompt", question.stage, site.site),
      .prefix = CallPrefix(driver),
      .sections = {{"base_code", Json(question.base->code)}, {"tried", Json(Tried(question))}},
      .memory_query = driver.query};
  AddResults(*question.base, &request);
  request.sections.push_back({"hint", Json(question.base->hint)});
  if (question.node->kind == NodeKind::kAblation) AddComponents(*question.base, &request);
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, question.node->id, outcome.warnings));
  if (outcome.failure) {
    DOSSIER_RETURN_IF_ERROR(
        KeepWarning(driver, question.node->id,
                    "no idea for this slot, it stays empty: " + FailureText(*outcome.failure)));
    return std::optional<TrialIdea>();
  }
  const std::string_view keys[] = {site.name_key, site.description_key};
  const auto reply = ReadKeywords(outcome.payload, keys);
  return std::optional(
      TrialIdea{.name = reply[0].value_or(""), .description = reply[1].value_or("")});
}

JsonArray PicksJson(const std::vector<Pick>& picks) {
  JsonArray list;
  for (const Pick& pick : picks) {
    list.push_back(JsonObject{
        {"slot", pick.slot}, {"kind", NodeKindName(pick.kind)}, {"parent", pick.parent}});
  }
  return list;
}

// The same nodes and seed give the same selection: a journal that differs belongs to another run.
Status KeepSelection(const Driver& driver, const RoundState& state,
                     const std::vector<Pick>& picks) {
  const StageState& stage = state.stage;
  const std::string key = RoundKey(stage);
  const Json chosen(PicksJson(picks));
  DOSSIER_ASSIGN_OR_RETURN(const auto before, driver.log().Recorded("round.selected", key));
  if (!before) {
    JsonObject data{{"stage", stage.name}, {"round", stage.round}, {"picks", chosen}};
    if (state.steered > 0) data["steered"] = state.steered;
    return driver.log().Add("round.selected", key, std::move(data));
  }
  const Json* recorded = Find(before->data, "picks");
  if (recorded && *recorded == chosen) return {};
  return MakeError(ErrorCode::kDamaged,
                   "journal: round {} of {} selected {}, but its nodes give {}", stage.round,
                   stage.name, recorded ? ToJson(*recorded) : "nothing", ToJson(chosen));
}

NodeOrder OrderOf(const Driver& driver, const RoundState& state, const Pick& pick,
                  const Tree& tree) {
  NodeOrder order{.parent = pick.parent.empty() ? nullptr : tree.Find(pick.parent),
                  .stage = state.stage.stage,
                  .worker = fmt::format("worker-{}", pick.slot),
                  .evaluation_metrics = state.evaluation_metrics,
                  .base_plot_code = state.base_plot_code};
  order.node.id = NodeId(driver.node_key, state.stage.name, state.stage.round, pick.slot);
  order.node.parent_id = pick.parent;
  order.node.stage = state.stage.name;
  order.node.kind = pick.kind;
  return order;
}

bool NeedsIdea(NodeKind kind) { return kind == NodeKind::kTuning || kind == NodeKind::kAblation; }

// Sets the order's idea. False: there is none, and its slot stays empty.
Result<bool> FindIdea(const Driver& driver, const Tree& tree, std::span<const TrialIdea> pending,
                      NodeOrder* order, const CancelToken& cancel) {
  if (!NeedsIdea(order->node.kind)) return true;
  DOSSIER_ASSIGN_OR_RETURN(std::optional<TrialIdea> idea, AskTrialIdea(driver,
                                                                       {.tree = &tree,
                                                                        .node = &order->node,
                                                                        .base = order->parent,
                                                                        .pending = pending,
                                                                        .stage = order->stage},
                                                                       cancel));
  if (!idea) return false;
  (order->node.kind == NodeKind::kAblation ? order->node.ablation_name
                                           : order->node.hyperparam_name) = idea->name;
  order->idea = *std::move(idea);
  return true;
}

// Prepares, in slot order, everything that must be settled before the first slot runs.
Result<std::vector<NodeOrder>> Prepare(const Driver& driver, const RoundState& state,
                                       const std::vector<Pick>& picks, const Tree& tree,
                                       const CancelToken& cancel) {
  std::vector<NodeOrder> orders;
  for (const Pick& pick : picks) {
    NodeOrder order = OrderOf(driver, state, pick, tree);
    DOSSIER_ASSIGN_OR_RETURN(order.node.branch_id,
                             ForkBranch(driver, order.parent ? order.parent->branch_id : "",
                                        order.node, state.stage.round, pick.slot));
    orders.push_back(std::move(order));
  }
  std::vector<NodeOrder> ready;
  std::vector<TrialIdea> pending;
  for (NodeOrder& order : orders) {
    order.node.step = static_cast<std::int64_t>(tree.nodes.size() + ready.size());
    DOSSIER_ASSIGN_OR_RETURN(const bool found, FindIdea(driver, tree, pending, &order, cancel));
    if (!found) continue;
    DOSSIER_RETURN_IF_ERROR(CreateNode(driver, &order.node));
    if (NeedsIdea(order.node.kind)) pending.push_back(order.idea);
    ready.push_back(std::move(order));
  }
  return ready;
}

// Returns a node's result, as its own and its children's memory branches store it.
std::string ResultText(const Node& node) {
  std::string text =
      fmt::format("Node {} ({}) of {}: {}", node.id.substr(0, 8), NodeKindName(node.kind),
                  node.stage, IsGood(node) ? "good" : "buggy");
  if (node.metric) text += "; metric " + MetricText(*node.metric);
  if (!node.exc_type.empty()) text += fmt::format("; {}: {}", node.exc_type, node.exc_info);
  if (!node.analysis.empty()) text += "\n" + node.analysis;
  return CutText(text, kManagerInEvent);
}

Status Remember(const Driver& driver, const Node& node) {
  if (!driver.services.memory || node.branch_id.empty()) return {};
  const std::string key = node.id + "/result";
  if (driver.log().Has("block.applied", key)) return {};
  memory::Record record{.tier = memory::Tier::kRecall,
                        .kind = "node_result",
                        .text = ResultText(node),
                        .ref = node.id,
                        .phase = "result"};
  DOSSIER_RETURN_IF_ERROR(driver.services.memory->Transact(
      node.branch_id, {.actor = memory::Actor::kSystem, .node_id = node.id, .phase = "result"},
      [&](memory::BranchTransaction& session) -> Status {
        DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::RecordWrite written,
                                 session.Add(record));
        return {};
      }));
  return driver.log().Add("block.applied", key, {{"node", node.id}, {"kind", record.kind}});
}

// Finished nodes enter in slot order, even if another slot failed.
Result<RoundEnd> Enter(const Driver& driver, std::vector<std::optional<NodeMade>> made,
                       Tree* tree) {
  RoundEnd end;
  for (std::optional<NodeMade>& one : made) {
    if (!one) continue;
    if (one->state == NodeMade::State::kCut) {
      end.state = NodeMade::State::kCut;
      continue;
    }
    DOSSIER_RETURN_IF_ERROR(EnterNode(driver, std::move(one->node), tree));
    ++end.made;
  }
  return end;
}

std::string BranchName(const Driver& driver, const Node& node, std::int64_t round,
                       std::int64_t slot) {
  const StageName stage = ParseStageName(node.stage).value_or(StageName());
  std::string name = fmt::format("{}.{}-{}", stage.main, stage.sub, NodeKindName(node.kind));
  if (node.kind != NodeKind::kCopy) name += fmt::format("-r{}s{}", round, slot);
  if (driver.order->memory_store.empty()) return name;
  // A user's own store may contain branches of other runs.
  return fmt::format("{:.8}.{}", Sha256Hex(driver.log().run()), name);
}

}  // namespace

std::string RoundKey(const StageState& stage) {
  return fmt::format("{}/{}", stage.name, stage.round);
}

Result<std::string> ForkBranch(const Driver& driver, std::string_view parent_branch,
                               const Node& node, std::int64_t round, std::int64_t slot) {
  if (!driver.services.memory) return std::string();
  DOSSIER_ASSIGN_OR_RETURN(const auto created, driver.log().Recorded("node.created", node.id));
  // The branch exists already; in runs begun before branches had names, it has the node's id.
  if (created) {
    return std::string(FindString(Json(created->data), "branch").value_or(node.id));
  }
  const std::string name = BranchName(driver, node, round, slot);
  DOSSIER_ASSIGN_OR_RETURN(
      const memory::Branch branch,
      driver.services.memory->Fork(parent_branch.empty() ? memory::kRootBranch : parent_branch,
                                   name, {.node = node.id}));
  return branch.name;
}

Status CreateNode(const Driver& driver, Node* node, std::size_t steered) {
  DOSSIER_ASSIGN_OR_RETURN(const auto event, driver.log().Recorded("node.created", node->id));
  if (event) {
    node->ctime = TextAt(event->data, "ctime");
    return {};
  }
  node->ctime = FormatTime(driver.services.clock->WallNow());
  JsonObject data{
      {"node", node->id},          {"stage", node->stage}, {"kind", NodeKindName(node->kind)},
      {"parent", node->parent_id}, {"step", node->step},   {"branch", node->branch_id},
      {"ctime", node->ctime}};
  if (steered > 0) data["steered"] = steered;
  return driver.log().Add("node.created", node->id, std::move(data));
}

Status EnterNode(const Driver& driver, Node node, Tree* tree) {
  DOSSIER_RETURN_IF_ERROR(Remember(driver, node));
  if (node.metric) {
    std::string missing = MissingMetric(*node.metric, driver.config().primary_metric);
    if (!missing.empty()) DOSSIER_RETURN_IF_ERROR(KeepWarning(driver, "run", std::move(missing)));
  }
  for (Node& other : tree->nodes) {
    if (other.id == node.parent_id) other.children.push_back(node.id);
  }
  tree->nodes.push_back(std::move(node));
  return {};
}

Result<RoundEnd> RunRound(const Driver& driver, const RoundState& state, Tree* tree,
                          Ranking& ranking, const CancelToken& cancel) {
  const std::vector<Pick> picks = Select(*tree, SearchOf(driver.config()), state.stage, ranking);
  if (picks.empty()) return RoundEnd{};
  DOSSIER_RETURN_IF_ERROR(KeepSelection(driver, state, picks));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<NodeOrder> orders,
                           Prepare(driver, state, picks, *tree, cancel));
  std::vector<std::optional<NodeMade>> made(orders.size());
  const Status done = RunSlots(
      {.count = orders.size(), .parallel = driver.config().parallel()},
      [&](std::size_t slot, const CancelToken& token) -> Status {
        DOSSIER_ASSIGN_OR_RETURN(made[slot], MakeNode(driver, orders[slot], token));
        return {};
      },
      cancel);
  Result<RoundEnd> end = Enter(driver, std::move(made), tree);
  if (!done) return tl::unexpected(done.error());
  return end;
}

}  // namespace dossier::research
