#include "assembly/fit/share.h"

#include <algorithm>
#include <numeric>

namespace dossier::assembly {
namespace {

std::vector<std::size_t> PriorityOrder(std::span<const Demand> demands) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return demands[a].priority > demands[b].priority;
  });
  return order;
}

// Gives out by weight; returns what is left. The share is of the room before any is given.
std::int64_t GiveByWeight(std::int64_t room, std::span<const Demand> demands,
                          std::vector<Grant>* grants) {
  std::int64_t weights = 0;
  for (const Demand& demand : demands) weights += demand.weight;
  if (weights == 0) return room;
  std::int64_t left = room;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const auto share =
        static_cast<std::int64_t>(static_cast<__int128>(room) * demands[i].weight / weights);
    Grant& grant = (*grants)[i];
    grant.weight = std::clamp<std::int64_t>(demands[i].wanted - grant.total(), 0, share);
    left -= grant.weight;
  }
  return left;
}

std::int64_t Cascade(std::int64_t room, std::span<const Demand> demands,
                     std::span<const std::size_t> order, std::vector<Grant>* grants) {
  for (const std::size_t i : order) {
    Grant& grant = (*grants)[i];
    if (grant.dropped) continue;
    const std::int64_t more = std::clamp<std::int64_t>(demands[i].wanted - grant.total(), 0, room);
    grant.cascade += more;
    room -= more;
  }
  return room;
}

}  // namespace

std::vector<std::size_t> CascadeOrder(std::span<const Demand> demands) {
  std::vector<std::size_t> order = PriorityOrder(demands);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto place = [&](std::size_t i) {
      return demands[i].cascade_place < 0 ? demands.size()
                                          : static_cast<std::size_t>(demands[i].cascade_place);
    };
    return place(a) < place(b);
  });
  return order;
}

std::vector<Grant> ShareOut(std::int64_t room, std::span<const Demand> demands) {
  std::vector<Grant> grants(demands.size());
  room = std::max<std::int64_t>(room, 0);
  const std::vector<std::size_t> by_priority = PriorityOrder(demands);
  for (const std::size_t i : by_priority) {
    grants[i].floor = std::min({demands[i].floor, demands[i].wanted, room});
    room -= grants[i].floor;
  }
  room = GiveByWeight(room, demands, &grants);
  const std::vector<std::size_t> order = CascadeOrder(demands);
  room = Cascade(room, demands, order, &grants);
  for (auto it = by_priority.rbegin(); it != by_priority.rend(); ++it) {
    Grant& grant = grants[*it];
    if (grant.total() >= demands[*it].least) continue;
    room += grant.total();
    grant = {.dropped = true};
    room = Cascade(room, demands, order, &grants);
  }
  return grants;
}

}  // namespace dossier::assembly
