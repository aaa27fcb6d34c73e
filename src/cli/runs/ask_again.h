// Continues a run of `ask` from the journal, with the command line that started it.
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

// The differences from the original run; unset members stay as they were.
struct AskAgainOrder {
  ask::Continuation how;
  std::optional<int> max_iterations;
  std::optional<std::int64_t> max_calls, max_tokens;
  std::optional<double> max_cost;
  std::string max_time;
  std::string question, model;            // for a fork
  std::string forked_from;                // for a fork: the original run
  FailureForm form = FailureForm::kText;  // kJson: the result as one object
};

// Checks that the run's contexts are unchanged and that the order's model, if any, can be used. It
// sends, starts and records nothing. It changes the current folder, as AskAgain does. Errors:
// kDamaged, kNotFound (a context), naming the run; those of app::OpenModel.
Status CheckAgain(const AskAgainOrder& order, store::Journal& journal, Context& context);

// Prints what `ask` prints; a comparison prints its own result. Errors: kUsage (the run belongs to
// another command, or was not started by this one); those of ask and of Engine::Resume.
Result<int> AskAgain(const AskAgainOrder& order, std::shared_ptr<store::Journal> journal,
                     Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_AGAIN_H_
