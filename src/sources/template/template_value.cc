#include "sources/template/template_value.h"

#include <utf8proc.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/template/template_lexer.h"

namespace dossier::sources {
namespace {

// Like Python's repr(): the shortest digits that read back as the same number; an exponent below
// 1e-4 and from 1e16 on.
std::string RealText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  const double size = std::fabs(number);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  char buffer[64];
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number, format).ptr;
  std::string text(buffer, end);
  if (!exponent && text.find('.') == std::string::npos) text += ".0";
  return text;
}

// str.isprintable() of one code point.
bool Printable(char32_t code_point) {
  if (code_point == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

std::string Escaped(char32_t code_point) {
  const auto number = static_cast<std::uint32_t>(code_point);
  if (number <= 0xFF) return fmt::format("\\x{:02x}", number);
  if (number <= 0xFFFF) return fmt::format("\\u{:04x}", number);
  return fmt::format("\\U{:08x}", number);
}

std::string TextLiteral(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code_point = utf8::Next(text, &at);
    if (code_point == static_cast<char32_t>(quote) || code_point == '\\') {
      out += '\\';
      out += static_cast<char>(code_point);
    } else if (code_point == '\n') {
      out += "\\n";
    } else if (code_point == '\r') {
      out += "\\r";
    } else if (code_point == '\t') {
      out += "\\t";
    } else if (Printable(code_point)) {
      utf8::Append(code_point, &out);
    } else {
      out += Escaped(code_point);
    }
  }
  return out + quote;
}

// Returns numbers and flags as one type; 80-bit floats hold every 64-bit integer exactly.
std::optional<long double> Number(const TemplateValue& value) {
  if (value.flag()) return *value.flag() ? 1.0L : 0.0L;
  if (value.integer()) return static_cast<long double>(*value.integer());
  if (value.real()) return static_cast<long double>(*value.real());
  return std::nullopt;
}

template <typename T>
Order OrderOf(const T& left, const T& right) {
  if (left < right) return Order::kLess;
  if (right < left) return Order::kMore;
  return left == right ? Order::kEqual : Order::kUnordered;
}

std::optional<Order> CompareLists(const TemplateValue::List& left,
                                  const TemplateValue::List& right) {
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (!Equal(left[i], right[i])) return Compare(left[i], right[i]);
  }
  return OrderOf(left.size(), right.size());
}

bool EqualLists(const TemplateValue::List& left, const TemplateValue::List& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), Equal);
}

bool EqualMaps(const TemplateValue& left, const TemplateValue& right) {
  if (left.map()->size() != right.map()->size()) return false;
  return std::all_of(left.map()->begin(), left.map()->end(), [&](const MapItem& item) {
    const TemplateValue* other = right.Find(item.key);
    return other && Equal(item.value, *other);
  });
}

}  // namespace

const TemplateValue* TemplateValue::Find(std::string_view key) const {
  if (!map()) return nullptr;
  for (const MapItem& item : *map()) {
    if (item.key == key) return &item.value;
  }
  return nullptr;
}

std::string TemplateValue::ToText() const { return text() ? *text() : ToLiteral(); }

std::string TemplateValue::ToLiteral() const {
  if (flag()) return *flag() ? "True" : "False";
  if (integer()) return std::to_string(*integer());
  if (real()) return RealText(*real());
  if (text()) return TextLiteral(*text());
  std::string out;
  if (list()) {
    for (const TemplateValue& item : *list()) {
      if (!out.empty()) out += ", ";
      out += item.ToLiteral();
    }
    return "[" + out + "]";
  }
  if (map()) {
    for (const MapItem& item : *map()) {
      if (!out.empty()) out += ", ";
      out += TextLiteral(item.key) + ": " + item.value.ToLiteral();
    }
    return "{" + out + "}";
  }
  return undefined() ? "" : "None";
}

bool TemplateValue::Truth() const {
  if (const auto number = Number(*this)) return *number != 0;
  if (text()) return !text()->empty();
  if (list()) return !list()->empty();
  if (map()) return !map()->empty();
  return false;
}

std::string_view TemplateValue::TypeName() const {
  constexpr std::string_view kNames[] = {"undefined", "none",   "a flag", "a number",
                                         "a number",  "a text", "a list", "a map"};
  return kNames[data_.index()];
}

bool Equal(const TemplateValue& left, const TemplateValue& right) {
  const auto left_number = Number(left), right_number = Number(right);
  if (left_number && right_number) return *left_number == *right_number;
  if (left.text() && right.text()) return *left.text() == *right.text();
  if (left.list() && right.list()) return EqualLists(*left.list(), *right.list());
  if (left.map() && right.map()) return EqualMaps(left, right);
  return left.none() && right.none();
}

std::optional<Order> Compare(const TemplateValue& left, const TemplateValue& right) {
  const auto left_number = Number(left), right_number = Number(right);
  if (left_number && right_number) return OrderOf(*left_number, *right_number);
  // The order of UTF-8 bytes is that of code points.
  if (left.text() && right.text()) return OrderOf(*left.text(), *right.text());
  if (left.list() && right.list()) return CompareLists(*left.list(), *right.list());
  return std::nullopt;
}

Result<bool> Contains(const TemplateValue& container, const TemplateValue& item) {
  if (container.list()) {
    return std::any_of(container.list()->begin(), container.list()->end(),
                       [&](const TemplateValue& other) { return Equal(other, item); });
  }
  if (container.text() && item.text()) {
    return container.text()->find(*item.text()) != std::string::npos;
  }
  if (container.map() && !item.list() && !item.map()) {
    return item.text() && container.Find(*item.text());
  }
  return MakeError(ErrorCode::kConfig, "{} cannot be looked for in {}", item.TypeName(),
                   container.TypeName());
}

bool IsPythonSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::size_t PythonSpaceLength(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    if (!IsPythonSpace(utf8::Next(text, &next))) break;
    at = next;
  }
  return at;
}

std::string_view StripPythonSpaceRight(std::string_view text) {
  while (!text.empty()) {
    const std::size_t start = utf8::FloorBoundary(text, text.size() - 1);
    std::size_t at = start;
    if (!IsPythonSpace(utf8::Next(text, &at))) break;
    text = text.substr(0, start);
  }
  return text;
}

std::string_view StripPythonSpace(std::string_view text) {
  text = StripPythonSpaceRight(text);
  return text.substr(PythonSpaceLength(text));
}

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

// An empty text occurs before every code point and at the end, as in Python.
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

// Returns digits as Python reads them: surrounding white space, a sign, single underscores.
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
