// The record of a merge that is about to become visible; from it the next start learns what a
// killed merge was doing.
//
//   IntentLog intents(state);
//   DOSSIER_RETURN_IF_ERROR(intents.Open(intent));       // durable when it returns
//   … branch, index and files move …
//   DOSSIER_RETURN_IF_ERROR(intents.Close());
//
// There is at most one, STATE/merge-intent.json, because merges are serial. Thread-safety: the
// caller must hold the merge lock.

#ifndef DOSSIER_AGENTS_MERGE_INTENT_H_
#define DOSSIER_AGENTS_MERGE_INTENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/git/state_folder.h"
#include "base/result.h"

namespace dossier::agents {

// A work tree that has a branch checked out.
struct Checkout {
  std::string root, git_dir;

  bool operator==(const Checkout&) const = default;
};

struct Intent {
  std::string run, task;
  std::string ref, old_commit, new_commit;
  std::optional<Checkout> checkout;  // the one that has `ref`; none: only the branch moves
  std::vector<std::string> paths;    // changed paths, for people; recovery asks git again
  std::vector<std::string> locks;    // lock files that a killed git leaves
  std::int64_t pid = 0;              // the merging process
  std::string boot_id;               // of the system boot it ran in
  std::string ledger_line, ledger_file;

  bool operator==(const Intent&) const = default;
};

class IntentLog {
 public:
  explicit IntentLog(const StateFolder& state) : file_(state.MergeIntent()) {}

  // Returns nullopt if no merge is open. Errors: kDamaged, naming the file; kIo.
  Result<std::optional<Intent>> Read() const;
  Status Open(const Intent& intent);
  Status Close();

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// Sets pid and boot_id.
void SignIntent(Intent* intent);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_INTENT_H_
