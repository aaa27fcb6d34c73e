// `dossier doctor`: what works here, one line a check.
//
//   DoctorArguments arguments{.json = true};
//   int exit_code = RunDoctor(arguments, std::cout, std::cerr);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace dossier::cli {

struct DoctorCheck {
  // kInfo: a fact. kWarning: something is less than it could be. kFailed: something cannot work.
  enum class State { kOk, kInfo, kWarning, kFailed };
  std::string name;  // "landlock", "OPENAI_API_KEY", "port 11434"
  State state = State::kInfo;
  std::string detail;  // never a secret's value
};

struct DoctorArguments {
  bool json = false;
  std::string worker_path;                   // empty: beside the command
  std::vector<std::string> read_folders;     // --sandbox-read
  std::vector<std::string> disabled_layers;  // for tests
  // More checks, in order, below those made here: models, keys by name, local servers. A failed one
  // does not change the exit code.
  std::vector<DoctorCheck> extra;
};

// Returns 0, or 15 if the strict sandbox cannot run here.
int RunDoctor(const DoctorArguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_DOCTOR_COMMAND_H_
