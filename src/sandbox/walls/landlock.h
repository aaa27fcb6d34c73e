// Landlock: restricts which files the calling thread, and the threads and children that it starts
// later, may open.
//
//   Result<int> abi = LandlockAbi();                       // asked at run time
//   DOSSIER_RETURN_IF_ERROR(RestrictFiles({.read = {"/usr/lib/python3.11"}, .write = {"/tmp"}}));
//
// Removes every right that the running kernel knows, including network and scopes; the rules grant
// some again below the named folders. Only jailed programs get the right to execute. Thread-safety:
// RestrictFiles changes the calling thread only.

#ifndef DOSSIER_SANDBOX_WALLS_LANDLOCK_H_
#define DOSSIER_SANDBOX_WALLS_LANDLOCK_H_

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// Folders or files; missing ones are skipped.
struct FileRules {
  std::vector<std::string> read;
  std::vector<std::string> write;     // read, create, change and remove files below
  std::vector<std::string> programs;  // read and execute
  std::vector<std::string> owned;     // rights of `write` and `programs`, plus links and renames
  std::vector<std::string> devices;   // read and write only
  enum class Network { kNone, kAny } network = Network::kNone;
};

// The version, from 1. Errors: kUnavailable with the reason ("kernel built without it").
Result<int> LandlockAbi();

// Returns the rules as a descriptor, to be applied later, for example by a program's child (base's
// SupervisedProcess). Errors: kUnavailable with the reason; kIo for a path that cannot be opened.
Result<UniqueFd> MakeRuleset(const FileRules& rules);

// Needs no_new_privs. Errors: as MakeRuleset.
Status RestrictFiles(const FileRules& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_LANDLOCK_H_
