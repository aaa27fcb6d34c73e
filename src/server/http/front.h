// The common parts of all routes: access checks, request parsing, rate limits, errors.
//
//   Front front(setting, {{"GET", "/v1/models", Scope::kRead, [&](Call& call) { … }}});
//   front.Handle(exchange);                  // finds the route, checks, calls its handler
//
// A handler runs on the listener's threads and must not block: slow work goes through `Call::Later`
// or, for a run, `Call::Queue` (both bounded), and answers through the call, which it keeps.
// Thread-safety: Handle and Admit from any thread. A Call has one owner at a time.

#ifndef DOSSIER_SERVER_HTTP_FRONT_H_
#define DOSSIER_SERVER_HTTP_FRONT_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/net/http_listener.h"
#include "base/result.h"
#include "server/http/metrics.h"
#include "server/http/work_queue.h"
#include "server/key_ring.h"

namespace dossier::server {

class Front;

// One request and its answer. It is answered once; if nobody answers it, it gets a 500.
class Call {
 public:
  Call(Front& front, std::shared_ptr<HttpExchange> exchange, std::string route, ServerKey key,
       std::vector<std::string> parts, std::map<std::string, std::string> query);
  ~Call();  // removes its uploaded body

  const HttpRequest& request() const { return exchange_->request(); }
  const std::shared_ptr<HttpExchange>& exchange() const { return exchange_; }
  const ServerKey& key() const { return key_; }
  const std::string& id() const { return id_; }  // for the header X-Request-Id
  // The value of the nth {…} of the route.
  const std::string& part(std::size_t n) const { return parts_[n]; }
  const std::vector<std::string>& parts() const { return parts_; }
  std::string Query(const std::string& name) const;  // "" if absent
  // Parses the body. Errors: kInvalidArgument, with the place.
  Result<Json> Body() const;

  void Reply(int status, const Json& body, HttpHeaders headers = {});
  void ReplyText(int status, std::string type, std::string body, HttpHeaders headers = {});
  void Fail(const Error& error);
  void Fail(int status, std::string_view message, std::string_view code, Json param = nullptr);
  void FailBusy();  // the queue of runs is full
  // Returns the common response headers and counts the response in the metrics: for responses that
  // are not sent by this class.
  HttpHeaders Answering(int status, HttpHeaders headers);
  // Does short work outside the listener's threads; if the queue is full, the call is answered so.
  void Later(std::function<void()> work);
  // The same in the queue of runs: `work` returns when its run has ended.
  void Queue(std::function<void()> work);

 private:
  void SubmitTo(WorkQueue& queue, std::function<void()> work);

  Front& front_;
  const std::shared_ptr<HttpExchange> exchange_;
  const std::string route_, id_;
  const ServerKey key_;
  const std::vector<std::string> parts_;
  const std::map<std::string, std::string> query_;
  const Clock::Steady began_;
};

struct Route {
  std::string method, pattern;  // "/v1/files/{id}/content"
  std::optional<Scope> scope;   // unset: no key is needed
  std::function<void(std::shared_ptr<Call>)> handler;
  // Returns the file for the body instead of memory; may be empty.
  std::function<std::string()> body_file;
};

struct FrontSetting {
  std::optional<KeyRing> keys;       // unset: no key is needed (--no-auth)
  std::vector<std::string> hosts;    // allowed in addition to this machine's
  std::vector<std::string> origins;  // of foreign pages that may send requests
  int port = 0;                      // set once it is known
  std::uint64_t max_body = 64u << 20, max_upload = 8ull << 30;  // bytes
  WorkLimits work;
  std::shared_ptr<const Clock> clock = SystemClock();
};

class Front {
 public:
  explicit Front(FrontSetting setting);

  void Add(std::vector<Route> routes);
  HttpAdmission Admit(const HttpRequest& head);  // for the listener, before a body is read
  void Handle(std::shared_ptr<HttpExchange> exchange);

  Metrics& metrics() { return metrics_; }
  WorkQueue& work() { return work_; }  // runs
  const Clock& clock() const { return *setting_.clock; }
  const std::vector<std::string>& origins() const { return setting_.origins; }

 private:
  struct Found {
    const Route* route = nullptr;
    std::vector<std::string> parts;
    std::map<std::string, std::string> query;
    bool path_known = false;
  };
  struct Judged {
    Found found;
    ServerKey key;
    std::optional<HttpResponse> refusal;
  };
  Found FindRoute(const HttpRequest& request) const;
  Judged Judge(const HttpRequest& request);
  std::optional<HttpResponse> CheckSource(const HttpRequest& request) const;
  std::optional<HttpResponse> CheckKey(const HttpRequest& request, const Route& route,
                                       ServerKey* key);
  HttpResponse Refuse(const HttpRequest& request, int status, std::string_view message,
                      std::string_view code, HttpHeaders headers = {}) const;
  HttpHeaders CorsHeaders(const HttpRequest& request) const;

  FrontSetting setting_;
  std::vector<Route> routes_;
  Metrics metrics_;
  MinuteLimit failures_, requests_;
  // Last: destroyed before what their work uses. Read-only calls (looks_) do not wait for runs.
  WorkQueue looks_, work_;

  friend class Call;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_FRONT_H_
