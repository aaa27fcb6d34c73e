// A run of `ask` that the journal has, taken up again with the command line that started it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const int code, AskAgain({.how = {.run = id}}, journal, context));
//
// Thread-safety: none needed; it changes the current folder to that of the run.

#ifndef DOSSIER_CLI_RUNS_ASK_AGAIN_H_
#define DOSSIER_CLI_RUNS_ASK_AGAIN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ask/engine.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "store/journal.h"

namespace dossier::cli {

// What is another than when the run was started; what is unset stays.
struct AskAgainOrder {
  ask::Continuation how;
  std::optional<int> max_iterations;
  std::optional<std::int64_t> max_calls, max_tokens;
  std::optional<double> max_cost;
  std::string max_time;
  std::string question, model;            // of a fork
  std::string forked_from;                // of a fork: that run
  FailureForm form = FailureForm::kText;  // kJson: the outcome as one object
};

// Whether the run's contexts are as they were, and whether another model that the order names can
// be used; nothing is sent, started or recorded. Changes the current folder as AskAgain does.
// Errors: kDamaged, kNotFound (a context), naming the run; those of app::OpenModel.
Status CheckAgain(const AskAgainOrder& order, store::Journal& journal, Context& context);

// Prints as `ask` does; a comparison prints its own result. Errors: kUsage (the run is of another
// command, or was not started by this one); those of ask and of Engine::Resume.
Result<int> AskAgain(const AskAgainOrder& order, std::shared_ptr<store::Journal> journal,
                     Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_AGAIN_H_
