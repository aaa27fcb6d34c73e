#include "research/exec/shell_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.h"

namespace dossier::research {
namespace {

bool PartsWords(char c) { return IsBlank(c) || c == '\r'; }
bool IsOperator(char c) {
  return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>' ||
         c == '\n';
}

// NAME=…
bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return IsWordByte(c); });
}

bool IsGrammar(std::string_view word) {
  constexpr std::array<std::string_view, 13> kWords = {
      "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "esac"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  std::vector<ShellCommand> Scan() {
    // A closing bracket without an open one ends a list, not the line.
    while (at_ < line_.size()) List('\0', 0);
    return std::move(commands_);
  }

 private:
  bool Done() const { return at_ >= line_.size(); }
  char Here() const { return line_[at_]; }
  bool Sees(std::string_view text) const { return line_.substr(at_).starts_with(text); }

  // Commands up to and with `end`, or to the end of the line.
  void List(char end, int depth) {
    std::vector<ShellWord> words;
    bool redirected = false;  // the next word is a file
    while (!Done()) {
      const char c = Here();
      if (PartsWords(c)) {
        ++at_;
      } else if (Sees("\\\n")) {
        at_ += 2;
      } else if (c == '#') {
        at_ = std::min(line_.find('\n', at_), line_.size());
      } else if (c == end || c == ')') {
        ++at_;
        break;
      } else if (c == '(') {
        Finish(words);
        ++at_;
        Nested(')', depth);
      } else if (c == '<' || c == '>' || Sees("&>")) {
        redirected = Redirection(words);
      } else if (IsOperator(c)) {
        Finish(words);
        ++at_;
        if (c == '\n') SkipDocuments();
      } else {
        ShellWord word = Word(end, depth);
        if (redirected) {
          if (wants_mark_) documents_.push_back(std::move(word.text));
          wants_mark_ = false;
        } else {
          words.push_back(std::move(word));
        }
        redirected = false;
      }
    }
    Finish(words);
  }

  void Nested(char end, int depth) {
    if (depth < kMaxShellDepth) return List(end, depth + 1);
    at_ = line_.size();
  }

  // Whether a word follows that names its file.
  bool Redirection(std::vector<ShellWord>& words) {
    const bool is_number = !words.empty() && words.back().end == at_ &&
                           words.back().text.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) words.pop_back();
    if (Sees("<(") || Sees(">(")) {
      ++at_;
      return false;
    }
    if (Sees("<<<")) {
      at_ += 3;
      return true;
    }
    wants_mark_ = Sees("<<");
    for (; !Done() && (Here() == '<' || Here() == '>' || Here() == '&' || Here() == '|'); ++at_) {
    }
    if (wants_mark_ && !Done() && Here() == '-') ++at_;
    return true;
  }

  // At the start of a line: the bodies of here documents that the line before announced.
  void SkipDocuments() {
    for (const std::string& mark : std::exchange(documents_, {})) {
      while (!Done()) {
        const std::size_t end = std::min(line_.find('\n', at_), line_.size());
        std::string_view body = line_.substr(at_, end - at_);
        body.remove_prefix(std::min(body.find_first_not_of('\t'), body.size()));
        at_ = std::min(end + 1, line_.size());
        if (body == mark) break;
      }
    }
  }

  ShellWord Word(char end, int depth) {
    ShellWord word{.begin = at_};
    while (!Done()) {
      const char c = Here();
      if (PartsWords(c) || IsOperator(c) || (c == end && end == '`')) break;
      if (c == '\'') {
        Quoted(word.text);
      } else if (c == '"') {
        ++at_;
        while (!Done() && Here() != '"') Piece(word.text, end, depth);
        at_ = std::min(at_ + 1, line_.size());
      } else {
        Piece(word.text, end, depth);
      }
    }
    word.end = at_;
    return word;
  }

  void Quoted(std::string& text) {
    const std::size_t close = std::min(line_.find('\'', at_ + 1), line_.size());
    text.append(line_.substr(at_ + 1, close - at_ - 1));
    at_ = std::min(close + 1, line_.size());
  }

  // One byte of a word, or a whole substitution.
  void Piece(std::string& text, char end, int depth) {
    const char c = Here();
    if (c == '\\') {
      if (!Sees("\\\n") && at_ + 1 < line_.size()) text.push_back(line_[at_ + 1]);
      at_ = std::min(at_ + 2, line_.size());
    } else if (Sees("$(")) {
      at_ += 2;
      Nested(')', depth);
    } else if (c == '`' && end != '`') {
      ++at_;
      Nested('`', depth);
    } else {
      text.push_back(c);
      ++at_;
    }
  }

  void Finish(std::vector<ShellWord>& words) {
    auto first = words.begin();
    while (first != words.end() && (IsGrammar(first->text) || IsAssignment(first->text))) ++first;
    words.erase(words.begin(), first);
    if (!words.empty()) commands_.push_back({std::move(words)});
    words.clear();
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<ShellCommand> commands_;
  std::vector<std::string> documents_;  // marks whose bodies begin on the next line
  bool wants_mark_ = false;
};

}  // namespace

std::vector<ShellCommand> ShellCommands(std::string_view line) { return Scanner(line).Scan(); }

}  // namespace dossier::research
