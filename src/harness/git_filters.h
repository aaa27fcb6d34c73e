// Programs that git starts for the content of files, and whose they are (REP-34).
//
//   DOSSIER_RETURN_IF_ERROR(CheckFilters(git));      // before any engine starts
//
// Attributes of a tree choose among the filters that the user has configured, and git runs them in
// the work tree when it takes a patch or checks out a candidate: outside of all walls. A filter
// such as `python tools/strip.py` would then be the engine's.
//
// Thread-safety: functions.

#ifndef DOSSIER_HARNESS_GIT_FILTERS_H_
#define DOSSIER_HARNESS_GIT_FILTERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/git.h"

namespace dossier::harness {

// Words of a shell's `command` that may name files of the folder that it runs in: not the bare name
// of a program, which PATH knows, no flag, nothing absolute.
std::vector<std::string> RelativeNames(std::string_view command);

// Errors: kUnavailable (exit 12), naming filter and file, if one of them lies in the tree.
Status CheckFilters(const Git& git);

}  // namespace dossier::harness

#endif  // DOSSIER_HARNESS_GIT_FILTERS_H_
