// Values of command templates, with Python's semantics: users write Jinja and expect its output
// byte for byte.
//
//   TemplateValue list = TemplateValue::List{TemplateValue("a"), TemplateValue("b")};
//   list.ToText();                       // ['a', 'b']
//   TemplateValue(-5.0).ToText();                // -5.0
//
// Thread-safety: plain data.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_VALUE_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_VALUE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace dossier::sources {

struct MapItem;

class TemplateValue {
 public:
  struct Undefined {};
  struct None {};
  using List = std::vector<TemplateValue>;
  using Map = std::vector<MapItem>;  // in order of insertion, keys unique

  TemplateValue();
  explicit TemplateValue(Undefined);
  explicit TemplateValue(bool flag);
  explicit TemplateValue(std::int64_t number);
  explicit TemplateValue(double number);
  explicit TemplateValue(std::string text);
  explicit TemplateValue(std::string_view text);
  explicit TemplateValue(const char* text);
  TemplateValue(List list);
  TemplateValue(Map map);

  bool undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool none() const { return std::holds_alternative<None>(data_); }
  const bool* flag() const { return std::get_if<bool>(&data_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const List* list() const { return std::get_if<List>(&data_); }
  const Map* map() const { return std::get_if<Map>(&data_); }

  // Returns an entry of a map; nullptr if this is not a map or has no such key.
  const TemplateValue* Find(std::string_view key) const;

  // Like Python's str(), repr(), bool() and type().__name__.
  std::string ToText() const;
  std::string ToLiteral() const;
  bool Truth() const;
  std::string_view TypeName() const;

  // The variable that this text came from, if it came from outside; else empty. Comparisons ignore
  // it.
  const std::string& origin() const { return origin_; }
  TemplateValue WithOrigin(std::string origin) &&;

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, std::string, List, Map> data_;
  std::string origin_;
};

struct MapItem {
  std::string key;
  TemplateValue value;
};

// Defined after MapItem, because the variant can only be destroyed when MapItem is complete.
inline TemplateValue::TemplateValue() : data_(None{}) {}
inline TemplateValue::TemplateValue(Undefined) : data_(Undefined{}) {}
inline TemplateValue::TemplateValue(bool flag) : data_(flag) {}
inline TemplateValue::TemplateValue(std::int64_t number) : data_(number) {}
inline TemplateValue::TemplateValue(double number) : data_(number) {}
inline TemplateValue::TemplateValue(std::string text) : data_(std::move(text)) {}
inline TemplateValue::TemplateValue(std::string_view text) : data_(std::string(text)) {}
inline TemplateValue::TemplateValue(const char* text) : data_(std::string(text)) {}
inline TemplateValue::TemplateValue(List list) : data_(std::move(list)) {}
inline TemplateValue::TemplateValue(Map map) : data_(std::move(map)) {}
inline TemplateValue TemplateValue::WithOrigin(std::string origin) && {
  origin_ = std::move(origin);
  return std::move(*this);
}

// Python's ==: 1, 1.0 and True are equal; values of different kinds are not equal.
bool Equal(const TemplateValue& left, const TemplateValue& right);
// Orders two values as Python does; returns nullopt if Python defines no order for them. kUnordered
// (a NaN) makes every comparison false.
enum class Order { kLess, kEqual, kMore, kUnordered };
std::optional<Order> Compare(const TemplateValue& left, const TemplateValue& right);
// Python's `in`. Errors: kConfig with the reason.
Result<bool> Contains(const TemplateValue& container, const TemplateValue& item);

// Returns true if str.strip() removes the code point.
bool IsPythonSpace(char32_t code_point);
std::string_view StripPythonSpace(std::string_view text);
std::string_view StripPythonSpaceRight(std::string_view text);
// Returns the number of bytes of white space at the start of `text`.
std::size_t PythonSpaceLength(std::string_view text);

// The filters of command templates, with the same results as Jinja.
//
//   ApplyFilter("join", list, {TemplateValue(", ")});
//
// `default` is not among them because it accepts undefined values; the renderer implements it.
// Thread-safety: pure functions.

// Checks that the filter exists and takes that many arguments. Errors: kConfig with the known
// names.
Status CheckFilter(std::string_view name, std::size_t arguments);

// `name` must have passed CheckFilter. Errors: kConfig (a value of the wrong kind).
Result<TemplateValue> ApplyFilter(std::string_view name, const TemplateValue& value,
                                  std::span<const TemplateValue> arguments);

// Returns the items of a loop: those of a list, the keys of a map, the code points of a text.
// Errors: kConfig for values that have no items.
Result<TemplateValue::List> Items(const TemplateValue& value);

// Returns the origin for a text made of `value`: empty if no part of it could be misread.
std::string OriginIfUnsafe(const TemplateValue& value);
// Returns true if `text` contains a character with a meaning to a shell, or a control character.
bool HoldsShellCharacters(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_VALUE_H_
