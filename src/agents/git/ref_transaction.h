// Moves a branch in two steps, so that files can move between them.
//
//   DOSSIER_ASSIGN_OR_RETURN(RefTransaction move, RefTransaction::Prepare(git, place, update));
//   … the branch and HEAD are locked: a commit by hand fails cleanly …
//   DOSSIER_RETURN_IF_ERROR(move.Commit());
//
// It is a `git update-ref --stdin` that waits for us. If this process is killed, git reads the end
// of its input and gives the locks back. Ownership: destroyed without Commit, it aborts.
// Thread-safety: one owner.

#ifndef DOSSIER_AGENTS_GIT_REF_TRANSACTION_H_
#define DOSSIER_AGENTS_GIT_REF_TRANSACTION_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "agents/git/git.h"
#include "base/files/file.h"

namespace dossier::agents {

struct RefUpdate {
  std::string ref, new_commit, old_commit;
  std::string message;  // for the reflog
};

class RefTransaction {
 public:
  // Errors: kFailed with git's complaint: the branch is not at `old_commit`, somebody holds its
  // lock; kTimeout.
  static Result<RefTransaction> Prepare(const Git& git, const GitPlace& place,
                                        const RefUpdate& update);
  RefTransaction(RefTransaction&& other) noexcept;
  RefTransaction& operator=(RefTransaction&&) = delete;
  ~RefTransaction();

  Status Commit();
  void Abort();

 private:
  RefTransaction() = default;
  Status Start(const ProcessSpec& spec);
  // Says `command` and waits for "<name>: ok".
  Status Say(std::string_view command, std::string_view name);
  void End();

  pid_t pid_ = -1;
  UniqueFd in_, out_, err_;
  std::string unread_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_REF_TRANSACTION_H_
