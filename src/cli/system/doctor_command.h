// `dossier doctor`: checks what works on this machine, one line per check.
//
//   DoctorArguments arguments{.json = true};
//   int exit_code = RunDoctor(arguments, std::cout, std::cerr);
//
// Thread-safety: none needed; one call per process.

#ifndef DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace dossier::cli {

struct DoctorCheck {
  // kInfo: a fact. kWarning: something works less well than it could. kFailed: it cannot work.
  enum class State { kOk, kInfo, kWarning, kFailed };
  std::string name;  // "landlock", "OPENAI_API_KEY", "port 11434"
  State state = State::kInfo;
  std::string detail;  // never contains a secret value
};

struct DoctorArguments {
  bool json = false;
  std::string worker_path;                   // empty: beside the command
  std::vector<std::string> read_folders;     // --sandbox-read
  std::vector<std::string> disabled_layers;  // for tests
  // More checks, shown in order after those made here: models, keys by name, local servers. If one
  // fails the exit code does not change.
  std::vector<DoctorCheck> extra;
};

// Returns 0, or 15 if the strict sandbox cannot run here.
int RunDoctor(const DoctorArguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_
