// Ctrl-C: the first one asks running work to stop, the second ends the process at once.
//
//   Interrupt interrupt;                   // before any thread is started
//   Run(interrupt.token());
//
//   interrupt.Divert([&] { turn.Cancel("interrupted"); });   // a session stops a reply and goes on
//   interrupt.Divert({});                                    // ends the program again
//
// SIGTERM acts like the first Ctrl-C, with exit code 143, and so does SIGHUP (the terminal was
// closed), with 129, unless it was ignored when the program started (nohup). SIGPIPE is ignored: a
// closed stdout shows as a failed write. Ownership: one object a process, in main.

#ifndef DOSSIER_CLI_TERMINAL_INTERRUPT_H_
#define DOSSIER_CLI_TERMINAL_INTERRUPT_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/cancel.h"

namespace dossier::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  CancelToken token() const { return source_.token(); }
  // Ctrl-C calls `handler`, on the watching thread, and nothing else, until Divert is called again;
  // after that the old handler is not running and will not run. An empty one: as at the start.
  void Divert(std::function<void()> handler);

  // 128 and the signal once interrupted, else 0.
  int exit_code() const { return exit_code_; }

 private:
  CancelSource source_;
  std::atomic<int> exit_code_{0};
  std::atomic<bool> done_{false};
  std::mutex mutex_;  // held while the handler runs
  std::function<void()> handler_;
  std::thread thread_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_INTERRUPT_H_
