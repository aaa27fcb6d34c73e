// The host's end of one worker's bridge, as far as other threads reach it: messages to send, calls
// that are open, replies that arrive from anywhere.
//
//   auto bridge = std::make_shared<HostBridge>(waker);
//   bridge->Send({.type = MessageType::kRun, …});
//   std::shared_ptr<BridgeReply> reply = bridge->OpenCall(call);   // the handler answers it later
//   DOSSIER_RETURN_IF_ERROR(bridge->Flush(fd));                    // the thread inside Run
//
// A reply for a call that is no longer open is dropped. Thread-safety: all methods may be called
// from any thread but Flush, which belongs to the thread that holds the socket.

#ifndef DOSSIER_SANDBOX_SESSION_HOST_BRIDGE_H_
#define DOSSIER_SANDBOX_SESSION_HOST_BRIDGE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "sandbox/session/message_writer.h"
#include "sandbox/session/session.h"

namespace dossier::sandbox {

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
  std::string key;  // CallKey
  JsonObject reply;
  std::string raw;
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

  std::shared_ptr<BridgeReply> OpenCall(const BridgeCall& call);
  // The worker no longer waits for the reply of this call: the call is cancelled.
  void CancelCall(std::uint64_t id, std::string reason);
  // Answers an open call; false if it is not open.
  bool Complete(std::uint64_t id, JsonObject reply, std::string raw);
  void SendItem(std::uint64_t id, JsonObject item, std::string raw);

  // The next request gets a larger id than `id`.
  void SkipId(std::uint64_t id);

  std::size_t open_calls() const;
  // When the last reply or item was queued.
  Clock::Steady last_reply() const;
  // Cancels the calls that are open and returns the records of the block's answered ones.
  std::vector<CallRecord> EndBlock(std::string_view reason);

 private:
  struct OpenedCall {
    std::unique_ptr<CancelSource> cancel;
    int block = 0;
    std::string key;
  };

  mutable std::mutex mutex_;
  MessageWriter writer_;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, OpenedCall> calls_;
  std::vector<CallRecord> records_;
  Clock::Steady last_reply_{};
  std::shared_ptr<Waker> waker_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_BRIDGE_H_
