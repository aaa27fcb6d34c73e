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

#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/net/http_get.h"
#include "base/result.h"
#include "model/local/local_plan.h"
#include "model/local/local_runtime.h"
#include "model/local/local_weights.h"

namespace dossier::model {

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
  Say say;                         // progress, a line at a time; may be empty
  std::optional<Runtime> runtime;  // unset: what is installed, or as `network` says
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

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_SERVER_H_
