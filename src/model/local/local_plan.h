// How much of this machine the local server gets: context, slots, threads.
//
//   DOSSIER_ASSIGN_OR_RETURN(ServerPlan plan, PlanServer(LookAtMachine(), {.weights = size}));
//
// Thread-safety: pure functions, but for LookAtMachine, which reads /proc and /sys, and NeedsOf.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_PLAN_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_PLAN_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/local/local_weights.h"

namespace dossier::model {

// Of Qwen2.5-Coder-1.5B: 28 layers x 2 KV heads x 128 values x (key + value) x 2 bytes.
inline constexpr std::uint64_t kDefaultKvBytes = 28 * 2 * 128 * 2 * 2;  // 28,672 a token

struct Machine {
  std::uint64_t free_memory = 0;  // bytes; 0: not known
  int cores = 1;                  // physical ones that we may use
};

struct ModelNeeds {
  std::uint64_t weights = 0;                 // bytes
  std::uint64_t kv_bytes = kDefaultKvBytes;  // of the cache, a token
  std::optional<std::int64_t> window;        // tokens, if the user said so
  std::optional<std::int64_t> longest;       // tokens that the model was made for, if known
};

// What the file of the weights says; the defaults where it says nothing. Reads the file's head.
ModelNeeds NeedsOf(const Weights& weights);

struct ServerPlan {
  std::int64_t window = 0;  // tokens, of each slot
  int slots = 1, threads = 1;
  std::uint64_t memory = 0;  // bytes, weights and cache
};

// The largest of 16,384, 8,192 and 4,096 tokens that fits into half of what is free, 4,096 if it
// fits at all, or the user's window; never more than the model was made for. Errors: kUnavailable
// with the bytes needed and free; kInvalidArgument for a window that is longer than the model's.
Result<ServerPlan> PlanServer(const Machine& machine, const ModelNeeds& needs);

Machine LookAtMachine();

// The parts of LookAtMachine, over the text of the files.
std::uint64_t FreeMemory(std::string_view meminfo);  // bytes; 0: not known
// Different pairs of package and core; `usable` if the text does not say, and never more than it.
int PhysicalCores(std::string_view cpuinfo, int usable);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_PLAN_H_
