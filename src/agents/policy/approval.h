// The reviewer's verdict on one patch, and the token that binds the verdict to that patch.
//
//   const ApprovalKey key;                                   // of this process
//   const std::string token = key.TokenFor({"fact-001", 1, patch.sha256});
//   const Verdict verdict = ReadVerdict({.token = token, .exit_code = 0, .out = out});
//   if (verdict.kind == Verdict::Kind::kApproved) Merge(patch);
//
// Only what the reviewer itself says on stdout approves: files in its worktree may be the work of a
// program that it tried, which the engineer wrote. Marks of Markdown, colours and JSON around a
// verdict are seen through; a token in an echo of the prompt is none. A refusal beats a token, in
// whatever form: whoever doubts has not approved. What exits with 0 and says nothing has not
// approved either.
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

// What an approval is for.
struct ApprovalSubject {
  std::string_view task;  // id
  std::int64_t attempt = 1;
  std::string_view patch_sha256;  // 64 hex digits
};

// The secret of one process. It is in no file and no environment, so a token of another run, task,
// attempt or patch can be neither found nor made.
class ApprovalKey {
 public:
  ApprovalKey();                                                      // 32 random bytes
  explicit ApprovalKey(std::string_view secret) : secret_(secret) {}  // for tests
  // "APPROVED-" and the first 128 bits, in hex, of HMAC-SHA-256 over
  // "approve\0TASK\0ATTEMPT\0PATCH".
  std::string TokenFor(const ApprovalSubject& subject) const;

 private:
  std::string secret_;
};

// Everything that a reviewer left.
struct ReviewEvidence {
  std::string token;                     // the one that was given to the reviewer
  std::string prompt;                    // what it was given it in
  std::optional<int> exit_code;          // unset: ended by a signal
  std::vector<std::string> agent_files;  // names of regular files in .agent/
  std::string review_text;               // of .agent/review.txt
  std::string out;                       // stdout, as far as it was kept
  std::uint64_t out_dropped = 0;         // bytes of stdout that were not kept
};

struct Verdict {
  enum class Kind {
    kApproved,
    kNeedsChanges,
    kRejected,
    kUnbound,   // "APPROVED" without a token
    kMismatch,  // a token, but not this patch's
    kNone,      // nothing was said, or the reviewer failed
  };
  Kind kind = Kind::kNone;
  std::string reason;    // one sentence
  std::string feedback;  // of a refusal: what to change; else empty
};

Verdict ReadVerdict(const ReviewEvidence& evidence);

// A prompt with the token alone on a line, marks seen through, would make an approval of each
// reviewer that repeats what it is told. `token` may be the placeholder. Errors: kConfig, with the
// line.
Status CheckTokenLines(std::string_view prompt, std::string_view token);

// "approved", "needs-changes", "rejected", "approval-unbound", "approval-mismatch", "none": as the
// run log names them.
std::string_view VerdictName(Verdict::Kind kind);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_POLICY_APPROVAL_H_
