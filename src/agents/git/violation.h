// One broken rule, as results and logs show it.
//
//   violations.push_back({.rule = "max-files", .value = "11", .limit = "10"});
//
// Thread-safety: plain data.

#ifndef DOSSIER_AGENTS_GIT_VIOLATION_H_
#define DOSSIER_AGENTS_GIT_VIOLATION_H_

#include <string>

namespace dossier::agents {

struct Violation {
  std::string rule;   // its name: "deny", "allow", …
  std::string path;   // empty for a rule about the whole patch
  std::string value;  // what was found
  std::string limit;  // what the rule allows; a pattern, a number

  bool operator==(const Violation&) const = default;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_VIOLATION_H_
