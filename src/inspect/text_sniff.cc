#include "inspect/text_sniff.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kLines = 100;

// The first lines without their ends.
std::vector<std::string_view> FirstLines(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kLines) {
    const std::size_t end = head.find_first_of("\r\n");
    lines.push_back(head.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool crlf = head.substr(end, 2) == "\r\n";
    head.remove_prefix(end + (crlf ? 2 : 1));
  }
  return lines;
}

bool StartsWithNoCase(std::string_view text, std::string_view lower) {
  return ToLowerAscii(text.substr(0, lower.size())) == lower;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// The length of a run of name bytes; quotes around it are taken too.
std::size_t NameLength(std::string_view text) {
  if (text.starts_with('"')) {
    const std::size_t close = text.find('"', 1);
    return close == std::string_view::npos ? 0 : close + 1;
  }
  std::size_t length = 0;
  while (length < text.size() && IsNameByte(text[length])) ++length;
  return length;
}

bool IsSection(std::string_view line) {
  line = TrimSpace(line);
  return line.size() > 2 && line.front() == '[' && line.back() == ']' &&
         line.find_first_of(",{}\"") == std::string_view::npos;
}

bool IsAssignment(std::string_view line) {
  const std::size_t name = NameLength(line);
  return name > 0 && TrimSpace(line.substr(name)).starts_with('=');
}

bool IsYamlPair(std::string_view line) {
  std::string_view text = TrimSpace(line);
  if (text.starts_with("- ")) text = TrimSpace(text.substr(2));
  const std::size_t name = NameLength(text);
  if (name == 0 || name >= text.size() || text[name] != ':') return false;
  return name + 1 == text.size() || text[name + 1] == ' ';
}

}  // namespace

std::optional<Format> LooksLikeMarkup(std::string_view head) {
  const std::string_view text = TrimSpace(head.substr(0, 4096));
  if (text.starts_with("<?xml")) return Format::kXml;
  if (StartsWithNoCase(text, "<!doctype html") || StartsWithNoCase(text, "<html")) {
    return Format::kHtml;
  }
  return std::nullopt;
}

bool LooksLikeMail(std::string_view head) {
  constexpr std::array<std::string_view, 6> kHeaders = {
      "from:", "to:", "subject:", "date:", "message-id:", "received:"};
  if (head.starts_with("From ") &&
      head.substr(0, head.find('\n')).find('@') != std::string_view::npos) {
    return true;
  }
  std::array<bool, kHeaders.size()> seen{};
  for (const std::string_view line : FirstLines(head)) {
    if (line.empty()) break;
    for (std::size_t i = 0; i < kHeaders.size(); ++i) {
      if (StartsWithNoCase(line, kHeaders[i])) seen[i] = true;
    }
    const bool continued = line.front() == ' ' || line.front() == '\t';
    const std::size_t colon = line.find(':');
    if (!continued && (colon == std::string_view::npos || NameLength(line) != colon)) return false;
  }
  return std::count(seen.begin(), seen.end(), true) >= 2;
}

bool LooksLikeDiff(std::string_view head) {
  const std::vector<std::string_view> lines = FirstLines(head);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("diff --git ")) return true;
    if (i + 2 < lines.size() && lines[i].starts_with("--- ") && lines[i + 1].starts_with("+++ ") &&
        lines[i + 2].starts_with("@@ ")) {
      return true;
    }
  }
  return false;
}

std::optional<Format> LooksLikeSettings(std::string_view head) {
  std::size_t sections = 0, assignments = 0, others = 0;
  bool toml = false;
  for (const std::string_view line : FirstLines(head)) {
    const std::string_view text = TrimSpace(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') continue;
    if (IsSection(line)) {
      ++sections;
      toml = toml || text.starts_with("[[");
    } else if (IsAssignment(text)) {
      ++assignments;
      const std::string_view value = TrimSpace(text.substr(text.find('=') + 1));
      toml = toml || value.starts_with('"') || value.starts_with('[') || value.starts_with('{');
    } else {
      ++others;
    }
  }
  if (sections == 0 || assignments == 0 || others > sections + assignments) return std::nullopt;
  return toml ? Format::kToml : Format::kIni;
}

bool LooksLikeYaml(std::string_view head) {
  std::size_t pairs = 0, lines = 0;
  bool first = true;
  for (const std::string_view line : FirstLines(head)) {
    const std::string_view text = TrimSpace(line);
    if (text.empty() || text.front() == '#') continue;
    if (first && text == "---") return true;
    first = false;
    ++lines;
    pairs += IsYamlPair(line) ? 1 : 0;
  }
  return lines >= 2 && pairs * 10 >= lines * 6;
}

bool LooksLikeMarkdown(std::string_view head) {
  std::size_t fences = 0;
  bool first = true;
  for (const std::string_view line : FirstLines(head)) {
    if (TrimSpace(line).empty()) continue;
    const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    if (first && hashes >= 1 && hashes <= 6 && line.substr(hashes).starts_with(' ')) return true;
    first = false;
    fences += line.starts_with("```") ? 1 : 0;
  }
  return fences >= 2;
}

}  // namespace dossier::inspect
