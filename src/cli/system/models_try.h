// `dossier models test`: one short real request, and one for JSON where the model offers a schema.

#ifndef DOSSIER_CLI_SYSTEM_MODELS_TRY_H_
#define DOSSIER_CLI_SYSTEM_MODELS_TRY_H_

#include <ostream>

#include "base/result.h"
#include "cli/system/models_command.h"

namespace dossier::cli {

// Errors: as Catalog::Choose, Connect and the request; what works up to then is printed.
Status TryModel(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_MODELS_TRY_H_
