// Finds or installs the program that runs GGUF files: `llama-server`, else the wheel xllamacpp in a
// private Python environment in the data folder.
//
//   DOSSIER_ASSIGN_OR_RETURN(LocalRuntime runtime, EnsureRuntime(data_folder, say, cancel));
//
// Thread-safety: functions, from many threads and processes.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_RUNTIME_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_RUNTIME_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/process/process.h"
#include "base/result.h"

namespace dossier::model {

struct LocalRuntime {
  std::string kind;     // "llama-server" or "xllamacpp"
  std::string program;  // the path of llama-server; empty for xllamacpp
  std::string python;   // the interpreter that runs the launcher
  std::string version;
};

using Say = std::function<void(std::string_view)>;

// Returns what is installed now; unset if nothing is.
std::optional<LocalRuntime> FindRuntime(const std::string& data_folder, const CancelToken& cancel);

// Returns the llama-server that the user's config names. Errors: kNotFound.
Result<LocalRuntime> NamedServer(const std::string& program, const CancelToken& cancel);

// As FindRuntime, but installs the wheel if there is nothing, and reports it through `say`. Errors:
// kUnavailable, naming what is missing (python3, python3-venv, network) and alternatives.
Result<LocalRuntime> EnsureRuntime(const std::string& data_folder, const Say& say,
                                   const CancelToken& cancel);

// Returns the private environment's interpreter; creates it if missing. Errors: kUnavailable,
// naming the missing package.
Result<std::string> EnsurePython(const std::string& data_folder, const CancelToken& cancel);

// Runs `pip` of the private environment with `arguments`. Errors: kNetwork with the end of pip's
// output, kCancelled, kTimeout.
Status RunPip(const std::string& python, const std::vector<std::string>& arguments,
              const std::string& temporary_folder, const CancelToken& cancel);

// Returns our environment without the variables that IsSecretVariable matches (base/text/redact.h);
// proxies and pip settings are judged only by their names.
std::vector<std::string> EnvironmentWithoutSecrets();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_RUNTIME_H_
