#include "model/schema/schema_keywords.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <unordered_set>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

using In = SchemaKeyword::In;
using Shape = SchemaShape;

// Returns a value on one short line, for messages.
std::string Shown(const Json& value) {
  constexpr std::size_t kMost = 60;  // code points
  const std::string text = ToJson(value);
  if (utf8::CodePoints(text) <= kMost) return text;
  return std::string(utf8::Prefix(text, kMost)).append("…");
}

std::string_view TypeName(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "boolean";
    case boost::json::kind::object:
      return "object";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::string:
      return "string";
    default:
      return "number";
  }
}

bool IsWhole(const Json& value) {
  return value.is_int64() || value.is_uint64() ||
         (value.is_double() && std::floor(value.get_double()) == value.get_double());
}

__extension__ using WideInteger = __int128;

WideInteger Wide(const Json& whole) {
  return whole.is_uint64() ? WideInteger(whole.get_uint64()) : WideInteger(whole.get_int64());
}

// Compares numbers; exact between whole numbers, even beyond 2^53.
std::partial_ordering Compare(const Json& a, const Json& b) {
  if (a.is_double() || b.is_double()) return a.to_number<double>() <=> b.to_number<double>();
  return Wide(a) <=> Wide(b);
}

// Appends one text for all values that JSON Schema considers equal: 1 and 1.0, any member order.
void AppendCanonical(const Json& value, std::string* out) {
  if (value.is_array()) {
    *out += '[';
    for (const Json& item : value.get_array()) {
      AppendCanonical(item, out);
      *out += ',';
    }
    *out += ']';
  } else if (value.is_object()) {
    std::vector<const JsonObject::value_type*> members;
    for (const auto& member : value.get_object()) members.push_back(&member);
    std::ranges::sort(members, {}, [](const auto* member) { return member->key(); });
    *out += '{';
    for (const auto* member : members) {
      *out += ToJson(Json(member->key())) + ":";
      AppendCanonical(member->value(), out);
      *out += ',';
    }
    *out += '}';
  } else if (value.is_double() && IsWhole(value) && std::abs(value.get_double()) < 9e18) {
    *out += std::to_string(static_cast<std::int64_t>(value.get_double()));
  } else {
    *out += ToJson(value);
  }
}

std::string Canonical(const Json& value) {
  std::string out;
  AppendCanonical(value, &out);
  return out;
}

std::size_t CountOf(const Json& word) {  // of Shape::kCount
  const double count = word.to_number<double>();
  return count >= 1e18 ? static_cast<std::size_t>(1e18) : static_cast<std::size_t>(count);
}

// Values of any type.

bool HasType(std::string_view type, const Json& value) {
  if (type == "integer") return value.is_number() && IsWhole(value);
  return type == TypeName(value);
}

void Type(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  std::vector<std::string> names;
  if (word.is_string()) {
    names.emplace_back(word.get_string());
  } else {
    for (const Json& name : word.get_array()) names.emplace_back(name.get_string());
  }
  for (const std::string& name : names) {
    if (HasType(name, value)) return;
  }
  run.Fail(fmt::format("is {}, which is no {}", Shown(value), Join(names, " or ")));
}

void Enum(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  const std::string wanted = Canonical(value);
  std::vector<std::string> shown;
  for (const Json& allowed : word.get_array()) {
    if (Canonical(allowed) == wanted) return;
    if (shown.size() < 10) shown.push_back(Shown(allowed));
  }
  run.Fail(fmt::format("is {}, none of {}{}", Shown(value), Join(shown, ", "),
                       word.get_array().size() > shown.size() ? ", …" : ""));
}

void Const(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (Canonical(word) != Canonical(value)) {
    run.Fail(fmt::format("is {}, not {}", Shown(value), Shown(word)));
  }
}

// Numbers.

void MultipleOf(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_number()) return;
  bool multiple = false;
  if (!word.is_double() && !value.is_double()) {
    multiple = Wide(value) % Wide(word) == 0;
  } else {
    // 0.0075 is a multiple of 0.0001, which doubles only represent approximately.
    const double ratio = value.to_number<double>() / word.to_number<double>();
    multiple = std::isfinite(ratio) &&
               std::abs(ratio - std::round(ratio)) <= 1e-9 * std::max(1.0, std::abs(ratio)) &&
               (std::abs(ratio) >= 0.5 || ratio == 0);
  }
  if (!multiple) run.Fail(fmt::format("is {}, no multiple of {}", Shown(value), Shown(word)));
}

struct Bound {
  std::string_view words;
  bool (*holds)(std::partial_ordering);
};

template <const Bound& kBound>
void Limit(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (value.is_number() && !kBound.holds(Compare(value, word))) {
    run.Fail(fmt::format("is {}, {} {}", Shown(value), kBound.words, Shown(word)));
  }
}

constexpr Bound kMinimum{"less than", [](std::partial_ordering o) { return o >= 0; }};
constexpr Bound kMaximum{"more than", [](std::partial_ordering o) { return o <= 0; }};
constexpr Bound kAbove{"not above", [](std::partial_ordering o) { return o > 0; }};
constexpr Bound kBelow{"not below", [](std::partial_ordering o) { return o < 0; }};

// Sizes of strings, lists and maps.

struct Size {
  std::string_view unit;
  std::optional<std::size_t> (*of)(const Json& value);  // unset: another type
  enum class End { kLeast, kMost } end;
};

template <const Size& kSize>
void CountLimit(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  const std::optional<std::size_t> size = kSize.of(value);
  if (!size) return;
  const std::size_t limit = CountOf(word);
  const bool least = kSize.end == Size::End::kLeast;
  if (least ? *size < limit : *size > limit) {
    run.Fail(fmt::format("has {} {}, {} {}", *size, kSize.unit, least ? "fewer than" : "more than",
                         limit));
  }
}

std::optional<std::size_t> Letters(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  return utf8::CodePoints(value.get_string());
}
std::optional<std::size_t> Items(const Json& value) {
  if (!value.is_array()) return std::nullopt;
  return value.get_array().size();
}
std::optional<std::size_t> Members(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  return value.get_object().size();
}
constexpr Size kMinLength{"characters", Letters, Size::End::kLeast};
constexpr Size kMaxLength{"characters", Letters, Size::End::kMost};
constexpr Size kMinItems{"items", Items, Size::End::kLeast};
constexpr Size kMaxItems{"items", Items, Size::End::kMost};
constexpr Size kMinMembers{"members", Members, Size::End::kLeast};
constexpr Size kMaxMembers{"members", Members, Size::End::kMost};

void Pattern(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_string()) return;
  const SchemaPattern::Found found = run.Finds(word.get_string(), value.get_string());
  if (found == SchemaPattern::Found::kYes) return;
  run.Fail(fmt::format("is {}, {} the pattern {}", Shown(value),
                       found == SchemaPattern::Found::kNo ? "without" : "too costly for",
                       Shown(word)));
}

// Lists.

void CheckItems(SchemaRun& run, const JsonArray& items, std::size_t from, const auto& schema_of) {
  for (std::size_t i = from; i < items.size() && !run.full(); ++i) {
    if (const Json* schema = schema_of(i)) run.CheckBelow(*schema, items[i], std::to_string(i));
  }
}

void CheckTuple(SchemaRun& run, const Json& word, const JsonArray& items) {
  const JsonArray& schemas = word.get_array();
  CheckItems(run, items, 0,
             [&](std::size_t i) { return i < schemas.size() ? &schemas[i] : nullptr; });
}

void PrefixItems(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (value.is_array()) CheckTuple(run, word, value.get_array());
}

void ItemsOf(SchemaRun& run, const Json& word, const JsonObject& schema, const Json& value) {
  if (!value.is_array()) return;
  if (word.is_array()) {  // draft 7; a list in 2020-12 does not compile
    CheckTuple(run, word, value.get_array());
    return;
  }
  const Json* prefix = run.compiled.draft == Draft::k2020 ? Find(schema, "prefixItems") : nullptr;
  CheckItems(run, value.get_array(), prefix ? prefix->get_array().size() : 0,
             [&](std::size_t) { return &word; });
}

void AdditionalItems(SchemaRun& run, const Json& word, const JsonObject& schema,
                     const Json& value) {
  const Json* items = Find(schema, "items");
  if (!value.is_array() || !items || !items->is_array()) return;
  CheckItems(run, value.get_array(), items->get_array().size(), [&](std::size_t) { return &word; });
}

void Contains(SchemaRun& run, const Json& word, const JsonObject& schema, const Json& value) {
  if (!value.is_array()) return;
  const bool counted = run.compiled.draft == Draft::k2020;
  const Json* least = counted ? Find(schema, "minContains") : nullptr;
  const Json* most = counted ? Find(schema, "maxContains") : nullptr;
  std::size_t found = 0;
  for (const Json& item : value.get_array()) found += run.Matches(word, item) ? 1 : 0;
  if (found < (least ? CountOf(*least) : 1)) {
    run.Fail(fmt::format("has {} items of the kind that `contains` asks for, fewer than {}", found,
                         least ? CountOf(*least) : 1));
  } else if (most && found > CountOf(*most)) {
    run.Fail(fmt::format("has {} items of the kind that `contains` asks for, more than {}", found,
                         CountOf(*most)));
  }
}

void UniqueItems(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_array() || !word.get_bool()) return;
  std::unordered_set<std::string> seen;
  for (const Json& item : value.get_array()) {
    if (!seen.insert(Canonical(item)).second) {
      return run.Fail(fmt::format("has {} twice", Shown(item)));
    }
  }
}

// Maps.

void Required(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_object()) return;
  for (const Json& name : word.get_array()) {
    if (!value.get_object().contains(name.get_string())) {
      run.Fail(fmt::format("lacks the member {}", Shown(name)));
    }
  }
}

void Properties(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_object()) return;
  for (const auto& member : word.get_object()) {
    if (const Json* own = Find(value.get_object(), member.key())) {
      run.CheckBelow(member.value(), *own, member.key());
    }
  }
}

void PatternProperties(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_object()) return;
  for (const auto& rule : word.get_object()) {
    for (const auto& member : value.get_object()) {
      if (run.Finds(rule.key(), member.key()) == SchemaPattern::Found::kYes) {
        run.CheckBelow(rule.value(), member.value(), member.key());
      }
    }
  }
}

bool IsNamed(const SchemaRun& run, const JsonObject& schema, std::string_view name) {
  const Json* properties = Find(schema, "properties");
  if (properties && properties->get_object().contains(name)) return true;
  const Json* patterns = Find(schema, "patternProperties");
  return patterns && std::ranges::any_of(patterns->get_object(), [&](const auto& rule) {
           return run.Finds(rule.key(), name) == SchemaPattern::Found::kYes;
         });
}

void AdditionalProperties(SchemaRun& run, const Json& word, const JsonObject& schema,
                          const Json& value) {
  if (!value.is_object()) return;
  for (const auto& member : value.get_object()) {
    if (!IsNamed(run, schema, member.key())) run.CheckBelow(word, member.value(), member.key());
  }
}

void PropertyNames(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (!value.is_object()) return;
  for (const auto& member : value.get_object()) {
    if (!run.Matches(word, Json(member.key()))) {
      run.Fail(fmt::format("has a member that may not be named {}", Shown(Json(member.key()))));
    }
  }
}

void Dependencies(SchemaRun& run, const Json& word, const JsonObject& schema, const Json& value) {
  if (!value.is_object()) return;
  for (const auto& rule : word.get_object()) {
    if (!value.get_object().contains(rule.key())) continue;
    if (rule.value().is_array()) {
      Required(run, rule.value(), schema, value);
    } else {
      run.Check(rule.value(), value);
    }
  }
}

// Schemas put together.

void AllOf(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  for (const Json& schema : word.get_array()) run.Check(schema, value);
}

void AnyOf(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  const auto matches = [&](const Json& schema) { return run.Matches(schema, value); };
  if (!std::ranges::any_of(word.get_array(), matches)) {
    run.Fail(fmt::format("is {}, none of the {} kinds that `anyOf` allows", Shown(value),
                         word.get_array().size()));
  }
}

void OneOf(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  const auto matching = std::ranges::count_if(
      word.get_array(), [&](const Json& schema) { return run.Matches(schema, value); });
  if (matching != 1) {
    run.Fail(fmt::format("is {}, which is {} of the {} kinds of `oneOf`, not exactly one",
                         Shown(value), matching, word.get_array().size()));
  }
}

void Not(SchemaRun& run, const Json& word, const JsonObject&, const Json& value) {
  if (run.Matches(word, value)) {
    run.Fail(fmt::format("is {}, of the kind that `not` forbids", Shown(value)));
  }
}

void If(SchemaRun& run, const Json& word, const JsonObject& schema, const Json& value) {
  const Json* then = Find(schema, run.Matches(word, value) ? "then" : "else");
  if (then) run.Check(*then, value);
}

// `$ref` is followed by SchemaRun itself.
constexpr SchemaKeyword kKeywords[] = {
    {"$defs", Shape::kSchemaMap, nullptr},
    {"$dynamicRef", Shape::kIgnored, nullptr, In::k2020},
    {"$recursiveRef", Shape::kIgnored, nullptr, In::k2020},
    {"$ref", Shape::kReference, nullptr},
    {"additionalItems", Shape::kSchema, AdditionalItems, In::k7},
    {"additionalProperties", Shape::kSchema, AdditionalProperties},
    {"allOf", Shape::kSchemaList, AllOf},
    {"anyOf", Shape::kSchemaList, AnyOf},
    {"const", Shape::kAny, Const},
    {"contains", Shape::kSchema, Contains},
    {"definitions", Shape::kSchemaMap, nullptr},
    {"dependencies", Shape::kSchemaOrNamesMap, Dependencies, In::k7},
    {"dependentRequired", Shape::kNamesMap, Dependencies, In::k2020},
    {"dependentSchemas", Shape::kSchemaMap, Dependencies, In::k2020},
    {"else", Shape::kSchema, nullptr},
    {"enum", Shape::kList, Enum},
    {"exclusiveMaximum", Shape::kNumber, Limit<kBelow>},
    {"exclusiveMinimum", Shape::kNumber, Limit<kAbove>},
    {"if", Shape::kSchema, If},
    {"items", Shape::kSchemaOrList, ItemsOf, In::k7},
    {"items", Shape::kSchema, ItemsOf, In::k2020},
    {"maxContains", Shape::kCount, nullptr, In::k2020},
    {"maxItems", Shape::kCount, CountLimit<kMaxItems>},
    {"maxLength", Shape::kCount, CountLimit<kMaxLength>},
    {"maxProperties", Shape::kCount, CountLimit<kMaxMembers>},
    {"maximum", Shape::kNumber, Limit<kMaximum>},
    {"minContains", Shape::kCount, nullptr, In::k2020},
    {"minItems", Shape::kCount, CountLimit<kMinItems>},
    {"minLength", Shape::kCount, CountLimit<kMinLength>},
    {"minProperties", Shape::kCount, CountLimit<kMinMembers>},
    {"minimum", Shape::kNumber, Limit<kMinimum>},
    {"multipleOf", Shape::kPositive, MultipleOf},
    {"not", Shape::kSchema, Not},
    {"oneOf", Shape::kSchemaList, OneOf},
    {"pattern", Shape::kPattern, Pattern},
    {"patternProperties", Shape::kPatternMap, PatternProperties},
    {"prefixItems", Shape::kSchemaList, PrefixItems, In::k2020},
    {"properties", Shape::kSchemaMap, Properties},
    {"propertyNames", Shape::kSchema, PropertyNames},
    {"required", Shape::kNames, Required},
    {"then", Shape::kSchema, nullptr},
    {"type", Shape::kTypes, Type},
    {"unevaluatedItems", Shape::kIgnored, nullptr, In::k2020},
    {"unevaluatedProperties", Shape::kIgnored, nullptr, In::k2020},
    {"uniqueItems", Shape::kBoolean, UniqueItems},
};
static_assert(std::ranges::is_sorted(kKeywords, {}, &SchemaKeyword::name));

}  // namespace

const SchemaKeyword* FindKeyword(std::string_view name, Draft draft) {
  const In other = draft == Draft::k7 ? In::k2020 : In::k7;
  const auto rows = std::ranges::equal_range(kKeywords, name, {}, &SchemaKeyword::name);
  const auto found =
      std::ranges::find_if(rows, [&](const auto& row) { return row.drafts != other; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace dossier::model
