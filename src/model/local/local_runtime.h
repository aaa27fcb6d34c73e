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

// What is installed now; unset if nothing is.
std::optional<LocalRuntime> FindRuntime(const std::string& data_folder, const CancelToken& cancel);

// The llama-server that the user's config names. Errors: kNotFound.
Result<LocalRuntime> NamedServer(const std::string& program, const CancelToken& cancel);

// As FindRuntime, but installs the wheel if there is nothing, saying so.
// Errors: kUnavailable, naming what is missing (python3, python3-venv, the network) and other ways.
Result<LocalRuntime> EnsureRuntime(const std::string& data_folder, const Say& say,
                                   const CancelToken& cancel);

// The interpreter of the private environment, which is made if it is not there.
// Errors: kUnavailable, naming the package that is missing.
Result<std::string> EnsurePython(const std::string& data_folder, const CancelToken& cancel);

// `pip` of the private environment with `arguments`. Errors: kNetwork with the end of what pip
// said, kCancelled, kTimeout.
Status RunPip(const std::string& python, const std::vector<std::string>& arguments,
              const std::string& temporary_folder, const CancelToken& cancel);

// Our environment without what IsSecretVariable knows (base/text/redact.h); proxies and
// settings of pip are judged by their names alone.
std::vector<std::string> EnvironmentWithoutSecrets();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_RUNTIME_H_
