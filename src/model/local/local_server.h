// The managed local server: one for all commands of the user, started when needed.
//
//   DOSSIER_ASSIGN_OR_RETURN(ServerState server, EnsureLocalServer({.data_folder = data,
//                                                                   .weights = weights}, cancel));
//   Use(fmt::format("http://127.0.0.1:{}/v1", server.port), server.key);
//
// DATA/local contains: server.lock (held while one is started or stopped), server.json (0600: its
// address and key), server.log, failure.json, and the launcher, which runs the server, ends it
// after a time without requests, and then removes server.json.
//
// Thread-safety: functions, from many threads and processes.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_SERVER_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_SERVER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/net/http_get.h"
#include "base/result.h"
#include "model/local/local_runtime.h"
#include "model/local/local_weights.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

// Plans how much of this machine the local server uses: context, slots, threads.
//
//   DOSSIER_ASSIGN_OR_RETURN(ServerPlan plan, PlanServer(LookAtMachine(), {.weights = size}));
//
// Thread-safety: pure functions, except LookAtMachine, which reads /proc and /sys, and NeedsOf.

// For Qwen2.5-Coder-1.5B: 28 layers x 2 KV heads x 128 values x (key + value) x 2 bytes.
inline constexpr std::uint64_t kDefaultKvBytes = 28 * 2 * 128 * 2 * 2;  // 28,672 a token

struct Machine {
  std::uint64_t free_memory = 0;  // bytes; 0: unknown
  int cores = 1;                  // physical ones that we may use
};

struct ModelNeeds {
  std::uint64_t weights = 0;                 // bytes
  std::uint64_t kv_bytes = kDefaultKvBytes;  // cache bytes per token
  std::optional<std::int64_t> window;        // tokens, if the user set it
  std::optional<std::int64_t> longest;       // tokens that the model was made for, if known
};

// Reads the needs from the head of the weights file, with defaults for what it lacks.
ModelNeeds NeedsOf(const Weights& weights);

struct ServerPlan {
  std::int64_t window = 0;  // tokens per slot
  int slots = 1, threads = 1;
  std::uint64_t memory = 0;  // bytes, weights and cache
};

// The largest of 16,384, 8,192 and 4,096 tokens that fits into half the free memory, 4,096 if it
// fits at all, or the user's window; at most what the model was made for. Errors: kUnavailable with
// the bytes needed and free; kInvalidArgument for a window longer than the model's.
Result<ServerPlan> PlanServer(const Machine& machine, const ModelNeeds& needs);

Machine LookAtMachine();

// The parts of LookAtMachine, applied to the text of the files.
std::uint64_t FreeMemory(std::string_view meminfo);  // bytes; 0: not known
// Counts distinct pairs of package and core; `usable` if the text has none, and never more.
int PhysicalCores(std::string_view cpuinfo, int usable);

// The content of server.json.
struct ServerState {
  pid_t pid = 0, server_pid = 0;  // of the watcher, and of the server it watches
  int port = 0;
  std::string key, model, path;
  std::string runtime, version;
  std::int64_t window = 0;  // tokens per slot
  int slots = 1, threads = 1;
  std::int64_t started = 0;       // seconds since 1970
  std::int64_t idle_seconds = 0;  // time without requests after which it ends
};

struct LocalServerOptions {
  std::string data_folder;
  Weights weights;
  std::optional<std::int64_t> window;  // tokens; unset: by memory
  Millis idle{600'000};
  Millis start_limit{300'000};
  Say say;                              // progress, one line at a time; may be empty
  std::optional<LocalRuntime> runtime;  // unset: the installed one, or as `network` allows
  // kNone (--offline): a missing runtime is not fetched either.
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  std::optional<Machine> machine;  // unset: LookAtMachine
};

// Returns the running server, or starts one. Replaces one that is dead, serves other weights or has
// a smaller window than requested. Errors: kUnavailable, with the reason and alternatives; kNetwork
// if a runtime would have to be fetched but may not; kLocked if the running one is busy with other
// weights; kCancelled; kIo.
Result<ServerState> EnsureLocalServer(const LocalServerOptions& options, const CancelToken& cancel);

// Returns the running server, if one answers.
std::optional<ServerState> FindLocalServer(const std::string& data_folder);

// Ends the server; returns false if none was running. Errors: kLocked, kFailed.
Result<bool> StopLocalServer(const std::string& data_folder, const CancelToken& cancel);

// What `models status` shows in addition to the state.
struct ServerStats {
  std::uint64_t memory = 0;                 // bytes resident
  std::optional<double> tokens_per_second;  // of the last request
  std::int64_t idle_left = 0;               // seconds
};
ServerStats ReadServerStats(const std::string& data_folder, const ServerState& state);

// Makes a GET to the server on `port` with its key; answers are at most kMostLocalAnswer.
HttpCall LocalCall(int port, const std::string& key, std::string_view target, Millis limit);
inline constexpr std::size_t kMostLocalAnswer = 16u << 20;  // bytes

// Errors: kDamaged with the reason.
Result<ServerState> ParseServerState(std::string_view json);

// Counts tokens with the local server's own tokenizer.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeServerCounter(port, key, {.bytes_per_token = 3.0}));
//   counter->CountText("Which package is the largest?");   // exact: 6
//
// The server counts texts up to 64 KiB (about 1 ms), and the counts are cached by hash; longer ones
// are estimated with the ratio's margin, and so is everything for five seconds after the server did
// not answer. Count::exact tells which.
//
// Thread-safety: as Counter.

inline constexpr std::size_t kMostCountedBytes = 64u << 10;

// Errors: kUnavailable (libcurl); kInvalidArgument (ratio).
Result<std::shared_ptr<const tokens::Counter>> MakeServerCounter(int port, const std::string& key,
                                                                 tokens::Ratio ratio);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_SERVER_H_
