#include "model/local/local_runtime.h"

#include <unistd.h>

#include <algorithm>

#include "base/files/file.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

constexpr std::string_view kOtherWays = "; or set a provider's key or --base-url";
constexpr Millis kInstallLimit{600'000};

std::string VenvFolder(const std::string& data_folder) { return data_folder + "/local/python"; }
std::string VenvPython(const std::string& data_folder) {
  return VenvFolder(data_folder) + "/bin/python3";
}

std::string LastLine(std::string_view text) {
  std::string last;
  for (const std::string_view line : Split(text, '\n')) {
    if (!TrimSpace(line).empty()) last = std::string(TrimSpace(line));
  }
  return utf8::CleanForTerminal(Redact(utf8::Prefix(last, 300)));
}

// Returns the version of the wheel in the private environment; unset if it is not usable.
std::optional<std::string> WheelVersion(const std::string& python, const CancelToken& cancel) {
  if (!Exists(python)) return std::nullopt;
  const auto ran =
      RunProcess({.argv = {python, "-I", "-c", "import xllamacpp; print(xllamacpp.__version__)"},
                  .environment = EnvironmentWithoutSecrets(),
                  .timeout = Millis(60'000)},
                 cancel);
  if (!ran || ran->exit_code != 0) return std::nullopt;
  return LastLine(ran->out);
}

std::optional<LocalRuntime> ServerAt(const std::string& name, const CancelToken& cancel) {
  const auto program = FindProgram(name);
  const auto python = FindProgram("python3");
  if (!program || !python) return std::nullopt;
  const auto ran = RunProcess({.argv = {*program, "--version"},
                               .environment = EnvironmentWithoutSecrets(),
                               .timeout = Millis(10'000)},
                              cancel);
  // stderr has "version: 4567 (abcdef0)", then the compiler.
  std::string version = "unknown";
  if (ran) {
    for (const std::string_view line : Split(ran->err + "\n" + ran->out, '\n')) {
      if (line.substr(0, 9) == "version: ") version = LastLine(line.substr(9));
    }
  }
  return LocalRuntime{"llama-server", *program, *python, version};
}

// Proxies and pip's own settings may contain a password that is needed to reach a package.
bool LeadsToTheNetwork(std::string_view name) {
  return name.starts_with("PIP_") || ToLowerAscii(name).ends_with("_proxy");
}

}  // namespace

std::vector<std::string> EnvironmentWithoutSecrets() {
  std::vector<std::string> kept;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    if (IsSecretVariableName(name)) continue;
    if (!LeadsToTheNetwork(name) && HoldsSecretValue(value)) continue;
    kept.emplace_back(text);
  }
  return kept;
}

std::optional<LocalRuntime> FindRuntime(const std::string& data_folder, const CancelToken& cancel) {
  if (auto server = ServerAt("llama-server", cancel)) return server;
  const std::string python = VenvPython(data_folder);
  const auto version = WheelVersion(python, cancel);
  if (!version) return std::nullopt;
  return LocalRuntime{"xllamacpp", "", python, *version};
}

Result<std::string> EnsurePython(const std::string& data_folder, const CancelToken& cancel) {
  const std::string python = VenvPython(data_folder);
  const std::string mark = VenvFolder(data_folder) + "/ready";  // an interrupted one has none
  if (Exists(python) && Exists(mark)) return python;
  if (!FindProgram("python3")) {
    return MakeError(ErrorCode::kUnavailable,
                     "the local model needs python3 (packages python3 and python3-venv){}",
                     kOtherWays);
  }
  const std::string folder = VenvFolder(data_folder);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(data_folder + "/local", 0700));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(data_folder + "/local/python.lock",
                                                               kInstallLimit, cancel));
  if (Exists(python) && Exists(mark)) return python;  // created while we waited
  DOSSIER_RETURN_IF_ERROR(RemoveAll(folder));
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult made,
                           RunProcess({.argv = {"python3", "-m", "venv", folder},
                                       .environment = EnvironmentWithoutSecrets(),
                                       .timeout = kInstallLimit},
                                      cancel));
  if (made.exit_code != 0) {
    (void)RemoveAll(folder);
    return MakeError(ErrorCode::kUnavailable,
                     "the local model needs a Python environment and `python3 -m venv` failed "
                     "(Debian and Ubuntu: install the package python3-venv): {}{}",
                     LastLine(made.out + "\n" + made.err), kOtherWays);
  }
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(mark, "", 0600));
  return python;
}

Status RunPip(const std::string& python, const std::vector<std::string>& arguments,
              const std::string& temporary_folder, const CancelToken& cancel) {
  std::vector<std::string> argv = {python, "-m", "pip"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  for (const char* flag : {"--disable-pip-version-check", "--no-input", "--no-cache-dir", "-q"}) {
    argv.emplace_back(flag);
  }
  std::vector<std::string> environment = EnvironmentWithoutSecrets();
  if (!temporary_folder.empty()) {
    std::erase_if(environment, [](const std::string& v) { return v.starts_with("TMPDIR="); });
    environment.push_back("TMPDIR=" + temporary_folder);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult ran,
      RunProcess({.argv = std::move(argv), .environment = environment, .timeout = kInstallLimit},
                 cancel));
  if (ran.timed_out) {
    return MakeError(ErrorCode::kTimeout, "pip {} took longer than 10 min", arguments[0]);
  }
  if (ran.exit_code == 0) return {};
  return MakeError(ErrorCode::kNetwork, "pip {} failed: {}", arguments[0],
                   LastLine(ran.out + "\n" + ran.err));
}

Result<LocalRuntime> NamedServer(const std::string& program, const CancelToken& cancel) {
  auto runtime = ServerAt(program, cancel);
  if (runtime) return std::move(*runtime);
  return MakeError(ErrorCode::kNotFound,
                   "local: server: {} is no program that can be run, or python3 is missing",
                   program);
}

Result<LocalRuntime> EnsureRuntime(const std::string& data_folder, const Say& say,
                                   const CancelToken& cancel) {
  if (auto runtime = FindRuntime(data_folder, cancel)) return std::move(*runtime);
  if (cancel.cancelled()) {
    return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
  }
  if (say) say("installing the local runtime xllamacpp (about 60 MB) …");
  DOSSIER_ASSIGN_OR_RETURN(const std::string python, EnsurePython(data_folder, cancel));
  const Status installed =
      RunPip(python, {"install", "--only-binary", ":all:", "xllamacpp", "numpy"}, "", cancel);
  if (!installed) {
    if (installed.error().code == ErrorCode::kCancelled) return tl::unexpected(installed.error());
    return MakeError(
        ErrorCode::kUnavailable,
        "the local runtime cannot be installed: {}; install llama-server of llama.cpp, "
        "or set a provider's key or --base-url",
        installed.error().message);
  }
  const auto version = WheelVersion(python, cancel);
  if (!version) {
    return MakeError(
        ErrorCode::kUnavailable,
        "the local runtime xllamacpp was installed but cannot be loaded by {} (its CPU "
        "or C library may be too old); install llama-server of llama.cpp{}",
        python, kOtherWays);
  }
  return LocalRuntime{"xllamacpp", "", python, *version};
}

}  // namespace dossier::model
