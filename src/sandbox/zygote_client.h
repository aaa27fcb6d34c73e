// The host's side of a zygote: starts the worker binary and has it fork sessions.
//
//   auto source = std::make_shared<ZygoteSource>(path, options);
//   DOSSIER_ASSIGN_OR_RETURN(ForkedWorker worker, source->Fork(spec));  // starts it if needed
//   source->WantContextText(spec);   // from now on sessions with these contexts share their text
//
// A zygote ends when its control socket closes, that is with the last owner of its client or with
// the host, however that ends; its sessions end with it. Thread-safety: both classes may be used
// from any thread.

#ifndef DOSSIER_SANDBOX_ZYGOTE_CLIENT_H_
#define DOSSIER_SANDBOX_ZYGOTE_CLIENT_H_

#include <sys/types.h>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "sandbox/isolation.h"
#include "sandbox/message.h"
#include "sandbox/session.h"

namespace dossier::sandbox {

inline constexpr int kZygoteControlFd = 3;
inline constexpr char kWorkerVersion[] = "0.1.0";

// A process that waits for its `open` message.
struct ForkedWorker {
  UniqueFd socket;  // the bridge, ours
  UniqueFd status;  // brings one `exited` message
  UniqueFd handle;  // pidfd
  pid_t pid = 0;
};

class ZygoteClient {
 public:
  // Errors: kUnavailable: the binary is missing, of another version, or did not start, with its own
  // words.
  static Result<std::unique_ptr<ZygoteClient>> Start(const std::string& path,
                                                     const IsolationOptions& options);
  // A zygote forked from `parent` that holds the contexts of `spec` as str (SBX-2).
  // Errors: as Fork; kTimeout.
  static Result<std::unique_ptr<ZygoteClient>> StartWithContexts(
      std::shared_ptr<ZygoteClient> parent, const SessionSpec& spec);
  // Closes the control socket and reaps the process.
  ~ZygoteClient();

  // Errors: kDied if the zygote has ended, kUnavailable if it cannot fork.
  Result<ForkedWorker> Fork() { return Fork(Kind::kSession); }
  const std::string& language_version() const { return language_version_; }

 private:
  enum class Kind { kSession, kZygote };

  ZygoteClient(UniqueFd control, pid_t pid) : control_(std::move(control)), pid_(pid) {}
  Result<ForkedWorker> Fork(Kind kind);
  Status ReadHello(const std::string& path, UniqueFd errors);

  std::mutex mutex_;  // guards the socket and next_id_
  UniqueFd control_;
  pid_t pid_;                             // 0: not a child of ours
  std::shared_ptr<ZygoteClient> parent_;  // of a zygote with contexts
  std::uint64_t next_id_ = 0;
  std::string language_version_;
};

// The zygotes of a pool: one that is started on first need, again if it has died, and one for each
// of the few sets of contexts whose text code has asked for.
class ZygoteSource {
 public:
  ZygoteSource(std::string path, IsolationOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Tries three times within a second (a fork may be refused for a moment).
  Result<ForkedWorker> Fork(const SessionSpec& spec);
  // Remembers that code named `context`: the next Fork with these contexts makes their zygote.
  void WantContextText(const SessionSpec& spec);

 private:
  struct WithContexts {
    std::string key;
    std::shared_ptr<ZygoteClient> client;
  };

  Result<std::shared_ptr<ZygoteClient>> Get(const SessionSpec& spec);
  Result<std::shared_ptr<ZygoteClient>> GetBase();
  void Forget(const std::shared_ptr<ZygoteClient>& client);

  std::mutex mutex_;
  const std::string path_;
  const IsolationOptions options_;
  std::shared_ptr<ZygoteClient> base_;
  std::set<std::string> wanted_;            // keys of contexts
  std::list<WithContexts> with_contexts_;   // the last used first
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_ZYGOTE_CLIENT_H_
