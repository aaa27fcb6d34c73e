#include "base/json/exact_json.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/json/json_lexer.h"

namespace dossier {
namespace {

// A number as its sign, its digits without leading and trailing zeros, and the decimal point's
// position after the first digit. Equal for all ways to write the number.
struct Decimal {
  bool negative = false;
  std::string digits;  // "": zero
  std::int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};

// nullopt: its exponent exceeds every double's.
std::optional<Decimal> DecimalOf(std::string_view number) {
  Decimal decimal;
  if (number.starts_with('-')) {
    decimal.negative = true;
    number.remove_prefix(1);
  }
  const std::size_t e = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t point = mantissa.find('.');
  decimal.digits = mantissa.substr(0, point);
  decimal.exponent = static_cast<std::int64_t>(decimal.digits.size());
  if (point != mantissa.npos) decimal.digits += mantissa.substr(point + 1);
  const std::size_t zeros = decimal.digits.find_first_not_of('0');
  if (zeros == std::string::npos) return Decimal{.negative = decimal.negative};
  decimal.digits.erase(0, zeros);
  decimal.exponent -= static_cast<std::int64_t>(zeros);
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  if (e == number.npos) return decimal;
  std::string_view power = number.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (error != std::errc()) return std::nullopt;
  decimal.exponent += exponent;
  return decimal;
}

// Returns the number of these digits if a Json can hold it exactly: as a whole number of 64 bits,
// or as the double that is written so.
std::optional<Json> Held(std::string_view digits) {
  const char* end = digits.data() + digits.size();
  if (digits.find_first_of(".eE") == digits.npos) {
    std::int64_t whole = 0;
    if (std::from_chars(digits.data(), end, whole).ec == std::errc()) return Json(whole);
    std::uint64_t large = 0;
    if (std::from_chars(digits.data(), end, large).ec == std::errc()) return Json(large);
    return std::nullopt;
  }
  double number = 0;
  if (std::from_chars(digits.data(), end, number).ec != std::errc()) return std::nullopt;
  const auto wanted = DecimalOf(digits);
  if (!wanted || wanted != DecimalOf(fmt::format("{}", number))) return std::nullopt;
  return Json(number);
}

// Returns `json` with each number as a text of its digits. `json` is valid.
std::string NumbersQuoted(std::string_view json) {
  std::string out;
  JsonLexer lexer(json);
  while (!lexer.done()) {
    const std::size_t from = lexer.at();
    if (lexer.Peek() == '"') {
      if (!lexer.String()) return out;
      out += json.substr(from, lexer.at() - from);
    } else if (lexer.Peek() == '-' || IsDigit(lexer.Peek())) {
      if (!lexer.Number()) return out;
      out += '"';
      out += json.substr(from, lexer.at() - from);
      out += '"';
    } else {
      out += lexer.Peek();
      lexer.Take(lexer.Peek());
    }
  }
  return out;
}

// Both have the same shape, and `texts` has the digits of every number of `nearest`. Replaces each
// exact number in both. Returns true if a number is not exact.
bool HoldNumbers(Json* nearest, Json* texts) {
  bool lost = false;
  if (auto* object = nearest->if_object()) {
    for (auto& [name, value] : *object) {
      lost = HoldNumbers(&value, texts->get_object().if_contains(name)) || lost;
    }
  } else if (auto* array = nearest->if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      lost = HoldNumbers(&(*array)[i], &texts->get_array()[i]) || lost;
    }
  } else if (nearest->is_number()) {
    const auto& digits = texts->get_string();
    const auto held = Held({digits.data(), digits.size()});
    if (!held) return true;
    *nearest = *texts = *held;
  }
  return lost;
}

void Write(const Json& nearest, const Json& texts, std::string* out) {
  const auto list = [&](std::string_view brackets, const auto& members, const auto& write) {
    *out += brackets[0];
    bool first = true;
    for (const auto& member : members) {
      if (!first) *out += ',';
      first = false;
      write(member);
    }
    *out += brackets[1];
  };
  if (const auto* object = nearest.if_object()) {
    list("{}", *object, [&](const auto& member) {
      *out += ToJson(Json(member.key())) + ":";
      Write(member.value(), *texts.get_object().if_contains(member.key()), out);
    });
  } else if (const auto* array = nearest.if_array()) {
    std::size_t at = 0;
    list("[]", *array, [&](const Json& member) { Write(member, texts.get_array()[at++], out); });
  } else if (nearest.is_number() && texts.is_string()) {
    *out += std::string_view(texts.get_string());
  } else {
    *out += ToJson(nearest);
  }
}

}  // namespace

Result<ExactJson> ExactJson::Parse(std::string_view text, std::size_t max_depth) {
  ExactJson value;
  DOSSIER_ASSIGN_OR_RETURN(value.nearest_, ParseJson(text, max_depth));
  DOSSIER_ASSIGN_OR_RETURN(value.with_texts_, ParseJson(NumbersQuoted(text), max_depth));
  value.has_texts_ = HoldNumbers(&value.nearest_, &value.with_texts_);
  return value;
}

std::string ToJson(const ExactJson& value) {
  std::string out;
  Write(value.nearest(), value.with_texts(), &out);
  return out;
}

}  // namespace dossier
