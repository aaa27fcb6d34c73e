// How far a download is: one line that is written over on a terminal, a line every tenth in a pipe.
//
//   PullView view(Terminal::Detect(), std::cerr);
//   view.Show({.done = 400, .total = 1000});
//   view.End();
//
// Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_SYSTEM_PULL_VIEW_H_
#define DOSSIER_CLI_SYSTEM_PULL_VIEW_H_

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "cli/terminal/terminal.h"
#include "model/local/local_pull.h"

namespace dossier::cli {

// "[######......] 52 %  581 MB of 1,117 MB  95 MB/s  6 s left"; `seconds` since the start.
std::string PullLine(const model::PullProgress& progress, double seconds);

class PullView {
 public:
  PullView(const Terminal& terminal, std::ostream& err) : terminal_(terminal), err_(err) {}
  void Show(const model::PullProgress& progress);
  void End();  // ends the line

 private:
  const Terminal terminal_;
  std::ostream& err_;
  std::optional<std::chrono::steady_clock::time_point> started_;
  std::uint64_t next_tenth_ = 0;
  bool line_open_ = false;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_PULL_VIEW_H_
