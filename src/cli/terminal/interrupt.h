// Handles Ctrl-C: the first one asks running work to stop, the second ends the process at once.
//
//   Interrupt interrupt;                   // before any thread is started
//   Run(interrupt.token());
//
//   interrupt.Divert([&] { turn.Cancel("interrupted"); });   // a session stops a reply and goes on
//   interrupt.Divert({});                                    // ends the program again
//
// SIGTERM acts like the first Ctrl-C, with exit code 143, and so does SIGHUP (the terminal was
// closed), with 129, unless it was ignored when the program started (nohup). SIGPIPE is ignored: a
// closed stdout appears as a failed write. Ownership: one object per process, in main.

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
  // Makes Ctrl-C call only `handler`, on the watching thread, until Divert is called again; after
  // that the old handler neither runs nor will run. An empty one restores the initial behaviour.
  void Divert(std::function<void()> handler);

  // Returns 128 plus the signal number once interrupted, else 0.
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
