#include "sources/repository/brace_code.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

bool IsNamePart(char c) {
  return IsWordByte(c) || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// Containers: declarations inside them are part of an outline.
constexpr std::string_view kContainers[] = {"namespace", "class", "struct", "union",  "interface",
                                            "trait",     "impl",  "mod",    "module", "extern"};
constexpr std::string_view kNamed[] = {"namespace", "class", "struct", "union",
                                       "interface", "trait", "impl",   "mod",
                                       "module",    "enum",  "record", "concept"};
// Keywords that the name follows, instead of preceding a parenthesis.
constexpr std::string_view kFunctions[] = {"function", "func", "fn"};
constexpr std::string_view kValues[] = {"const",  "let",   "var",     "type",
                                        "static", "using", "typedef", "macro_rules"};
// Keywords of statements that are not declarations.
constexpr std::string_view kStatements[] = {
    "if",   "for",     "while",  "switch", "do",    "try", "else", "catch", "return",
    "case", "default", "delete", "throw",  "await", "new", "goto", "break", "continue"};
constexpr std::string_view kImports[] = {"import", "use", "package", "export"};

struct Words {
  std::vector<std::string_view> words;
  std::vector<std::size_t> ends;  // offsets after the words
};

// Returns the words before the first `=` or `{`, except those in leading angle or round brackets.
Words WordsOf(std::string_view head) {
  Words words;
  for (std::size_t at = 0; at < head.size() && words.words.size() < 64;) {
    if (!IsNamePart(head[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < head.size() && IsNamePart(head[end])) ++end;
    words.words.push_back(head.substr(at, end - at));
    words.ends.push_back(end);
    at = end;
  }
  return words;
}

std::string_view WordBefore(std::string_view head, std::size_t at) {
  while (at > 0 && (head[at - 1] == ' ' || head[at - 1] == '\n' || head[at - 1] == '\t')) --at;
  std::size_t start = at;
  while (start > 0 && (IsNamePart(head[start - 1]) || head[start - 1] == '~')) --start;
  return head.substr(start, at - start);
}

class BraceReader {
 public:
  BraceReader(Language language, std::string_view text, CodeFacts* facts)
      : language_(language), text_(text), facts_(facts) {}

  void Read() {
    while (at_ < text_.size()) {
      if (SkipQuiet()) continue;
      Take(text_[at_]);
      ++at_;
    }
  }

 private:
  // Skips a comment, a literal or a preprocessor line at the current place.
  bool SkipQuiet() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//")) return SkipTo("\n", 2, 0);
    if (rest.starts_with("/*")) return SkipTo("*/", 2, 2);
    const char c = rest[0];
    if (c == '#' && language_ == Language::kCpp && AtLineStart()) return SkipDirective();
    if (c == '"' && language_ == Language::kCpp && at_ > 0 && text_[at_ - 1] == 'R')
      return SkipRaw();
    if (c == '`' && (language_ == Language::kScript || language_ == Language::kGo)) {
      return SkipString('`', language_ == Language::kScript);
    }
    if (c == '"') return SkipString('"', true);
    if (c == '\'') return SkipQuote();
    if (c == '/' && language_ == Language::kScript && OpensRegex()) return SkipRegex();
    return false;
  }

  bool SkipTo(std::string_view end, std::size_t from, std::size_t behind) {
    const std::size_t found = text_.find(end, at_ + from);
    at_ = found == std::string_view::npos ? text_.size() : found + behind;
    OpenHeadAt(at_);
    return true;
  }

  // A comment is not part of a head that has not begun.
  void OpenHeadAt(std::size_t at) {
    if (!started_) start_ = at;
  }

  bool AtLineStart() const {
    std::size_t at = at_;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  bool SkipDirective() {
    std::size_t end = at_;
    do {
      end = text_.find('\n', end + 1);
    } while (end != std::string_view::npos && end > 0 && text_[end - 1] == '\\');
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view line = text_.substr(at_, end - at_);
    const Words words = WordsOf(line);
    if (!words.words.empty() && words.words[0] == "include") {
      const std::size_t open = line.find_first_of("\"<");
      const std::size_t close = open == std::string_view::npos
                                    ? open
                                    : line.find(line[open] == '<' ? '>' : '"', open + 1);
      if (close != std::string_view::npos) {
        facts_->imports.emplace_back(line.substr(open + 1, close - open - 1));
      }
    } else if (words.words.size() > 1 && words.words[0] == "define" && InOutline()) {
      const std::size_t first_line = line.find('\n');
      facts_->symbols.push_back({std::string(words.words[1]), OneLine(line.substr(0, first_line)),
                                 static_cast<int>(stack_.size())});
    }
    at_ = end;
    OpenHeadAt(at_);
    return true;
  }

  bool SkipRaw() {
    const std::size_t size = text_.substr(at_, 19).find('(');  // the standard allows 16 between
    if (size == std::string_view::npos) return SkipString('"', true);
    const std::size_t open = at_ + size;
    const std::string close = ")" + std::string(text_.substr(at_ + 1, size - 1)) + "\"";
    const std::size_t found = text_.find(close, open);
    at_ = found == std::string_view::npos ? text_.size() : found + close.size();
    return true;
  }

  bool SkipString(char quote, bool escapes) {
    const std::size_t start = at_++;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (escapes && text_[at_] == '\\') ++at_;
      if (quote == '"' && at_ < text_.size() && text_[at_] == '\n' &&
          language_ != Language::kRust) {
        return true;  // never closed: it was not a string
      }
    }
    const std::size_t end = std::min(at_, text_.size());
    at_ = std::min(at_ + 1, text_.size());
    last_string_ = text_.substr(start + 1, end - start - 1);
    StartHead();
    if (stack_.empty() && parens_ > 0 && language_ == Language::kGo && HeadStarts("import")) {
      facts_->imports.emplace_back(last_string_);
    }
    return true;
  }

  // A character, a Rust lifetime, a C++ digit separator, or a JavaScript string.
  bool SkipQuote() {
    if (language_ == Language::kScript) return SkipString('\'', true);
    if (at_ > 0 && IsNamePart(text_[at_ - 1])) return false;
    const std::size_t from = at_ + 1;
    std::size_t end = from;
    if (end < text_.size() && text_[end] == '\\') ++end;
    const std::size_t close = text_.find('\'', end + 1);
    if (close == std::string_view::npos || close - from > 12) return false;
    if (language_ == Language::kRust && close - from > 4 && text_[from] != '\\') return false;
    at_ = close + 1;
    StartHead();
    return true;
  }

  bool OpensRegex() const {
    std::size_t at = at_;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\n')) --at;
    return at == 0 || text_.substr(0, at).ends_with("return") ||
           std::string_view("(,=:[!&|?{};>").find(text_[at - 1]) != std::string_view::npos;
  }

  bool SkipRegex() {
    bool in_class = false;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '[') {
        in_class = true;
      } else if (text_[at_] == ']') {
        in_class = false;
      } else if (text_[at_] == '/' && !in_class) {
        break;
      }
    }
    at_ = std::min(at_ + 1, text_.size());
    return true;
  }

  void Take(char c) {
    switch (c) {
      case '(':
      case '[':
        ++parens_;
        break;
      case ')':
      case ']':
        if (parens_ > 0) --parens_;
        break;
      case '{':
        OpenBrace();
        return;
      case '}':
        CloseBrace();
        return;
      case ';':
        if (parens_ == 0) EndStatement();
        return;
      case '\n':
        if (parens_ == 0 && EndsAtLine()) EndStatement();
        return;
      case ':':
        if (language_ == Language::kCpp && InOutline() && IsAccess(Head())) Restart(at_ + 1);
        break;
      default:
        break;
    }
    if (!started_ && c != ' ' && c != '\t' && c != '\r') {
      started_ = true;
      start_ = at_;
    }
  }

  static bool IsAccess(std::string_view head) {
    head = TrimSpace(head);
    return head == "public" || head == "private" || head == "protected";
  }

  // Only Go and JavaScript end statements at line ends.
  bool EndsAtLine() {
    if (language_ != Language::kGo && language_ != Language::kScript) return false;
    if (!started_) return false;
    // A blank line changes nothing; looking behind all of them for each takes quadratic time.
    const std::size_t last = std::exchange(line_end_, at_);
    if (last > start_ && TrimSpace(text_.substr(last, at_ - last)).empty()) return false;
    const std::string_view head = TrimSpace(Head());
    return !head.empty() &&
           std::string_view(",=+-|&(<:?.").find(head.back()) == std::string_view::npos;
  }

  bool InOutline() const { return bodies_ == 0; }
  std::string_view Head() const {
    return started_ ? text_.substr(start_, at_ - start_) : std::string_view();
  }
  bool HeadStarts(std::string_view word) const { return TrimSpace(Head()).starts_with(word); }

  void Restart(std::size_t at) {
    start_ = at;
    started_ = false;
    lists_names_ = false;
  }

  // A literal can begin a head.
  void StartHead() {
    if (!started_) start_ = text_.find_first_not_of(" \t\r\n\f\v", start_);
    started_ = true;
  }

  void OpenBrace() {
    if (!InOutline() || parens_ > 0 || lists_names_) {
      HideBrace();
      return;
    }
    const std::string_view head = TrimSpace(Head());
    const Words words = WordsOf(head);
    if (ListsNames(head, words)) {
      lists_names_ = head != "export";
      HideBrace();
      return;
    }
    const bool declared = Declare(head, words, Ends::kWithBody);
    const bool container = declared && HoldsDeclarations(head, words);
    stack_.push_back(container ? Level::kContainer : Level::kBody);
    if (!container) ++bodies_;
    if (container) ++containers_;
    if (container) Restart(at_ + 1);
  }

  // Skips braces inside something that continues after them.
  void HideBrace() {
    braces_in_parens_.push_back(parens_);
    parens_ = 0;
    ++bodies_;
    stack_.push_back(Level::kHidden);
  }

  // Accepts `import {a} from`, `export {a}`, `use a::{b, c}`.
  static bool ListsNames(std::string_view head, const Words& words) {
    return head == "export" ||
           (!words.words.empty() && (words.words[0] == "import" || words.words[0] == "use"));
  }

  static bool HoldsDeclarations(std::string_view head, const Words& words) {
    const std::size_t paren = head.find('(');
    for (std::size_t i = 0; i < words.words.size(); ++i) {
      if (paren != std::string_view::npos && words.ends[i] > paren) break;
      if (IsOneOf(words.words[i], kContainers)) return true;
    }
    return false;
  }

  void CloseBrace() {
    if (stack_.empty()) {
      Restart(at_ + 1);
      return;
    }
    const Level level = stack_.back();
    stack_.pop_back();
    if (level == Level::kContainer) {
      --containers_;
      parens_ = 0;
      Restart(at_ + 1);
      return;
    }
    --bodies_;
    if (level == Level::kHidden) {
      parens_ = braces_in_parens_.back();
      braces_in_parens_.pop_back();
      return;
    }
    Restart(at_ + 1);
  }

  void EndStatement() {
    if (!InOutline()) return;
    const std::string_view head = TrimSpace(Head());
    if (!head.empty()) {
      const Words words = WordsOf(head);
      if (!words.words.empty() && IsOneOf(words.words[0], kImports)) {
        Import(head, words);
      } else {
        Declare(head, words, Ends::kWithout);
      }
    }
    Restart(at_ + 1);
  }

  void Import(std::string_view head, const Words& words) {
    if (language_ == Language::kScript || language_ == Language::kGo) {
      const std::size_t quote = head.find_last_of("\"'`");
      const std::size_t open = quote == 0 || quote == std::string_view::npos
                                   ? quote
                                   : head.rfind(head[quote], quote - 1);
      if (quote != std::string_view::npos && open != std::string_view::npos && open < quote) {
        if (parens_ == 0 && head.find('(') == std::string_view::npos) {
          facts_->imports.emplace_back(head.substr(open + 1, quote - open - 1));
        }
        return;
      }
      if (words.words[0] == "export") Declare(head, words, Ends::kWithout);
      return;
    }
    if (words.words.size() < 2 || words.words[0] == "package") return;
    std::string_view name = TrimSpace(head.substr(words.ends[0]));
    if (name.starts_with("static ")) name = TrimSpace(name.substr(7));
    facts_->imports.emplace_back(name.substr(0, name.find_first_of(" {;")));
  }

  enum class Ends : std::uint8_t { kWithBody, kWithout };

  bool Declare(std::string_view head, const Words& words, Ends ends) {
    if (words.words.empty()) return false;
    if (IsOneOf(words.words[0], kStatements) && !head.starts_with("default")) return false;
    const std::string name = NameOf(head, words, ends);
    if (name.empty()) return false;
    facts_->symbols.push_back({name, OneLine(head), containers_});
    return true;
  }

  std::string NameOf(std::string_view head, const Words& words, Ends ends) const {
    const std::size_t paren = FirstParen(head, words);
    for (std::size_t i = 0; i < words.words.size() && words.ends[i] <= paren; ++i) {
      const std::string_view word = words.words[i];
      if (word == "extern" && ends == Ends::kWithBody && words.words.size() <= 2) return "extern";
      if (word == "namespace" && i + 1 == words.words.size()) return "namespace";
      const bool names =
          IsOneOf(word, kFunctions) || IsOneOf(word, kNamed) ||
          (IsOneOf(word, kValues) && language_ != Language::kCpp && language_ != Language::kJava) ||
          word == "using";
      if (!names) continue;
      if (word == "func" && TrimSpace(head.substr(words.ends[i])).starts_with('(')) break;
      // In C a struct may be only the type of a declaration.
      if (IsOneOf(word, kNamed) && paren != head.size() && ends == Ends::kWithout) continue;
      std::size_t next = i + 1;
      while (next < words.words.size() &&
             (words.words[next] == "class" || words.words[next] == "mut")) {
        ++next;
      }
      if (next < words.words.size()) return std::string(words.words[next]);
    }
    if (paren == head.size() || paren == 0) return "";
    const std::size_t equals = head.find('=');
    if (equals < paren && head.substr(0, equals).find("operator") == std::string_view::npos) {
      return "";
    }
    const std::string_view name = WordBefore(head, paren);
    const bool call = ends == Ends::kWithout && words.words[0] == name;  // without a type: a call
    return call || IsOneOf(name, kStatements) ? "" : std::string(name);
  }

  // Finds the parameters: after the receiver of a Go method, or after `pub(crate)` in Rust.
  std::size_t FirstParen(std::string_view head, const Words& words) const {
    std::size_t paren = head.find('(');
    if (paren == std::string_view::npos) return head.size();
    const std::string_view before = WordBefore(head, paren);
    const bool receiver = before == "func" || before == "pub";
    if (!receiver || words.words.empty()) return paren;
    const std::size_t close = head.find(')', paren);
    if (close == std::string_view::npos) return paren;
    paren = head.find('(', close);
    return paren == std::string_view::npos ? head.size() : paren;
  }

  enum class Level : std::uint8_t { kContainer, kBody, kHidden };

  const Language language_;
  const std::string_view text_;
  CodeFacts* facts_;
  std::size_t at_ = 0, start_ = 0;
  std::size_t line_end_ = 0;  // the last one that EndsAtLine saw
  bool started_ = false;      // the head of a declaration has begun, at start_
  bool lists_names_ = false;  // in all braces of this head: they need not read it again
  int parens_ = 0, bodies_ = 0, containers_ = 0;
  std::vector<Level> stack_;
  std::vector<int> braces_in_parens_;  // open parentheses around each hidden brace
  std::string_view last_string_;
};

}  // namespace

void ReadBraceCode(Language language, std::string_view text, CodeFacts* facts) {
  BraceReader(language, text, facts).Read();
}

std::string OneLine(std::string_view text) {
  constexpr std::size_t kMaxBytes = 160;
  std::string line;
  for (const char c : TrimSpace(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : c;
    if (line.size() > 4 * kMaxBytes) break;
  }
  if (line.size() > kMaxBytes) line.resize(utf8::FloorBoundary(line, kMaxBytes));
  return line;
}

}  // namespace dossier::sources
