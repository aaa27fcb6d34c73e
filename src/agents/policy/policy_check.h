// Checks a patch against the policy, using only the list of changes.
//
//   const PolicyReport report = CheckPolicy(policy, task.targets, patch, DefaultControlFiles());
//   if (!report.ok()) Refuse(report.violations);
//
// Rules: deny allow targets max-lines-added max-lines-deleted max-files binary path symlink
// submodule control-file; and those found while taking the patch: git-dir too-large path submodule.
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
  std::vector<std::string> denied;       // paths, in patch order
  std::vector<std::string> not_allowed;  // paths that match no `allow` pattern
  std::vector<Violation> violations;     // including those above

  bool ok() const { return violations.empty(); }
};

// Files and folders (relative to the root) that steer agent runs: a task that could change them
// could change its own rules.
struct SteeringFiles {
  std::vector<std::string> paths;
};

// Returns those with fixed names: `.gitmodules`, `dossier.yml`, `agentnet.edn`, `.dossier/`
// (layouts and prompts), the ledger, policy, tasks and prompts under `config/`, the folder queue.
// Callers add what configuration and flags name, also run logs, which say what is merged.
SteeringFiles DefaultControlFiles();

PolicyReport CheckPolicy(const sources::ChangePolicy& policy,
                         const std::vector<std::string>& targets, const Patch& patch,
                         const SteeringFiles& control);
// Checks a patch that only adds the file `path`.
PolicyReport CheckNewFile(const sources::ChangePolicy& policy,
                          const std::vector<std::string>& targets, std::string_view path,
                          const SteeringFiles& control);

// Matches the globs of a change policy against whole paths.
//
//   const PolicyGlob glob("**/*.{pem,key}", CaseSensitivity::kInsensitive);
//   glob.Matches("a.PEM")          // true; `**/` also stands for no folder
//
// `*` and `?` stay inside a name, `?` and classes match one character, not one byte, `x/**` is all
// below x, `{a,b}` is either; `\` escapes; all else is literal. If case is ignored, pattern and
// path are compared case-folded and in NFC. Bytes that are not UTF-8 match only themselves.
//
// Unlike here, base/files/glob.h follows git: a `?` is a byte, and `[:alpha:]` a class.
//
// All matches advance together (Thompson's construction): the time is at most proportional to
// pattern times path. Thread-safety: immutable after construction.

class PolicyGlob {
 public:
  // A pattern that sources::CheckGlob refuses matches nothing in its malformed part, and nothing at
  // all if it is too long or too deep: task targets are not checked before.
  PolicyGlob(std::string_view pattern, CaseSensitivity letters);

  bool Matches(std::string_view path) const;

 private:
  struct State {
    enum class Kind : std::uint8_t {
      kCharacter,  // `character`, then the next state
      kName,       // any character but '/', then the next state
      kClass,      // one of `ranges`, or none of them if `negated`; never '/'
      kNames,      // any number of characters but '/'
      kAll,        // any number of characters
      kSplit,      // to each of `targets`, without reading a character
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
  std::vector<State> states_;  // it matches after the last one
};

// Returns the path case-folded and in NFC; bytes that are not UTF-8 stay.
std::string FoldPath(std::string_view path);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_POLICY_POLICY_CHECK_H_
