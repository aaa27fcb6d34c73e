// The managed local server: one for all commands of the user, started when needed.
//
//   DOSSIER_ASSIGN_OR_RETURN(ServerState server, EnsureLocalServer({.data_folder = data,
//                                                                   .weights = weights}, cancel));
//   Use(fmt::format("http://127.0.0.1:{}/v1", server.port), server.key);
//
// DATA/local holds: server.lock (held while one is started or stopped), server.json (0600: where it
// listens, and its key), server.log, failure.json, and the launcher, which runs the server, ends it
// after a time without requests, and removes server.json with it.
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

// How much of this machine the local server gets: context, slots, threads.
//
//   DOSSIER_ASSIGN_OR_RETURN(ServerPlan plan, PlanServer(LookAtMachine(), {.weights = size}));
//
// Thread-safety: pure functions, but for LookAtMachine, which reads /proc and /sys, and NeedsOf.

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

// server.json.
struct ServerState {
  pid_t pid = 0, server_pid = 0;  // of the watcher, and of what it watches
  int port = 0;
  std::string key, model, path;
  std::string runtime, version;
  std::int64_t window = 0;  // tokens a slot
  int slots = 1, threads = 1;
  std::int64_t started = 0;       // seconds since 1970
  std::int64_t idle_seconds = 0;  // until it ends without requests
};

struct LocalServerOptions {
  std::string data_folder;
  Weights weights;
  std::optional<std::int64_t> window;  // tokens; unset: by memory
  Millis idle{600'000};
  Millis start_limit{300'000};
  Say say;                              // progress, a line at a time; may be empty
  std::optional<LocalRuntime> runtime;  // unset: what is installed, or as `network` says
  // kNone (--offline): a runtime that is not installed is not fetched either.
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  std::optional<Machine> machine;  // unset: LookAtMachine
};

// The server that runs, or a new one. Replaces one that is dead, serves other weights or has a
// smaller window than asked for. Errors: kUnavailable, saying why and what else can be done;
// kNetwork if a runtime had to be fetched and may not; kLocked if the running one is at work for
// other weights; kCancelled; kIo.
Result<ServerState> EnsureLocalServer(const LocalServerOptions& options, const CancelToken& cancel);

// The server that answers now, if there is one.
std::optional<ServerState> FindLocalServer(const std::string& data_folder);

// Ends it; false if none ran. Errors: kLocked, kFailed.
Result<bool> StopLocalServer(const std::string& data_folder, const CancelToken& cancel);

// What `models status` shows beyond the state.
struct ServerStats {
  std::uint64_t memory = 0;                 // bytes resident
  std::optional<double> tokens_per_second;  // of the last request
  std::int64_t idle_left = 0;               // seconds
};
ServerStats ReadServerStats(const std::string& data_folder, const ServerState& state);

// A GET of the server on `port`, with its key; what it says fits into kMostLocalAnswer.
HttpCall LocalCall(int port, const std::string& key, std::string_view target, Millis limit);
inline constexpr std::size_t kMostLocalAnswer = 16u << 20;  // bytes

// Errors: kDamaged with what is wrong.
Result<ServerState> ParseServerState(std::string_view json);

// Token counts from the local server's own tokenizer.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeServerCounter(port, key, {.bytes_per_token = 3.0}));
//   counter->CountText("Which package is the largest?");   // exact: 6
//
// Texts up to 64 KiB are counted by the server (about 1 ms) and remembered by their hash; longer
// ones are estimated with the ratio's margin, and so is everything for five seconds after the
// server did not answer. Count::exact says which.
//
// Thread-safety: as Counter.

inline constexpr std::size_t kMostCountedBytes = 64u << 10;

// Errors: kUnavailable (libcurl); kInvalidArgument (ratio).
Result<std::shared_ptr<const tokens::Counter>> MakeServerCounter(int port, const std::string& key,
                                                                 tokens::Ratio ratio);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_SERVER_H_
