// Fetching a model for a person: how far it is, and the local model as a whole.
//
//   PullView view(Terminal::Detect(), err);
//   options.progress = [&view](const model::PullProgress& progress) { view.Show(progress); };
//   ... view.End();
//
// Thread-safety: none needed; PullProgress comes from one thread.

#ifndef DOSSIER_CLI_WIRING_MODEL_PULL_H_
#define DOSSIER_CLI_WIRING_MODEL_PULL_H_

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/terminal/terminal.h"
#include "model/local/local_pull.h"
#include "model/local/local_runtime.h"

namespace dossier::cli {

// How far a download is: one line that is written over on a terminal, a line every tenth in a pipe.
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

// Prints each line with the program's name.
model::Say SayTo(std::ostream& err);

// The default weights and what runs them, so that the first question needs no network. Says on
// `out` what is there then. Errors: as PullWeights and EnsureRuntime.
Status PullDefaultModel(const std::string& data_folder, const CancelToken& cancel,
                        std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MODEL_PULL_H_
