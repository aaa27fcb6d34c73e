#include "ask/reply/fences.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMaxIndent = 8;
constexpr int kMaxExtensions = 8;  // closing fences tried per block; each may cost a compile

// Tags that may precede code or data on a one-line fence; any other first word belongs to the code.
constexpr std::array<std::string_view, 26> kOneLineTags = {
    "repl", "python",     "py",   "python3", "py3",       "ipython", "tool_code",
    "js",   "javascript", "node", "mjs",     "ts",        "json",    "text",
    "txt",  "bash",       "sh",   "shell",   "markdown",  "md",      "xml",
    "html", "yaml",       "sql",  "csv",     "typescript"};

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Returns how many of `character` end `line`, ignoring trailing white space.
std::size_t RunAtEnd(std::string_view line, char character) {
  line = TrimRight(line);
  const std::size_t last = line.find_last_not_of(character);
  return last == std::string_view::npos ? line.size() : line.size() - 1 - last;
}

class Scanner {
 public:
  Scanner(std::string_view text, const FenceOptions& options)
      : text_(text), options_(options), lines_(SplitLines(text)) {}

  FenceScan Scan() {
    for (std::size_t i = 0; i < lines_.size();) i = Visit(i);
    FenceScan scan;
    std::size_t from = 0;
    for (const auto& [begin, end] : cut_) {
      scan.outside += text_.substr(from, begin - from);
      from = end;
    }
    scan.outside += text_.substr(from);
    scan.fences = std::move(fences_);
    return scan;
  }

 private:
  // Where a block's code ends: lines (open, end) are code, `next` is the first line after it.
  struct End {
    std::size_t code_end = 0, next = 0;
    bool closed = true;
    std::string last_line;  // code before a fence at the end of the last line
    std::string repair;
  };

  std::size_t Visit(std::size_t i) {
    const auto mark = OpeningFence(lines_[i].text);
    if (!mark) return i + 1;
    // "```)" ends a fence that began after "FINAL(": both are text of the answer.
    if (mark->info.starts_with(')')) return i + 1;
    if (const auto next = HandedIn(i, *mark)) return *next;
    if (outer_ && ClosesFence(lines_[i].text, *outer_)) {
      outer_.reset();
      return Cut(i, i + 1);
    }
    if (const auto next = OneLine(i, *mark)) return *next;
    const std::string tag = FenceTag(mark->info);
    const End plain = FindEnd(i, *mark);
    if (Wraps(tag, i, plain)) {
      outer_ = mark;
      wrapped_ = true;
      return Cut(i, i + 1);
    }
    if (tag.empty() && !plain.closed && Blank(i + 1, plain.code_end)) return Cut(i, plain.next);
    const bool may_run = tag.empty() || options_.runs(tag);
    return Add(i, tag, may_run ? Repaired(i, *mark, plain) : plain);
  }

  std::size_t Add(std::size_t i, const std::string& tag, const End& end) {
    Fence fence{.tag = tag, .code = Code(i + 1, end), .closed = end.closed};
    if (wrapped_) fence.repairs.push_back("fence in a fence unwrapped");
    wrapped_ = false;
    if (!end.repair.empty()) fence.repairs.push_back(end.repair);
    fences_.push_back(std::move(fence));
    return Cut(i, end.next);
  }

  std::size_t Cut(std::size_t from, std::size_t to) {
    cut_.emplace_back(lines_[from].begin, lines_[to - 1].end);
    return to;
  }

  // ```python print(1)```
  std::optional<std::size_t> OneLine(std::size_t i, const FenceMark& mark) {
    const std::size_t run = RunAtEnd(mark.info, mark.character);
    if (run < mark.count || run == mark.info.size()) return std::nullopt;
    std::string_view code = TrimRight(mark.info);
    code = TrimSpace(code.substr(0, code.size() - run));
    std::string tag = FenceTag(code.substr(0, code.find_first_of(" \t")));
    const std::size_t space = code.find_first_of(" \t");
    const bool is_tag = std::ranges::find(kOneLineTags, tag) != kOneLineTags.end();
    if (is_tag && space == std::string_view::npos) return i + 1;  // only a tag: a word in prose
    if (is_tag) {
      code = TrimSpace(code.substr(space));
    } else {
      tag.clear();
    }
    Fence fence{.tag = std::move(tag), .code = std::string(code)};
    fence.repairs.push_back("one-line fence");
    fences_.push_back(std::move(fence));
    return Cut(i, i + 1);
  }

  // A fence between "FINAL(" and ")" on their own lines is an answer, not code to run.
  std::optional<std::size_t> HandedIn(std::size_t i, const FenceMark& mark) const {
    if (i == 0 || !TrimSpace(lines_[i - 1].text).ends_with("FINAL(")) return std::nullopt;
    const End end = FindEnd(i, mark);
    const bool handed =
        end.closed && end.next < lines_.size() && TrimSpace(lines_[end.next].text).starts_with(')');
    return handed ? std::optional(end.next) : std::nullopt;
  }

  // Returns the first line that closes the fence, or the end of the text.
  End FindEnd(std::size_t i, const FenceMark& mark) const {
    for (std::size_t j = i + 1; j < lines_.size(); ++j) {
      if (ClosesFence(lines_[j].text, mark)) return {.code_end = j, .next = j + 1};
    }
    return {.code_end = lines_.size(), .next = lines_.size(), .closed = false};
  }

  // Returns true if the block only wraps blocks that have their own tags.
  bool Wraps(const std::string& tag, std::size_t i, const End& end) const {
    if (!tag.empty() && tag != "markdown" && tag != "md") return false;
    return FindOpening(i + 1, end.code_end) < end.code_end;
  }

  // Returns the first line in [from, to) that opens a fence with a tag; `to` if there is none.
  std::size_t FindOpening(std::size_t from, std::size_t to) const {
    for (std::size_t j = from; j < to; ++j) {
      const auto inner = OpeningFence(lines_[j].text);
      if (inner && !FenceTag(inner->info).empty()) return j;
    }
    return to;
  }

  bool Blank(std::size_t from, std::size_t to) const {
    return std::all_of(lines_.begin() + static_cast<std::ptrdiff_t>(from),
                       lines_.begin() + static_cast<std::ptrdiff_t>(to),
                       [](const TextLine& line) { return TrimSpace(line.text).empty(); });
  }

  // Returns another end of a code block if a slip is likely and the code compiles with that end.
  End Repaired(std::size_t i, const FenceMark& mark, const End& plain) const {
    const std::optional<End> same_line = EndInLine(i, mark, plain);
    const std::size_t opening = FindOpening(i + 1, plain.code_end);
    if (same_line && (!plain.closed || opening < plain.code_end)) return *same_line;
    const bool more_fences = plain.closed && FindEnd(plain.code_end, mark).closed;
    const bool opens_inside = opening < plain.code_end;
    if (!same_line && !more_fences && !opens_inside) return plain;
    if (Compiles(i, plain)) return plain;
    if (same_line && Compiles(i, *same_line)) return *same_line;
    if (opens_inside) {
      End before{.code_end = opening, .next = opening};
      before.repair = "closing fence missing before the next fence";
      if (Compiles(i, before)) return before;
    }
    return more_fences ? Extended(i, mark, plain) : plain;
  }

  // print(1)```
  std::optional<End> EndInLine(std::size_t i, const FenceMark& mark, const End& plain) const {
    for (std::size_t j = i + 1; j < plain.code_end; ++j) {
      const std::string_view line = TrimRight(lines_[j].text);
      const std::size_t run = RunAtEnd(line, mark.character);
      if (run < mark.count || run == line.size() || OpeningFence(line)) continue;
      return End{.code_end = j,
                 .next = j + 1,
                 .last_line = std::string(line.substr(0, line.size() - run)),
                 .repair = "closing fence at the end of the last line"};
    }
    return std::nullopt;
  }

  // A line of backticks inside a string ends the block too early.
  End Extended(std::size_t i, const FenceMark& mark, const End& plain) const {
    End end = plain;
    for (int tries = 0; tries < kMaxExtensions; ++tries) {
      end = FindEnd(end.code_end, mark);
      if (!end.closed) break;
      end.repair = "fence line inside a string kept as code";
      if (Compiles(i, end)) return end;
    }
    return plain;
  }

  bool Compiles(std::size_t i, const End& end) const { return options_.compiles(Code(i + 1, end)); }

  std::string Code(std::size_t from, const End& end) const {
    std::string code;
    for (std::size_t j = from; j < end.code_end; ++j) {
      if (j > from) code += '\n';
      code += lines_[j].text;
    }
    if (!end.last_line.empty()) {
      if (end.code_end > from) code += '\n';
      code += end.last_line;
    }
    return code;
  }

  const std::string_view text_;
  const FenceOptions& options_;
  const std::vector<TextLine> lines_;
  std::vector<Fence> fences_;
  std::vector<std::pair<std::size_t, std::size_t>> cut_;
  std::optional<FenceMark> outer_;  // of an unwrapped fence whose closing line is still ahead
  bool wrapped_ = false;
};

}  // namespace

std::vector<TextLine> SplitLines(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t stop = std::min(text.find_first_of("\r\n", begin), text.size());
    std::size_t end = std::min(stop + 1, text.size());
    if (stop + 1 < text.size() && text[stop] == '\r' && text[stop + 1] == '\n') ++end;
    lines.push_back({.text = text.substr(begin, stop - begin), .begin = begin, .end = end});
    begin = end;
  }
  return lines;
}

std::optional<FenceMark> OpeningFence(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > kMaxIndent) return std::nullopt;
  const char character = line[indent];
  if (character != '`' && character != '~') return std::nullopt;
  const std::size_t after = std::min(line.find_first_not_of(character, indent), line.size());
  if (after - indent < 3) return std::nullopt;
  return FenceMark{
      .character = character, .count = after - indent, .info = TrimSpace(line.substr(after))};
}

bool ClosesFence(std::string_view line, const FenceMark& mark) {
  const auto other = OpeningFence(line);
  return other && other->character == mark.character && other->count >= mark.count &&
         other->info.empty();
}

std::string FenceTag(std::string_view info) {
  std::string tag;
  for (const char c : ToLowerAscii(info.substr(0, info.find_first_of(" \t")))) {
    if (c == '{' || c == '.' || c == '}') continue;
    const bool of_a_tag = IsLower(c) || IsDigit(c) || c == '_' || c == '+' || c == '#' ||
                          c == '-' || c == '|' || c == '/';
    if (!of_a_tag) break;
    tag += c;
  }
  return tag;
}

FenceScan ScanFences(std::string_view text, const FenceOptions& options) {
  return Scanner(text, options).Scan();
}

}  // namespace dossier::ask
