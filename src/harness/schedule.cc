#include "harness/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"

namespace dossier::harness {
namespace {

using Places = std::map<std::string, std::size_t, std::less<>>;
using Edges = std::vector<std::vector<std::size_t>>;  // of each task: what it depends on

Result<Edges> FindDependencies(std::span<const ScheduleItem> items, const Places& places,
                               const std::set<std::string, std::less<>>& merged) {
  std::vector<std::string> names;
  for (const ScheduleItem& item : items) names.push_back(item.id);
  Edges edges(items.size());
  for (std::size_t task = 0; task < items.size(); ++task) {
    std::set<std::string_view> seen;
    for (const std::string& id : items[task].dependencies) {
      if (!seen.insert(id).second || merged.contains(id)) continue;
      if (const auto found = places.find(id); found != places.end()) {
        edges[task].push_back(found->second);
        continue;
      }
      const auto near = NearestNames(id, names, 1);
      return MakeError(ErrorCode::kConfig, "task {}: there is no task {} that it could depend on{}",
                       items[task].id, id,
                       near.empty() ? std::string() : fmt::format("; did you mean {}?", near[0]));
    }
  }
  return edges;
}

// Depth first over what tasks depend on, without recursion: chains may be long.
class CycleSearch {
 public:
  CycleSearch(std::span<const ScheduleItem> items, const Edges& edges)
      : items_(items), edges_(edges), marks_(items.size(), Mark::kNew) {}

  Status Run() {
    for (std::size_t task = 0; task < items_.size(); ++task) {
      if (marks_[task] == Mark::kNew) DOSSIER_RETURN_IF_ERROR(From(task));
    }
    return {};
  }

 private:
  enum class Mark : std::uint8_t { kNew, kOnPath, kDone };
  struct Step {
    std::size_t task;
    std::size_t next = 0;  // edge to follow
  };

  Status From(std::size_t start) {
    path_ = {{start}};
    marks_[start] = Mark::kOnPath;
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == edges_[step.task].size()) {
        marks_[step.task] = Mark::kDone;
        path_.pop_back();
        continue;
      }
      const std::size_t task = edges_[step.task][step.next++];
      if (marks_[task] == Mark::kOnPath) return Cycle(task);
      if (marks_[task] == Mark::kDone) continue;
      marks_[task] = Mark::kOnPath;
      path_.push_back({task});
    }
    return {};
  }

  tl::unexpected<Error> Cycle(std::size_t task) const {
    std::string shown;
    bool inside = false;
    for (const Step& step : path_) {
      inside |= step.task == task;
      if (inside) shown += items_[step.task].id + " -> ";
    }
    return MakeError(ErrorCode::kConfig, "tasks depend on each other in a circle: {}{}", shown,
                     items_[task].id);
  }

  const std::span<const ScheduleItem> items_;
  const Edges& edges_;
  std::vector<Mark> marks_;
  std::vector<Step> path_;
};

}  // namespace

Result<Schedule> Schedule::Make(std::span<const ScheduleItem> items,
                                const std::set<std::string, std::less<>>& merged) {
  Places places;
  for (std::size_t i = 0; i < items.size(); ++i) places.emplace(items[i].id, i);
  DOSSIER_ASSIGN_OR_RETURN(const Edges edges, FindDependencies(items, places, merged));
  DOSSIER_RETURN_IF_ERROR(CycleSearch(items, edges).Run());

  Schedule schedule;
  schedule.items_.assign(items.begin(), items.end());
  schedule.nodes_.resize(items.size());
  schedule.by_rank_.resize(items.size());
  std::iota(schedule.by_rank_.begin(), schedule.by_rank_.end(), std::size_t{0});
  std::stable_sort(schedule.by_rank_.begin(), schedule.by_rank_.end(),
                   [&](std::size_t a, std::size_t b) {
                     if (items[a].priority != items[b].priority) {
                       return items[a].priority < items[b].priority;
                     }
                     return items[a].id < items[b].id;
                   });
  for (std::size_t task = 0; task < items.size(); ++task) {
    schedule.nodes_[task].open = edges[task].size();
    for (const std::size_t other : edges[task]) schedule.nodes_[other].dependents.push_back(task);
    if (items[task].part == ScheduleItem::Part::kLeftOut) {
      schedule.nodes_[task].state = Node::State::kLeftOut;
    } else {
      ++schedule.waiting_;
    }
  }
  for (std::size_t task = 0; task < items.size(); ++task) {
    if (schedule.nodes_[task].state == Node::State::kLeftOut) {
      schedule.Block(task, &schedule.blocked_);
    }
  }
  return schedule;
}

std::optional<std::size_t> Schedule::Take() {
  for (const std::size_t task : by_rank_) {
    Node& node = nodes_[task];
    if (node.state != Node::State::kWaiting || node.open > 0) continue;
    node.state = Node::State::kTaken;
    --waiting_;
    ++taken_;
    return task;
  }
  return std::nullopt;
}

std::vector<Blocked> Schedule::Finish(std::size_t task, Ended ended) {
  nodes_[task].state = Node::State::kEnded;
  --taken_;
  std::vector<Blocked> out;
  if (ended == Ended::kMerged) {
    for (const std::size_t dependent : nodes_[task].dependents) --nodes_[dependent].open;
  } else {
    Block(task, &out);
  }
  return out;
}

// Everything that waits for `cause`, nearest first; each names what it waits for itself.
void Schedule::Block(std::size_t cause, std::vector<Blocked>* out) {
  std::vector<std::size_t> causes = {cause};
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const bool left_out = nodes_[causes[i]].state == Node::State::kLeftOut;
    for (const std::size_t task : nodes_[causes[i]].dependents) {
      if (nodes_[task].state != Node::State::kWaiting) continue;
      nodes_[task].state = Node::State::kEnded;
      --waiting_;
      out->push_back({task, fmt::format("{}, which it depends on, {}", items_[causes[i]].id,
                                        left_out ? "is not merged and not part of this run"
                                                 : "was not merged")});
      causes.push_back(task);
    }
  }
}

std::vector<std::size_t> Schedule::Order() const {
  Schedule copy = *this;
  std::vector<std::size_t> order;
  while (const auto task = copy.Take()) {
    order.push_back(*task);
    copy.Finish(*task, Ended::kMerged);
  }
  return order;
}

}  // namespace dossier::harness
