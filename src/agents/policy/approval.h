// The reviewer's verdict on one patch, and the token that binds the verdict to that patch.
//
//   const ApprovalKey key;                                   // of this process
//   const std::string token = key.TokenFor({"fact-001", 1, patch.sha256});
//   const Verdict verdict = ReadVerdict({.token = token, .exit_code = 0, .out = out});
//   if (verdict.kind == Verdict::Kind::kApproved) Merge(patch);
//
// Only the reviewer's own stdout can approve: files in its worktree may have been written by the
// engineer's program, which the reviewer tried. Markdown, colours and JSON around a verdict are
// ignored; a token in an echo of the prompt or behind `>` does not count. A refusal in any form
// overrides a token, also with a reason on its line ("NEEDS_CHANGES: no test") or in JSON
// ("approved": false): a reviewer who doubts has not approved. Exit status 0 without a verdict is
// not an approval either.
//
// Thread-safety: immutable values, pure functions.

#ifndef DOSSIER_AGENTS_POLICY_APPROVAL_H_
#define DOSSIER_AGENTS_POLICY_APPROVAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::agents {

// The patch that an approval is for.
struct ApprovalSubject {
  std::string_view task;  // id
  std::int64_t attempt = 1;
  std::string_view patch_sha256;  // 64 hex digits
};

// The secret of one process. It is in no file and no environment variable, so nobody can find or
// make a token of another run, task, attempt or patch.
class ApprovalKey {
 public:
  ApprovalKey();                                                      // 32 random bytes
  explicit ApprovalKey(std::string_view secret) : secret_(secret) {}  // for tests
  // Returns "APPROVED-" and the first 128 bits, in hex, of HMAC-SHA-256 over
  // "approve\0TASK\0ATTEMPT\0PATCH".
  std::string TokenFor(const ApprovalSubject& subject) const;

 private:
  std::string secret_;
};

// All output of a reviewer.
struct ReviewEvidence {
  std::string token;                     // the one given to the reviewer
  std::string prompt;                    // the prompt that contained it
  std::optional<int> exit_code;          // unset: ended by a signal
  std::vector<std::string> agent_files;  // names of regular files in .agent/
  std::string review_text;               // content of .agent/review.txt
  std::string out;                       // stdout, as far as kept
  std::uint64_t out_dropped = 0;         // bytes of stdout that were not kept
};

struct Verdict {
  enum class Kind {
    kApproved,
    kNeedsChanges,
    kRejected,
    kUnbound,   // "APPROVED" without a token
    kMismatch,  // a token that is not for this patch
    kNone,      // no verdict, or the reviewer failed
  };
  Kind kind = Kind::kNone;
  std::string reason;    // one sentence
  std::string feedback;  // for a refusal: what to change; else empty
};

Verdict ReadVerdict(const ReviewEvidence& evidence);

// Rejects prompts with a line that ReadVerdict would take for the token alone: a reviewer that
// repeats its prompt would approve. `token` may be the placeholder. Errors: kConfig, with the line.
Status CheckTokenLines(std::string_view prompt, std::string_view token);

// Returns the name used in the run log: "approved", "needs-changes", "rejected",
// "approval-unbound", "approval-mismatch", "none".
std::string_view VerdictName(Verdict::Kind kind);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_POLICY_APPROVAL_H_
