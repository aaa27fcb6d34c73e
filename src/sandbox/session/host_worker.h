// One worker process as the host sees it: its pid, its bridge, its end.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto worker, HostWorker::Open(*zygotes, spec, waker));
//   DOSSIER_ASSIGN_OR_RETURN(Message checked, worker->Request(check, Millis(5000)));
//   worker->Kill();
//   std::string why = worker->DeathReason();   // "killed by signal 11 (Segmentation fault)"
//
// Thread-safety: one owner; Kill and bridge() may be used from any thread.

#ifndef DOSSIER_SANDBOX_SESSION_HOST_WORKER_H_
#define DOSSIER_SANDBOX_SESSION_HOST_WORKER_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session.h"
#include "sandbox/session/session_socket.h"
#include "sandbox/session/zygote_client.h"

namespace dossier::sandbox {

// The host's end of a worker's bridge, as far as other threads use it: messages to send, open
// calls, replies that arrive from any thread.
//
//   auto bridge = std::make_shared<HostBridge>(waker);
//   bridge->Send({.type = MessageType::kRun, …});
//   std::shared_ptr<BridgeReply> reply = bridge->OpenCall(call);   // the handler answers it later
//   DOSSIER_RETURN_IF_ERROR(bridge->Flush(fd));                    // the thread inside Run
//
// A reply for a call that is no longer open is dropped.
//
// The worker starts with a credit of 8 MiB. A call uses its bytes of it, and returns them when it
// is no longer open: answered, cancelled, or its block has ended. So all open calls together hold
// at most the credit and one message here. Returned credit is sent to the worker in steps.
//
// Thread-safety: all methods from any thread, except Flush, which only the thread that owns the
// socket may call.

// An eventfd that ends the wait of the thread inside Run.
class Waker {
 public:
  Waker();
  int fd() const { return fd_.get(); }
  // Writes nothing if a wake is pending, or if the waiting thread itself calls it.
  void Wake();
  // Call this after poll() reported fd() and before checking what may have changed.
  void Drain();

  // Makes the calling thread the waiting one. It must check everything before each wait.
  class Waiter {
   public:
    explicit Waiter(Waker& waker) : waker_(waker) { waker_.waiter_ = std::this_thread::get_id(); }
    ~Waiter() { waker_.waiter_ = std::thread::id(); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    Waker& waker_;
  };

 private:
  UniqueFd fd_;
  std::atomic<bool> written_{false};
  std::atomic<std::thread::id> waiter_;
};

// A call and its reply, kept so that a replay can repeat the answer.
struct CallRecord {
  std::string key;   // CallKey
  std::string json;  // of the reply, as sent
  std::string raw;
  std::uint64_t bytes() const { return sizeof(CallRecord) + key.size() + json.size() + raw.size(); }
};

// Returns the same key for two calls only if their method, arguments and texts are equal.
std::string CallKey(const BridgeCall& call);

class HostBridge : public std::enable_shared_from_this<HostBridge> {
 public:
  explicit HostBridge(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {}

  // Assigns a new id to a request and returns it.
  std::uint64_t Send(Message message, Urgency urgency = Urgency::kNormal);
  // Errors: kDied if the worker has closed.
  Status Flush(int fd);
  bool pending() const;

  // `bytes`: Message::wire_bytes of the call.
  std::shared_ptr<BridgeReply> OpenCall(const BridgeCall& call, std::uint64_t bytes);
  // Cancels the call, because the worker no longer waits for its reply.
  void CancelCall(std::uint64_t id, std::string reason);
  // Answers an open call; returns false if it is not open.
  bool Complete(std::uint64_t id, JsonObject reply, std::string raw);
  // The same with a reply that was sent before.
  bool Repeat(std::uint64_t id, const CallRecord& record);
  void SendItem(std::uint64_t id, JsonObject item, std::string raw);

  // Makes the next request's id larger than `id`.
  void SkipId(std::uint64_t id);

  std::size_t open_calls() const;
  // The time when the last reply or item was queued.
  Clock::Steady last_reply() const;
  // Starts a block, for which at most this many bytes of records are kept. The first call above
  // that and all later ones are not recorded: a missing record must not shift the others.
  void BeginBlock(std::uint64_t most_record_bytes);
  // Cancels the open calls and returns the records of the block's answered ones.
  std::vector<CallRecord> EndBlock(std::string_view reason);

 private:
  struct OpenedCall {
    std::unique_ptr<CancelSource> cancel;
    int block = 0;
    std::string key;
    std::uint64_t bytes = 0;
  };

  // Call both with mutex_ held.
  void Answer(std::map<std::uint64_t, OpenedCall>::iterator call, std::string json,
              std::string raw);
  void GiveBack(std::uint64_t bytes);

  mutable std::mutex mutex_;
  MessageWriter writer_;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, OpenedCall> calls_;
  std::vector<CallRecord> records_;
  std::uint64_t record_bytes_left_ = 0;
  std::uint64_t unsent_credit_ = 0;  // returned, but not yet sent to the worker
  Clock::Steady last_reply_{};
  std::shared_ptr<Waker> waker_;
};

// A worker's use of memory, threads and CPU as seen from outside (the `watchdog` layer).
//
//   Result<ProcessUsage> usage = ReadProcessUsage(pid);
//   if (usage && usage->private_bytes > limit) process.Kill();
//
// Thread-safety: pure functions.

struct ProcessUsage {
  std::uint64_t private_bytes = 0;  // resident and not backed by a file
  std::uint64_t peak_bytes = 0;     // highest resident set ever
  int threads = 0;
  // kRunnable: the main thread runs, or would run if it had a processor.
  enum class State { kWaiting, kRunnable } state = State::kWaiting;
};

// Parses the text of /proc/PID/status. Missing lines leave zeros.
ProcessUsage ParseProcessStatus(std::string_view text);
// Errors: kNotFound if the process has ended.
Result<ProcessUsage> ReadProcessUsage(pid_t pid);
// Returns the CPU time of all threads since the process started. Errors: kNotFound if it has ended.
Result<Millis> ProcessCpu(pid_t pid);

class HostWorker {
 public:
  // Forks and opens a worker. Errors: kUnavailable with the missing layer that strict mode needs,
  // kDied, kProtocol, kCancelled.
  static Result<std::unique_ptr<HostWorker>> Open(ZygoteSource& zygotes, const SessionSpec& spec,
                                                  std::shared_ptr<Waker> waker,
                                                  const CancelToken& cancel = {});
  // Orders a process and sends it its `open` message, without waiting for either. Only Finish may
  // be called next. Errors: the reason why this needs a wait.
  static Result<std::unique_ptr<HostWorker>> Begin(ZygoteSource& zygotes, const SessionSpec& spec,
                                                   std::shared_ptr<Waker> waker);
  // Waits until a worker that was begun is ready. Errors: as Open; the worker is then unusable.
  Status Finish(ZygoteSource& zygotes, const CancelToken& cancel);
  // Sends `close`, waits 200 ms, then sends SIGKILL. One that was begun but not finished ends by
  // itself, because its bridge is closed.
  ~HostWorker();

  pid_t pid() const { return forked_.pid; }
  int fd() const { return forked_.socket.get(); }
  MessageDecoder& decoder() { return decoder_; }
  HostBridge& bridge() { return *bridge_; }
  const IsolationReport& report() const { return report_; }
  Millis start_time() const { return start_time_; }
  // Private memory when the session became ready.
  std::uint64_t base_bytes() const { return base_bytes_; }

  // Sends a request between blocks and waits for its answer. Errors: kDied, kTimeout, kProtocol,
  // kCancelled.
  Result<Message> Request(Message message, Millis timeout, const CancelToken& cancel = {});
  void Kill();
  // Stops the process with all its threads until Resume; nothing happens if it is stopped already.
  void Hold();
  // Returns true if it was stopped.
  bool Resume();
  // Waits up to a second for the process to be reaped, then returns how it ended.
  std::string DeathReason();
  // Orders, once, the process of the next session. Call it when this worker has work to do: a fork
  // right before that would take its processor.
  void OrderNext();

 private:
  HostWorker(ForkedWorker forked, std::shared_ptr<Waker> waker)
      : forked_(std::move(forked)),
        decoder_(Side::kWorker),
        bridge_(std::make_shared<HostBridge>(std::move(waker))) {}
  Status SendOpen(const std::string& message, const SessionSpec& spec);
  Status ReceiveOpened(const CancelToken& cancel);
  void OpenDropped(const Message& call);
  std::optional<int> WaitStatus(Millis timeout);

  ForkedWorker forked_;
  MessageDecoder decoder_;
  std::shared_ptr<HostBridge> bridge_;
  IsolationReport report_;
  Clock::Steady asked_;  // for the process
  Millis start_time_{0};
  std::uint64_t base_bytes_ = 0;
  std::optional<int> status_;
  bool next_ordered_ = false;
  bool held_ = false;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_WORKER_H_
