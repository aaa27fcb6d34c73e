// Who gets how many tokens: the arithmetic of budgets, apart from any text.
//
//   std::vector<Demand> demands = {{.wanted = 9000, .weight = 3, .priority = 0.6}, …};
//   std::vector<Grant> grants = ShareOut(10'000, demands);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_SHARE_H_
#define DOSSIER_ASSEMBLY_FIT_SHARE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace dossier::assembly {

// What one section asks for, in tokens. Ties go to the one that stands first.
struct Demand {
  std::int64_t wanted = 0;  // its full size, or its cap if that is less
  std::int64_t floor = 0, weight = 0;
  double priority = 0.5;
  std::int64_t least = 1;  // a smaller grant is none
  int cascade_place = -1;  // index in budget.cascade; -1: not named there
};

struct Grant {
  std::int64_t floor = 0, weight = 0, cascade = 0;
  bool dropped = false;  // got less than `least`; holds nothing

  std::int64_t total() const { return floor + weight + cascade; }
};

// Shares `room` tokens: floors by priority, the rest by weight, what is left by the cascade; then,
// lowest priority first, whoever has less than its least gives all back to the cascade.
std::vector<Grant> ShareOut(std::int64_t room, std::span<const Demand> demands);

// Indexes of `demands` in cascade order: those that budget.cascade names, then by priority.
std::vector<std::size_t> CascadeOrder(std::span<const Demand> demands);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_SHARE_H_
