// The JavaScript engine of one process: a context with one realm, the jobs and timers of its code,
// and how they are stopped.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto engine, Engine::Make());
//   engine->Enter(limits, bridge, capture);                  // in the session's process
//   Engine::End end = engine->Settle(promise);               // until it is settled or stopped
//
// No helper thread is started before StartHelper, so that a process with an engine can be forked.
// Thread-safety: none, but RequestStop, which may be called from a signal handler.

#ifndef DOSSIER_WORKERS_JAVASCRIPT_ENGINE_H_
#define DOSSIER_WORKERS_JAVASCRIPT_ENGINE_H_

#include <js/GCAPI.h>
#include <js/Promise.h>
#include <jsapi.h>

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bridge.h"

namespace dossier::worker {

// An answer that code handed over; the first of a block stands.
struct Handed {
  std::string form, text;
  std::optional<Json> value;
};

class Engine final : public JS::JobQueue {
 public:
  static Result<std::unique_ptr<Engine>> Make();

  JSContext* cx() const { return cx_; }
  JS::HandleObject global() const { return global_; }

  // Runs a script of ours; its value.
  bool Evaluate(std::string_view code, const char* file, int line, JS::MutableHandleValue out);
  // As Evaluate, of characters that code gave.
  bool Evaluate(JS::HandleString code, const char* file, int line, JS::MutableHandleValue out);
  // "Type: message" of the pending exception, which is cleared.
  std::string TakeError();

  // In a session's process. `memory`: bytes of the heap at which a block is stopped.
  void Enter(Bridge* bridge, std::uint64_t memory);
  // The one thread beside the main thread; it inherits the walls of its caller.
  Status StartHelper();

  // How the code of a block ended.
  enum class End { kSettled, kStopped, kStuck, kMemory };
  // `file`: the name of its script; none: our own half runs, which no limit of memory stops.
  void BeginBlock(std::string file = {});
  // Runs jobs, timers and replies until `promise` is settled and no job is left, or until the block
  // is stopped.
  End Settle(JS::HandleObject promise);
  // After a call that failed without an exception, or when code may still want to go on.
  bool stopped() const { return interrupted_ || out_of_memory_ || handed_; }
  End StoppedBy() const { return out_of_memory_ && !interrupted_ ? End::kMemory : End::kStopped; }
  bool interrupted() const { return interrupted_; }
  int stopped_line() const { return stopped_line_; }
  // What the block left behind goes: jobs, timers, promises of calls. How many calls were open.
  std::size_t EndBlock();

  // For the host's functions.
  Bridge& bridge() { return *bridge_; }
  void Hand(Handed handed);
  std::optional<Handed> TakeHanded();
  // A promise for the outcome of a call; null with an exception pending.
  JSObject* BeginCall(std::string method, JsonObject args, std::string raw);
  bool SetTimer(JS::HandleObject callback, double ms, std::uint32_t* id);
  void ClearTimer(std::uint32_t id);
  // Makes the error of an outcome: a function of our own half, (code, message, retryable).
  void set_make_error(JSObject* function) { make_error_ = function; }
  bool ThrowOutcome(const CallOutcome& outcome);

  static void RequestStop(int signal);

  // JS::JobQueue.
  JSObject* getIncumbentGlobal(JSContext* cx) override;
  bool enqueuePromiseJob(JSContext* cx, JS::HandleObject promise, JS::HandleObject job,
                         JS::HandleObject allocation_site, JS::HandleObject incumbent) override;
  void runJobs(JSContext*) override { RunJobs(); }
  bool empty() const override { return jobs_.empty(); }

 private:
  struct Timer {
    Clock::Steady due;
    std::uint32_t id = 0;
    JS::PersistentRootedObject callback;
  };

  Engine() = default;
  js::UniquePtr<SavedJobQueue> saveJobQueue(JSContext*) override { return nullptr; }
  Status MakeRealm();
  bool RunJobs();
  bool RunTimer();
  bool Wait();
  bool SettleCall(std::uint64_t id, const CallOutcome& outcome);
  bool MakeError(const CallOutcome& outcome, JS::MutableHandleValue out);
  static bool OnInterrupt(JSContext* cx);
  static void OnGc(JSContext* cx, JSGCStatus status, JS::GCReason reason, void* engine);
  static void OnNurseryGc(JSContext* cx, JS::GCNurseryProgress progress, JS::GCReason reason);
  void CheckMemory();
  void NoteLine();

  JSContext* cx_ = nullptr;
  JS::PersistentRootedObject global_, make_error_;
  Bridge* bridge_ = nullptr;
  std::uint64_t memory_ = 0;
  std::string file_;  // of the block that runs
  std::deque<JS::PersistentRootedObject> jobs_;
  std::list<Timer> timers_;
  std::map<std::uint64_t, JS::PersistentRootedObject> calls_;
  std::uint32_t next_timer_ = 1;
  std::optional<Handed> handed_;
  std::atomic<bool> interrupted_{false}, out_of_memory_{false};
  bool memory_high_ = false;  // to be looked at where code can be stopped
  int stopped_line_ = 0;
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_JAVASCRIPT_ENGINE_H_
