// Limits the next run by what the user's configuration allows all runs together to spend; used by
// the command and by servers.
//
//   DOSSIER_RETURN_IF_ERROR(ApplyWindow(config.limits, *journal, &request.limits));
//
// Thread-safety: a function over the journal.

#ifndef DOSSIER_APP_SPENDING_WINDOW_H_
#define DOSSIER_APP_SPENDING_WINDOW_H_

#include "ask/engine.h"
#include "ask/spending.h"
#include "base/result.h"
#include "config/config.h"
#include "store/journal.h"

namespace dossier::app {

// Returns what the runs in the window have left; unset if nothing limits it. Errors: kLimit if
// nothing is left; kConfig (a window without a limit, or a limit without a window); those of
// ask::SpentSince.
Result<ask::WindowRest> RestOfWindow(const config::SpendingLimits& configured,
                                     store::Journal& journal);

// Returns that rest as the limits of one turn of a conversation. Errors: the same.
Result<model::LedgerLimits> LimitsOfTurn(const config::SpendingLimits& configured,
                                         store::Journal& journal);

// Lowers the limits of a run to that rest. Errors: the same.
Status ApplyWindow(const config::SpendingLimits& configured, store::Journal& journal,
                   ask::AskLimits* limits);

}  // namespace dossier::app

#endif  // DOSSIER_APP_SPENDING_WINDOW_H_
