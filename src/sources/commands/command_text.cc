#include "sources/commands/command_text.h"

#include <cstdlib>

#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// A longer control string was not meant as one: a lone ESC ] must not swallow the output.
constexpr std::uint64_t kMaxString = 4096;

constexpr char32_t kEsc = 0x1B, kBell = 0x07, kCancel = 0x18, kSubstitute = 0x1A;
constexpr char32_t kCsi = 0x9B, kSt = 0x9C;

// C1 controls that begin a string: DCS, SOS, OSC, PM, APC; after ESC the letter is 0x40 lower.
bool BeginsString(char32_t c1) {
  return c1 == 0x90 || c1 == 0x98 || c1 == 0x9D || c1 == 0x9E || c1 == 0x9F;
}

// Returns the length that the first byte of a code point requires.
std::size_t LengthByLead(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC2 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 1;
}

// Returns true for the start of a code point whose rest may still arrive.
bool IsIncomplete(std::string_view rest) {
  if (rest.size() >= LengthByLead(rest[0])) return false;
  std::size_t at = 0;
  utf8::Next(rest, &at);
  return at == rest.size();
}

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && byte != 0 && byte != kEsc;
}

}  // namespace

std::string JoinEnds(std::string_view head, std::string_view tail, const CutPlace& place,
                     std::uint64_t* cut_bytes) {
  head = head.substr(0, utf8::FloorBoundary(
                            head, std::min<std::uint64_t>(head.size(), place.cap - place.cap / 4)));
  if (const std::size_t line = head.rfind('\n'); line != std::string_view::npos) {
    head = head.substr(0, line + 1);
  }
  if (const std::size_t line = tail.find('\n'); line != std::string_view::npos) {
    tail = tail.substr(line + 1);
  } else {
    while (!tail.empty() && (static_cast<unsigned char>(tail[0]) & 0xC0) == 0x80) {
      tail.remove_prefix(1);
    }
  }
  const std::uint64_t cut = place.whole - head.size() - tail.size();
  if (cut_bytes) *cut_bytes = cut;
  return fmt::format("{}{}[... {} bytes of {} cut by {} of {} ...]{}{}", head,
                     head.empty() || head.ends_with('\n') ? "" : "\n", GroupDigits(cut),
                     GroupDigits(place.whole), place.limit, place.name, tail.empty() ? "" : "\n",
                     tail);
}

std::string_view KeptEnds::head() const {
  return std::string_view(head_).substr(0, std::min<std::uint64_t>(cap_ + 4, solid_));
}

std::string_view KeptEnds::tail() const {
  const std::uint64_t most = std::min<std::uint64_t>(cap_ / 4, tail_.size());
  return std::string_view(tail_).substr(tail_.size() - most);
}

// Skips blank lines at the start; in compat mode all white space.
void KeptEnds::Skip(std::string_view* text) {
  const std::size_t first = text->find_first_not_of(kSpaces);
  if (rules_ == CommandRules::kCompat) {
    text->remove_prefix(std::min(first, text->size()));
    return;
  }
  const std::size_t line = text->substr(0, first).rfind('\n');
  if (line == std::string_view::npos) return;
  text->remove_prefix(line + 1);
  head_.clear();
  spaces_.clear();
  seen_ = 0;
}

void KeptEnds::Add(std::string_view text) {
  if (solid_ == 0) Skip(&text);
  if (text.empty()) return;
  // Keeps a little more than needed, so that a cut sees a whole code point.
  const std::uint64_t most = cap_ + 4;
  if (head_.size() < most) head_.append(text.substr(0, most - head_.size()));
  const std::size_t last = text.find_last_not_of(kSpaces);
  if (last == std::string_view::npos) {
    spaces_.append(text);
  } else {
    AddTail(spaces_);
    AddTail(text.substr(0, last + 1));
    spaces_.assign(text.substr(last + 1));
    solid_ = seen_ + last + 1;
  }
  seen_ += text.size();
  if (spaces_.size() > cap_ / 2 + 4096) spaces_.erase(0, spaces_.size() - cap_ / 4);
}

void KeptEnds::AddTail(std::string_view text) {
  const std::uint64_t most = cap_ / 4;
  if (text.size() > most) text.remove_prefix(text.size() - most);
  tail_.append(text);
  if (tail_.size() > 2 * most + 4096) tail_.erase(0, tail_.size() - most);
}

void CommandText::Add(std::string_view bytes) {
  std::string joined;
  if (!carry_.empty()) {
    joined = std::exchange(carry_, {}).append(bytes);
    bytes = joined;
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t start = at;
    if (state_ == State::kText) {
      while (at < bytes.size() && IsPlain(bytes[at])) ++at;
      if (at > start) {
        ends_.Add(bytes.substr(start, at - start));
        continue;
      }
    }
    if (IsIncomplete(bytes.substr(at))) {
      carry_ = bytes.substr(at);
      return;
    }
    const char32_t code_point = utf8::Next(bytes, &at);
    const std::string_view unit = bytes.substr(start, at - start);
    const bool valid = code_point != 0 && (code_point != 0xFFFD || unit == kReplacement);
    Step(code_point, unit, valid);
  }
}

void CommandText::EndStream() {
  if (!carry_.empty()) {
    carry_.clear();
    Step(0xFFFD, {}, false);
  }
  state_ = State::kText;
}

void CommandText::Step(char32_t code_point, std::string_view bytes, bool valid) {
  if (state_ != State::kText) return StepEscape(code_point, bytes, valid);
  if (code_point == kEsc) return Begin(State::kEscape);
  if (valid && code_point == kCsi) return Begin(State::kControl);
  if (valid && BeginsString(code_point)) return Begin(State::kString);
  if (!valid) ++invalid_;
  ends_.Add(valid ? bytes : kReplacement);
}

void CommandText::Begin(State state) {
  state_ = state;
  string_bytes_ = 0;
  ++escapes_;
}

void CommandText::StepEscape(char32_t code_point, std::string_view bytes, bool valid) {
  const auto leave = [&] {
    state_ = State::kText;
    Step(code_point, bytes, valid);
  };
  switch (state_) {
    case State::kEscape:
      if (code_point == '[') {
        state_ = State::kControl;
      } else if (code_point < 0x80 && BeginsString(code_point + 0x40)) {
        state_ = State::kString;
      } else if (code_point >= 0x30 && code_point < 0x7F) {
        state_ = State::kText;
      } else if (code_point < 0x20 || code_point > 0x2F) {
        leave();
      }
      return;
    case State::kControl:  // parameters and intermediates, then one final byte
      if (code_point >= 0x40 && code_point < 0x7F) {
        state_ = State::kText;
      } else if (code_point < 0x20 || code_point > 0x3F) {
        leave();
      }
      return;
    case State::kStringEscape:  // ESC in a string: end of the string, or a new escape
      state_ = code_point == '\\' ? State::kText : State::kEscape;
      if (code_point != '\\') StepEscape(code_point, bytes, valid);
      return;
    default:
      break;
  }
  if (code_point == '\n' || ++string_bytes_ > kMaxString) return leave();
  if (code_point == kEsc) {
    state_ = State::kStringEscape;
  } else if (code_point == kBell || code_point == kSt || code_point == kCancel ||
             code_point == kSubstitute) {
    state_ = State::kText;
  }
}

CommandText::Kept CommandText::Finish(std::string_view name) && {
  EndStream();
  Kept kept{.invalid = invalid_, .escapes = escapes_};
  if (ends_.solid() <= cap_) {
    kept.text = ends_.head();
    return kept;
  }
  kept.text = JoinEnds(ends_.head(), ends_.tail(),
                       {.whole = ends_.seen(), .cap = cap_, .limit = "max_output", .name = name},
                       &kept.cut_bytes);
  return kept;
}

namespace {

std::string_view WithoutSign(std::string_view text) {
  return text.starts_with('-') ? text.substr(1) : text;
}

bool IsName(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && kLetters.find(text[0]) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos || IsDigit(c);
         });
}

// Reads 64 bits; larger numbers stay text.
std::optional<TemplateValue> ReadInteger(std::string_view text) {
  const auto number = ExactNumber<std::int64_t>(text);
  return number ? std::optional(TemplateValue(*number)) : std::nullopt;
}

bool IsInteger(std::string_view text, CommandRules rules) {
  if (rules == CommandRules::kCompat) return AllDigits(text);  // 007 is 7; -5 is not an integer
  const std::string_view digits = WithoutSign(text);
  return AllDigits(digits) && (digits.size() == 1 || digits[0] != '0');
}

bool IsReal(std::string_view text, CommandRules rules) {
  const std::string_view digits = WithoutSign(text);
  const std::size_t point = digits.find('.');
  if (point == std::string_view::npos) return rules == CommandRules::kCompat && AllDigits(digits);
  return AllDigits(digits.substr(0, point)) && AllDigits(digits.substr(point + 1));
}

double ReadReal(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

// Reads plain YAML scalars that are numbers; 1e3, .5, 0x1F etc. are left to the core schema.
std::optional<TemplateValue> ReadYamlNumber(std::string_view text) {
  if (text.find_first_not_of("0123456789.-+eE") != std::string_view::npos) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (auto integer = ReadInteger(text)) return integer;
  const auto real = ExactNumber<double>(text);
  return real ? std::optional(TemplateValue(*real)) : std::nullopt;
}

TemplateValue ValueOfScalar(const YamlNode& node) {
  if (node.style == YamlNode::Style::kPlain) {
    for (const std::string_view word : {"true", "True", "TRUE"}) {
      if (node.scalar == word) return TemplateValue(true);
    }
    for (const std::string_view word : {"false", "False", "FALSE"}) {
      if (node.scalar == word) return TemplateValue(false);
    }
    if (node.scalar == "Null" || node.scalar == "NULL") return TemplateValue();
    if (auto number = ReadYamlNumber(node.scalar)) return *number;
  }
  return TemplateValue(node.scalar);
}

Status AddGiven(const std::string& definition, CommandRules rules, TemplateVariables* variables) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string::npos || !IsName(definition.substr(0, equals))) {
    return MakeError(ErrorCode::kUsage,
                     "-D {}: must be NAME=VALUE; a name has letters, digits and _, and begins with "
                     "no digit",
                     definition);
  }
  (*variables)[definition.substr(0, equals)] = {
      CoerceText(std::string_view(definition).substr(equals + 1), rules),
      VariableOrigin::kCommandLine};
  return {};
}

}  // namespace

TemplateValue CoerceText(std::string_view text, CommandRules rules) {
  const std::string lower = ToLowerAscii(text);
  if (lower == "true" || lower == "false") return TemplateValue(lower == "true");
  if (IsInteger(text, rules)) {
    if (auto number = ReadInteger(text)) return *number;
  } else if (IsReal(text, rules)) {
    return TemplateValue(ReadReal(text));
  }
  return TemplateValue(text);
}

Result<TemplateVariables> ResolveVariables(const VariableInput& input) {
  TemplateVariables variables;
  for (const auto& [name, value] : input.declared) {
    if (value) variables[name] = {*value, VariableOrigin::kConfig};
    const auto text = input.environment ? input.environment(name) : std::nullopt;
    if (text) variables[name] = {CoerceText(*text, input.rules), VariableOrigin::kEnvironment};
  }
  for (const std::string& definition : input.given) {
    DOSSIER_RETURN_IF_ERROR(AddGiven(definition, input.rules, &variables));
  }
  for (const auto& [name, value] : input.declared) {
    if (variables.contains(name)) continue;
    return MakeError(ErrorCode::kConfig,
                     "variable {0} is required (no default): give -D {0}=VALUE or set it in the "
                     "environment",
                     name);
  }
  return variables;
}

TemplateValue ValueOfYaml(const YamlNode& node) {
  using Kind = YamlNode::Kind;
  if (node.kind == Kind::kScalar) return ValueOfScalar(node);
  if (node.kind == Kind::kList) {
    TemplateValue::List list;
    for (const YamlNode& item : node.items) list.push_back(ValueOfYaml(item));
    return list;
  }
  if (node.kind == Kind::kNull) return TemplateValue();
  TemplateValue::Map map;
  for (const YamlEntry& entry : node.entries) {
    map.push_back({entry.key, ValueOfYaml(entry.value)});
  }
  return map;
}

std::optional<std::string> LookUpEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dossier::sources
