// The worker's end of the bridge: one thread does all I/O on it.
//
//   Bridge bridge(std::move(socket), &capture);
//   bridge.Start();                                     // the thread
//   Message request = bridge.NextRequest();             // main thread: run, check, get
//   bridge.Respond(std::move(done));
//   CallOutcome outcome = bridge.Call("llm", args, raw, check_signals);   // any interpreter thread
//
// An interrupt from the host becomes a signal to the main thread; its handler tells the
// interpreter. A call that waits is woken too. The end of the bridge ends the process; broken bytes
// end it with status 70. Thread-safety: as said for each method.

#ifndef DOSSIER_WORKERS_PROCESS_BRIDGE_H_
#define DOSSIER_WORKERS_PROCESS_BRIDGE_H_

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "output_capture.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session_socket.h"

namespace dossier::worker {

// One finished item of a batch.
struct CallItem {
  std::int64_t index = 0;
  Json value;
  std::string raw;
};

struct CallOutcome {
  enum class Kind { kOk, kError, kInterrupted } kind = Kind::kError;
  Json value;
  std::string raw;
  std::string code, message;  // of an error
  bool retryable = false;
  std::vector<CallItem> items;  // without kOk: what had come before
};

class Bridge {
 public:
  // `decoder` may hold bytes behind the open message.
  Bridge(UniqueFd socket, sandbox::MessageDecoder decoder, OutputCapture* capture);
  ~Bridge();

  int fd() const { return socket_.get(); }
  // Descriptors only the thread may touch, besides the bridge.
  std::vector<int> private_fds() const;
  // Wakes the thread; written by every thread that has something to send.
  int wake_fd() const { return wake_.get(); }

  // Turns 1 and 2 into pipes read by the thread, and makes what the thread waits on.
  Status Prepare();
  // Starts the thread; the caller is the main thread from now on.
  Status Start();

  // Main thread, without the interpreter's lock: waits for the next run, check or get.
  sandbox::Message NextRequest();
  void Respond(sandbox::Message message);
  // Tells the host that code asked for a context as one str, so that later sessions get it shared.
  void ReportContextText();
  void BeginBlock(std::uint32_t block, std::uint64_t output_limit);
  // Fails calls that are still open, drains the pipes, sends the rest of the output and `done`,
  // in which it fills out_bytes and dropped.
  void EndBlock(sandbox::Message done);
  // Sends a beginning of the block's answer ahead of EndBlock.
  void SendAnswer(std::string text, std::uint32_t block);
  // True once if an interrupt arrived in the block that just ended.
  bool TakeInterrupted();

  // The interrupts so far; grows while a block runs. Any thread.
  std::uint64_t interrupts();

  // Any interpreter thread, without the interpreter's lock. `check` is called when an interrupt
  // arrives meanwhile; true from it ends the wait.
  CallOutcome Call(std::string method, JsonObject args, std::string raw, std::int64_t thread,
                   const std::function<bool()>& check);

  // For a language of one thread that goes on meanwhile: sends a call and returns its id. It waits
  // only for credit. Errors: what kept it from being sent, as an outcome.
  tl::expected<std::uint64_t, CallOutcome> Begin(std::string method, JsonObject args,
                                                 std::string raw,
                                                 const std::function<bool()>& check);
  // The next call of those begun that has an outcome; none at `end`, or when an interrupt comes.
  std::optional<std::pair<std::uint64_t, CallOutcome>> NextOutcome(
      std::optional<Clock::Steady> end);

 private:
  struct Waiting {
    bool done = false;
    bool begun = false;  // by Begin: nobody waits for this one alone
    CallOutcome outcome;
    std::condition_variable changed;
  };
  struct Outgoing {
    sandbox::Message message;
    std::string json;
    std::uint64_t seen = 0;  // interrupts that the caller has looked at
  };

  static tl::expected<Outgoing, CallOutcome> MakeCall(std::string method, JsonObject args,
                                                      std::string raw, std::int64_t thread);
  // With the lock held; waits for credit. The id, or why nothing was sent.
  tl::expected<std::uint64_t, CallOutcome> SendCall(std::unique_lock<std::mutex>& lock,
                                                    Outgoing* call,
                                                    const std::shared_ptr<Waiting>& waiting,
                                                    const std::function<bool()>& check);
  bool Interrupted(std::unique_lock<std::mutex>& lock, std::uint64_t* seen,
                   const std::function<bool()>& check) const;

  void ThreadMain();
  void Wake();
  void FlushOrExit();
  bool ReadPipe(int fd);
  void ReadBridge();
  void Handle(sandbox::Message message);
  void HandleReply(sandbox::Message message);
  void HandleItem(sandbox::Message message);
  void HandleInterrupt();
  void SendHead();
  void SendOutput(std::string text, std::uint32_t block, std::uint64_t at, std::uint32_t late = 0);
  void FinishBlock();
  std::uint64_t NewId() { return next_id_ += 2; }

  UniqueFd socket_, wake_, out_, err_;
  sandbox::MessageDecoder decoder_;  // thread only
  OutputCapture* capture_;
  pid_t main_thread_ = 0;

  std::mutex mutex_;  // guards all below
  sandbox::MessageWriter writer_;
  std::uint64_t next_id_ = 0xffff'ffff'ffff'ffffull;  // + 2 = 1
  std::deque<sandbox::Message> requests_;
  std::condition_variable request_ready_;
  std::map<std::uint64_t, std::shared_ptr<Waiting>> waiting_;
  std::deque<std::pair<std::uint64_t, CallOutcome>> finished_;  // of those begun
  std::condition_variable finished_ready_;
  std::condition_variable credit_ready_;
  std::int64_t credit_requests_ = 256;
  std::int64_t credit_bytes_ = 8 << 20;
  std::uint32_t block_ = 0, last_block_ = 0, late_block_ = 0;  // 0: none runs
  bool run_handed_ = false;  // from `run` to `done`: output is sent meanwhile
  std::uint64_t interrupts_ = 0;
  bool interrupted_ = false;
  std::optional<sandbox::Message> done_;  // waits for the thread to drain the pipes
  std::thread thread_;
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_BRIDGE_H_
