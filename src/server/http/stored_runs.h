// The runs that /api/v1 shows and begins, wherever they are kept: in the journal of this user, or
// in a store that several machines share. What their addresses have in common stands in
// runs_routes.cc. Only for .cc files of this folder.
//
//   const auto runs = OwnRuns(shared);
//   DOSSIER_ASSIGN_OR_RETURN(const std::string run, runs->Find(call->key(), call->part(0)));
//   DOSSIER_ASSIGN_OR_RETURN(const auto events, runs->Events(run));
//
// Errors: kNotFound, those of the store. Thread-safety: all methods from any thread. They may wait
// for a database, so none is for the listener's threads.

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

// Which runs a page of the list has; "": all.
struct RunsWish {
  std::string status, since, text;
  std::string cursor;  // the last run of the page before
  std::size_t limit = 50;
};
struct RunsPage {
  JsonArray runs;
  Json next;  // the cursor of the page behind; null: there is none
};

// What becomes of an order: a status of HTTP and an object.
struct OrderReply {
  int status = 200;
  JsonObject body;
};

// Until when a follower of a run waits: the token, or the time, whatever is first.
struct RunNews {
  std::shared_ptr<CancelSource> source;
  Millis look_again;
};

class StoredRuns {
 public:
  virtual ~StoredRuns() = default;

  // What `status` of a wish may be.
  virtual std::span<const std::string_view> states() const = 0;
  virtual Result<RunsPage> List(const ServerKey& key, const RunsWish& wish) = 0;
  // The whole id of a run that this key sees.
  virtual Result<std::string> Find(const ServerKey& key, const std::string& run) = 0;
  // What is known beside the events: status, started, about. Of a run that none has begun yet there
  // are no events.
  virtual Result<JsonObject> Describe(const std::string& run,
                                      const std::vector<store::Event>& events) = 0;
  virtual Result<std::vector<store::Event>> Events(const std::string& run) = 0;
  virtual Status ForEachEvent(const std::string& run, std::int64_t after,
                              const store::Journal::SeeEvent& see) = 0;
  // Whether more events may come than are there now.
  virtual bool GoesOn(const std::string& run) = 0;
  virtual RunNews NewsOf(const std::string& run, const CancelToken& stop) = 0;
  // A text that an event of the run names.
  virtual Result<std::string> Body(const std::string& sha256) = 0;
  virtual Result<ask::RunTale> Tale(const std::string& run) = 0;

  // Both call `begun` with run and status, and return when the work of it here has ended.
  using Begun = std::function<void(const std::string& run, std::string_view status)>;
  // `text`: the context, where the wish names none by its id.
  virtual Status Begin(AskWish wish, const std::string& text, const ServerKey& key,
                       const Begun& begun) = 0;
  virtual Status TakeUp(const AgainWish& wish, const ServerKey& key, const Begun& begun) = 0;
  virtual Result<OrderReply> Cancel(const std::string& run) = 0;
  virtual Result<OrderReply> Erase(const std::string& run) = 0;
};

std::unique_ptr<StoredRuns> OwnRuns(Shared shared);
// `shared.store` must be there.
std::unique_ptr<StoredRuns> SharedRuns(Shared shared);

// It tells nobody of runs that are another's.
inline tl::unexpected<Error> NoRunOfKey(std::string_view run) {
  return MakeError(ErrorCode::kNotFound, "no run {} of this key", run);
}

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_STORED_RUNS_H_
