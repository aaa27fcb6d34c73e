#include "sandbox/commands/usage_rule.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sandbox {
namespace {

constexpr std::size_t kMaxLine = 4096;   // bytes
constexpr std::size_t kMaxPieces = 256;  // words, options and operands of one line

// `*` any bytes, `?` one byte.
bool MatchesGlob(std::string_view pattern, std::string_view text) {
  // A leading wildcard must not match the dash of an option.
  if (!pattern.empty() && (pattern[0] == '*' || pattern[0] == '?') && text.starts_with('-')) {
    return false;
  }
  std::size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<UsageRule::Kind> KindOf(std::string_view text) {
  if (text == "<path>") return UsageRule::Kind::kPath;
  if (text == "<word>") return UsageRule::Kind::kWord;
  if (text == "<int>") return UsageRule::Kind::kInt;
  return std::nullopt;
}

bool IsOptionName(std::string_view name) {
  const std::size_t dashes = std::min<std::size_t>(name.find_first_not_of('-'), name.size());
  if (dashes < 1 || dashes > 2 || dashes == name.size()) return false;
  return name.find_first_of("<>[]=|* ") == std::string_view::npos;
}

}  // namespace

class UsageRule::Parser {
 public:
  explicit Parser(std::string_view line) : line_(line) {}

  Result<UsageRule> Run() {
    rule_.text_ = std::string(TrimSpace(line_));
    if (line_.size() > kMaxLine) return Wrong(0, "the line is too long");
    if (line_.find('\0') != std::string_view::npos) return Wrong(0, "it holds a NUL byte");
    const bool usage =
        line_.find('<') != std::string_view::npos || line_.find('[') != std::string_view::npos;
    while (SkipSpace()) {
      if (rule_.rest_ == Rest::kAny) return Wrong(at_, "nothing may follow an open end");
      if (++pieces_ > kMaxPieces) return Wrong(at_, "the line has too many pieces");
      DOSSIER_RETURN_IF_ERROR(line_[at_] == '[' ? Bracket() : Plain(usage));
    }
    if (rule_.words_.empty()) return Wrong(0, "it names no program");
    return std::move(rule_);
  }

 private:
  tl::unexpected<Error> Wrong(std::size_t at, std::string_view what) const {
    return MakeError(ErrorCode::kConfig, "rule `{}`, byte {}: {}", rule_.text_.substr(0, kMaxLine),
                     at + 1, what);
  }

  bool SkipSpace() {
    while (at_ < line_.size() && IsBlank(line_[at_])) ++at_;
    return at_ < line_.size();
  }

  Status Plain(bool usage) {
    const std::size_t begin = at_;
    while (at_ < line_.size() && !IsBlank(line_[at_])) ++at_;
    const std::string_view token = line_.substr(begin, at_ - begin);
    if (token.find('<') != std::string_view::npos) {
      return AddOperand(begin, token, /*optional=*/false);
    }
    const bool first = rule_.flags_.empty() && rule_.operands_.empty();
    const bool last = !SkipSpace();
    if (token == "**" || (token == "*" && last && !usage)) {
      if (rule_.words_.empty()) return Wrong(begin, "an open end needs a program in front");
      rule_.rest_ = Rest::kAny;
      return {};
    }
    if (!first) return Wrong(begin, "fixed words come before options and operands");
    return AddWord(begin, token, usage);
  }

  Status AddWord(std::size_t begin, std::string_view token, bool usage) {
    Word word;
    word.glob = token.find_first_of("*?") != std::string_view::npos;
    if (word.glob && usage) {
      return Wrong(begin, "`*` and `?` have no place beside [options] and <operands>");
    }
    if (token.find_first_of("[]>") != std::string_view::npos) {
      return Wrong(begin, "a bracket inside a word");
    }
    for (const std::string_view part : Split(token, '|')) {
      if (part.empty()) return Wrong(begin, "an empty alternative");
      word.alternatives.emplace_back(part);
    }
    rule_.words_.push_back(std::move(word));
    return {};
  }

  Status AddOperand(std::size_t begin, std::string_view token, bool optional) {
    Operand operand{.optional = optional};
    if (token.ends_with("...")) {
      operand.repeats = true;
      token.remove_suffix(3);
    }
    const std::optional<Kind> kind = KindOf(token);
    if (!kind) return Wrong(begin, "expected <path>, <word> or <int>");
    operand.kind = *kind;
    if (rule_.words_.empty()) return Wrong(begin, "the program comes first");
    rule_.operands_.push_back(operand);
    return {};
  }

  // [-a|--all], [-n <int>], [--since=<word>], [<path>...], [<path>]...
  Status Bracket() {
    const std::size_t begin = at_;
    const std::size_t end = line_.find(']', at_);
    if (end == std::string_view::npos) return Wrong(begin, "the bracket never closes");
    std::string inside(TrimSpace(line_.substr(begin + 1, end - begin - 1)));
    at_ = end + 1;
    if (line_.substr(at_).starts_with("...")) {
      inside += "...";
      at_ += 3;
    }
    if (at_ < line_.size() && !IsBlank(line_[at_]) && line_[at_] != '[') {
      return Wrong(at_, "expected a space behind the bracket");
    }
    if (inside.starts_with('<')) return AddOperand(begin, inside, /*optional=*/true);
    if (rule_.words_.empty()) return Wrong(begin, "the program comes first");
    return AddFlags(begin, inside);
  }

  Status AddFlags(std::size_t begin, std::string_view inside) {
    if (inside == "-<int>") {
      rule_.flags_.push_back({"-", Kind::kInt});
      return {};
    }
    std::optional<Kind> value;
    std::string_view names = inside;
    if (const std::size_t at = inside.find_first_of("= \t"); at != std::string_view::npos) {
      names = inside.substr(0, at);
      value = KindOf(TrimSpace(inside.substr(at + 1)));
      if (!value) return Wrong(begin, "expected <path>, <word> or <int> as the option's value");
    }
    for (const std::string_view name : Split(names, '|')) {
      if (!IsOptionName(name)) return Wrong(begin, "expected an option such as -n or --all");
      rule_.flags_.push_back({std::string(name), value});
    }
    return {};
  }

  std::string_view line_;
  std::size_t at_ = 0, pieces_ = 0;
  UsageRule rule_;
};

Result<UsageRule> UsageRule::Parse(std::string_view line) { return Parser(line).Run(); }

bool UsageRule::Fits(const Word& word, std::string_view text) {
  return std::any_of(word.alternatives.begin(), word.alternatives.end(),
                     [&](const std::string& alternative) {
                       return word.glob ? MatchesGlob(alternative, text) : alternative == text;
                     });
}

bool UsageRule::Begins(const Argv& argv) const {
  if (argv.size() < words_.size()) return false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!Fits(words_[i], argv[i])) return false;
  }
  return true;
}

bool UsageRule::Names(const Argv& argv, std::string_view name) const {
  if (!Fits(words_[0], name)) return false;
  std::size_t word = 1;
  for (std::size_t i = 1; i < argv.size() && word < words_.size(); ++i) {
    if (Fits(words_[word], argv[i])) ++word;
  }
  return word == words_.size();
}

// Matches what follows the first words: first options, then operands against their list.
class UsageRule::Matcher {
 public:
  Matcher(const UsageRule& rule, const Argv& argv, const PathCheck& inside)
      : rule_(rule), argv_(argv), inside_(inside), at_(rule.words_.size()) {}

  bool Run() {
    bool options = true;
    while (at_ < argv_.size()) {
      const std::string& word = argv_[at_++];
      if (options && word == "--") {
        if (rule_.operands_.empty()) return false;
        options = false;
      } else if (options && word.starts_with('-')) {
        if (!Option(word)) return false;
      } else {
        given_.push_back(&word);
      }
    }
    return OperandsFit();
  }

 private:
  bool Is(Kind kind, std::string_view text) const {
    switch (kind) {
      case Kind::kWord:
        return !text.starts_with('-');
      case Kind::kInt:
        if (text.starts_with('+')) text.remove_prefix(1);
        return !text.empty() && text.size() <= 18 &&
               text.find_first_not_of("0123456789") == std::string_view::npos;
      case Kind::kPath:
        // Also behind `--`: find still reads its expression there. A file -x is written ./-x.
        return !text.empty() && !text.starts_with('-') && inside_(std::string(text));
    }
    return false;
  }

  // A value in its own word must never look like an option to the program.
  bool IsNext(Kind kind) {
    if (at_ == argv_.size() || argv_[at_].starts_with('-')) return false;
    return Is(kind, argv_[at_++]);
  }

  const Flag* Find(std::string_view name, bool with_value) const {
    for (const Flag& flag : rule_.flags_) {
      if (flag.name == name && flag.value.has_value() == with_value) return &flag;
    }
    return nullptr;
  }

  bool Option(const std::string& word) {
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) {
        const Flag* flag = Find(word.substr(0, equals), /*with_value=*/true);
        return flag != nullptr && Is(*flag->value, std::string_view(word).substr(equals + 1));
      }
    }
    if (Find(word, /*with_value=*/false) != nullptr) return true;
    if (const Flag* flag = Find(word, /*with_value=*/true); flag != nullptr && word != "-") {
      return IsNext(*flag->value);
    }
    return !word.starts_with("--") && (Bundle(word) || Number(word));
  }

  bool Number(std::string_view word) const {
    const std::string_view digits = word.substr(1);
    return Find("-", /*with_value=*/true) != nullptr && !digits.empty() && digits[0] != '+' &&
           Is(Kind::kInt, digits);
  }

  // -in2: letters without a value, then possibly one whose value is the rest or the next word.
  bool Bundle(std::string_view word) {
    if (word.size() < 2) return false;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      if (Find(name, /*with_value=*/false) != nullptr) continue;
      const Flag* flag = Find(name, /*with_value=*/true);
      if (flag == nullptr) return false;
      const std::string_view attached = word.substr(i + 1);
      return attached.empty() ? IsNext(*flag->value) : Is(*flag->value, attached);
    }
    return true;
  }

  // reachable[k]: the operands so far can fill the list up to place k.
  bool OperandsFit() const {
    const std::vector<Operand>& list = rule_.operands_;
    std::vector<bool> reachable(list.size() + 1);
    reachable[0] = true;
    SkipOptional(reachable);
    for (const std::string* text : given_) {
      std::vector<bool> next(list.size() + 1);
      for (std::size_t k = 0; k < list.size(); ++k) {
        const bool again = list[k].repeats && filled_.size() > k && filled_[k];
        if (!(reachable[k] || again) || !Is(list[k].kind, *text)) continue;
        next[k + 1] = true;
      }
      filled_.assign(next.begin() + 1, next.end());
      reachable = std::move(next);
      SkipOptional(reachable);
    }
    return reachable[list.size()];
  }

  void SkipOptional(std::vector<bool>& reachable) const {
    for (std::size_t k = 0; k < rule_.operands_.size(); ++k) {
      if (reachable[k] && rule_.operands_[k].optional) reachable[k + 1] = true;
    }
  }

  const UsageRule& rule_;
  const Argv& argv_;
  const PathCheck& inside_;
  std::size_t at_;
  std::vector<const std::string*> given_;
  mutable std::vector<bool> filled_;  // filled_[k]: the last operand filled place k
};

bool UsageRule::Admits(const Argv& argv, const PathCheck& inside) const {
  if (!Begins(argv)) return false;
  if (rest_ == Rest::kAny) return true;
  return Matcher(*this, argv, inside).Run();
}

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
