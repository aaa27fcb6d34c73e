// Messages and questions of `ask` about costs, before any money is spent.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.confirm_above,
//                            ReadConfirmAbove(flags.confirm_above, global, err));
//   DOSSIER_RETURN_IF_ERROR(ApplyWindow(config.limits, journal, &request.limits));
//   return ShowEstimate(plan, EstimateForm::kText, out);
//
// Thread-safety: the question of ReadConfirmAbove is asked by one thread at a time; the others are
// functions.

#ifndef DOSSIER_CLI_RUNS_ASK_MONEY_H_
#define DOSSIER_CLI_RUNS_ASK_MONEY_H_

#include <ostream>
#include <string>

#include "app/spending_window.h"
#include "ask/engine.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// "100" is a number of calls; "$0.50", "0.50usd" and "0.5" are US dollars; "" is no limit. `flags`
// and `err` must outlive the result. Errors: kUsage with the text.
Result<ask::ConfirmAbove> ReadConfirmAbove(const std::string& text, const GlobalFlags& flags,
                                           std::ostream& err);

using app::ApplyWindow;

enum class EstimateForm { kText, kJson };
// Prints the estimate; returns the exit code.
int ShowEstimate(const ask::Plan& plan, EstimateForm form, std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_MONEY_H_
