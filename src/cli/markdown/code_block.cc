#include "cli/markdown/code_block.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "cli/markdown/markdown_line.h"

namespace dossier::cli {
namespace {

constexpr Style kComment = Style::kDim, kText = Style::kCode, kNumber = Style::kHeading;

// Words that at least two common languages reserve, sorted.
constexpr std::array<std::string_view, 62> kWords = {
    "and",    "as",        "assert",  "async",  "auto",     "await",     "bool",    "break",
    "case",   "catch",     "class",   "const",  "continue", "def",       "default", "delete",
    "do",     "done",      "elif",    "else",   "enum",     "except",    "export",  "extends",
    "false",  "fi",        "finally", "fn",     "for",      "from",      "func",    "function",
    "if",     "impl",      "import",  "in",     "int",      "interface", "is",      "let",
    "match",  "namespace", "new",     "not",    "null",     "or",        "package", "private",
    "public", "return",    "self",    "static", "struct",   "switch",    "then",    "this",
    "throw",  "true",      "try",     "var",    "void",     "while"};

bool IsKept(std::string_view word) { return std::ranges::binary_search(kWords, word); }

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

void Add(Style style, std::string_view text, std::vector<StyledText>* out) {
  if (text.empty()) return;
  if (!out->empty() && out->back().style == style) {
    out->back().text += text;
  } else {
    out->push_back({style, std::string(text)});
  }
}

// Returns the offset after the closing quote of the text at `at`, or npos.
std::size_t EndOfQuotes(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      return i + 1;
    }
  }
  return line.npos;
}

// Returns the fence that a line opens, outside quotes and lists: code that users want to extract is
// rarely in those.
std::optional<CodeFence> OpenedFence(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(indent);
  if (!rest.starts_with("```") && !rest.starts_with("~~~")) return std::nullopt;
  CodeFence fence = ReadFence(rest, indent);
  // "```x```" on one line is code within text.
  if (fence.mark == '`' && rest.find('`', fence.length) != rest.npos) return std::nullopt;
  return fence;
}

}  // namespace

std::optional<std::string> LastCodeBlock(std::string_view markdown) {
  std::optional<std::string> last, open;
  std::optional<CodeFence> fence;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size() - 1) + 1;
    const std::string_view whole = markdown.substr(0, end);
    markdown.remove_prefix(end);
    std::string_view line = whole;
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (!fence) {
      fence = OpenedFence(line);
      if (fence) open = "";
      continue;
    }
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (ClosesFence(line.substr(std::min(indent, fence->indent)), *fence)) {
      last = std::exchange(open, std::nullopt);
      fence.reset();
    } else {
      *open += whole.substr(std::min(indent, fence->indent));
    }
  }
  return open ? open : last;
}

CodeColors::CodeColors(std::string_view language) {
  if (IsOneOf(language, {"c", "cpp", "c++", "cc", "h", "java", "js", "javascript", "ts",
                         "typescript", "go", "rust", "rs", "json", "css", "swift", "kotlin"})) {
    hash_ = false;
  }
  if (IsOneOf(language, {"python", "py", "sh", "bash", "zsh", "shell", "console", "yaml", "yml",
                         "toml", "make", "makefile", "ruby", "rb", "perl", "r", "dockerfile"})) {
    slashes_ = false;
  }
  if (IsOneOf(language, {"sql", "lua", "haskell", "hs", "ada", "elm"})) {
    dashes_ = true;
    hash_ = slashes_ = false;
  }
}

bool CodeColors::BeginsComment(std::string_view rest) const {
  return (hash_ && rest.starts_with('#')) || (slashes_ && rest.starts_with("//")) ||
         (dashes_ && rest.starts_with("--"));
}

std::size_t CodeColors::EndOfOpen(std::string_view line, std::size_t at) {
  const std::string_view mark =
      open_ == Open::kComment ? "*/" : (open_ == Open::kSingleQuotes ? "'''" : "\"\"\"");
  const std::size_t found = line.find(mark, at);
  if (found == line.npos) return line.size();
  open_ = Open::kNothing;
  return found + mark.size();
}

std::vector<StyledText> CodeColors::Line(std::string_view line) {
  std::vector<StyledText> out;
  std::size_t at = 0;
  const auto take = [&](Style style, std::size_t end) {
    Add(style, line.substr(at, end - at), &out);
    at = end;
  };
  while (at < line.size()) {
    const std::string_view rest = line.substr(at);
    const bool begins_word = at == 0 || !IsWordByte(line[at - 1]);
    if (open_ != Open::kNothing) {
      const Style style = open_ == Open::kComment ? kComment : kText;
      take(style, EndOfOpen(line, at));
    } else if (BeginsComment(rest) && (rest[0] != '#' || at == 0 || IsBlank(line[at - 1]))) {
      take(kComment, line.size());
    } else if (slashes_ && rest.starts_with("/*")) {
      open_ = Open::kComment;
      take(kComment, EndOfOpen(line, at + 2));
    } else if (rest.starts_with("'''") || rest.starts_with("\"\"\"")) {
      open_ = rest[0] == '\'' ? Open::kSingleQuotes : Open::kDoubleQuotes;
      take(kText, EndOfOpen(line, at + 3));
    } else if ((rest[0] == '"' || (rest[0] == '\'' && begins_word)) &&
               EndOfQuotes(line, at) != line.npos) {
      take(kText, EndOfQuotes(line, at));
    } else if (begins_word && IsWordByte(rest[0])) {
      std::size_t end = at;
      while (end < line.size() && IsWordByte(line[end])) ++end;
      const std::string_view word = line.substr(at, end - at);
      take(IsDigit(word[0]) ? kNumber : (IsKept(word) ? Style::kBold : Style::kPlain), end);
    } else {
      take(Style::kPlain, at + 1);
    }
  }
  return out;
}

}  // namespace dossier::cli
