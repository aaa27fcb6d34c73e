// One worker process seen from the host: its pid, its bridge, its end.
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

// The host's end of one worker's bridge, as far as other threads reach it: messages to send, calls
// that are open, replies that arrive from anywhere.
//
//   auto bridge = std::make_shared<HostBridge>(waker);
//   bridge->Send({.type = MessageType::kRun, …});
//   std::shared_ptr<BridgeReply> reply = bridge->OpenCall(call);   // the handler answers it later
//   DOSSIER_RETURN_IF_ERROR(bridge->Flush(fd));                    // the thread inside Run
//
// A reply for a call that is no longer open is dropped.
//
// The worker begins with a credit of 8 MiB. A call takes its bytes from it, and gives them back
// when it is no longer open: answered, cancelled, or its block has ended. So what all open calls
// hold here stays within the credit and one message. What is given back goes to the worker in
// steps.
//
// Thread-safety: all methods may be called
// from any thread but Flush, which belongs to the thread that holds the socket.

// An eventfd that ends the wait of the thread inside Run.
class Waker {
 public:
  Waker();
  int fd() const { return fd_.get(); }
  // Writes nothing if a wake is on its way, or if the waiting thread itself calls it.
  void Wake();
  // After poll() reported fd(), before looking at what may have changed.
  void Drain();

  // Makes the calling thread the one that waits. It must look at everything before each wait.
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

// A call and its reply, kept so that a replay can answer it again.
struct CallRecord {
  std::string key;   // CallKey
  std::string json;  // of the reply, as it was sent
  std::string raw;
  std::uint64_t bytes() const { return sizeof(CallRecord) + key.size() + json.size() + raw.size(); }
};

// The same for two calls only if method, arguments and texts are the same.
std::string CallKey(const BridgeCall& call);

class HostBridge : public std::enable_shared_from_this<HostBridge> {
 public:
  explicit HostBridge(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {}

  // Gives requests a new id and returns it.
  std::uint64_t Send(Message message, Urgency urgency = Urgency::kNormal);
  // Errors: kDied if the worker has closed.
  Status Flush(int fd);
  bool pending() const;

  // `bytes`: Message::wire_bytes of the call.
  std::shared_ptr<BridgeReply> OpenCall(const BridgeCall& call, std::uint64_t bytes);
  // The worker no longer waits for the reply of this call: the call is cancelled.
  void CancelCall(std::uint64_t id, std::string reason);
  // Answers an open call; false if it is not open.
  bool Complete(std::uint64_t id, JsonObject reply, std::string raw);
  // The same with a reply that was sent before.
  bool Repeat(std::uint64_t id, const CallRecord& record);
  void SendItem(std::uint64_t id, JsonObject item, std::string raw);

  // The next request gets a larger id than `id`.
  void SkipId(std::uint64_t id);

  std::size_t open_calls() const;
  // When the last reply or item was queued.
  Clock::Steady last_reply() const;
  // Of the block that begins, so many bytes of records are kept. The first call over it and all
  // after it are not: a record that is left out must not shift the others.
  void BeginBlock(std::uint64_t most_record_bytes);
  // Cancels the calls that are open and returns the records of the block's answered ones.
  std::vector<CallRecord> EndBlock(std::string_view reason);

 private:
  struct OpenedCall {
    std::unique_ptr<CancelSource> cancel;
    int block = 0;
    std::string key;
    std::uint64_t bytes = 0;
  };

  // Both with mutex_ held.
  void Answer(std::map<std::uint64_t, OpenedCall>::iterator call, std::string json,
              std::string raw);
  void GiveBack(std::uint64_t bytes);

  mutable std::mutex mutex_;
  MessageWriter writer_;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, OpenedCall> calls_;
  std::vector<CallRecord> records_;
  std::uint64_t record_bytes_left_ = 0;
  std::uint64_t unsent_credit_ = 0;  // given back, but not told the worker yet
  Clock::Steady last_reply_{};
  std::shared_ptr<Waker> waker_;
};

// What the host sees of a worker from outside: memory, threads, CPU (the `watchdog` layer).
//
//   Result<ProcessUsage> usage = ReadProcessUsage(pid);
//   if (usage && usage->private_bytes > limit) process.Kill();
//
// Thread-safety: pure functions.

struct ProcessUsage {
  std::uint64_t private_bytes = 0;  // resident and not backed by a file
  std::uint64_t peak_bytes = 0;     // highest resident set ever
  int threads = 0;
  // Whether the main thread runs, or would run if it had a processor.
  enum class State { kWaiting, kRunnable } state = State::kWaiting;
};

// Reads the text of /proc/PID/status. Missing lines leave zeros.
ProcessUsage ParseProcessStatus(std::string_view text);
// Errors: kNotFound if the process has ended.
Result<ProcessUsage> ReadProcessUsage(pid_t pid);
// CPU of all threads since the process began. Errors: kNotFound if it has ended.
Result<Millis> ProcessCpu(pid_t pid);

class HostWorker {
 public:
  // Forks and opens. Errors: kUnavailable with the layer that strict lacks, kDied, kProtocol,
  // kCancelled.
  static Result<std::unique_ptr<HostWorker>> Open(ZygoteSource& zygotes, const SessionSpec& spec,
                                                  std::shared_ptr<Waker> waker,
                                                  const CancelToken& cancel = {});
  // Asks for a process and tells it what to open, and waits for neither. Nothing but Finish may be
  // called next. Errors: what keeps it from being done without a wait.
  static Result<std::unique_ptr<HostWorker>> Begin(ZygoteSource& zygotes, const SessionSpec& spec,
                                                   std::shared_ptr<Waker> waker);
  // Waits until a worker that was begun is ready. Errors: as Open; the worker is then of no use.
  Status Finish(ZygoteSource& zygotes, const CancelToken& cancel);
  // `close`, 200 ms, SIGKILL. One that was begun and never finished ends by itself: its bridge is
  // closed.
  ~HostWorker();

  pid_t pid() const { return forked_.pid; }
  int fd() const { return forked_.socket.get(); }
  MessageDecoder& decoder() { return decoder_; }
  HostBridge& bridge() { return *bridge_; }
  const IsolationReport& report() const { return report_; }
  Millis start_time() const { return start_time_; }
  // Private memory when the session was ready.
  std::uint64_t base_bytes() const { return base_bytes_; }

  // Sends a request between blocks and waits for its answer. Errors: kDied, kTimeout, kProtocol,
  // kCancelled.
  Result<Message> Request(Message message, Millis timeout, const CancelToken& cancel = {});
  void Kill();
  // Waits up to a second for the process to be reaped, then says how it ended.
  std::string DeathReason();
  // Asks, once, for the process of the session to come. To be called where this worker has got
  // something to do: a fork right before that would take its processor.
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
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_WORKER_H_
