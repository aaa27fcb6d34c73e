// Runs a Python script that a model wrote, in the sandbox of a workspace.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ScriptRun run,
//                            RunScript(services, place, "plot.py", code, cancel));
//   if (!run.failure.empty()) return Refuse(run.failure);      // with its last lines
//
// There is no network. A script with a syntax error is repaired once, if that needs no guessing
// (ask/reply/code_repair.h), and run again. Errors: those of ExecBackend; kIo. Thread-safety: from
// any thread, for different workspaces.

#ifndef DOSSIER_RESEARCH_NODE_PYTHON_SCRIPT_H_
#define DOSSIER_RESEARCH_NODE_PYTHON_SCRIPT_H_

#include <string>
#include <string_view>

#include "research/node/workspace_command.h"

namespace dossier::research {

struct ScriptRun {
  std::string code;     // the code that ran
  std::string failure;  // "": exit status 0; else one sentence and the last output lines
  std::string output;   // last lines of both streams
  std::string repair;   // what was repaired; "": nothing
};

Result<ScriptRun> RunScript(const Services& services, const WorkspacePlace& place,
                            std::string_view file, std::string_view code,
                            const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PYTHON_SCRIPT_H_
