// Landlock: restricts what the calling thread, and the threads and children that it starts later,
// may open.
//
//   Result<int> abi = LandlockAbi();                       // asked at run time
//   DOSSIER_RETURN_IF_ERROR(RestrictFiles({.read = {"/usr/lib/python3.11"}, .write = {"/tmp"}}));
//
// Every right that the running kernel knows is taken away, network and scopes included; the rules
// give some back below the named folders. Executing is given back to programs in a jail only.
// Thread-safety: RestrictFiles changes the calling thread only.

#ifndef DOSSIER_SANDBOX_WALLS_LANDLOCK_H_
#define DOSSIER_SANDBOX_WALLS_LANDLOCK_H_

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// Folders or files; those that do not exist are skipped.
struct FileRules {
  std::vector<std::string> read;
  std::vector<std::string> write;     // read, create, change and remove files below
  std::vector<std::string> programs;  // read and execute
  std::vector<std::string> owned;     // all that `write` and `programs` give, links and renames
  std::vector<std::string> devices;   // read and write, no more
  enum class Network { kNone, kAny } network = Network::kNone;
};

// 1 and up. Errors: kUnavailable with the reason ("kernel built without it").
Result<int> LandlockAbi();

// The rules as a descriptor, to be applied later: by a program's child, say (base's
// SupervisedProcess). Errors: kUnavailable with the reason; kIo for a path that cannot be opened.
Result<UniqueFd> MakeRuleset(const FileRules& rules);

// Needs no_new_privs. Errors: as MakeRuleset.
Status RestrictFiles(const FileRules& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_LANDLOCK_H_
