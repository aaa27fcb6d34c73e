// Sandboxed interpreters that keep their names between calls; callers refer to them by id.
//
//   DOSSIER_ASSIGN_OR_RETURN(const SessionRun done,
//                            workspace.sessions().Run(context, "", "print(len(context))", scope));
//   done.session;   // "s4f0c2a91": pass it again to keep the names
//   done.result.out;
//
// At most kLive interpreters run. One that is idle for kRest, or makes room for another, is parked:
// its process ends, its blocks are kept, and the next call runs them again before its own. A
// session belongs to one context and one caller. Ids are valid only in this process. Errors:
// kNotFound (no such session, with the nearest), kInvalidArgument (another context), those of the
// sandbox. Thread-safety: Run from any thread; calls of one session wait for each other.

#ifndef DOSSIER_SERVER_SESSION_TABLE_H_
#define DOSSIER_SERVER_SESSION_TABLE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "sandbox/session/session.h"
#include "server/contexts/context_store.h"
#include "server/operations.h"

namespace dossier::server {

class Workspace;

struct SessionRun {
  std::string session;
  sandbox::BlockResult result;
};

class SessionTable {
 public:
  static constexpr std::size_t kLive = 8;     // interpreters
  static constexpr std::size_t kKnown = 256;  // sessions, parked ones included
  static constexpr std::chrono::minutes kRest{10};

  explicit SessionTable(Workspace& workspace);
  ~SessionTable();

  // Runs `code` in the session; `session` "" starts a new one.
  Result<SessionRun> Run(const std::shared_ptr<const OpenContext>& context,
                         std::string_view session, std::string_view code, const CallScope& scope);
  // Ends the session and forgets its names. Errors: kNotFound.
  Status Close(std::string_view session);

 private:
  struct Kept;

  Result<std::shared_ptr<Kept>> Take(const std::shared_ptr<const OpenContext>& context,
                                     std::string_view session, const std::string& caller);
  Status Wake(Kept& kept, const CancelToken& cancel);
  void Park();

  Workspace& workspace_;
  std::mutex mutex_;  // guards kept_ and the times in it
  std::map<std::string, std::shared_ptr<Kept>, std::less<>> kept_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_SESSION_TABLE_H_
