#include "sources/template/template_value.h"

#include <utf8proc.h>

#include <charconv>
#include <cmath>

#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

// As Python's repr(): the shortest digits that read back as the same number; an exponent below
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

// Numbers and flags as one kind; 80-bit floats hold every 64-bit integer exactly.
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

}  // namespace dossier::sources
