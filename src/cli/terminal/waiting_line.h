// "⠙ gpt-4o 3 s" on a terminal while nothing else is to be seen, from 300 ms on.
//
//   WaitingLine waiting(terminal, std::cerr);
//   waiting.Start("gpt-4o");
//   …                          // Stop before anything is written to the same terminal
//   waiting.Stop();
//
// Draws on a thread of its own; on what is no terminal it does nothing. Thread-safety: Start and
// Stop from any thread; after Stop has returned nothing more is drawn.

#ifndef DOSSIER_CLI_TERMINAL_WAITING_LINE_H_
#define DOSSIER_CLI_TERMINAL_WAITING_LINE_H_

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

class WaitingLine {
 public:
  static constexpr Millis kQuiet{300}, kStep{100};

  WaitingLine(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}
  ~WaitingLine() { Stop(); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  void Start(std::string_view what);
  // Also erases what was drawn.
  void Stop();

 private:
  void Draw(const std::string& what);

  const Terminal terminal_;
  std::ostream& err_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::mutex thread_mutex_;
  std::thread thread_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_WAITING_LINE_H_
