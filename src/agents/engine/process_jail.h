// Defines the jail of one engine or check: what it sees, and its limits.
//
//   const sandbox::JailSpec spec = JailFor(process, temporary.path());
//   DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit, sandbox::RunJailed(spec, process.argv, io));
//
// Thread-safety: a function; JailFor makes folders in `temporary`, which belongs to the caller.

#ifndef DOSSIER_AGENTS_ENGINE_PROCESS_JAIL_H_
#define DOSSIER_AGENTS_ENGINE_PROCESS_JAIL_H_

#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/confined_process.h"
#include "sandbox/jail/jail.h"
#include "sandbox/probes/jail_trials.h"

namespace dossier::agents {

// `temporary`: a folder used only for this program; it contains TMPDIR and the empty home.
Result<sandbox::JailSpec> JailFor(const ConfinedProcess& process, const std::string& temporary);

// Returns the jails of an engine and of a check, for the trials of `dossier sandbox test`.
std::vector<sandbox::JailKind> AgentJails();

// Returns folders that a program outside the system folders needs: those of PATH, and those it is
// installed with. `path` and `home` are values of the environment; `program` is argv[0].
std::vector<std::string> ProgramFolders(std::string_view path, const std::string& home,
                                        const std::string& program);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_PROCESS_JAIL_H_
