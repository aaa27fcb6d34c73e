// Calls functions of the client program from the code and runs that it asked for.
//
//   callbacks.Call({.id = 1, .name = "price", .args = {{"item", "A1"}}}, cancel,
//                  [reply](Result<Json> value) { … });        // {"call":7,"id":1,"name":"price",…}
//   callbacks.Resolve(message);                               // {"reply":7,"value":3}
//
// An exception of a function is kFailed with "TYPE: message". Each call is answered once: by its
// reply, by its cancel token, or when the client is gone (kCancelled). Thread-safety: all methods
// from any thread; answers come on the thread that delivers them.

#ifndef DOSSIER_SERVER_RPC_CALLBACKS_H_
#define DOSSIER_SERVER_RPC_CALLBACKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "server/line_stream.h"

namespace dossier::server {

struct ClientCall {
  Json id;           // of the request that the call belongs to
  std::string name;  // of the function
  JsonObject args;   // by name
  JsonArray rest;    // positional values beyond the named ones
};

class Callbacks {
 public:
  using Answer = std::function<void(Result<Json> value)>;

  explicit Callbacks(LineWriter& out) : out_(out) {}

  void Call(const ClientCall& call, const CancelToken& cancel, Answer answer);
  // Returns false for a reply to no open call: one that was cancelled, or never made.
  bool Resolve(const JsonObject& reply);
  // Fails all open calls: the client is gone.
  void FailAll();

 private:
  struct Open {
    Answer answer;
    CancelToken cancel;
    std::uint64_t watch = 0;  // of `cancel`
  };
  void Finish(std::int64_t number, Result<Json> value);

  LineWriter& out_;
  std::mutex mutex_;  // guards what follows
  std::int64_t next_ = 1;
  bool gone_ = false;
  std::map<std::int64_t, Open> open_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RPC_CALLBACKS_H_
