// The parts of `dossier models` that touch the local model: pull, start, stop, status; and
// serve-script.

#ifndef DOSSIER_CLI_SYSTEM_MODELS_LOCAL_H_
#define DOSSIER_CLI_SYSTEM_MODELS_LOCAL_H_

#include <ostream>

#include "base/result.h"
#include "cli/system/models_command.h"

namespace dossier::cli {

// Errors: as PullWeights, LinkWeights and EnsureRuntime.
Status PullModel(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                 std::ostream& err);
// Errors: as EnsureLocalServer.
Status StartServer(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                   std::ostream& err);
Status StopServer(const CancelToken& cancel, std::ostream& out);
Status ShowServer(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out);
// Serves until cancelled. Errors: as Script::Load and ServeScript.
Status ServeScriptFile(const ModelsArguments& arguments, const CancelToken& cancel,
                       std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_MODELS_LOCAL_H_
