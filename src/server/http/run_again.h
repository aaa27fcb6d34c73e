// Runs of the journal taken up again by this server: gone on with, or forked.
//
//   RunAgain again(shared);
//   DOSSIER_ASSIGN_OR_RETURN(auto child, again.Begin({.run = run}, key));
//   Tell(RunAgain::RunOf(*child));  // it runs now; the journal tells of it as of any other
//   RunAgain::WaitForEnd(*child);
//
// The work is done by `dossier runs resume` in a process of its own: a run has a folder, a
// configuration and a command line of its own, and this way they mean here what they mean there.
// Money comes out of the sums of the day of the server and of the key. Errors: those of
// ask/run/recorded_run.h; kLocked for a run that is at work here; kRateLimited for a sum that is
// used up; what the command says of a run that could not begin, and then no fork was made.
// Thread-safety: all methods from any thread; each blocks its caller.

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

// What is another than it was; unset: as it was.
struct AgainWish {
  std::string run;                      // whole id
  std::optional<std::int64_t> fork_at;  // the last turn that stays; unset: the run itself goes on
  ask::ForkEdits edits;                 // of a fork
  std::optional<double> max_usd;        // US dollars, what was spent before included
  std::optional<std::int64_t> max_calls, max_tokens, max_turns;
};
// How a run is taken up: it goes on itself, or a fork of it does.
enum class Taken : std::uint8_t { kItself, kAsFork };

// Errors: kInvalidArgument, with the field in front: one that nobody knows, too.
Result<AgainWish> ReadAgainWish(const Json& body, std::string run, Taken taken);

class RunAgain {
 public:
  class Child;

  explicit RunAgain(const Shared& shared) : shared_(shared) {}
  ~RunAgain();  // stops all and waits for them

  // Once the run is in the journal as one that runs.
  Result<std::shared_ptr<Child>> Begin(const AgainWish& wish, const ServerKey& key);
  static std::string RunOf(const Child& child);
  static void WaitForEnd(Child& child);
  // Whether it runs here, and was told to stop.
  bool Cancel(const std::string& run);

 private:
  Status Check(store::Journal& journal, const AgainWish& wish);
  Result<std::string> RunToGoOn(store::Journal& journal, const AgainWish& wish,
                                const ServerKey& key);
  // False: another child is at work on its run.
  bool Enter(const std::shared_ptr<Child>& child);
  bool IsAtWorkHere(store::Journal& journal, const std::string& run);

  const Shared shared_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Child>> children_;  // by run
  TaskGroup tasks_;                                         // last: joined before the rest goes
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_RUN_AGAIN_H_
