// The groups of routes of the server, made over what all of them share. Only for .cc files of this
// folder.
//
// Thread-safety: the routes are called from the threads of connections; shared objects have their
// own rules.

#ifndef DOSSIER_SERVER_HTTP_ROUTES_H_
#define DOSSIER_SERVER_HTTP_ROUTES_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  StoreAccess* store;    // the shared store; null: runs are in this user's journal
  CancelToken stopping;  // running runs must end now
  CancelToken draining;  // no new work is accepted
};

// Limits for followers of the events of runs and responses. Each uses two threads.
inline constexpr WorkLimits kFollowers{.running = 128, .waiting = 0};

std::vector<Route> ChatRoutes(Shared shared);
std::vector<Route> ResponsesRoutes(Shared shared);
std::vector<Route> FilesRoutes(Shared shared);
std::vector<Route> RunsRoutes(Shared shared);
std::vector<Route> PageRoutes(Shared shared);  // the viewer, /healthz, /metrics

// Returns the callbacks of ReadChatRequest for a request with this key.
RequestReading ReadingFor(Shared shared, const ServerKey& key);

// An answer that is being made for a client: its stream, its end, and its usage counts.
class Answering : public std::enable_shared_from_this<Answering> {
 public:
  enum class Leaving : std::uint8_t { kCancels, kGoesOn };
  Answering(Shared shared, std::shared_ptr<Call> call, Leaving leaving);

  Call& call() { return *call_; }
  EventStream& stream() { return stream_; }
  const CancelToken& cancel() const { return cancel_; }
  void SetNote(const std::string& note);  // the next comment shows it
  void Stop(const std::string& reason) { source_.Cancel(reason); }
  // Makes the answer and counts its usage.
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
  EventStream stream_;  // last: its thread uses the members above
};

// The daily budget of a key; unset: it has none.
std::optional<Purse> PurseFor(const Shared& shared, const ServerKey& key);

// Money held from a key's daily budget while an answer is made. Without a daily budget nothing is
// held, and `most` is the amount wanted.
class HeldMoney {
 public:
  // Errors: kRateLimited if nothing is left today; kLocked, kIo.
  static Result<HeldMoney> Of(const Shared& shared, const ServerKey& key,
                              std::optional<double> wanted, const CancelToken& cancel);
  std::optional<double> most() const { return most_; }  // US dollars
  void Settle(double cost);  // if not called, everything held counts as spent

 private:
  std::shared_ptr<DayBudget> budget_;
  std::optional<double> most_;
};

// Checks that `body` is an object whose fields are all in `known`: a misspelt limit would have no
// effect. Errors: kInvalidArgument, with the field in front and the nearest known one.
Status CheckFields(const Json& body, std::span<const std::string_view> known);

// Checks that these fields are text, null or absent. Errors: kInvalidArgument, with the field in
// front.
Status CheckTexts(const Json& body, std::initializer_list<std::string_view> names);

// Reads the whole number in the field `name`; nothing if absent. Errors: kInvalidArgument, with the
// field in front, for another value or one below `least`.
Result<std::optional<std::int64_t>> CountAt(const Json& body, std::string_view name,
                                            std::int64_t least);

std::int64_t SecondsNow(const Clock& clock);
// "X-Dossier-Warnings" with the parts of the request that have no effect; none: no header.
HttpHeaders WarningHeaders(const ChatRequest& request);
std::string RunsFolder(const Workspace& workspace);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_ROUTES_H_
