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

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/session/host_bridge.h"
#include "sandbox/session/session_socket.h"
#include "sandbox/session/zygote_client.h"

namespace dossier::sandbox {

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
  // `close`, 200 ms, SIGKILL.
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

 private:
  explicit HostWorker(ForkedWorker forked) : forked_(std::move(forked)), decoder_(Side::kWorker) {}
  Status SendOpen(const SessionSpec& spec, const CancelToken& cancel);
  void OpenDropped(const Message& call);
  std::optional<int> WaitStatus(Millis timeout);

  ForkedWorker forked_;
  MessageDecoder decoder_;
  std::shared_ptr<HostBridge> bridge_;
  IsolationReport report_;
  Millis start_time_{0};
  std::uint64_t base_bytes_ = 0;
  std::optional<int> status_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_WORKER_H_
