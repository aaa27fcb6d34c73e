#include "research/node/select.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/random.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

// Returns the names of both, in an order independent of the arguments' order: `primary`, then as
// declared.
std::vector<std::string_view> NamesOf(const Metric& a, const Metric& b, std::string_view primary) {
  std::map<std::string_view, std::size_t> places;
  for (const Metric* metric : {&a, &b}) {
    for (std::size_t at = 0; at < metric->size(); ++at) {
      const auto [place, added] = places.emplace((*metric)[at].name, at);
      if (!added) place->second = std::min(place->second, at);
    }
  }
  std::vector<std::string_view> names;
  for (const auto& [name, place] : places) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](std::string_view x, std::string_view y) {
    if ((x == primary) != (y == primary)) return x == primary;
    return places[x] < places[y];
  });
  return names;
}

// A metric, and `mean_of(series)`: its mean over the compared data sets.
template <typename MeanOf>
struct Side {
  const Metric& metric;
  MeanOf mean_of;
};
template <typename MeanOf>
Side(const Metric&, MeanOf) -> Side<MeanOf>;

template <typename MeanOf>
std::weak_ordering CompareSeries(const MetricSeries* a, const MetricSeries* b,
                                 const Side<MeanOf>& of_a, const Side<MeanOf>& of_b) {
  // Series with opposite directions cannot be compared.
  if (a && b && a->better != b->better) return std::weak_ordering::equivalent;
  const std::optional<double> x = a ? of_a.mean_of(*a) : std::nullopt;
  const std::optional<double> y = b ? of_b.mean_of(*b) : std::nullopt;
  if (!x || !y) return x.has_value() <=> y.has_value();
  if (*x == *y) return std::weak_ordering::equivalent;
  const bool lower = (a ? a : b)->better == MetricSeries::Better::kLower;
  return (*x < *y) == lower ? std::weak_ordering::greater : std::weak_ordering::less;
}

bool HaveSameNames(const Metric& a, const Metric& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const MetricSeries& x, const MetricSeries& y) { return x.name == y.name; });
}

template <typename MeanOf>
std::weak_ordering Compare(const Side<MeanOf>& x, const Side<MeanOf>& y, std::string_view primary) {
  const Metric &a = x.metric, &b = y.metric;
  if (HaveSameNames(a, b)) {  // the case for most runs' nodes: avoids a list of names per pair
    for (const bool first : {true, false}) {
      for (std::size_t at = 0; at < a.size(); ++at) {
        if ((a[at].name == primary) != first) continue;
        const std::weak_ordering order = CompareSeries(&a[at], &b[at], x, y);
        if (order != 0) return order;
      }
    }
    return std::weak_ordering::equivalent;
  }
  for (const std::string_view name : NamesOf(a, b, primary)) {
    const std::weak_ordering order = CompareSeries(FindSeries(a, name), FindSeries(b, name), x, y);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

const Metric& MetricOf(const Node& node) {
  static const Metric kNone;
  return node.metric ? *node.metric : kNone;
}

bool IsCandidate(const Node& node) {
  return IsGood(node) && !node.is_seed_node && !node.is_seed_agg_node &&
         node.steer != Steer::kPruned;
}

// Makes one round's choices, slot by slot.
class Round {
 public:
  Round(const Tree& tree, const SearchConfig& search, const StageState& state,
        std::vector<const Node*> ranked)
      : tree_(tree), search_(search), state_(state), ranked_(std::move(ranked)) {
    for (const Node& node : tree.nodes) {
      if (node.steer == Steer::kPinned && MayBePicked(node)) pinned_ = true;
    }
    for (const Node& node : tree.nodes) {
      if (node.is_seed_node || node.is_seed_agg_node) continue;
      const Node* root = tree.RootOf(node);
      drafts_ += node.parent_id.empty();  // a copy from the previous stage counts too
      if (tree.IsLeaf(node) && !node.is_buggy && InFocus(node)) viable_.insert(root);
    }
  }

  std::optional<Pick> Fill(int slot) {
    if (state_.stage == 1 && drafts_ < search_.num_drafts && !pinned_) return Draft(slot);
    SlotRandom random(search_.seed, state_.name, state_.round, slot);
    // If only buggy nodes are pinned, chance does not decide.
    const bool debug_alone =
        pinned_ && (ranked_.empty() || ranked_.front()->steer != Steer::kPinned);
    if (random.Next() < search_.debug_prob || debug_alone) {
      if (const Node* node = BuggyLeaf(random)) {
        debugged_.insert(node);
        return In(*node, {slot, NodeKind::kDebug, node->id});
      }
    }
    if (debug_alone) return std::nullopt;
    if (state_.stage == 2) return OfBase(slot, NodeKind::kTuning);
    if (state_.stage == 4) return OfBase(slot, NodeKind::kAblation);
    if (ranked_.empty()) {
      // The first round makes no more drafts than configured; later rounds may.
      if (state_.stage == 1 && tree_.nodes.empty()) return std::nullopt;
      return Draft(slot);
    }
    for (const Node* node : ranked_) {
      if (MayUse(*node)) return In(*node, {slot, NodeKind::kImprove, node->id});
    }
    return std::nullopt;
  }

 private:
  Pick Draft(int slot) {
    ++drafts_;
    return {slot, NodeKind::kDraft, ""};
  }

  // Uses another node than the base if people want that.
  std::optional<Pick> OfBase(int slot, NodeKind kind) const {
    const Node* base = tree_.Find(state_.base);
    if (!base) return std::nullopt;
    if (!ranked_.empty() && (pinned_ || base->steer == Steer::kPruned)) base = ranked_.front();
    if (base->steer == Steer::kPruned) return std::nullopt;
    return Pick{slot, kind, base->id};
  }

  bool MayBePicked(const Node& node) const {
    if (node.is_seed_node || node.is_seed_agg_node) return false;
    return IsGood(node) || (node.is_buggy && tree_.IsLeaf(node));
  }
  bool InFocus(const Node& node) const {
    return pinned_ ? node.steer == Steer::kPinned : node.steer != Steer::kPruned;
  }

  const Node* BuggyLeaf(SlotRandom& random) const {
    std::vector<const Node*> candidates;
    for (const Node& node : tree_.nodes) {
      const bool fits = node.is_buggy && !node.is_seed_node && tree_.IsLeaf(node) &&
                        InFocus(node) &&
                        (pinned_ || tree_.DebugDepth(node) <= search_.max_debug_depth) &&
                        !debugged_.contains(&node) && MayUse(node);
      if (fits) candidates.push_back(&node);
    }
    if (candidates.empty()) return nullptr;
    return candidates[random.Index(candidates.size())];
  }

  // Allows one pick per tree while a viable tree is unused.
  bool MayUse(const Node& node) const {
    if (!used_.contains(tree_.RootOf(node))) return true;
    return std::all_of(viable_.begin(), viable_.end(),
                       [&](const Node* root) { return used_.contains(root); });
  }

  Pick In(const Node& node, Pick pick) {
    used_.insert(tree_.RootOf(node));
    return pick;
  }

  const Tree& tree_;
  const SearchConfig& search_;
  const StageState& state_;
  const std::vector<const Node*> ranked_;
  std::set<const Node*> viable_;  // roots of trees with a leaf that is not buggy
  std::set<const Node*> used_;    // roots
  std::set<const Node*> debugged_;
  std::int64_t drafts_ = 0;
  bool pinned_ = false;  // a pinned node can be worked on: only pinned ones are picked
};

std::uint64_t SeedOf(std::int64_t seed, std::string_view stage, std::int64_t round,
                     std::int64_t slot) {
  const std::string hex =
      Sha256Hex(fmt::format("dossier/select\n{}\n{}\n{}\n{}", seed, stage, round, slot));
  std::uint64_t out = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    out |= std::stoull(hex.substr(2 * byte, 2), nullptr, 16) << (8 * byte);
  }
  return out;
}

}  // namespace

SlotRandom::SlotRandom(std::int64_t seed, std::string_view stage, std::int64_t round,
                       std::int64_t slot)
    : random_(SeedOf(seed, stage, round, slot)) {}

double SlotRandom::Next() { return random_.Unit(); }

std::size_t SlotRandom::Index(std::size_t n) {
  return static_cast<std::size_t>(Next() * static_cast<double>(n));
}

SearchConfig SearchOf(const RunConfig& config) {
  return {.seed = config.seed,
          .num_workers = config.num_workers,
          .num_drafts = config.num_drafts,
          .max_debug_depth = config.max_debug_depth,
          .debug_prob = config.debug_prob,
          .primary_metric = config.primary_metric};
}

std::vector<Pick> Select(const Tree& tree, const SearchConfig& search, const StageState& state,
                         Ranking& ranking) {
  std::vector<Pick> picks;
  Round round(tree, search, state, ranking.Nodes(tree));
  for (int slot = 0; slot < search.num_workers; ++slot) {
    if (static_cast<std::int64_t>(picks.size()) >= state.nodes_left) break;
    if (auto pick = round.Fill(slot)) picks.push_back(std::move(*pick));
  }
  return picks;
}

std::weak_ordering CompareMetric(const Metric& a, const Metric& b,
                                 std::span<const std::string> datasets, std::string_view primary) {
  const auto mean_of = [&](const MetricSeries& series) { return MeanOver(series, datasets); };
  return Compare(Side{a, mean_of}, Side{b, mean_of}, primary);
}

// Drops data sets that the node does not report; returns false if any was dropped. For a metric
// that the node lacks nothing is dropped: it ranks last there anyway.
bool Ranking::Narrow(const Node& node) {
  bool same = true;
  for (const MetricSeries& series : MetricOf(node)) {
    const auto [known, added] = common_.try_emplace(series.name);
    if (added) {
      for (const MetricValue& value : series.values) known->second.push_back(value.dataset);
    }
    same = std::erase_if(known->second,
                         [&](const std::string& dataset) {
                           return std::ranges::find(series.values, dataset,
                                                    &MetricValue::dataset) == series.values.end();
                         }) == 0 &&
           same;
  }
  return same;
}

// Inserted after equally good nodes.
void Ranking::Insert(const Tree& tree, std::size_t node) {
  std::vector<std::optional<double>>& means = means_[node];
  means.clear();
  for (const MetricSeries& series : MetricOf(tree.nodes[node])) {
    means.push_back(MeanOver(series, common_.find(series.name)->second));
  }
  const auto side = [&](std::size_t at) {
    const Metric& metric = MetricOf(tree.nodes[at]);
    return Side{metric, [&metric, &own = means_[at]](const MetricSeries& series) {
                  return own[static_cast<std::size_t>(&series - metric.data())];
                }};
  };
  const auto place = std::upper_bound(ranked_.begin(), ranked_.end(), node,
                                      [&](std::size_t added, std::size_t other) {
                                        return Compare(side(added), side(other), primary_) > 0;
                                      });
  ranked_.insert(place, node);
}

void Ranking::Update(const Tree& tree) {
  bool same = true;
  std::vector<std::size_t> added;
  for (; seen_ < tree.nodes.size(); ++seen_) {
    const Node& node = tree.nodes[seen_];
    means_.emplace_back();
    if (!IsCandidate(node)) continue;
    const bool pinned = node.steer == Steer::kPinned;
    if (pinned_ && !pinned) continue;
    if (pinned && !std::exchange(pinned_, true)) {
      added.clear(), ranked_.clear(), common_.clear();
    }
    added.push_back(seen_);
    same = Narrow(node) && same;
  }
  if (!same) {
    added.insert(added.begin(), ranked_.begin(), ranked_.end());
    std::ranges::sort(added);
    ranked_.clear();
  }
  for (const std::size_t node : added) Insert(tree, node);
}

std::vector<const Node*> Ranking::Nodes(const Tree& tree) {
  Update(tree);
  std::vector<const Node*> nodes;
  nodes.reserve(ranked_.size());
  for (const std::size_t node : ranked_) nodes.push_back(&tree.nodes[node]);
  return nodes;
}

const Node* Ranking::Best(const Tree& tree) {
  Update(tree);
  return ranked_.empty() ? nullptr : &tree.nodes[ranked_.front()];
}

std::vector<const Node*> ByMetric(const Tree& tree, std::string_view primary) {
  return Ranking(primary).Nodes(tree);
}

void SortByMetric(std::vector<const Node*>* nodes, std::string_view primary) {
  std::ranges::stable_sort(*nodes, [&](const Node* a, const Node* b) {
    return CompareMetric(a->metric.value_or(Metric()), b->metric.value_or(Metric()), {}, primary) >
           0;
  });
}

const Node* BestNode(const Tree& tree, std::string_view primary) {
  return Ranking(primary).Best(tree);
}

const Node* KeepBest(const Tree& tree, std::string_view chosen, std::string_view primary) {
  const std::vector<const Node*> nodes = ByMetric(tree, primary);
  const auto found = std::ranges::find(nodes, chosen, &Node::id);
  if (found != nodes.end()) return *found;
  return nodes.empty() ? nullptr : nodes.front();
}

}  // namespace dossier::research
