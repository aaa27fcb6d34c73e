#include "sources/template/template_filters.h"

#include <utf8proc.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/template/template_lexer.h"

namespace dossier::sources {
namespace {

using Arguments = std::span<const TemplateValue>;

tl::unexpected<Error> Fail(std::string_view message) {
  return MakeError(ErrorCode::kConfig, "{}", message);
}

TemplateValue TextOf(const TemplateValue& from, std::string text) {
  return TemplateValue(std::move(text)).WithOrigin(from.origin());
}

TemplateValue MapCase(const TemplateValue& value, utf8proc_int32_t (*map)(utf8proc_int32_t),
                      bool upper) {
  std::string out;
  const std::string text = value.ToText();
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code_point = utf8::Next(text, &at);
    if (upper && code_point == 0xDF) {
      out += "SS";  // the one common letter whose upper case is two
      continue;
    }
    utf8::Append(static_cast<char32_t>(map(static_cast<utf8proc_int32_t>(code_point))), &out);
  }
  return TextOf(value, std::move(out));
}

TemplateValue ItemOf(const TemplateValue& whole, const TemplateValue& item) {
  return item.origin().empty() ? TemplateValue(item).WithOrigin(whole.origin()) : item;
}

Result<TemplateValue> Upper(const TemplateValue& value, Arguments) {
  return MapCase(value, utf8proc_toupper, true);
}

Result<TemplateValue> Lower(const TemplateValue& value, Arguments) {
  return MapCase(value, utf8proc_tolower, false);
}

Result<TemplateValue> Trim(const TemplateValue& value, Arguments) {
  return TextOf(value, std::string(StripPythonSpace(value.ToText())));
}

// An empty text stands before every code point and at the end, as in Python.
std::string Interleave(std::string_view text, std::string_view with) {
  std::string out(with);
  for (std::size_t at = 0; at < text.size();) {
    utf8::Append(utf8::Next(text, &at), &out);
    out += with;
  }
  return out;
}

std::size_t Occurrences(std::string_view text, std::string_view part) {
  if (part.empty()) return text.size() + 1;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos;
       at += part.size()) {
    ++count;
  }
  return count;
}

constexpr std::string_view kTooLarge = "a text is larger than 1 MiB";

bool Fits(std::size_t size, std::size_t count, std::size_t piece) {
  return size <= kMaxCommandTemplate && count * piece <= kMaxCommandTemplate - size;
}

Result<TemplateValue> Replace(const TemplateValue& value, Arguments arguments) {
  const std::string from = arguments[0].ToText(), to = arguments[1].ToText();
  const std::string text = value.ToText();
  const std::string origin = value.origin().empty() ? OriginIfUnsafe(arguments[1]) : value.origin();
  if (!Fits(text.size(), Occurrences(text, from), to.size())) return Fail(kTooLarge);
  std::string out = from.empty() ? Interleave(text, to) : ReplaceAll(text, from, to);
  return TemplateValue(std::move(out)).WithOrigin(origin);
}

Result<TemplateValue> Join(const TemplateValue& value, Arguments arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateValue::List items, Items(value));
  const TemplateValue separator = arguments.empty() ? TemplateValue("") : arguments[0];
  std::string out, origin;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator.ToText();
    out += items[i].ToText();
    if (out.size() > kMaxCommandTemplate) return Fail(kTooLarge);
    if (origin.empty()) origin = OriginIfUnsafe(ItemOf(value, items[i]));
  }
  if (origin.empty()) origin = OriginIfUnsafe(separator);
  return TemplateValue(std::move(out)).WithOrigin(std::move(origin));
}

Result<TemplateValue> Length(const TemplateValue& value, Arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateValue::List items, Items(value));
  return TemplateValue(static_cast<std::int64_t>(items.size()));
}

Result<TemplateValue> First(const TemplateValue& value, Arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateValue::List items, Items(value));
  return items.empty() ? TemplateValue(TemplateValue::Undefined{}) : ItemOf(value, items.front());
}

Result<TemplateValue> Last(const TemplateValue& value, Arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateValue::List items, Items(value));
  return items.empty() ? TemplateValue(TemplateValue::Undefined{}) : ItemOf(value, items.back());
}

// Digits as Python reads them: white space around, a sign, single underscores between digits.
std::optional<std::string> PlainDigits(std::string_view text) {
  text = StripPythonSpace(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  if (out.starts_with('+')) out.erase(0, 1);
  if (out.empty() || out[0] == '+' || out.starts_with("-+")) return std::nullopt;
  return out;
}

std::optional<double> ReadReal(std::string_view text) {
  const auto plain = PlainDigits(text);
  if (!plain) return std::nullopt;
  const std::string lower = ToLowerAscii(*plain);
  if (lower.find_first_of("x(p") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(lower.c_str(), &end);
  return end == lower.c_str() + lower.size() ? std::optional(number) : std::nullopt;
}

Result<TemplateValue> Whole(double number, const TemplateValue& otherwise) {
  if (std::isnan(number) || std::isinf(number)) return otherwise;
  if (number < -0x1p63 || number >= 0x1p63) return Fail("a number does not fit 64 bits");
  return TemplateValue(static_cast<std::int64_t>(number));
}

Result<TemplateValue> Int(const TemplateValue& value, Arguments arguments) {
  const TemplateValue otherwise = arguments.empty() ? TemplateValue(std::int64_t{0}) : arguments[0];
  if (value.integer()) return value;
  if (value.flag()) return TemplateValue(std::int64_t{*value.flag()});
  if (value.real()) return Whole(*value.real(), otherwise);
  if (!value.text()) return otherwise;
  if (const auto digits = PlainDigits(*value.text())) {
    std::int64_t number = 0;
    const char* end = digits->data() + digits->size();
    const auto parsed = std::from_chars(digits->data(), end, number);
    if (parsed.ptr == end && parsed.ec == std::errc()) return TemplateValue(number);
    if (parsed.ptr == end) return Fail("a number does not fit 64 bits");
  }
  const auto real = ReadReal(*value.text());
  return real ? Whole(*real, otherwise) : otherwise;
}

Result<TemplateValue> Float(const TemplateValue& value, Arguments arguments) {
  const TemplateValue otherwise = arguments.empty() ? TemplateValue(0.0) : arguments[0];
  if (value.real()) return value;
  if (value.integer()) return TemplateValue(static_cast<double>(*value.integer()));
  if (value.flag()) return TemplateValue(*value.flag() ? 1.0 : 0.0);
  if (!value.text()) return otherwise;
  const auto real = ReadReal(*value.text());
  return real ? TemplateValue(*real) : otherwise;
}

Result<TemplateValue> ShellQuoted(const TemplateValue& value, Arguments) {
  return TemplateValue(ShellQuote(value.ToText()));
}

Result<TemplateValue> Raw(const TemplateValue& value, Arguments) {
  return TemplateValue(value).WithOrigin("");
}

Result<TemplateValue> NoFunction(const TemplateValue&, Arguments) {
  return Fail("default is no function");
}

struct Filter {
  std::string_view name;
  std::size_t least, most;  // arguments
  Result<TemplateValue> (*apply)(const TemplateValue&, Arguments);
};

constexpr Filter kFilters[] = {
    {"default", 0, 2, NoFunction},
    {"upper", 0, 0, Upper},
    {"lower", 0, 0, Lower},
    {"trim", 0, 0, Trim},
    {"replace", 2, 2, Replace},
    {"join", 0, 1, Join},
    {"length", 0, 0, Length},
    {"first", 0, 0, First},
    {"last", 0, 0, Last},
    {"int", 0, 1, Int},
    {"float", 0, 1, Float},
    {"shellquote", 0, 0, ShellQuoted},
    {"raw", 0, 0, Raw},
};

const Filter* FindFilter(std::string_view name) {
  const auto found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                  [&](const Filter& filter) { return filter.name == name; });
  return found == std::end(kFilters) ? nullptr : found;
}

}  // namespace

Status CheckFilter(std::string_view name, std::size_t arguments) {
  const Filter* filter = FindFilter(name);
  if (!filter) {
    std::string known;
    for (const Filter& other : kFilters) {
      if (!known.empty()) known += ", ";
      known += other.name;
    }
    return Fail(fmt::format("the filter '{}' is not supported ({})", name, known));
  }
  if (arguments >= filter->least && arguments <= filter->most) return {};
  return Fail(filter->least == filter->most
                  ? fmt::format("{} takes {} arguments, not {}", name, filter->least, arguments)
                  : fmt::format("{} takes {} to {} arguments, not {}", name, filter->least,
                                filter->most, arguments));
}

Result<TemplateValue> ApplyFilter(std::string_view name, const TemplateValue& value,
                                  Arguments arguments) {
  return FindFilter(name)->apply(value, arguments);
}

bool HoldsShellCharacters(std::string_view text) {
  constexpr std::string_view kSpecial = "`$;&|<>(){}\\\"'*?[]~#!";
  return std::any_of(text.begin(), text.end(), [&](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F ||
           kSpecial.find(c) != std::string_view::npos;
  });
}

Result<TemplateValue::List> Items(const TemplateValue& value) {
  if (value.list()) return *value.list();
  TemplateValue::List items;
  if (value.map()) {
    for (const MapItem& item : *value.map()) items.emplace_back(item.key);
    return items;
  }
  if (!value.text()) return Fail(fmt::format("{} has no items", value.TypeName()));
  for (std::size_t at = 0; at < value.text()->size();) {
    const std::size_t start = at;
    utf8::Next(*value.text(), &at);
    items.push_back(TextOf(value, value.text()->substr(start, at - start)));
  }
  return items;
}

std::string OriginIfUnsafe(const TemplateValue& value) {
  if (value.list()) {
    for (const TemplateValue& item : *value.list()) {
      if (std::string origin = OriginIfUnsafe(ItemOf(value, item)); !origin.empty()) return origin;
    }
  }
  if (value.origin().empty() || !HoldsShellCharacters(value.ToText())) return "";
  return value.origin();
}

}  // namespace dossier::sources
