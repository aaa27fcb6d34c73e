#include "sources/header/change_policy.h"

#include <limits>

#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/data_file.h"
#include "sources/header/json_fields.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxShownGlob = 200;  // code points, in a message
constexpr std::string_view kPolicyStem = "config/policy";

Status ReadGlobs(const JsonPlace& at, std::vector<std::string>* out) {
  DOSSIER_RETURN_IF_ERROR(ReadTexts(at, out));
  for (const std::string& glob : *out) {
    if (const Status good = CheckGlob(glob); !good) {
      return MakeError(ErrorCode::kConfig, "{}: {}: {}", PlaceText(at.in, at.where, at.key), at.key,
                       good.error().message);
    }
  }
  return {};
}

constexpr JsonField<ChangePolicy> kPolicyFields[] = {
    {"allow", Into<ReadGlobs, &ChangePolicy::allow>},
    {"deny", Into<ReadGlobs, &ChangePolicy::deny>},
    {"max_lines_added", Into<ReadWholeFrom<0>, &ChangePolicy::max_lines_added>},
    {"max_lines_deleted", Into<ReadWholeFrom<0>, &ChangePolicy::max_lines_deleted>},
    {"max_files", Into<ReadWholeFrom<0>, &ChangePolicy::max_files>},
    {"max_patch_bytes", Into<ReadWholeFrom<1>, &ChangePolicy::max_patch_bytes>},
    {"allow_binary", Into<ReadFlag, &ChangePolicy::allow_binary>},
    {"allow_symlinks", Into<ReadFlag, &ChangePolicy::allow_symlinks>},
    {"allow_submodules", Into<ReadFlag, &ChangePolicy::allow_submodules>},
    {"allow_control_files", Into<ReadFlag, &ChangePolicy::allow_control_files>},
    {"propose_timeout_seconds", Into<ReadTimeFrom<1>, &ChangePolicy::propose_timeout>},
    {"review_timeout_seconds", Into<ReadTimeFrom<1>, &ChangePolicy::review_timeout>},
};

// Walks a pattern once and knows where it is.
class GlobChecker {
 public:
  explicit GlobChecker(std::string_view pattern) : pattern_(pattern) {}

  Status Check() {
    if (pattern_.empty()) return Fail(0, "an empty pattern matches nothing");
    if (pattern_.size() > kMaxGlobBytes) return Fail(0, "longer than 4,096 bytes");
    if (pattern_.front() == '/') return Fail(0, "paths start at the root without /");
    for (const std::string_view part : Split(pattern_, '/')) {
      const auto at = static_cast<std::size_t>(part.data() - pattern_.data());
      if (part == "..") return Fail(at, "no path holds ..");
      // A rule that can match nothing is a mistyped one.
      if (part == ".") return Fail(at, "no path holds . as a part: leave it out");
      if (part.empty()) {
        return Fail(at, "no path has an empty part; all below a folder is folder/**");
      }
    }
    std::vector<std::size_t> braces;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\' && at_ + 1 == pattern_.size()) return Fail(at_, "\\ escapes nothing");
      if (c == '[') {
        DOSSIER_RETURN_IF_ERROR(CheckClass());
        continue;
      }
      if (c == '{') braces.push_back(at_);
      if (braces.size() > kMaxGlobDepth) return Fail(at_, "{ nested deeper than 32");
      if (c == '}' && !braces.empty()) braces.pop_back();
      at_ += c == '\\' ? 2 : 1;
    }
    return braces.empty() ? Status() : Status(Fail(braces.back(), "{ is never closed"));
  }

 private:
  tl::unexpected<Error> Fail(std::size_t offset, std::string_view what) const {
    return MakeError(ErrorCode::kConfig, "{}:{}: {}",
                     utf8::CleanForTerminal(utf8::Prefix(pattern_, kMaxShownGlob)),
                     1 + utf8::CodePoints(pattern_.substr(0, offset)), what);
  }

  // From `[` to behind its `]`.
  Status CheckClass() {
    const std::size_t open = at_++;
    if (at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^')) ++at_;
    const std::size_t first = at_;
    char32_t low = 0;
    enum class Range { kNone, kOpen } range = Range::kNone;
    while (at_ < pattern_.size() && (pattern_[at_] != ']' || at_ == first)) {
      const std::size_t start = at_;
      if (pattern_[at_] == '-' && start != first && range == Range::kNone &&
          at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        range = Range::kOpen;
        ++at_;
        continue;
      }
      if (pattern_[at_] == '\\' && ++at_ >= pattern_.size()) break;
      const char32_t code = utf8::Next(pattern_, &at_);
      if (range == Range::kOpen && code < low) return Fail(start, "a range runs backwards");
      range = Range::kNone;
      low = code;
    }
    if (at_ >= pattern_.size()) return Fail(open, "[ is never closed");
    ++at_;
    return {};
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

}  // namespace

Status CheckGlob(std::string_view pattern) { return GlobChecker(pattern).Check(); }

Result<ChangePolicy> ParseChangePolicy(std::string text, const std::string& file) {
  ChangePolicy policy;
  policy.file = file;
  policy.sha256 = Sha256Hex(text);
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ParseData(std::move(text), file));
  policy.warnings = std::move(data.warnings);
  const DataPlace top{data, ""};
  DOSSIER_RETURN_IF_ERROR(ReadJsonFields<ChangePolicy>(data.value, "", kPolicyFields,
                                                       UnknownKeys::kRefused, &policy, &top));
  return policy;
}

Result<ChangePolicy> LoadChangePolicy(const std::string& root, const std::string& file) {
  std::string name = file;
  if (name.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto found, FindDataFile(root, kPolicyStem));
    name = found.value_or("");
  }
  if (name.empty()) {
    ChangePolicy policy;
    policy.allow = {"src/**", "scripts/**", "docs/**", "config/**"};
    policy.warnings.emplace_back(
        "there is no config/policy.edn: src, scripts, docs and config may change, without limits");
    return policy;
  }
  DOSSIER_ASSIGN_OR_RETURN(DataFile data, ReadDataFile(root, name));
  return ParseChangePolicy(std::move(data.text), name);
}

}  // namespace dossier::sources
