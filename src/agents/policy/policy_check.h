// Judges a patch by the policy: from the list of changes alone.
//
//   const PolicyReport report = CheckPolicy(policy, task.targets, patch, DefaultControlFiles());
//   if (!report.ok()) Refuse(report.violations);
//
// Rules: deny allow targets max-lines-added max-lines-deleted max-files binary path symlink
// submodule control-file; and what taking the patch found: git-dir too-large path submodule.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_AGENTS_POLICY_POLICY_CHECK_H_
#define DOSSIER_AGENTS_POLICY_POLICY_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "agents/git/patch.h"
#include "agents/git/violation.h"
#include "sources/header/agents_config.h"

namespace dossier::agents {

struct PolicyReport {
  std::vector<std::string> denied;       // paths, in the order of the patch
  std::vector<std::string> not_allowed;  // paths that no `allow` pattern names
  std::vector<Violation> violations;     // these and all others

  bool ok() const { return violations.empty(); }
};

// Files and folders (relative to the root) that steer agent runs: a task that could change them
// could change its own rules.
struct ControlFiles {
  std::vector<std::string> paths;
};

// Those with fixed names: `.gitmodules`, `dossier.yml`, `agentnet.edn`, `.dossier/` (layouts and
// prompts), the ledger, policy, tasks and prompts under `config/`, the folder queue. A caller adds
// what its configuration and its flags name: run logs, too, which say what is merged.
ControlFiles DefaultControlFiles();

PolicyReport CheckPolicy(const sources::ChangePolicy& policy,
                         const std::vector<std::string>& targets, const Patch& patch,
                         const ControlFiles& control);
// Of a patch that adds the file `path` and does nothing else.
PolicyReport CheckNewFile(const sources::ChangePolicy& policy,
                          const std::vector<std::string>& targets, std::string_view path,
                          const ControlFiles& control);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_POLICY_POLICY_CHECK_H_
