#include "sandbox/commands/command_lexer.h"

#include "base/text/utf8.h"

namespace dossier::sandbox {
namespace {

constexpr std::string_view kOperators = ";&|<>(){}$*?[~#!`";
constexpr std::string_view kExpandsInQuotes = "$`";

tl::unexpected<Error> Operator(char c, std::size_t at) {
  if (c == '\n' || c == '\r') {
    return MakeError(ErrorCode::kRefused,
                     "a line end at byte {} parts shell commands: give one command a call", at);
  }
  return MakeError(
      ErrorCode::kRefused,
      "`{}` at byte {} is a shell operator, and there is no shell: quote it as '{}' if "
      "it is text, else give one plain command a call",
      c, at, c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Argv> Run() {
    while (at_ < text_.size()) DOSSIER_RETURN_IF_ERROR(Step());
    EndWord();
    if (!words_.empty()) return std::move(words_);
    return MakeError(ErrorCode::kRefused, "the command is empty");
  }

 private:
  Status Step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      EndWord();
    } else if (c == '\'' || c == '"') {
      return Quoted(c);
    } else if (c == '\\') {
      return Escaped();
    } else if (kOperators.find(c) != std::string_view::npos || c == '\n' || c == '\r') {
      return Operator(c, at_);
    } else {
      Add(c);
    }
    ++at_;
    return {};
  }

  Status Quoted(char quote) {
    const std::size_t begin = at_++;
    in_word_ = true;  // '' is a word
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == quote) {
        ++at_;
        return {};
      }
      if (quote == '"') {
        if (kExpandsInQuotes.find(c) != std::string_view::npos) return Operator(c, at_);
        const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        const bool takes = next == '"' || next == '\\' || next == '$' || next == '`';
        if (c == '\\' && takes) c = text_[++at_];
      }
      Add(c);
    }
    return MakeError(ErrorCode::kRefused, "the quote {} at byte {} never closes", quote, begin);
  }

  Status Escaped() {
    if (at_ + 1 == text_.size()) {
      return MakeError(ErrorCode::kRefused, "the command ends in a backslash");
    }
    const char next = text_[at_ + 1];
    if (next == '\n' || next == '\r') return Operator(next, at_ + 1);
    Add(next);
    at_ += 2;
    return {};
  }

  void Add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void EndWord() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Argv words_;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

Result<Argv> LexCommand(std::string_view command) {
  if (command.size() > kMaxCommandBytes) {
    return MakeError(ErrorCode::kRefused, "the command has {} bytes; at most {} are taken",
                     command.size(), kMaxCommandBytes);
  }
  if (const std::size_t at = command.find('\0'); at != std::string_view::npos) {
    return MakeError(ErrorCode::kRefused, "the command holds a NUL at byte {}", at);
  }
  if (!utf8::IsValid(command)) {
    return MakeError(ErrorCode::kRefused, "the command is not UTF-8");
  }
  return Lexer(command).Run();
}

}  // namespace dossier::sandbox
