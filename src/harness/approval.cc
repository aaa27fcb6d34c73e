#include "harness/approval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hmac.h"
#include "base/random.h"
#include "base/text.h"
#include "base/utf8.h"

namespace dossier::harness {
namespace {

constexpr std::string_view kPrefix = "APPROVED-";
constexpr std::size_t kTokenDigits = 32;     // 128 bits
constexpr std::size_t kMaxFeedback = 16384;  // bytes: what fits a prompt beside a patch

bool IsToken(std::string_view text) {
  return text.size() == kPrefix.size() + kTokenDigits && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

bool IsBullet(std::string_view line) {
  line = TrimSpace(line);
  while (!line.empty() && (line.front() == '-' || line.front() == '*')) {
    line = TrimSpace(line.substr(1));
  }
  constexpr std::string_view kBullets[] = {"VIOLATION:", "FIX:", "SCOPE:"};
  return std::any_of(std::begin(kBullets), std::end(kBullets),
                     [&](std::string_view bullet) { return line.starts_with(bullet); });
}

// What the words of a reviewer amount to, before any of them is weighed.
struct Signs {
  bool rejected = false, needs_changes = false, approved = false, unbound = false;
  bool mismatch = false;
  std::string bullets;  // of stdout

  void ReadWord(std::string_view word, std::string_view token) {
    rejected |= word == "REJECTED";
    needs_changes |= word == "NEEDS_CHANGES";
    unbound |= word == "APPROVED";
    approved |= word == token;
    mismatch |= IsToken(word) && word != token;
  }
};

Signs ReadSigns(const ReviewEvidence& evidence) {
  Signs signs;
  for (const std::string& name : evidence.agent_files) {
    signs.approved |= name == evidence.token;
    signs.unbound |= name == "APPROVED";
    signs.mismatch |= IsToken(name) && name != evidence.token;
  }
  for (const std::string_view line : Split(evidence.out, '\n')) {
    signs.ReadWord(TrimSpace(line), evidence.token);
    if (IsBullet(line) && signs.bullets.size() < kMaxFeedback) {
      signs.bullets += fmt::format("{}\n", TrimSpace(line));
    }
  }
  // A file for refusals: whatever stands in it, its author has doubts.
  signs.needs_changes |= !TrimSpace(evidence.review_text).empty();
  for (const std::string_view line : Split(evidence.review_text, '\n')) {
    signs.rejected |= TrimSpace(line) == "REJECTED";
  }
  return signs;
}

std::string FeedbackOf(const ReviewEvidence& evidence, const Signs& signs) {
  const std::string_view review = TrimSpace(evidence.review_text);
  const std::string_view text = review.empty() ? TrimSpace(signs.bullets) : review;
  const std::size_t end = utf8::FloorBoundary(text, std::min(text.size(), kMaxFeedback));
  return utf8::Sanitize(text.substr(0, end));
}

}  // namespace

ApprovalKey::ApprovalKey() : secret_(RandomHex(64)) {}

std::string ApprovalKey::TokenFor(const ApprovalSubject& subject) const {
  std::string message = "approve";
  for (const std::string& part : {std::string(subject.task), std::to_string(subject.attempt),
                                  std::string(subject.patch_sha256)}) {
    message += '\0';
    message += part;
  }
  return std::string(kPrefix) + HmacSha256Hex(secret_, message).substr(0, kTokenDigits);
}

Verdict ReadVerdict(const ReviewEvidence& evidence) {
  using Kind = Verdict::Kind;
  const Signs signs = ReadSigns(evidence);
  if (evidence.exit_code != 0) {
    return {Kind::kNone, evidence.exit_code ? fmt::format("the reviewer ended with exit code {}",
                                                          *evidence.exit_code)
                                            : std::string("a signal ended the reviewer")};
  }
  if (signs.rejected) {
    return {Kind::kRejected, "the reviewer rejected the patch", FeedbackOf(evidence, signs)};
  }
  if (signs.needs_changes) {
    return {Kind::kNeedsChanges, "the reviewer asks for changes", FeedbackOf(evidence, signs)};
  }
  if (evidence.out_dropped > 0) {
    return {Kind::kNone, fmt::format("{} bytes of the reviewer's output were not kept; a refusal "
                                     "may stand in them",
                                     evidence.out_dropped)};
  }
  if (signs.approved) return {Kind::kApproved, "approved"};
  if (signs.mismatch) {
    return {Kind::kMismatch,
            "approval-mismatch: the token is of another patch, task, attempt or "
            "run"};
  }
  if (signs.unbound) {
    return {Kind::kUnbound, "approval-unbound: approved without the token of this patch"};
  }
  return {Kind::kNone, "the reviewer neither approved nor refused"};
}

std::string_view VerdictName(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kApproved:
      return "approved";
    case Verdict::Kind::kNeedsChanges:
      return "needs-changes";
    case Verdict::Kind::kRejected:
      return "rejected";
    case Verdict::Kind::kUnbound:
      return "approval-unbound";
    case Verdict::Kind::kMismatch:
      return "approval-mismatch";
    case Verdict::Kind::kNone:
      break;
  }
  return "none";
}

}  // namespace dossier::harness
