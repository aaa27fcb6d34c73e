// Landlock: what the calling thread and its future threads and children may still open.
//
//   Result<int> abi = LandlockAbi();                       // asked at run time (SBX-13)
//   DOSSIER_RETURN_IF_ERROR(RestrictFiles({.read = {"/usr/lib/python3.11"}, .write = {"/tmp"}}));
//
// Every right that the running kernel knows is taken away, network and scopes included; the rules
// give reading or writing back below the named folders. Executing is never given back.
// Thread-safety: RestrictFiles changes the calling thread only.

#ifndef DOSSIER_SANDBOX_LANDLOCK_H_
#define DOSSIER_SANDBOX_LANDLOCK_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

struct FileRules {
  std::vector<std::string> read;   // folders or files; those that do not exist are skipped
  std::vector<std::string> write;  // folders: read, create, change and remove files below
};

// 1 and up. Errors: kUnavailable with the reason ("kernel built without it").
Result<int> LandlockAbi();

// Needs no_new_privs. Errors: kUnavailable with the reason.
Status RestrictFiles(const FileRules& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_LANDLOCK_H_
