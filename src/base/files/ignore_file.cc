#include "base/files/ignore_file.h"

#include "base/text/text.h"

namespace dossier {
namespace {

// Spaces at the end do not count unless a backslash stands before them; other white space does.
std::string_view TrimTrailingSpaces(std::string_view line) {
  std::size_t keep = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\') {
      if (++at == line.size()) return line;
      keep = at + 1;
    } else if (line[at] != ' ') {
      keep = at + 1;
    }
  }
  return line.substr(0, keep);
}

}  // namespace

IgnoreFile::IgnoreFile(std::string_view content, CaseSensitivity letters) : letters_(letters) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  for (std::string_view line : Split(content, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    Add(TrimTrailingSpaces(line.substr(0, line.find('\0'))));
  }
}

void IgnoreFile::Add(std::string_view line) {
  Rule rule;
  if (line.starts_with('!')) {
    rule.negated = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    rule.folder_only = true;
    line.remove_suffix(1);
  }
  if (line.empty()) return;
  // A slash at the front or inside ties the pattern to the folder of the file.
  rule.anchored = line.find('/') != std::string_view::npos;
  if (line.front() == '/') line.remove_prefix(1);
  if (!rule.anchored && line.front() == '*' && LiteralPrefix(line.substr(1)) == line.size() - 1) {
    rule.suffix = true;
    rule.literal = line.substr(1);
  } else {
    // Git matches the rest as a pattern of its own, so that in "a**/b" the stars open it.
    const std::size_t literal = rule.anchored ? LiteralPrefix(line) : 0;
    rule.literal = line.substr(0, literal);
    if (LiteralPrefix(line) == line.size()) {
      rule.literal = line;
    } else {
      rule.rest.emplace(line.substr(literal), letters_);
    }
  }
  if (letters_ == CaseSensitivity::kInsensitive) rule.literal = ToLowerAscii(rule.literal);
  rules_.push_back(std::move(rule));
}

bool IgnoreFile::Matches(const Rule& rule, std::string_view text) {
  if (rule.suffix) return text.ends_with(rule.literal);
  if (!text.starts_with(rule.literal)) return false;
  text.remove_prefix(rule.literal.size());
  return rule.rest ? rule.rest->Matches(text) : text.empty();
}

IgnoreFile::Verdict IgnoreFile::Match(std::string_view path, PathKind kind) const {
  std::string lower;
  if (letters_ == CaseSensitivity::kInsensitive) path = lower = ToLowerAscii(path);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folder_only && kind != PathKind::kFolder) continue;
    if (!Matches(*rule, rule->anchored ? path : name)) continue;
    return rule->negated ? Verdict::kKept : Verdict::kIgnored;
  }
  return Verdict::kNone;
}

}  // namespace dossier
