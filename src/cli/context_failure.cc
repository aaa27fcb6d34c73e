#include "cli/context_failure.h"

#include "base/json.h"
#include "cli/terminal.h"

namespace dossier::cli {
int FailContext(const Error& error, std::string_view schema, ContextForm form, std::ostream& out,
                std::ostream& err) {
  if (form == ContextForm::kJson) {
    out << ToJson(JsonObject{{"schema", schema},
                             {"error", JsonObject{{"code", ErrorName(error.code)},
                                                  {"exit", ExitCode(error.code)},
                                                  {"message", error.message}}}})
        << '\n';
  }
  return PrintError(err, error);
}

}  // namespace dossier::cli
