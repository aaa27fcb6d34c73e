// The server of `dossier serve`: OpenAI's chat completions, responses and files on our engine, an
// API of runs, and a page that shows them.
//
//   HttpServer server;
//   DOSSIER_ASSIGN_OR_RETURN(const Address address, server.Listen(std::move(options)));
//   Say(address.url);
//   DOSSIER_RETURN_IF_ERROR(server.Run(cancel, at_once));   // returns drained
//
// Over a shared store, Run also fails as RunWorker does if this machine cannot take runs.
//
// Errors: kNetwork (address and port), kRefused (an address that other machines reach, without
// keys; a key file that others may read), kConfig; those of Workspace::CheckModel for a named
// model. Thread-safety: one owner; its own threads serve requests.

#ifndef DOSSIER_SERVER_HTTP_HTTP_SERVER_H_
#define DOSSIER_SERVER_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/net/url.h"
#include "base/result.h"
#include "server/http/work_queue.h"
#include "server/workspace.h"

namespace dossier::server {

struct ServeOptions {
  ListenAddress address{.port = 8780};
  std::string keys_file;  // "": one key, generated at each start
  enum class Auth : std::uint8_t { kKeys, kNone } auth = Auth::kKeys;
  std::uint64_t max_body = 64u << 20, max_upload = 8ull << 30;  // bytes
  WorkLimits work;
  std::int64_t inline_tokens = 16'384;  // a longer part of a message becomes a document
  Millis heartbeat{5'000}, drain{30'000};
  std::vector<std::string> origins, hosts;
  std::string local_paths;  // folder whose files clients may name; "": none
  enum class Viewer : std::uint8_t { kShown, kNone } viewer = Viewer::kShown;
  // postgresql://…: the API shows the runs of this store, and this server also works on its queue
  // like a worker. "": the API shows the user's own runs.
  std::string store;
  std::string cache_folder;  // the worker's cache folder
  // kNothing: this server calls no model and takes no run; workers elsewhere do.
  enum class Answers : std::uint8_t { kRequests, kNothing } answers = Answers::kRequests;
  std::function<void(std::string_view line)> say;  // messages of the worker, from any thread
  std::string version;
  WorkspaceOptions workspace;
};

struct Address {
  std::string url;      // "http://127.0.0.1:8780"
  std::string key;      // the generated key; "": keys come from a file or are not needed
  std::string warning;  // for the person who started it; "": none
};

class HttpServer {
 public:
  HttpServer();
  ~HttpServer();

  Result<Address> Listen(ServeOptions options);
  // Serves until `stop`, then lets running runs finish for ServeOptions::drain or until `at_once`;
  // the rest is interrupted and can be resumed.
  Status Run(const CancelToken& stop, const CancelToken& at_once);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_HTTP_SERVER_H_
