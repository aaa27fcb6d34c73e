#include "evaluation/families/python_lexer.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

struct Token {
  enum class Kind : std::uint8_t { kName, kNumber, kString, kSign, kLineEnd } kind;
  std::string_view text;
  bool starts_statement = false, at_margin = false;
};

bool IsKeyword(std::string_view name) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) Step();
    Add(Token::Kind::kLineEnd, {});
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      if (depth_ == 0) Add(Token::Kind::kLineEnd, {});
      margin_ = true;
    } else if (c == '\\' && at_ + 1 < text_.size() && IsLineEnd(text_[at_ + 1])) {
      at_ += 2;
    } else if (IsBlank(c) || c == '\r' || c == '\f') {
      ++at_;
      margin_ = false;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '"' || c == '\'') {
      String();
    } else if (IsDigit(c)) {
      Take(Token::Kind::kNumber);
    } else if (IsWordByte(c) || static_cast<unsigned char>(c) >= 0x80) {
      Name();
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      Add(Token::Kind::kSign, text_.substr(at_++, 1));
    }
  }

  static bool IsNameByte(char c) { return IsWordByte(c) || static_cast<unsigned char>(c) >= 0x80; }

  void Take(Token::Kind kind) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    Add(kind, text_.substr(begin, at_ - begin));
  }

  // Reads a name, or the letters before a string.
  void Name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool prefix =
        name.size() <= 2 && name.find_first_not_of("rRbBfFuU") == std::string_view::npos;
    if (prefix && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return String();
    Add(Token::Kind::kName, name);
  }

  void String() {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        at_ += 2;
      } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        break;
      } else if (!is_long && text_[at_] == '\n') {
        break;  // not closed on its line: not valid Python
      } else {
        ++at_;
      }
    }
    at_ = std::min(at_, text_.size());
    Add(Token::Kind::kString, {});
  }

  void Add(Token::Kind kind, std::string_view text) {
    Token token{kind, text, start_, start_ && margin_};
    start_ = kind == Token::Kind::kLineEnd || (depth_ == 0 && (text == ":" || text == ";"));
    margin_ = kind == Token::Kind::kLineEnd;
    tokens_.push_back(token);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool start_ = true, margin_ = true;
  std::vector<Token> tokens_;
};

// Collects facts from the tokens of one file.
class Finder {
 public:
  Finder(const std::string& file, std::vector<Token> tokens, PythonFacts* facts)
      : file_(file), tokens_(std::move(tokens)), facts_(*facts) {}

  void Run() {
    facts_.imports[file_];
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind != Token::Kind::kName) continue;
      if (token.text == "def" || token.text == "class") {
        if (tokens_[i + 1].kind != Token::Kind::kName) continue;
        facts_.definitions[std::string(tokens_[i + 1].text)].push_back(file_);
        ++i;  // what follows is not a call
      } else if (token.starts_statement && token.text == "import") {
        Import(i + 1);
      } else if (token.starts_statement && token.text == "from") {
        std::size_t at = i + 1;
        const std::string module = Dotted(&at);
        if (!module.empty()) facts_.imports[file_].insert(module);
      } else if (IsSign(i + 1, "(") && !IsKeyword(token.text)) {
        ++facts_.calls[std::string(token.text)];
      } else if (token.at_margin && IsSign(i + 1, "=") && i + 3 < tokens_.size()) {
        Constant(token, tokens_[i + 2], tokens_[i + 3]);
      }
    }
  }

 private:
  bool IsSign(std::size_t at, std::string_view sign) const {
    return at < tokens_.size() && tokens_[at].kind == Token::Kind::kSign &&
           tokens_[at].text == sign;
  }

  // Returns "a.b.c"; "" if it begins with a dot.
  std::string Dotted(std::size_t* at) const {
    std::string name;
    while (*at < tokens_.size() && tokens_[*at].kind == Token::Kind::kName) {
      name += tokens_[(*at)++].text;
      if (!IsSign(*at, ".")) break;
      name += ".";
      ++*at;
    }
    return name;
  }

  void Import(std::size_t at) {
    while (true) {
      const std::string module = Dotted(&at);
      if (module.empty()) return;
      facts_.imports[file_].insert(module);
      if (at < tokens_.size() && tokens_[at].text == "as") at += 2;
      if (!IsSign(at, ",")) return;
      ++at;
    }
  }

  void Constant(const Token& name, const Token& value, const Token& end) {
    const bool decimal = value.kind == Token::Kind::kNumber &&
                         std::all_of(value.text.begin(), value.text.end(), IsDigit) &&
                         (value.text.size() == 1 || value.text[0] != '0');
    if (decimal && end.kind == Token::Kind::kLineEnd) {
      facts_.constants[std::string(name.text)].emplace_back(value.text);
    }
  }

  const std::string& file_;
  const std::vector<Token> tokens_;
  PythonFacts& facts_;
};

}  // namespace

void ReadPython(const std::string& file, std::string_view text, PythonFacts* facts) {
  Finder(file, Lexer(text).Run(), facts).Run();
}

}  // namespace dossier::evaluation
