// A small HTTP/1.1 server on loopback: for tests, `models serve-script`, and later `serve`.
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

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dossier {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method, target, body;
  HttpHeaders headers;  // names in lower case
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
  virtual void Abort() = 0;  // closes the connection in the middle
  virtual bool client_gone() const = 0;
};

struct HttpListenerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  // 0: any free port
  int threads = 2;
  std::size_t max_body = 256u << 20;  // bytes; larger requests get 413
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
