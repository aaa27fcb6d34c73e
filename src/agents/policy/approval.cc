#include "agents/policy/approval.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kPrefix = "APPROVED-";
constexpr std::size_t kTokenDigits = 32;     // 128 bits
constexpr std::size_t kMaxFeedback = 16384;  // bytes: fits a prompt together with a patch

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

// Finds a line that refuses: a word of refusal stands first, behind markup or a label ("Verdict:"),
// and a reason may follow. Code and logs that a reviewer shows ("rejected = 0", `"status":
// "rejected"`, "Rejected: 0 rows") are talk, and so is "Rejected input is tested". Returns the word,
// in capitals if it was; "" if there is none.
std::string RefusalIn(std::string_view line) {
  static const re2::RE2 kRefusal(
      R"(^[^A-Za-z0-9"'`+=|(<{]*(?:\d+[.)][^A-Za-z0-9"'`]*)?(?:)"
      R"((?:[A-Za-z][A-Za-z _]{0,30}[*_]*:[\s*_]*)?(REJECTED|NEEDS[ _]CHANGES))"
      R"((?:[*_`"]*$|[*_`"]*[.:,;!](?:\s|$)|[*_]*\s+[^=|(<>&+\s]))"
      R"(|(?:(?:(?i:my|final|overall)\s+)?(?i:verdict|decision|review|conclusion|result)[*_]*:[\s*_]*)?)"
      R"((?i:(rejected|needs[ _-]changes|not[ _-]approved|changes[ _-]requested)))"
      R"((?:[\s*_]*$|[*_]*[.,;!](?:\s|$)|[*_]*:\s+[^0n\s]|[*_]*\s+(?:-|\xE2\x80\x94)))"
      R"(|(?i:verdict|decision|approval|approved?)[*_]*:[\s*_]*)"
      R"((?i:(reject|rejected|refused|denied)\b|(no|false)(?:[^A-Za-z0-9_]*$|\s*[.,;:!]|\s+-))))",
      re2::RE2::Latin1);
  std::string capitals, word, refused, no;
  re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), kRefusal, &capitals, &word,
                         &refused, &no);
  return capitals.empty() ? ToLowerAscii(word + refused + no) : capitals;
}

// The verdict words found in a reviewer's output, before they are weighed.
struct Signs {
  bool rejected = false, needs_changes = false, approved = false, unbound = false;
  bool mismatch = false;
  std::string bullets;  // of stdout

  void ReadRefusal(std::string_view line) {
    const std::string word = RefusalIn(line);
    rejected |= word == "REJECTED";  // ends the task; in other letters it asks for a further attempt
    needs_changes |= !word.empty() && word != "REJECTED";
  }
  void ReadWord(std::string_view word, std::string_view token) {
    unbound |= word == "APPROVED";
    approved |= word == token;
    mismatch |= IsToken(word) && word != token;
  }
};

// Removes decoration from a line: Markdown marks, quotes; colours were removed before.
std::string_view Bare(std::string_view line) {
  constexpr std::string_view kMarks = " \t\r*_`~#>-+|\"'.:!";
  const std::size_t first = line.find_first_not_of(kMarks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kMarks) - first + 1);
}

// Removes escape sequences: those that end in a letter, and titles and links that end in BEL or ST.
std::string WithoutColours(std::string_view text) {
  constexpr char kEscape = '\x1b', kBell = '\a';
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != kEscape) {
      out += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '[') {
      for (at += 2; at < text.size() && (text[at] < '@' || text[at] > '~');) ++at;
    } else if (at + 1 < text.size() && text[at + 1] == ']') {
      for (at += 2; at < text.size() && text[at] != kBell && text[at] != kEscape;) ++at;
      if (at + 1 < text.size() && text[at] == kEscape) ++at;
    }
  }
  return out;
}

// Collects all texts of a JSON value, in order, and each member as a line "name: value".
void AddTexts(const Json& json, std::vector<std::string>* texts) {
  if (const auto* text = json.if_string()) texts->emplace_back(*text);
  if (const auto* list = json.if_array()) {
    for (const Json& item : *list) AddTexts(item, texts);
  }
  if (const auto* map = json.if_object()) {
    for (const auto& member : *map) {
      const Json& value = member.value();
      const auto* text = value.if_string();
      if (text || value.is_bool()) {
        texts->push_back(fmt::format("{}: {}", std::string_view(member.key()),
                                     text ? FirstLine(std::string_view(*text)) : ToJson(value)));
      }
      AddTexts(value, texts);
    }
  }
}

// Returns the reviewer's texts: its output, or the texts in the JSON that it prints, whole or line
// by line.
std::vector<std::string> TextsOf(const std::string& out) {
  const auto is_json = [](std::string_view text) {
    const std::string_view bare = TrimSpace(text);
    return bare.starts_with('{') || bare.starts_with('[');
  };
  std::vector<std::string> texts;
  if (is_json(out)) {
    if (const auto whole = ParseJson(TrimSpace(out))) {
      AddTexts(*whole, &texts);
      return texts;
    }
  }
  std::string plain;
  for (const std::string_view line : Split(out, '\n')) {
    const auto json = is_json(line) ? ParseJson(TrimSpace(line)) : Result<Json>(Json());
    if (json && (json->is_object() || json->is_array())) {
      AddTexts(*json, &texts);
    } else {
      plain += fmt::format("{}\n", line);
    }
  }
  texts.push_back(std::move(plain));
  return texts;
}

// Returns true if a reviewer that printed `text` would have printed the token alone on a line.
bool HoldsTokenLine(std::string_view text, std::string_view token) {
  for (const std::string& one : TextsOf(WithoutColours(text))) {
    for (const std::string_view line : Split(one, '\n')) {
      if (Bare(line) == token) return true;
    }
  }
  return false;
}

// Returns the last letters and digits of `text`: line wrapping and decoration are ignored.
std::string TailOf(std::string_view text) {
  constexpr std::size_t kTail = 24;
  std::string tail;
  for (auto at = text.rbegin(); at != text.rend() && tail.size() < kTail; ++at) {
    if (std::isalnum(static_cast<unsigned char>(*at)) != 0) tail += *at;
  }
  return tail;
}

// Returns true if the text before the token at `at` is the same as before the token in the prompt.
bool IsEcho(std::string_view text, std::size_t at, const ReviewEvidence& evidence) {
  const std::string before = TailOf(text.substr(0, at));
  for (std::size_t found = evidence.prompt.find(evidence.token); found != std::string::npos;
       found = evidence.prompt.find(evidence.token, found + 1)) {
    const std::string told = TailOf(std::string_view(evidence.prompt).substr(0, found));
    if (!told.empty() && before == told) return true;
  }
  return false;
}

void ReadText(const std::string& text, const ReviewEvidence& evidence, Signs* signs) {
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view bare = Bare(line);
    const auto at = static_cast<std::size_t>(line.data() - text.data());
    signs->ReadRefusal(line);
    const bool quoted = line.substr(0, line.find(bare)).find('>') != line.npos;
    if (!quoted && (bare != evidence.token || !IsEcho(text, at, evidence))) {
      signs->ReadWord(bare, evidence.token);
    }
    if (IsBullet(line) && signs->bullets.size() < kMaxFeedback) {
      signs->bullets += fmt::format("{}\n", TrimSpace(line));
    }
  }
}

Signs ReadSigns(const ReviewEvidence& evidence) {
  Signs signs;
  for (const std::string& name : evidence.agent_files) {
    signs.unbound |= name == "APPROVED" || name == evidence.token;
    signs.mismatch |= IsToken(name) && name != evidence.token;
  }
  for (const std::string& text : TextsOf(WithoutColours(evidence.out))) {
    ReadText(text, evidence, &signs);
  }
  // This file is for refusals: any content means that the author has doubts.
  signs.needs_changes |= !TrimSpace(evidence.review_text).empty();
  for (const std::string_view line : Split(evidence.review_text, '\n')) signs.ReadRefusal(line);
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
    return {Kind::kUnbound,
            "approval-unbound: approved without the token of this patch on "
            "the reviewer's own output"};
  }
  return {Kind::kNone, "the reviewer neither approved nor refused"};
}

Status CheckTokenLines(std::string_view prompt, std::string_view token) {
  std::size_t number = 1;
  for (const std::string_view line : Split(prompt, '\n')) {
    if (HoldsTokenLine(line, token)) break;
    ++number;
  }
  // All of it may be JSON.
  if (number > Split(prompt, '\n').size() && !HoldsTokenLine(prompt, token)) return {};
  return MakeError(ErrorCode::kConfig,
                   "line {} of the reviewer's prompt holds the approval token alone: a reviewer "
                   "that repeats its prompt would approve; write words around it, as in "
                   "`Approval token: {{approval_token}}`",
                   number);
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

}  // namespace dossier::agents
