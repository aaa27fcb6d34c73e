// A small HTTP/1.1 server: for `serve`, `models serve-script` and tests.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto listener, HttpListener::Start({}, [](auto exchange) {
//     exchange->Reply({.status = 200, .body = "{}"});
//   }));
//   Use(listener->port());
//
// The handler runs on one of the listener's threads, many at once; it may stream (SendHead,
// SendChunk, Finish), answer late from another thread (keep the exchange), stay silent, or cut the
// connection (Abort). Thread-safety: an HttpExchange has one user at a time.

#ifndef DOSSIER_BASE_NET_HTTP_LISTENER_H_
#define DOSSIER_BASE_NET_HTTP_LISTENER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dossier {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method, target, body;
  HttpHeaders headers;    // names in lower case
  std::string body_file;  // the body's file, if HttpAdmission::file was set
  // The value of header `name` (lower case); empty if absent.
  std::string_view Header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
};

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const HttpRequest& request() const = 0;
  virtual void Reply(HttpResponse response) = 0;               // whole, once
  virtual void SendHead(int status, HttpHeaders headers) = 0;  // chunked from here
  virtual Status SendChunk(std::string_view bytes) = 0;        // fails when the client is gone
  virtual void Finish() = 0;
  virtual void Abort() = 0;  // closes the connection without completing the response
  virtual bool client_gone() const = 0;
};

// The decision on a request whose head has arrived and whose body has not.
struct HttpAdmission {
  std::optional<HttpResponse> refusal;    // sent at once; then the connection is closed
  std::optional<std::uint64_t> max_body;  // bytes; unset: the listener's limit
  // The body is written to this file, which must not exist, instead of memory. The handler of the
  // request removes the file; if none is called, the listener does.
  std::string file;
};

struct HttpListenerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  // 0: any free port
  int threads = 2;
  std::uint64_t max_body = 256u << 20;  // bytes; larger requests get 413
  std::uint32_t max_head = 64u << 10;   // bytes; larger ones get 431
  // Further clients get 503; 0: no limit. Never more than three quarters of the files that the
  // process may open (RLIMIT_NOFILE) when the listener starts.
  std::size_t max_connections = 0;
  // Unset: no limit. The longest time for a head from its first byte; for a silence within a body
  // (then 408); for an idle connection between two requests; and for a client to leave sent data
  // unread before it is cut off.
  std::optional<std::chrono::milliseconds> head_time, body_silence, idle_time, write_time;
  // Bytes a second. With a write_time, each thing sent must be read within that time and the time
  // it takes at this rate, so that a client that reads very slowly is cut off, too.
  std::uint64_t least_rate = 16u << 10;
  // Called on the listener's threads, before a body is read and before a waiting client is told to
  // continue. May be empty.
  std::function<HttpAdmission(const HttpRequest& head)> admit;
};

class HttpListener {
 public:
  using Handler = std::function<void(std::shared_ptr<HttpExchange>)>;
  // Errors: kNetwork, naming address and port.
  static Result<std::unique_ptr<HttpListener>> Start(HttpListenerOptions options, Handler handler);
  virtual ~HttpListener() = default;  // closes all connections, joins its threads
  virtual int port() const = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_LISTENER_H_
