// The interface to the runs that /api/v1 shows and begins: in the journal of this user, or in a
// store shared by several machines. runs_routes.cc has the common part of the routes. Only for .cc
// files of this folder.
//
//   const auto runs = OwnRuns(shared);
//   DOSSIER_ASSIGN_OR_RETURN(const std::string run, runs->Find(call->key(), call->part(0)));
//   DOSSIER_ASSIGN_OR_RETURN(const auto events, runs->Events(run));
//
// Errors: kNotFound, those of the store. Thread-safety: all methods from any thread. They may wait
// for a database, so do not call them on the listener's threads.

#ifndef DOSSIER_SERVER_HTTP_STORED_RUNS_H_
#define DOSSIER_SERVER_HTTP_STORED_RUNS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/exchange/run_tale.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "server/http/routes.h"
#include "server/http/run_again.h"
#include "server/prepared_ask.h"
#include "store/journal.h"

namespace dossier::server {

// Selects the runs on a page of the list; "": all.
struct RunsWish {
  std::string status, since, text;
  std::string cursor;  // the last run of the previous page
  std::size_t limit = 50;
};
struct RunsPage {
  JsonArray runs;
  Json next;  // the cursor of the next page; null: none
};

// The reply to a cancel or erase request: HTTP status and object.
struct OrderReply {
  int status = 200;
  JsonObject body;
};

// What a follower of a run waits for: the token or the time, whichever comes first.
struct RunNews {
  std::shared_ptr<CancelSource> source;
  Millis look_again;
};

class StoredRuns {
 public:
  virtual ~StoredRuns() = default;

  // The valid values of RunsWish::status.
  virtual std::span<const std::string_view> states() const = 0;
  virtual Result<RunsPage> List(const ServerKey& key, const RunsWish& wish) = 0;
  // Returns the full id of a run that this key may see.
  virtual Result<std::string> Find(const ServerKey& key, const std::string& run) = 0;
  // Returns what is known besides the events: status, started, about. A run that nobody has begun
  // yet has no events.
  virtual Result<JsonObject> Describe(const std::string& run,
                                      const std::vector<store::Event>& events) = 0;
  virtual Result<std::vector<store::Event>> Events(const std::string& run) = 0;
  virtual Status ForEachEvent(const std::string& run, std::int64_t after,
                              const store::Journal::SeeEvent& see) = 0;
  // Returns true if more events may come.
  virtual bool GoesOn(const std::string& run) = 0;
  virtual RunNews NewsOf(const std::string& run, const CancelToken& stop) = 0;
  // Returns a text that an event of the run refers to.
  virtual Result<std::string> Body(const std::string& sha256) = 0;
  virtual Result<ask::RunTale> Tale(const std::string& run) = 0;

  // Both call `begun` with run and status, and return when the work on it here has ended.
  using Begun = std::function<void(const std::string& run, std::string_view status)>;
  // `text`: the context, if the wish has no context id.
  virtual Status Begin(AskWish wish, const std::string& text, const ServerKey& key,
                       const Begun& begun) = 0;
  virtual Status TakeUp(const AgainWish& wish, const ServerKey& key, const Begun& begun) = 0;
  virtual Result<OrderReply> Cancel(const std::string& run) = 0;
  virtual Result<OrderReply> Erase(const std::string& run) = 0;
};

std::unique_ptr<StoredRuns> OwnRuns(Shared shared);
// `shared.store` must not be null.
std::unique_ptr<StoredRuns> SharedRuns(Shared shared);

// The same error for a run of another key, so that it reveals nothing.
inline tl::unexpected<Error> NoRunOfKey(std::string_view run) {
  return MakeError(ErrorCode::kNotFound, "no run {} of this key", run);
}

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_STORED_RUNS_H_
