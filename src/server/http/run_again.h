// Continues or forks runs of the journal in this server.
//
//   RunAgain again(shared);
//   DOSSIER_ASSIGN_OR_RETURN(auto child, again.Begin({.run = run}, key));
//   Tell(RunAgain::RunOf(*child));  // it runs now; the journal tells of it as of any other
//   RunAgain::WaitForEnd(*child);
//
// `dossier runs resume` does the work in a process of its own, because a run has its own folder,
// configuration and command line; so they keep their meaning here. Costs are charged to the daily
// budgets of the server and of the key. Errors: those of ask/run/recorded_run.h; kLocked for a run
// that is at work here; kRateLimited for an exhausted budget; the command's error if a run could
// not begin, and then no fork was made. Thread-safety: all methods from any thread; each blocks its
// caller.

#ifndef DOSSIER_SERVER_HTTP_RUN_AGAIN_H_
#define DOSSIER_SERVER_HTTP_RUN_AGAIN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ask/run/recorded_run.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/task_group.h"
#include "server/http/routes.h"

namespace dossier::server {

// Changes to the run; unset fields stay as they were.
struct AgainWish {
  std::string run;                      // whole id
  std::optional<std::int64_t> fork_at;  // the last turn to keep; unset: continue the run itself
  ask::ForkEdits edits;                 // for a fork
  std::optional<double> max_usd;        // US dollars, including earlier spending
  std::optional<std::int64_t> max_calls, max_tokens, max_turns;
};
// How a run is continued: itself, or as a fork.
enum class Taken : std::uint8_t { kItself, kAsFork };

// Errors: kInvalidArgument, with the field in front, also for an unknown field.
Result<AgainWish> ReadAgainWish(const Json& body, std::string run, Taken taken);

class RunAgain {
 public:
  class Child;

  explicit RunAgain(const Shared& shared) : shared_(shared) {}
  ~RunAgain();  // stops all children and waits for them

  // Returns once the journal has the run as running.
  Result<std::shared_ptr<Child>> Begin(const AgainWish& wish, const ServerKey& key);
  static std::string RunOf(const Child& child);
  static void WaitForEnd(Child& child);
  // Returns true if the run is at work here and was told to stop.
  bool Cancel(const std::string& run);

 private:
  Status Check(store::Journal& journal, const AgainWish& wish);
  Result<std::string> RunToGoOn(store::Journal& journal, const AgainWish& wish,
                                const ServerKey& key);
  // Returns false if another child is at work on its run.
  bool Enter(const std::shared_ptr<Child>& child);
  void Leave(const Child& child);
  bool IsAtWorkHere(store::Journal& journal, const std::string& run);

  const Shared shared_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Child>> children_;  // by run
  TaskGroup tasks_;  // last: joined before the rest is destroyed
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_RUN_AGAIN_H_
