#include "memory/redaction.h"

#include <algorithm>
#include <vector>

#include "base/redact.h"
#include "base/text.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kStars = "***";
constexpr std::string_view kSecretNames[] = {"api_key", "apikey",   "secret",
                                             "token",   "password", "passwd"};
// A value of fewer digits is a count or a size, such as max_token = 512.
constexpr std::size_t kSecretDigits = 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsAlnum(char c) { return IsDigit(c) || IsLower(c) || IsUpper(c); }
bool IsUpperOrDigit(char c) { return IsDigit(c) || IsUpper(c); }
bool IsNameByte(char c) { return IsAlnum(c) || c == '_' || c == '-' || c == '.'; }
bool IsToken68(char c) {  // RFC 9110: what follows Bearer
  return IsNameByte(c) || c == '~' || c == '+' || c == '/' || c == '=';
}
bool IsUserInfo(char c) {
  return c > ' ' && c < 0x7F && c != '/' && c != '@' && c != '"' && c != '\'' && c != '<';
}

std::size_t RunEnd(std::string_view text, std::size_t at, bool (*in)(char)) {
  while (at < text.size() && in(text[at])) ++at;
  return at;
}

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  return RunEnd(text, at, [](char c) { return c == ' ' || c == '\t'; });
}

struct Cut {
  std::size_t begin, end;  // bytes
  std::string put;
};

bool IsSecretName(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  return std::ranges::any_of(kSecretNames,
                             [&](std::string_view secret) { return lower.ends_with(secret); });
}

bool IsSecretValue(std::string_view value) {
  if (value.empty() || value == kStars) return false;
  return value.size() >= kSecretDigits || !std::ranges::all_of(value, IsDigit);
}

// The quote at `at`, escaped or not: its length, 0 for none.
std::size_t QuoteLength(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("\\\"")) return 2;
  return at < text.size() && (text[at] == '"' || text[at] == '\'') ? 1 : 0;
}

std::size_t BareValueEnd(std::string_view text, std::size_t at) {
  return RunEnd(text, at, [](char c) {
    return static_cast<unsigned char>(c) > ' ' &&
           std::string_view(",;&\"')}]<>").find(c) == std::string_view::npos;
  });
}

// The text between the quote that ends at `at` and its like, or the end of the line. A quote inside
// that is escaped does not end it.
std::size_t QuotedValueEnd(std::string_view text, std::size_t at, std::string_view quote) {
  for (std::size_t i = at; i < text.size() && text[i] != '\n'; ++i) {
    if (text.substr(i).starts_with(quote)) return i;
    if (text[i] == '\\') ++i;
  }
  return std::min(text.find('\n', at), text.size());
}

// name = value, name: value, "name": "value"; `name` is [begin, end) of `text`.
bool FindNamedValue(std::string_view text, std::size_t begin, std::size_t end,
                    std::vector<Cut>* cuts) {
  const std::size_t name_quote = QuoteLength(text, end);
  std::size_t at = SkipBlanks(text, end + name_quote);
  if (at >= text.size() || (text[at] != '=' && text[at] != ':')) return false;
  if (text.substr(at).starts_with("://")) return false;
  at = SkipBlanks(text, at + 1);
  const std::string_view quote = text.substr(std::min(at, text.size()), QuoteLength(text, at));
  const std::size_t value = at + quote.size();
  const std::size_t value_end =
      quote.empty() ? BareValueEnd(text, value) : QuotedValueEnd(text, value, quote);
  if (!IsSecretValue(text.substr(value, value_end - value))) return false;
  if (name_quote > 0) {
    // A bare value of JSON is a number: a string takes its place.
    const std::string put = quote.empty() ? "\"***\"" : std::string(kStars);
    cuts->push_back({value, value_end, put});
  } else {
    const bool closed = text.substr(value_end).starts_with(quote);
    cuts->push_back({begin, value_end + (closed ? quote.size() : 0),
                     fmt::format("{}={}", text.substr(begin, end - begin), kStars)});
  }
  return true;
}

void FindNamedValues(std::string_view text, std::vector<Cut>* cuts) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!IsNameByte(text[at])) continue;
    const std::size_t end = RunEnd(text, at, IsNameByte);
    if (IsSecretName(text.substr(at, end - at)) && FindNamedValue(text, at, end, cuts)) {
      at = std::max(end, cuts->back().end) - 1;
    } else {
      at = end - 1;
    }
  }
}

struct Shape {
  std::string_view prefix;
  bool (*in_tail)(char);
  std::size_t min_tail;
};

constexpr Shape kShapes[] = {
    {"sk-", IsAlnum, 16},  {"hf_", IsAlnum, 10},         {"ghp_", IsAlnum, 20},
    {"gho_", IsAlnum, 20}, {"ghu_", IsAlnum, 20},        {"ghs_", IsAlnum, 20},
    {"ghr_", IsAlnum, 20}, {"AKIA", IsUpperOrDigit, 16},
};

void FindShapes(std::string_view text, std::vector<Cut>* cuts) {
  for (const Shape& shape : kShapes) {
    for (std::size_t at = text.find(shape.prefix); at != std::string_view::npos;
         at = text.find(shape.prefix, at + shape.prefix.size())) {
      if (at > 0 && IsAlnum(text[at - 1])) continue;
      const std::size_t tail = at + shape.prefix.size();
      const std::size_t end = RunEnd(text, tail, shape.in_tail);
      if (end - tail >= shape.min_tail) cuts->push_back({at, end, std::string(kStars)});
    }
  }
}

void FindBearers(std::string_view text, std::vector<Cut>* cuts) {
  constexpr std::string_view kBearer = "Bearer ";
  // "Bearer authentication" is prose; so is any shorter word.
  constexpr std::size_t kLongerThanWords = 16;
  for (std::size_t at = text.find(kBearer); at != std::string_view::npos;
       at = text.find(kBearer, at + kBearer.size())) {
    const std::size_t begin = at + kBearer.size();
    const std::size_t end = RunEnd(text, begin, IsToken68);
    std::string_view value = text.substr(begin, end - begin);
    while (value.ends_with('.')) value.remove_suffix(1);
    const bool word = value.size() < kLongerThanWords && std::ranges::all_of(value, IsLower);
    if (!value.empty() && !word) {
      cuts->push_back({begin, begin + value.size(), std::string(kStars)});
    }
  }
}

// scheme://USER:PASSWORD@host
void FindUrlUsers(std::string_view text, std::vector<Cut>* cuts) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos;
       at = text.find("://", at + 3)) {
    const std::size_t end = RunEnd(text, at + 3, IsUserInfo);
    const std::string_view user = text.substr(at + 3, end - at - 3);
    if (end < text.size() && text[end] == '@' && user.find(':') != std::string_view::npos) {
      cuts->push_back({at + 3, end, std::string(kStars)});
    }
  }
}

void FindOthers(std::string_view text, std::vector<Cut>* cuts) {
  for (const Secret& secret : FindSecrets(text)) {
    const std::string_view value = text.substr(secret.offset, secret.length);
    if (secret.kind == "password" && !IsSecretValue(value)) continue;
    if (value.find(kStars) != std::string_view::npos) continue;
    cuts->push_back({secret.offset, secret.offset + secret.length, std::string(kStars)});
  }
}

}  // namespace

std::int64_t RedactSecrets(std::string* text) {
  std::vector<Cut> cuts;
  FindNamedValues(*text, &cuts);
  FindShapes(*text, &cuts);
  FindBearers(*text, &cuts);
  FindUrlUsers(*text, &cuts);
  FindOthers(*text, &cuts);
  if (cuts.empty()) return 0;
  std::ranges::sort(cuts, [](const Cut& a, const Cut& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::string out;
  std::int64_t count = 0;
  std::size_t copied = 0;
  for (const Cut& cut : cuts) {
    if (cut.begin >= copied) {
      out.append(*text, copied, cut.begin - copied);
      out += cut.put;
      ++count;
    }
    copied = std::max(copied, cut.end);  // two shapes that overlap go as one
  }
  out.append(*text, copied);
  *text = std::move(out);
  return count;
}

std::int64_t RedactNamed(std::string_view name, std::string* value) {
  if (IsSecretName(name) && IsSecretValue(*value)) {
    *value = kStars;
    return 1;
  }
  return RedactSecrets(value);
}

namespace {

std::int64_t RedactValue(std::string_view name, Json* value) {
  if (value->is_object()) return RedactJson(&value->as_object());
  std::int64_t count = 0;
  if (value->is_array()) {
    for (Json& element : value->as_array()) count += RedactValue(name, &element);
  } else if (value->is_string()) {
    std::string text(value->as_string());
    count = RedactNamed(name, &text);
    if (count > 0) *value = text;
  }
  return count;
}

}  // namespace

std::int64_t RedactJson(JsonObject* object) {
  std::int64_t count = 0;
  for (auto& field : *object) count += RedactValue(field.key(), &field.value());
  return count;
}

std::int64_t RedactRecord(Record* record) {
  std::int64_t redacted = RedactSecrets(&record->text) + RedactSecrets(&record->ref) +
                          RedactSecrets(&record->thread) + RedactJson(&record->meta);
  for (std::string& tag : record->tags) redacted += RedactSecrets(&tag);
  return redacted;
}

}  // namespace dossier::memory
