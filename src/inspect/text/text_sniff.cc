#include "inspect/text/text_sniff.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kLines = 100;

// Returns the first lines without their ends.
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

bool IsNameByte(char c) { return IsWordByte(c) || c == '-' || c == '.'; }

// Returns the length of a run of name bytes, including quotes around it.
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
  // A comma or brace at the end is part of a program's table.
  if (text.back() == ',' || text.back() == '{') return false;
  return name + 1 == text.size() || text[name + 1] == ' ';
}

// `key value`, `key = value` or `key: value` in few words: not a sentence, nor a call or block of a
// program.
bool IsSetting(std::string_view text) {
  constexpr std::size_t kMaxWords = 5;
  const std::string_view comment = " #";
  text = TrimSpace(text.substr(0, text.find(comment)));
  if (text.empty() || text.find('(') != std::string_view::npos) return false;
  const std::size_t name = std::min(text.find_first_of(" \t="), text.size());
  const std::string_view rest = text.substr(name);
  const std::string_view value =
      TrimSpace(rest.substr(std::min(rest.find_first_not_of(" \t="), rest.size())));
  const bool named =
      std::any_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(name),
                  [](char c) { return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); });
  // 1. is a list item.
  if (!named || value.empty() || text[name - 1] == '.') return false;
  std::size_t words = 0;
  bool inside = false;
  for (const char c : value) {
    const bool space = c == ' ' || c == '\t';
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words <= kMaxWords &&
         std::string_view(".,?!:").find(text.back()) == std::string_view::npos;
}

struct MarkdownMarks {
  std::size_t headings = 0;  // `#` lines between blank ones
  std::size_t comments = 0;  // other `#` lines
  std::size_t texts = 0;     // lines without a mark after a heading
  std::size_t fences = 0, links = 0, tables = 0, items = 0, emphases = 0, underlines = 0;
};

bool IsHeading(std::string_view line) {
  const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  const std::string_view title = line.substr(hashes);
  return hashes >= 1 && hashes <= 6 && title.starts_with(' ') && !TrimSpace(title).empty();
}

// `- item`, `* item`, `+ item`, `1. item`.
bool IsListItem(std::string_view text) {
  if (text.size() < 3) return false;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits > 0 && digits <= 3) return text.substr(digits).starts_with(". ");
  return std::string_view("-*+").find(text[0]) != std::string_view::npos && text[1] == ' ' &&
         text[2] != '*' && text[2] != ' ';
}

// [text](target) or ![text](target): the target is a path, and there is no expression before it, as
// in `[this](int x)` and `handlers[name](x)`.
bool HasLink(std::string_view line) {
  const std::size_t middle = line.find("](");
  if (middle == std::string_view::npos || middle == 0) return false;
  const std::size_t open = line.rfind('[', middle);
  const std::size_t close = line.find(')', middle);
  if (open == std::string_view::npos || close == std::string_view::npos || open + 1 == middle) {
    return false;
  }
  const std::string_view target = line.substr(middle + 2, close - middle - 2);
  return (open == 0 ||
          std::string_view(" \t!(*_>|-\"").find(line[open - 1]) != std::string_view::npos) &&
         target.find_first_of("/.#:") != std::string_view::npos &&
         target.find_first_of("[]{}") == std::string_view::npos;
}

// |---|:--:| below a table's header.
bool IsTableRule(std::string_view text) {
  return text.size() >= 5 && text.find("--") != std::string_view::npos &&
         text.find('|') != std::string_view::npos &&
         text.find_first_not_of("|-: ") == std::string_view::npos;
}

// **strong** or `code`, as a separate word.
bool HasEmphasis(std::string_view line) {
  for (const std::string_view mark : {std::string_view("**"), std::string_view("`")}) {
    const std::size_t open = line.find(mark);
    const std::size_t inside = open + mark.size();
    if (open == std::string_view::npos || inside >= line.size()) continue;
    const std::size_t close = line.find(mark, inside + 1);
    const bool word = open == 0 || line[open - 1] == ' ' || line[open - 1] == '(';
    if (word && close != std::string_view::npos && line[inside] != ' ' && line[inside] != mark[0] &&
        line[close - 1] != ' ') {
      return true;
    }
  }
  return false;
}

// Counts the marks of line `i`, which is outside fences.
void CountMarks(const std::vector<std::string_view>& lines, std::size_t i, MarkdownMarks* marks) {
  const std::string_view text = TrimSpace(lines[i]);
  if (text.empty()) return;
  if (lines[i].starts_with('#')) {
    const bool alone = (i == 0 || TrimSpace(lines[i - 1]).empty()) &&
                       (i + 1 == lines.size() || TrimSpace(lines[i + 1]).empty());
    ++(alone && IsHeading(lines[i]) ? marks->headings : marks->comments);
    return;
  }
  const bool rule = text.size() >= 3 && (text.find_first_not_of('=') == std::string_view::npos ||
                                         text.find_first_not_of('-') == std::string_view::npos);
  marks->underlines += rule && i > 0 && !TrimSpace(lines[i - 1]).empty() ? 1 : 0;
  marks->items += IsListItem(text) ? 1 : 0;
  marks->links += HasLink(text) ? 1 : 0;
  marks->tables += IsTableRule(text) ? 1 : 0;
  marks->emphases += HasEmphasis(text) ? 1 : 0;
  marks->texts += !rule && marks->headings > 0 ? 1 : 0;
}

// Checks if the head is one XML element, or the beginning of one: properly nested tags.
class ElementReader {
 public:
  explicit ElementReader(std::string_view head) : head_(head) {}

  bool Read() {
    std::size_t tags = 0;
    while (at_ < head_.size()) {
      const std::size_t open = head_.find('<', at_);
      if (open_.empty() && !TrimSpace(head_.substr(at_, open - at_)).empty()) return false;
      if (open == std::string_view::npos) break;
      at_ = open;
      if (!ReadMarkup()) return cut_ && tags >= kMinTags;
      ++tags;
    }
    return tags >= 2 && (open_.empty() || (head_.size() == kMaxBytes && tags >= kMinTags));
  }

  static constexpr std::size_t kMaxBytes = 64 << 10;

 private:
  static constexpr std::size_t kMinTags = 4;

  // Skips past `end`; npos and cut_ if the head ends first.
  bool SkipTo(std::string_view end) {
    const std::size_t found = head_.find(end, at_);
    cut_ = found == std::string_view::npos && head_.size() == kMaxBytes;
    if (found == std::string_view::npos) return false;
    at_ = found + end.size();
    return true;
  }

  bool ReadMarkup() {
    const std::string_view text = head_.substr(at_);
    if (text.starts_with("<!--")) return SkipTo("-->");
    if (text.starts_with("<![CDATA[")) return SkipTo("]]>");
    if (text.starts_with("<!") || text.starts_with("<?")) return SkipTo(">");
    const std::size_t start = at_;
    if (!SkipTo(">")) return false;
    std::string_view tag = head_.substr(start + 1, at_ - start - 2);
    const bool closing = tag.starts_with('/');
    if (closing) tag.remove_prefix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const bool letter = !name.empty() && (name[0] == '_' || (name[0] | 0x20) >= 'a') &&
                        (name[0] | 0x20) <= 'z' && name.find_first_of("@<=\"") == name.npos;
    if (!letter) return false;
    if (closing) {
      if (open_.empty() || open_.back() != name) return false;
      open_.pop_back();
      return true;
    }
    if (!tag.ends_with('/')) open_.push_back(name);
    return open_.size() < 256;
  }

  const std::string_view head_;
  std::size_t at_ = 0;
  bool cut_ = false;
  std::vector<std::string_view> open_;
};

}  // namespace

std::optional<Format> LooksLikeMarkup(std::string_view head) {
  const std::string_view text = TrimSpace(head.substr(0, 4096));
  if (text.starts_with("<?xml")) return Format::kXml;
  if (StartsWithNoCase(text, "<!doctype html") || StartsWithNoCase(text, "<html") ||
      StartsWithNoCase(text, "<table")) {
    return Format::kHtml;
  }
  return std::nullopt;
}

bool LooksLikeElements(std::string_view head) {
  return TrimSpace(head.substr(0, 4096)).starts_with('<') &&
         ElementReader(head.substr(0, ElementReader::kMaxBytes)).Read();
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
    const bool hunk = i + 2 < lines.size() && lines[i].starts_with("--- ") &&
                      lines[i + 1].starts_with("+++ ") && lines[i + 2].starts_with("@@ ");
    if (!hunk && !lines[i].starts_with("diff --git ")) continue;
    // A text that merely shows a diff continues with words.
    const auto of_diff = [](std::string_view line) {
      constexpr std::array<std::string_view, 9> kHeads = {"diff ",   "index ",   "new ",
                                                          "old ",    "deleted ", "similarity ",
                                                          "rename ", "Binary ",  "copy "};
      return line.empty() || std::string_view(" +-@\\").find(line[0]) != std::string_view::npos ||
             std::any_of(kHeads.begin(), kHeads.end(),
                         [&](std::string_view start) { return line.starts_with(start); });
    };
    const auto fitting =
        std::count_if(lines.begin() + static_cast<std::ptrdiff_t>(i), lines.end(), of_diff);
    return static_cast<std::size_t>(fitting) * 10 >= (lines.size() - i) * 9;
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
  bool document = false;
  std::set<std::string_view> keys;  // at the outermost level
  for (const std::string_view line : FirstLines(head)) {
    const std::string_view text = TrimSpace(line);
    if (text.empty() || text.front() == '#') continue;
    if (text == "---") {
      document = document || lines == 0;
      keys.clear();
      continue;
    }
    ++lines;
    if (!IsYamlPair(line)) {
      // Only list items and brackets may also be at the margin.
      if (std::string_view(" \t-[]{}%.").find(line.front()) == std::string_view::npos) return false;
      continue;
    }
    ++pairs;
    // A repeated name is that of a speaker.
    const bool outermost = line.front() == text.front() && text.front() != '-';
    if (outermost && !keys.insert(line.substr(0, line.find(':'))).second) return false;
  }
  if (document) return pairs > 0 && pairs * 10 >= lines * 3;
  return lines >= 2 && pairs * 10 >= lines * 6;
}

bool LooksLikeConfig(std::string_view head) {
  std::size_t comments = 0, settings = 0, assignments = 0, lines = 0;
  const std::vector<std::string_view> all = FirstLines(head);
  for (const std::string_view line : all) {
    const std::string_view text = TrimSpace(line);
    if (text.empty()) continue;
    if (text.starts_with("/*")) return false;  // a program: its # lines are not comments
    if (text.front() == '#') {
      ++comments;
      continue;
    }
    ++lines;
    assignments += IsAssignment(text) ? 1 : 0;
    settings += IsSetting(text) || IsSection(text) ? 1 : 0;
  }
  // A licence alone says nothing about what follows.
  if (lines == 0) return comments >= 2 && all.size() < kLines;
  if (lines >= 3 && assignments * 10 >= lines * 9) return true;
  return comments > 0 && settings * 10 >= lines * 8;
}

bool LooksLikeMarkdown(std::string_view head) {
  const std::vector<std::string_view> lines = FirstLines(head);
  MarkdownMarks marks;
  bool fenced = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```") || lines[i].starts_with("~~~")) {
      fenced = !fenced;
      ++marks.fences;
    } else if (!fenced) {
      CountMarks(lines, i, &marks);
    }
  }
  const bool headed = marks.headings > 0 && marks.texts > 0 && marks.comments <= marks.headings;
  const int strong = headed + (marks.fences >= 2) + (marks.links > 0) + (marks.tables > 0);
  const int weak = (marks.items >= 2) + (marks.emphases > 0) + (marks.underlines > 0);
  return strong >= 1 && strong + weak >= 2;
}

}  // namespace dossier::inspect
