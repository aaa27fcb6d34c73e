#include "research/search/steering.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/files/append_file.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "research/files/run_folder.h"
#include "research/node/select.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"pin", "prune", "free", "hint", "name"};
constexpr std::uint64_t kMaxOrders = 16u << 20;  // bytes of the file

std::string PathOf(const std::string& folder) {
  return fmt::format("{}/{}", folder, run_files::kSteering);
}

// The last order about a node.
struct Wish {
  Steer steer = Steer::kFree;
  std::string hint, name;
};

std::map<std::string, Wish, std::less<>> WishesOf(std::span<const SteerOrder> orders) {
  std::map<std::string, Wish, std::less<>> wishes;
  for (const SteerOrder& order : orders) {
    Wish& wish = wishes[order.node];
    switch (order.kind) {
      case SteerKind::kPin:
        wish.steer = Steer::kPinned;
        break;
      case SteerKind::kPrune:
        wish.steer = Steer::kPruned;
        break;
      case SteerKind::kFree:
        wish.steer = Steer::kFree;
        break;
      case SteerKind::kHint:
        wish.hint = order.text;
        break;
      case SteerKind::kName:
        wish.name = order.text;
        break;
    }
  }
  return wishes;
}

constexpr std::string_view kMean = "mean";  // in the name of the node that represents reruns

// Names nodes in the order in which they were made.
class Naming {
 public:
  void Name(const std::string& original, const std::string& chosen, Node* node) {
    const std::string_view kind = node->is_seed_agg_node ? kMean : NodeKindName(node->kind);
    if (!node->inherited_from_node_id.empty() && names_.contains(original)) {
      node->name = names_[original];
      return;
    }
    const int number = ++counts_[kind];
    node->name = chosen.empty() ? fmt::format("{} {}", kind, number) : chosen;
    names_[node->id] = node->name;
  }

 private:
  std::map<std::string_view, int> counts_;
  std::map<std::string, std::string, std::less<>> names_;  // by id
};

}  // namespace

std::string_view SteerKindName(SteerKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

JsonObject SteerJson(const SteerOrder& order) {
  return {{"kind", SteerKindName(order.kind)},
          {"node", order.node},
          {"text", order.text},
          {"time", order.time}};
}

std::optional<SteerKind> FindSteerKind(std::string_view name) {
  const auto kind = std::find(kKinds.begin(), kKinds.end(), name);
  if (kind == kKinds.end()) return std::nullopt;
  return static_cast<SteerKind>(kind - kKinds.begin());
}

Result<SteerOrder> ReadSteerOrder(const Json& json) {
  const auto kind = FindSteerKind(TextAt(json, "kind"));
  SteerOrder order{
      .node = TextAt(json, "node"), .text = TextAt(json, "text"), .time = TextAt(json, "time")};
  if (!kind || order.node.empty()) {
    return MakeError(ErrorCode::kDamaged, "an order has no kind or no node: {}", ToJson(json));
  }
  order.kind = *kind;
  return order;
}

Status LeaveOrder(const std::string& folder, const SteerOrder& order) {
  SteerOrder clean = order;
  clean.text = Redact(order.text);
  const std::string path = PathOf(folder);
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd file, OpenForAppend(path, 0644));
  return WriteAll(file.get(), ToJson(SteerJson(clean)) + "\n");
}

Status Orders::SeeTaken(const JsonObject& data) {
  DOSSIER_ASSIGN_OR_RETURN(SteerOrder order, ReadSteerOrder(Json(data)));
  taken.push_back(std::move(order));
  lines_.insert(TextAt(Json(data), "line"));
  return {};
}

std::vector<std::pair<std::string, SteerOrder>> Orders::NotTaken(const std::string& folder) const {
  std::vector<std::pair<std::string, SteerOrder>> left;
  const auto text = ReadRegularFile(PathOf(folder), kMaxOrders);
  if (!text) return left;
  for (const std::string_view line : Split(*text, '\n')) {
    std::string hash = Sha256Hex(line).substr(0, 16);
    if (lines_.contains(hash)) continue;
    const auto json = ParseJson(line);
    if (!json) continue;
    if (auto order = ReadSteerOrder(*json)) left.emplace_back(std::move(hash), *std::move(order));
  }
  return left;
}

// Their keys are numbers, so that a resume finds them without reading every event.
Status Steering::ReadTaken() {
  for (;;) {
    DOSSIER_ASSIGN_OR_RETURN(const auto event,
                             log_.Recorded(kSteered, std::to_string(orders_.taken.size() + 1)));
    if (!event) return {};
    DOSSIER_RETURN_IF_ERROR(orders_.SeeTaken(event->data));
  }
}

Result<std::size_t> Steering::Take(std::string_view event, std::string_view key) {
  DOSSIER_RETURN_IF_ERROR(ReadTaken());
  DOSSIER_ASSIGN_OR_RETURN(const auto recorded, log_.Recorded(event, key));
  if (recorded) {
    const std::int64_t count = FindInt(Json(recorded->data), "steered").value_or(0);
    return std::min(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)),
                    orders_.taken.size());
  }
  std::size_t number = orders_.taken.size();
  for (const auto& [line, order] : orders_.NotTaken(log_.folder())) {
    JsonObject data = SteerJson(order);
    data["line"] = line;
    DOSSIER_RETURN_IF_ERROR(log_.Add(kSteered, std::to_string(++number), std::move(data)));
  }
  DOSSIER_RETURN_IF_ERROR(ReadTaken());
  return orders_.taken.size();
}

namespace {

// In a damaged journal copies may form a cycle: then it ends where it began.
template <typename Nodes>
std::string OriginalIn(const Nodes& nodes, std::string_view id) {
  std::string original(id);
  std::set<std::string, std::less<>> seen;
  for (const Node* node = nodes.Find(original);
       node && !node->inherited_from_node_id.empty() && seen.insert(original).second;
       node = nodes.Find(original)) {
    original = node->inherited_from_node_id;
  }
  return original;
}

}  // namespace

void SteerNodes(std::span<const SteerOrder> orders, RunResults* results, std::span<Node> others) {
  const auto wishes = WishesOf(orders);
  Naming naming;
  NodeIndex index;
  for (const StageResults& stage : results->stages) index.Add(stage.tree);
  for (StageResults& stage : results->stages) {
    std::vector<Node*> nodes;
    for (Node& node : stage.tree.nodes) nodes.push_back(&node);
    for (Node& node : others) {
      if (node.stage == stage.name) nodes.push_back(&node);
    }
    std::ranges::stable_sort(nodes, {}, &Node::step);
    std::map<std::string_view, Steer> steered;  // by id, in this tree
    for (Node* node : nodes) {
      const std::string original =
          node->inherited_from_node_id.empty() ? node->id : OriginalIn(index, node->id);
      const auto found = wishes.find(original);
      const Wish wish = found == wishes.end() ? Wish() : found->second;
      naming.Name(original, wish.name, node);
      node->hint = wish.hint;
      const auto parent = steered.find(node->parent_id);
      node->steer =
          wish.steer != Steer::kFree || parent == steered.end() ? wish.steer : parent->second;
      steered[node->id] = node->steer;
    }
  }
}

void KeepBest(RunResults* results, std::string_view primary) {
  std::string best;
  for (StageResults& stage : results->stages) {
    if (stage.best_node.empty()) continue;
    const Node* kept = KeepBest(stage.tree, stage.best_node, primary);
    stage.best_node = kept ? kept->id : "";
    if (kept) best = OriginalOf(*results, kept->id);
  }
  results->best_node = best;
}

bool IsGivenName(std::string_view name) {
  const std::size_t space = std::min(name.find(' '), name.size());
  const std::string_view number = name.substr(std::min(space + 1, name.size()));
  if (number.empty() || !std::ranges::all_of(number, IsDigit)) return false;
  bool given = name.substr(0, space) == kMean;
  for (int kind = 0; kind <= static_cast<int>(NodeKind::kCopy); ++kind) {
    given = given || name.substr(0, space) == NodeKindName(static_cast<NodeKind>(kind));
  }
  return given;
}

std::string OriginalOf(const RunResults& results, std::string_view id) {
  return OriginalIn(results, id);
}

}  // namespace dossier::research
