// Shows a run of agents as it happens: on a terminal a line for each worker and the counts, in a
// pipe a plain line for each step. Results go to stdout as tasks end.
//
//   AgentsView view({.terminal = terminal, .out = &out, .err = &err});
//   ports.watch = [&](const store::Event& event) { view.OnEvent(event); };
//   …
//   view.Finish();                      // nothing is drawn from here on
//
// Thread-safety: OnEvent from any thread.

#ifndef DOSSIER_CLI_RUNS_AGENTS_VIEW_H_
#define DOSSIER_CLI_RUNS_AGENTS_VIEW_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "cli/terminal/terminal.h"
#include "store/journal.h"

namespace dossier::cli {

// Maximum length of a name shown on one line, so that it cannot pass for a line of ours.
inline constexpr std::size_t kMostNamed = 500;

struct AgentsViewOptions {
  Terminal terminal;
  std::ostream* out = nullptr;                                     // results
  std::ostream* err = nullptr;                                     // steps
  enum class Results { kLines, kNone } results = Results::kLines;  // kNone: --json prints them all
  enum class Steps { kShown, kNone } steps = Steps::kShown;        // kNone: --quiet
};

class AgentsView {
 public:
  explicit AgentsView(AgentsViewOptions options);
  ~AgentsView() { Finish(); }
  AgentsView(const AgentsView&) = delete;
  AgentsView& operator=(const AgentsView&) = delete;

  void OnEvent(const store::Event& event);
  void Finish();

 private:
  struct Line {
    std::string task, doing;
    Clock::Steady since;
  };

  void Result(const Json& data);
  void Step(const std::string& task, const std::string& text);
  void Erase();
  void Draw();
  std::string Counts() const;
  std::string Fit(std::string_view text) const;

  const AgentsViewOptions options_;
  const bool live_;
  const Clock::Steady started_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::map<std::int64_t, Line> workers_;           // by number
  std::map<std::string, std::int64_t> worker_of_;  // by task
  std::map<std::string, std::int64_t> counts_;     // by status
  std::int64_t total_ = 0;                         // tasks in the run; 0: unknown
  int drawn_ = 0;                                  // lines on the screen
  std::thread ticker_;
};

// "fact-001 -> merged": safe for a terminal.
std::string ResultLine(std::string_view task, std::string_view status);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_VIEW_H_
