#include "cli/context_failure.h"

#include "base/json.h"
#include "cli/exit_codes.h"
#include "cli/terminal.h"

namespace dossier::cli {
namespace {

struct Failure {
  std::string_view name;
  int exit;
};

// RunContext's kFailed is a command with `fail`, and nothing else.
Failure Explain(const Error& error) {
  if (error.code == ErrorCode::kFailed) return {"context_command_failed", kExitContextCommand};
  return {ErrorName(error.code), ExitCode(error.code)};
}

}  // namespace

int FailContext(const Error& error, std::string_view schema, ContextForm form, std::ostream& out,
                std::ostream& err) {
  const Failure failure = Explain(error);
  if (form == ContextForm::kJson) {
    out << ToJson(JsonObject{{"schema", schema},
                             {"error", JsonObject{{"code", failure.name},
                                                  {"exit", failure.exit},
                                                  {"message", error.message}}}})
        << '\n';
  }
  PrintError(err, error);
  return failure.exit;
}

}  // namespace dossier::cli
