// The groups of addresses of the server. Each makes the routes of one group over what all share.
// Only for .cc files of this folder.
//
// Thread-safety: the routes are called from the threads of connections; what they share says its
// own rules.

#ifndef DOSSIER_SERVER_HTTP_ROUTES_H_
#define DOSSIER_SERVER_HTTP_ROUTES_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "server/day_budget.h"
#include "server/http/answers.h"
#include "server/http/event_stream.h"
#include "server/http/file_store.h"
#include "server/http/front.h"
#include "server/http/http_server.h"
#include "server/owners.h"
#include "server/workspace.h"

namespace dossier::server {

class StoreAccess;

// Lives as long as the server.
struct Shared {
  const ServeOptions& options;
  Workspace& workspace;
  Front& front;
  FileStore& files;
  Owners& owners;
  Ticker& ticker;
  StoreAccess* store;    // that machines share; null: runs are in the journal of this user
  CancelToken stopping;  // runs are to end now
  CancelToken draining;  // nothing new is taken
};

// Those who follow the events of runs, and of responses. Each has two threads.
inline constexpr WorkLimits kFollowers{.running = 128, .waiting = 0};

std::vector<Route> ChatRoutes(Shared shared);
std::vector<Route> ResponsesRoutes(Shared shared);
std::vector<Route> FilesRoutes(Shared shared);
std::vector<Route> RunsRoutes(Shared shared);
std::vector<Route> PageRoutes(Shared shared);  // the viewer, /healthz, /metrics

// What reading a request by this key needs.
RequestReading ReadingFor(Shared shared, const ServerKey& key);

// One answer being made for one client: its stream, its end, and what is counted of it.
class Answering : public std::enable_shared_from_this<Answering> {
 public:
  enum class Leaving : std::uint8_t { kCancels, kGoesOn };
  Answering(Shared shared, std::shared_ptr<Call> call, Leaving leaving);

  Call& call() { return *call_; }
  EventStream& stream() { return stream_; }
  const CancelToken& cancel() const { return cancel_; }
  void SetNote(const std::string& note);  // shown by the next comment
  void Stop(const std::string& reason) { source_.Cancel(reason); }
  // Answers, and counts what it took.
  Result<Answered> Make(ChatRequest request, const AnswerWatch& watch);
  void ReplyJson(int status, const Json& body, HttpHeaders headers = {});
  void ReplyError(const Error& error);

 private:
  std::string Comment();

  Shared shared_;
  const std::shared_ptr<Call> call_;
  CancelSource source_;
  const CancelToken cancel_;
  std::mutex mutex_;
  std::string note_;
  EventStream stream_;  // last: its thread uses the rest
};

// Money of a key's day, held while an answer is made. Without a sum a day nothing is held, and
// `most` is what was wanted.
class HeldMoney {
 public:
  // Errors: kRateLimited if nothing is left today; kLocked, kIo.
  static Result<HeldMoney> Of(const Shared& shared, const ServerKey& key,
                              std::optional<double> wanted, const CancelToken& cancel);
  std::optional<double> most() const { return most_; }  // US dollars
  void Settle(double cost);  // not called, all that is held counts as spent

 private:
  std::shared_ptr<DayBudget> budget_;
  std::optional<double> most_;
};

// Whether `body` is an object whose fields are all of `known`: a limit that is misspelt would be
// none. Errors: kInvalidArgument, with the field in front and the nearest that is known.
Status CheckFields(const Json& body, std::span<const std::string_view> known);

// The whole number in the field `name`; nothing where there is none. Errors: kInvalidArgument, with
// the field in front, for what is no whole number or below `least`.
Result<std::optional<std::int64_t>> CountAt(const Json& body, std::string_view name,
                                            std::int64_t least);

std::int64_t SecondsNow(const Clock& clock);
// "X-Dossier-Warnings" with what a request asks for and nobody does; none: no header.
HttpHeaders WarningHeaders(const ChatRequest& request);
std::string RunsFolder(const Workspace& workspace);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_ROUTES_H_
