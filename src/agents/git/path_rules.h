// Rejects paths that no patch may contain, whatever the policy says.
//
//   PathProblem("src/.GIT/config");     // "a part is .git in disguise"
//   PathProblem("src/main.cc");         // nullptr
//
// Thread-safety: pure functions.

#ifndef DOSSIER_AGENTS_GIT_PATH_RULES_H_
#define DOSSIER_AGENTS_GIT_PATH_RULES_H_

#include <string>
#include <string_view>

namespace dossier::agents {

// Returns why `path` is refused, in a few words; nullptr if it is not. Refused are: an empty path,
// an absolute one, empty parts, `.` and `..`, control characters (C0, DEL, C1), and parts that some
// file system treats as `.git`: in any letter case, as NTFS reads them (`git~1`, trailing dots and
// blanks, `.git::$DATA`, `\` as a slash), as HFS+ does (characters that it ignores).
const char* PathProblem(std::string_view path);

// Returns true if the link `path` with `target` stays in the tree. `..` is accepted only at the
// start of `target`: after a name, which may itself be a link, it could lead anywhere.
bool LinkStaysInside(std::string_view path, std::string_view target);

// One violated rule, in the form shown in results and logs.
//
//   violations.push_back({.rule = "max-files", .value = "11", .limit = "10"});
//
// Thread-safety: plain data.

struct Violation {
  std::string rule;   // its name: "deny", "allow", …
  std::string path;   // empty for a rule about the whole patch
  std::string value;  // what was found
  std::string limit;  // what the rule allows; a pattern, a number

  bool operator==(const Violation&) const = default;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_PATH_RULES_H_
