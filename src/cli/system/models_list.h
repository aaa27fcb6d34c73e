// The parts of `dossier models` that only read data: list, show, prices.

#ifndef DOSSIER_CLI_SYSTEM_MODELS_LIST_H_
#define DOSSIER_CLI_SYSTEM_MODELS_LIST_H_

#include <ostream>

#include "base/result.h"
#include "cli/system/models_command.h"

namespace dossier::cli {

// Errors: kConfig (unknown provider or model, with the nearest).
Status ListModels(const ModelsArguments& arguments, std::ostream& out);
Status ShowModel(const ModelsArguments& arguments, std::ostream& out);
Status ShowPrices(const ModelsArguments& arguments, std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_MODELS_LIST_H_
