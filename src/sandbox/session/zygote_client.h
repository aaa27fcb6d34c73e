// The host's side of a zygote: starts the worker binary and makes it fork sessions.
//
//   auto source = std::make_shared<ZygoteSource>(path, options);
//   DOSSIER_ASSIGN_OR_RETURN(ForkedWorker worker, source->Fork(spec));  // starts it if needed
//   DOSSIER_ASSIGN_OR_RETURN(ForkedWorker soon, source->Order(spec));   // waits for nothing …
//   DOSSIER_RETURN_IF_ERROR(source->Await(&soon));                      // … this does
//   source->WantContextText(spec);   // from now on sessions with these contexts share their text
//
// A zygote starts while the host does other work: Start does not wait for it, the first Fork does.
// It can keep a spare: a process that is already forked, locked in its namespaces and waiting. A
// spare becomes exactly one session, as every process does. Until then it rehearses, step by step.
//
// A zygote ends when its control socket closes, that is with the last owner of its client or with
// the host, however that ends; its sessions end with it. Thread-safety: both classes may be used
// from any thread.

#ifndef DOSSIER_SANDBOX_SESSION_ZYGOTE_CLIENT_H_
#define DOSSIER_SANDBOX_SESSION_ZYGOTE_CLIENT_H_

#include <sys/types.h>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

inline constexpr int kZygoteControlFd = 3;
inline constexpr char kWorkerVersion[] = "0.1.0";

class ZygoteClient;

// A process that waits for its `open` message, or one that was ordered and may not exist yet: then
// it has neither `handle` nor `pid`, and messages to it wait in its socket.
struct ForkedWorker {
  UniqueFd socket;  // our end of the bridge
  UniqueFd status;  // delivers one `exited` message
  UniqueFd handle;  // pidfd
  pid_t pid = 0;
  std::shared_ptr<ZygoteClient> zygote;  // the process ends with it; null if unknown
};

class ZygoteClient {
 public:
  // Starts the binary and returns at once. Errors: kUnavailable if the binary is missing.
  static Result<std::unique_ptr<ZygoteClient>> Start(const std::string& path,
                                                     const IsolationOptions& options);
  // Waits until it can fork; several threads may wait. Errors: kUnavailable if it has another
  // version or did not start, with its own message; kCancelled, which does not affect other
  // waiters.
  Status WaitReady(const CancelToken& cancel = {});
  // Starts a zygote, forked from `parent`, that holds the contexts of `spec` as str. Errors: as
  // Fork; kTimeout.
  static Result<std::unique_ptr<ZygoteClient>> StartWithContexts(
      std::shared_ptr<ZygoteClient> parent, const SessionSpec& spec,
      const CancelToken& cancel = {});
  // Ends the process and reaps it.
  ~ZygoteClient();

  // Returns the spare if one is alive, else a new process. Errors: kDied if the zygote has ended,
  // kUnavailable if it cannot fork, kCancelled.
  Result<ForkedWorker> Fork(const CancelToken& cancel = {});
  // Returns the spare, or a newly ordered process, without waiting. Errors: kDied.
  Result<ForkedWorker> Take();
  // Waits, after WaitReady, until the process that Take returned exists. Errors: as Fork; a spare
  // may have died meanwhile.
  static Status Receive(ForkedWorker* worker, const CancelToken& cancel = {});
  // Orders a spare without waiting. Best effort: a Fork without a spare reports what is wrong.
  void OrderSpare();
  // The same for a host that has opened a second session, because it will open more.
  void OrderNext();

 private:
  enum class Kind { kSession, kSpare, kZygote };
  struct Spare {
    ForkedWorker ordered;
    Clock::Steady since;
  };

  ZygoteClient(std::string path, UniqueFd control, UniqueFd errors, pid_t pid)
      : path_(std::move(path)),
        control_(std::move(control)),
        errors_(std::move(errors)),
        pid_(pid) {}
  static std::string_view KindName(Kind kind);
  Result<ForkedWorker> Order(Kind kind);
  std::optional<ForkedWorker> TakeSpare();
  Status ReadHello();

  const std::string path_;
  std::mutex hello_mutex_;  // guards the hello, which is read while errors_ is open; held for no
                            // wait
  MessageDecoder hello_{Side::kWorker};
  std::mutex mutex_;  // guards the rest
  UniqueFd control_, errors_;
  pid_t pid_;                             // 0: not a child of ours
  std::shared_ptr<ZygoteClient> parent_;  // for a zygote with contexts
  std::uint64_t next_id_ = 0;
  std::optional<Spare> spare_;
  int sessions_ = 0;
  bool hurried_ = false;  // the newest session was requested before a spare had rehearsed
};

// The zygotes of a pool: a base zygote, started on first need and again if it has died, and one for
// each of the few sets of contexts whose text code has asked for.
class ZygoteSource {
 public:
  ZygoteSource(std::string path, IsolationOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Starts a zygote and a first process in the background; Fork reports failures.
  void Prepare();
  // Tries three times within a second (a fork may be refused briefly). Errors: as ZygoteClient's.
  Result<ForkedWorker> Fork(const SessionSpec& spec, const CancelToken& cancel = {});
  // Returns a process that may not exist yet. Errors: kTimeout if that needs a wait, because a
  // zygote with these contexts has to be made first; kUnavailable, kDied.
  Result<ForkedWorker> Order(const SessionSpec& spec);
  // Waits until the process exists. Errors: as ZygoteClient's.
  Status Await(ForkedWorker* worker, const CancelToken& cancel = {});
  // Remembers that code used `context`: the next Fork with these contexts makes their zygote.
  void WantContextText(const SessionSpec& spec);

 private:
  struct WithContexts {
    std::string key;
    std::shared_ptr<ZygoteClient> client;
  };

  Result<std::shared_ptr<ZygoteClient>> Get(const SessionSpec& spec, const CancelToken& cancel);
  // Call with mutex_ held. Returns null if it has to be made first.
  Result<std::shared_ptr<ZygoteClient>> Find(const std::string& key);
  Result<std::shared_ptr<ZygoteClient>> GetBase();
  void Forget(const std::shared_ptr<ZygoteClient>& client);

  std::mutex mutex_;
  const std::string path_;
  const IsolationOptions options_;
  std::shared_ptr<ZygoteClient> base_;
  std::set<std::string> wanted_;           // keys of contexts
  std::list<WithContexts> with_contexts_;  // most recently used first
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_ZYGOTE_CLIENT_H_
