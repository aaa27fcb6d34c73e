// The record of a merge that is about to become visible: with it, the next start knows what a
// killed merge was doing.
//
//   IntentLog intents(state);
//   DOSSIER_RETURN_IF_ERROR(intents.Open(intent));       // durable when it returns
//   … branch, index and files move …
//   DOSSIER_RETURN_IF_ERROR(intents.Close());
//
// There is one at most, STATE/merge-intent.json, because merges are serial. Thread-safety: for the
// holder of the merge lock.

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
  std::optional<Checkout> checkout;  // of `ref`; none: only the branch moves
  std::vector<std::string> paths;    // that differ; for people, git is asked again
  std::vector<std::string> locks;    // files that a killed git leaves
  std::int64_t pid = 0;              // of the merging process
  std::string boot_id;               // of the system it ran on
  std::string ledger_line, ledger_file;

  bool operator==(const Intent&) const = default;
};

class IntentLog {
 public:
  explicit IntentLog(const StateFolder& state) : file_(state.MergeIntent()) {}

  // nullopt: no merge is open. Errors: kDamaged, naming the file; kIo.
  Result<std::optional<Intent>> Read() const;
  Status Open(const Intent& intent);
  Status Close();

  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

// Fills in pid and boot_id.
void SignIntent(Intent* intent);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_INTENT_H_
