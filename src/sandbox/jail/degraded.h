// Layers of the jail that a person does without, by name: what `--degraded NAME` means everywhere.
//
//   DOSSIER_RETURN_IF_ERROR(CheckLayerNames(names));       // "--degraded landlok: no such layer"
//   AcceptMissing(names, &spec);                           // strict, but for these
//   if (!exit) Tell(exit.error().message + WayOut(exit.error()));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_JAIL_DEGRADED_H_
#define DOSSIER_SANDBOX_JAIL_DEGRADED_H_

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/jail.h"

namespace dossier::sandbox {

// Errors: kUsage, naming the first that is no layer of a jail, and those that there are.
Status CheckLayerNames(std::span<const std::string> names);

// Every layer but `names` must be there.
void AcceptMissing(std::span<const std::string> names, JailSpec* spec);

// For an error that names a missing layer: "; `--degraded landlock` runs without it". Else "".
std::string WayOut(const Error& error);

// Of a jail's layers, those that were not applied.
std::vector<std::string> MissingLayers(const IsolationReport& report);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_DEGRADED_H_
