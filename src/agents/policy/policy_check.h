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

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/git/patch.h"
#include "agents/git/path_rules.h"
#include "base/files/glob.h"
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
struct SteeringFiles {
  std::vector<std::string> paths;
};

// Those with fixed names: `.gitmodules`, `dossier.yml`, `agentnet.edn`, `.dossier/` (layouts and
// prompts), the ledger, policy, tasks and prompts under `config/`, the folder queue. A caller adds
// what its configuration and its flags name: run logs, too, which say what is merged.
SteeringFiles DefaultControlFiles();

PolicyReport CheckPolicy(const sources::ChangePolicy& policy,
                         const std::vector<std::string>& targets, const Patch& patch,
                         const SteeringFiles& control);
// Of a patch that adds the file `path` and does nothing else.
PolicyReport CheckNewFile(const sources::ChangePolicy& policy,
                          const std::vector<std::string>& targets, std::string_view path,
                          const SteeringFiles& control);

// The globs of a change policy, on whole paths.
//
//   const PolicyGlob glob("**/*.{pem,key}", CaseSensitivity::kInsensitive);
//   glob.Matches("a.PEM")          // true; `**/` also stands for no folder
//
// `*` and `?` stay inside a name, `?` and classes take one character and not one byte, `x/**` is
// all below x, `{a,b}` either; `\` escapes; all else is itself. Where case is ignored, pattern and
// path are compared case-folded and in NFC. Bytes that are no UTF-8 match themselves alone.
//
// Other than base/files/glob.h, which does what git does: there a `?` is a byte, and `[:alpha:]` a
// class.
//
// All ways to match go forward together (Thompson's construction): the time is at most that of
// pattern times path. Thread-safety: immutable after construction.

class PolicyGlob {
 public:
  // A pattern that sources::CheckGlob refuses matches nothing where it is malformed, and nothing at
  // all if it is too long or too deep: targets of tasks are not checked before.
  PolicyGlob(std::string_view pattern, CaseSensitivity letters);

  bool Matches(std::string_view path) const;

 private:
  struct State {
    enum class Kind : std::uint8_t {
      kCharacter,  // `character`, then the next state
      kName,       // any but '/', then the next
      kClass,      // one of `ranges`, or none of them if `negated`; never '/'
      kNames,      // any number of any but '/'
      kAll,        // any number of any
      kSplit,      // to each of `targets`, at no character's cost
      kNever,
    } kind;
    char32_t character = 0;
    bool negated = false;
    std::vector<std::pair<char32_t, char32_t>> ranges;
    std::vector<std::uint32_t> targets;
  };
  class Compiler;
  class Walk;

  CaseSensitivity letters_;
  std::vector<State> states_;  // a match ends behind the last
};

// Case-folded and in NFC; bytes that are no UTF-8 stay.
std::string FoldPath(std::string_view path);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_POLICY_POLICY_CHECK_H_
