// What `dossier doctor` says about models: keys by name, local servers, the embedded model.

#ifndef DOSSIER_CLI_SYSTEM_DOCTOR_CHECKS_H_
#define DOSSIER_CLI_SYSTEM_DOCTOR_CHECKS_H_

#include <vector>

#include "cli/system/doctor_command.h"

namespace dossier::cli {

// Probes local ports for 200 ms at most. Never holds a key's value.
std::vector<DoctorCheck> ModelChecks();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_DOCTOR_CHECKS_H_
