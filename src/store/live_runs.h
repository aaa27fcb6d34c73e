// Which runs have a process that works on them. A run that a killed process left behind must not be
// listed as running.
//
//   DOSSIER_ASSIGN_OR_RETURN(LiveRuns live, LiveRuns::Open(folder + "/live"));
//   live.Hold(run);                                      // until `live` or the process ends
//   if (!LiveRuns::Open(folder + "/live")->IsHeld(run)) …  // from any process
//
// A run is one byte of an empty file, locked by the process: the kernel lets go of the lock however
// that process ends, so nothing has to be cleaned up. Thread-safety: all methods from any thread.

#ifndef DOSSIER_STORE_LIVE_RUNS_H_
#define DOSSIER_STORE_LIVE_RUNS_H_

#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::store {

class LiveRuns {
 public:
  // Makes the file if needed. Errors: kIo, kPermission with the path.
  static Result<LiveRuns> Open(const std::string& path);

  // Best effort: on a file system without locks a run is listed as interrupted until it ends.
  void Hold(std::string_view run) const;
  void Drop(std::string_view run) const;
  // Whether somebody else holds it: another process, or another LiveRuns of this one.
  bool IsHeld(std::string_view run) const;

  // Says that the folder is in use, until `this` or the process ends. Waits while somebody is
  // alone with it, for a few seconds at most; best effort, too.
  void Join() const;
  // Whether nobody has joined. Then nobody joins until `this` or the process ends.
  bool BeAlone() const;

 private:
  explicit LiveRuns(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_LIVE_RUNS_H_
