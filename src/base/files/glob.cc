#include "base/files/glob.h"

#include <optional>

#include "base/text/ascii.h"

namespace dossier {
namespace {

using ByteTest = bool (*)(char);

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
bool IsGraph(char c) { return c > 0x20 && c < 0x7F; }
bool IsPrint(char c) { return c >= 0x20 && c < 0x7F; }
bool IsPunctuation(char c) { return IsGraph(c) && !IsAlnum(c); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

unsigned char Folded(char c, CaseSensitivity letters) {
  return static_cast<unsigned char>(letters == CaseSensitivity::kInsensitive ? ToLower(c) : c);
}

struct NamedClass {
  std::string_view name;
  ByteTest test;
};
constexpr NamedClass kNamedClasses[] = {
    {"alnum", IsAlnum},       {"alpha", IsLetter}, {"blank", IsBlank}, {"cntrl", IsControl},
    {"digit", IsDigit},       {"graph", IsGraph},  {"lower", IsLower}, {"print", IsPrint},
    {"punct", IsPunctuation}, {"space", IsSpace},  {"upper", IsUpper}, {"xdigit", IsHexDigit},
};

ByteTest FindNamedClass(std::string_view name) {
  for (const NamedClass& known : kNamedClasses) {
    if (known.name == name) return known.test;
  }
  return nullptr;
}

// Returns the name in `[:name:]` at `at` (after "[:"); nullopt if no ":]" ends it, so that it is an
// ordinary bracket and colon.
std::optional<std::string_view> ClassName(std::string_view pattern, std::size_t at) {
  const std::size_t close = pattern.find(']', at);
  if (close == std::string_view::npos || close < at + 1 || pattern[close - 1] != ':') {
    return std::nullopt;
  }
  return pattern.substr(at, close - 1 - at);
}

}  // namespace

Glob::Glob(std::string_view pattern, CaseSensitivity letters) : letters_(letters) {
  Compile(pattern);
}

void Glob::Compile(std::string_view pattern) {
  using Kind = Token::Kind;
  for (std::size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '*') {
      at = CompileStars(pattern, at);
    } else if (c == '?') {
      tokens_.push_back({Kind::kName});
      ++at;
    } else if (c == '[') {
      at = CompileClass(pattern, at + 1);
      if (at == std::string_view::npos) {
        tokens_.push_back({Kind::kNever});
        return;
      }
    } else if (c == '\\') {
      if (at + 1 == pattern.size()) {
        tokens_.push_back({Kind::kNever});
        return;
      }
      tokens_.push_back({Kind::kByte, static_cast<char>(Folded(pattern[at + 1], letters_))});
      at += 2;
    } else {
      tokens_.push_back({Kind::kByte, static_cast<char>(Folded(c, letters_))});
      ++at;
    }
  }
}

std::size_t Glob::CompileStars(std::string_view pattern, std::size_t at) {
  using Kind = Token::Kind;
  std::size_t end = pattern.find_first_not_of('*', at);
  if (end == std::string_view::npos) end = pattern.size();
  const std::string_view rest = pattern.substr(end);
  const bool opens_name = at == 0 || pattern[at - 1] == '/';
  if (end - at < 2 || !opens_name || !(rest.empty() || rest[0] == '/' || rest.starts_with("\\/"))) {
    tokens_.push_back({Kind::kStar});
    return end;
  }
  if (rest.starts_with('/')) {
    tokens_.push_back({Kind::kFolders});
    return end + 1;
  }
  tokens_.push_back({Kind::kAnything});
  return end;
}

std::size_t Glob::CompileClass(std::string_view pattern, std::size_t at) {
  const auto peek = [&](std::size_t i) { return i < pattern.size() ? pattern[i] : '\0'; };
  const bool negated = peek(at) == '!' || peek(at) == '^';
  if (negated) ++at;
  ByteSet set;
  std::optional<unsigned char> low;  // the low end of a range, if a '-' follows
  for (bool first = true; first || peek(at) != ']'; first = false) {
    if (at >= pattern.size()) return std::string_view::npos;
    if (pattern[at] == '-' && low && at + 1 < pattern.size() && pattern[at + 1] != ']') {
      ++at;
      if (pattern[at] == '\\' && ++at >= pattern.size()) return std::string_view::npos;
      const auto high = static_cast<unsigned char>(pattern[at++]);
      for (unsigned c = *low; c <= high; ++c)
        set.set(c).set(Folded(static_cast<char>(c), letters_));
      low.reset();
      continue;
    }
    if (pattern[at] == '[' && peek(at + 1) == ':') {
      if (pattern.find(']', at + 2) == std::string_view::npos) return std::string_view::npos;
      if (const auto name = ClassName(pattern, at + 2)) {
        const ByteTest test = FindNamedClass(*name);
        if (!test) return std::string_view::npos;
        for (unsigned c = 0; c < 256; ++c) {
          if (test(static_cast<char>(c))) {
            set.set(c).set(Folded(static_cast<char>(c), letters_));
          }
        }
        at += 2 + name->size() + 2;
        low.reset();
        continue;
      }
    }
    if (pattern[at] == '\\' && ++at >= pattern.size()) return std::string_view::npos;
    low = static_cast<unsigned char>(pattern[at++]);
    set.set(*low);
  }
  if (negated) set.flip();
  set.reset('/');
  tokens_.push_back({Token::Kind::kClass, 0, static_cast<std::uint32_t>(classes_.size())});
  classes_.push_back(set);
  return at + 1;
}

// Backtracks only to the last star of each kind: a later star that crosses slashes can match
// whatever an earlier one would.
class Glob::Matcher {
 public:
  Matcher(const Glob& glob, std::string_view text) : glob_(glob), text_(text) {}

  bool Match() {
    while (true) {
      if (token_ == glob_.tokens_.size() && at_ == text_.size()) return true;
      if (Step()) continue;
      if (!RetryStar() && !RetryWide()) return false;
    }
  }

 private:
  using Kind = Token::Kind;
  struct Star {
    std::size_t token = 0, at = 0;  // where matching continues
    enum class State : std::uint8_t { kNone, kStar, kFolders, kAnything } state = State::kNone;
  };

  bool Step() {
    if (token_ == glob_.tokens_.size()) return false;
    const Token& token = glob_.tokens_[token_];
    switch (token.kind) {
      case Kind::kStar:
        star_ = {++token_, at_, Star::State::kStar};
        return true;
      case Kind::kFolders:
      case Kind::kAnything:
        wide_ = {++token_, at_,
                 token.kind == Kind::kFolders ? Star::State::kFolders : Star::State::kAnything};
        star_ = {};
        return true;
      case Kind::kNever:
        return false;
      case Kind::kByte:
      case Kind::kName:
      case Kind::kClass:
        break;
    }
    if (at_ == text_.size() || !Takes(token, text_[at_])) return false;
    ++token_;
    ++at_;
    return true;
  }

  bool Takes(const Token& token, char byte) const {
    const unsigned char c = Folded(byte, glob_.letters_);
    if (token.kind == Kind::kByte) return static_cast<char>(c) == token.byte;
    if (token.kind == Kind::kName) return c != '/';
    return glob_.classes_[token.index].test(c);
  }

  bool RetryStar() {
    if (star_.state == Star::State::kNone) return false;
    if (star_.at == text_.size() || text_[star_.at] == '/') {
      star_ = {};
      return false;
    }
    ++star_.at;
    token_ = star_.token;
    at_ = star_.at;
    return true;
  }

  bool RetryWide() {
    if (wide_.state == Star::State::kNone || wide_.at == text_.size()) return false;
    if (wide_.state == Star::State::kFolders) {
      const std::size_t slash = text_.find('/', wide_.at);
      if (slash == std::string_view::npos) return false;
      wide_.at = slash + 1;
    } else {
      ++wide_.at;
    }
    token_ = wide_.token;
    at_ = wide_.at;
    star_ = {};
    return true;
  }

  const Glob& glob_;
  const std::string_view text_;
  std::size_t token_ = 0, at_ = 0;
  Star star_, wide_;
};

bool Glob::Matches(std::string_view text) const { return Matcher(*this, text).Match(); }

std::size_t LiteralPrefix(std::string_view pattern) {
  const std::size_t special = pattern.find_first_of("*?[\\");
  return special == std::string_view::npos ? pattern.size() : special;
}

namespace {

constexpr std::size_t kMaxExpansions = 1000;

// A brace group in a pattern: its outermost commas.
struct Group {
  std::size_t open = 0, close = 0;
  std::vector<std::size_t> commas;
};

// The first group with a comma; nullopt if there is none.
std::optional<Group> FindGroup(std::string_view pattern) {
  for (std::size_t open = 0; open < pattern.size(); ++open) {
    if (pattern[open] == '\\') {
      ++open;
      continue;
    }
    if (pattern[open] != '{') continue;
    Group group{.open = open};
    int depth = 0;
    for (std::size_t at = open; at < pattern.size() && group.close == 0; ++at) {
      if (pattern[at] == '\\') {
        ++at;
      } else if (pattern[at] == '{') {
        ++depth;
      } else if (pattern[at] == ',' && depth == 1) {
        group.commas.push_back(at);
      } else if (pattern[at] == '}' && --depth == 0) {
        group.close = at;
      }
    }
    if (group.close != 0 && !group.commas.empty()) return group;
  }
  return std::nullopt;
}

bool Expand(std::string_view pattern, std::vector<std::string>* results) {
  const std::optional<Group> group = FindGroup(pattern);
  if (!group) {
    results->emplace_back(pattern);
    return results->size() <= kMaxExpansions;
  }
  std::size_t from = group->open + 1;
  std::vector<std::size_t> ends = group->commas;
  ends.push_back(group->close);
  for (const std::size_t end : ends) {
    std::string one(pattern.substr(0, group->open));
    one.append(pattern.substr(from, end - from)).append(pattern.substr(group->close + 1));
    if (!Expand(one, results)) return false;
    from = end + 1;
  }
  return true;
}

}  // namespace

std::vector<std::string> ExpandBraces(std::string_view pattern) {
  std::vector<std::string> results;
  if (!Expand(pattern, &results)) return {std::string(pattern)};
  return results;
}

}  // namespace dossier
