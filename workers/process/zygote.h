// The zygote: a loaded, idle interpreter that forks sessions on request. It runs no model code.
//
//   Zygote zygote(std::move(plan), std::move(language), std::move(control));
//   return zygote.Serve();   // until the host closes the control socket
//
// While nobody asks for anything it loads more of its language, a little at a time.
// A `fork` message comes with two descriptors: the session's end of its bridge and a status socket.
// On the latter the zygote writes `forked` and, when the process has ended, `exited`.
// With kind `spare` nobody waits for the session yet. With kind `zygote` the child becomes a zygote
// itself: the socket is its control socket, on which it is first sent an `open` message, and it
// holds the contexts of that as texts for all sessions forked from it. Thread-safety: none;
// single-threaded by design, since it forks.

#ifndef DOSSIER_WORKERS_PROCESS_ZYGOTE_H_
#define DOSSIER_WORKERS_PROCESS_ZYGOTE_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "base/files/file.h"
#include "language.h"
#include "sandbox/session/message.h"
#include "sandbox/walls/isolation.h"
#include "session_process.h"

namespace dossier::worker {

class Zygote {
 public:
  Zygote(sandbox::IsolationPlan plan, std::unique_ptr<Language> language, UniqueFd control);

  // The exit status of the process.
  int Serve();

 private:
  Status ServeRequest();
  Status Fork(const sandbox::Message& request, UniqueFd socket, UniqueFd status);
  Result<pid_t> ForkSession(SessionProcessParts::Rehearsal rehearsal, UniqueFd& socket);
  Result<pid_t> ForkZygote(UniqueFd& socket);
  void ForgetParent();
  Status WatchChildren();
  Status LoadContexts();
  void Reap();

  sandbox::IsolationPlan plan_;
  std::unique_ptr<Language> language_;
  bool loading_ = true;  // something is left to load
  UniqueFd control_, signals_;
  sandbox::MessageDecoder decoder_;
  std::vector<UniqueFd> received_;      // descriptors of requests that are still to be read
  std::map<pid_t, UniqueFd> children_;  // and the status socket of each
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_ZYGOTE_H_
