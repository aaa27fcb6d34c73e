#include "sources/header/task_order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

using Places = std::map<std::string_view, std::size_t>;

Places PlacesOf(std::span<const Task> tasks) {
  Places places;
  for (std::size_t i = 0; i < tasks.size(); ++i) places.emplace(tasks[i].id, i);
  return places;
}

// How many of each task's dependencies are in the list, and who waits for it.
struct Graph {
  std::vector<std::size_t> open;
  std::vector<std::vector<std::size_t>> waiting;
};

Graph MakeGraph(std::span<const Task> tasks) {
  const Places places = PlacesOf(tasks);
  Graph graph{std::vector<std::size_t>(tasks.size()),
              std::vector<std::vector<std::size_t>>(tasks.size())};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& id : tasks[i].dependencies) {
      const auto found = places.find(id);
      if (found == places.end()) continue;  // merged before
      ++graph.open[i];
      graph.waiting[found->second].push_back(i);
    }
  }
  return graph;
}

// Follows unfinished dependencies from `start` until a task comes back.
std::string ShowCycle(std::span<const Task> tasks, const std::vector<bool>& done,
                      std::size_t start) {
  const Places places = PlacesOf(tasks);
  std::vector<std::size_t> path;
  std::size_t at = start;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    for (const std::string& id : tasks[at].dependencies) {
      const auto found = places.find(id);
      if (found != places.end() && !done[found->second]) {
        at = found->second;
        break;
      }
    }
  }
  std::string text;
  for (auto task = std::find(path.begin(), path.end(), at); task != path.end(); ++task) {
    text += utf8::CleanForTerminal(tasks[*task].id) + " -> ";
  }
  return text + utf8::CleanForTerminal(tasks[at].id);
}

}  // namespace

Status TellTaskProblems(std::vector<std::string> problems) {
  if (problems.empty()) return {};
  if (problems.size() > kMaxTaskProblems) {
    problems.resize(kMaxTaskProblems);
    problems.emplace_back("and more");
  }
  return MakeError(ErrorCode::kConfig, "{}", Join(problems, "\n"));
}

Status CheckCycles(std::span<const Task> tasks, const std::string& root) {
  const std::vector<std::size_t> order = StartOrder(tasks);
  if (order.size() == tasks.size()) return {};
  std::vector<bool> done(tasks.size(), false);
  for (const std::size_t index : order) done[index] = true;
  const auto stuck =
      static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
  return MakeError(ErrorCode::kConfig, "{}: tasks wait for each other: {}",
                   PlaceOfTask(root, tasks[stuck], "dependencies"), ShowCycle(tasks, done, stuck));
}

Status CheckDependencies(std::span<const Task> tasks, const std::set<std::string>& merged,
                         const std::string& root) {
  const Places places = PlacesOf(tasks);
  std::vector<std::string> problems;
  for (const Task& task : tasks) {
    for (const std::string& id : task.dependencies) {
      if (places.contains(id) || merged.contains(id)) continue;
      if (problems.size() > kMaxTaskProblems) break;
      std::vector<std::string> ids(merged.begin(), merged.end());
      for (const Task& other : tasks) ids.push_back(other.id);
      const auto near = NearestNames(id, ids, 3);
      problems.push_back(fmt::format("{}: task {} depends on {}, which is no task{}",
                                     PlaceOfTask(root, task, "dependencies"),
                                     utf8::CleanForTerminal(task.id), utf8::CleanForTerminal(id),
                                     near.empty() ? "" : fmt::format(" ({}?)", Join(near, ", "))));
    }
  }
  return TellTaskProblems(std::move(problems));
}

std::vector<std::size_t> StartOrder(std::span<const Task> tasks) {
  Graph graph = MakeGraph(tasks);
  const auto later = [&](std::size_t a, std::size_t b) {
    if (StartsBefore(tasks[a], tasks[b])) return false;
    return StartsBefore(tasks[b], tasks[a]) || a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (graph.open[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t waiter : graph.waiting[next]) {
      if (--graph.open[waiter] == 0) ready.push(waiter);
    }
  }
  return order;
}

}  // namespace dossier::sources
