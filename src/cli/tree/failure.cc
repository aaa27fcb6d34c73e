#include "cli/tree/failure.h"

#include "base/json/json.h"
#include "base/text/redact.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err) {
  if (form == FailureForm::kJson) {
    out << ToJson(JsonObject{{"schema", "dossier.error/1"},
                             {"error", JsonObject{{"code", ErrorName(error.code)},
                                                  {"exit", ExitCode(error.code)},
                                                  {"message", Redact(error.message)}}}})
        << '\n'
        << std::flush;
  }
  return PrintError(err, error);
}

}  // namespace dossier::cli
