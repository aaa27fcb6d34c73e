// Runs one command in the sandbox of a node's workspace, after its phases: a script that reads or
// plots results.
//
//   DOSSIER_ASSIGN_OR_RETURN(
//       const ExecResult drawn,
//       RunInWorkspace(services, {.worker = "worker-0", .workspace = folder},
//                      {.argv = {"python3", "plot.py"}}, cancel));
//   if (drawn.status != 0) return Failed(drawn.err);
//
// Starts the sandbox, runs the command and stops the sandbox. Errors: those of ExecBackend.
// Thread-safety: from any thread, for different workspaces.

#ifndef DOSSIER_RESEARCH_NODE_WORKSPACE_COMMAND_H_
#define DOSSIER_RESEARCH_NODE_WORKSPACE_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "research/node/phases.h"

namespace dossier::research {

struct WorkspacePlace {
  std::string worker;     // "worker-0"
  std::string workspace;  // absolute path on the host
  std::string image;      // Node::worker_image; "": the configured image
  std::vector<std::string> environment;
  std::vector<Bind> binds;               // added to those of the services
  std::optional<NetworkPolicy> network;  // unset: exec.network
};

Result<ExecResult> RunInWorkspace(const Services& services, const WorkspacePlace& place,
                                  const ExecCommand& command, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_WORKSPACE_COMMAND_H_
