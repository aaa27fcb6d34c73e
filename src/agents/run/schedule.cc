#include "agents/run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace dossier::agents {

Schedule::Schedule(std::span<const sources::Task> tasks, const std::set<std::string>& merged,
                   const std::set<std::string>& left_out)
    : nodes_(tasks.size()), by_rank_(tasks.size()) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ids_.push_back(tasks[i].id);
    places.emplace(tasks[i].id, i);
  }
  std::iota(by_rank_.begin(), by_rank_.end(), std::size_t{0});
  std::stable_sort(by_rank_.begin(), by_rank_.end(), [&](std::size_t a, std::size_t b) {
    return sources::StartsBefore(tasks[a], tasks[b]);
  });
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    const std::set<std::string> needed(tasks[task].dependencies.begin(),
                                       tasks[task].dependencies.end());
    for (const std::string& id : needed) {
      const auto found = merged.contains(id) ? places.end() : places.find(id);
      if (found == places.end()) continue;
      nodes_[found->second].dependents.push_back(task);
      ++nodes_[task].open;
    }
    if (left_out.contains(ids_[task])) {
      nodes_[task].state = Node::State::kLeftOut;
    } else {
      ++waiting_;
    }
  }
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (nodes_[task].state == Node::State::kLeftOut) Block(task, &blocked_);
  }
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

// Blocks everything that waits for `cause`, nearest first; each reason names the direct dependency.
void Schedule::Block(std::size_t cause, std::vector<Blocked>* out) {
  std::vector<std::size_t> causes = {cause};
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const bool left_out = nodes_[causes[i]].state == Node::State::kLeftOut;
    for (const std::size_t task : nodes_[causes[i]].dependents) {
      if (nodes_[task].state != Node::State::kWaiting) continue;
      nodes_[task].state = Node::State::kEnded;
      --waiting_;
      out->push_back({task, fmt::format("{}, which it depends on, {}", ids_[causes[i]],
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

}  // namespace dossier::agents
