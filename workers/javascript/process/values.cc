#include "values.h"

#include <js/Array.h>
#include <js/BigInt.h>
#include <js/CharacterEncoding.h>
#include <js/Conversions.h>
#include <js/PropertyAndElement.h>
#include <js/PropertyDescriptor.h>
#include <js/String.h>
#include <jsfriendapi.h>

#include <charconv>
#include <cmath>

namespace dossier::worker {
namespace {

constexpr int kMaxDepth = 60;
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: up to here a double is exact

class Reader {
 public:
  explicit Reader(JSContext* cx) : cx_(cx) {}

  Result<Json> Read(JS::HandleValue value, const std::string& path, int depth) {
    if (value.isNull()) return Json(nullptr);
    if (value.isBoolean()) return Json(value.toBoolean());
    if (value.isInt32()) return Json(std::int64_t{value.toInt32()});
    if (value.isDouble()) return Number(value.toDouble(), path);
    if (value.isBigInt()) return Big(value, path);
    if (value.isString()) {
      JS::RootedString text(cx_, value.toString());
      return Json(TextOf(cx_, text));
    }
    if (!value.isObject()) return Refuse(path, value.isUndefined() ? "undefined" : "a symbol");
    if (depth > kMaxDepth) return Refuse(path, "a value nested so deep, or in itself,");
    JS::RootedObject object(cx_, &value.toObject());
    if (JS_ObjectIsFunction(object)) return Refuse(path, "a function");
    bool array = false;
    if (!JS::IsArrayObject(cx_, object, &array)) return Failed(path);
    return array ? List(object, path, depth) : Object(object, path, depth);
  }

 private:
  static tl::unexpected<Error> Refuse(const std::string& path, std::string_view what) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} cannot cross to the host", path, what);
  }
  tl::unexpected<Error> Failed(const std::string& path) {
    JS_ClearPendingException(cx_);
    return Refuse(path, "a value that cannot be read");
  }

  static Result<Json> Number(double number, const std::string& path) {
    if (!std::isfinite(number)) return Refuse(path, std::isnan(number) ? "NaN" : "infinity");
    if (number == std::floor(number) && std::fabs(number) < kLargestWhole) {
      return Json(static_cast<std::int64_t>(number));
    }
    return Json(number);
  }

  Result<Json> Big(JS::HandleValue value, const std::string& path) {
    JS::RootedString text(cx_, JS::ToString(cx_, value));
    if (!text) return Failed(path);
    const std::string digits = TextOf(cx_, text);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || *end != '\0') return Refuse(path, "a BigInt of more than 64 bits");
    return Json(number);
  }

  // An own data property; nothing for a hole or a getter.
  bool Own(JS::HandleObject object, JS::HandleId id, JS::MutableHandleValue out, bool* found) {
    JS::Rooted<mozilla::Maybe<JS::PropertyDescriptor>> property(cx_);
    if (!JS_GetOwnPropertyDescriptorById(cx_, object, id, &property)) return false;
    *found = property.isSome() && property->isDataDescriptor() && property->enumerable();
    if (*found) out.set(property->value());
    return true;
  }

  Result<Json> List(JS::HandleObject object, const std::string& path, int depth) {
    std::uint32_t length = 0;
    if (!JS::GetArrayLength(cx_, object, &length)) return Failed(path);
    JsonArray list;
    JS::RootedValue item(cx_);
    JS::RootedId id(cx_);
    for (std::uint32_t i = 0; i < length; ++i) {
      bool found = false;
      if (!JS_IndexToId(cx_, i, &id) || !Own(object, id, &item, &found)) return Failed(path);
      if (!found) item.setNull();
      DOSSIER_ASSIGN_OR_RETURN(Json value, Read(item, fmt::format("{}[{}]", path, i), depth + 1));
      list.push_back(std::move(value));
    }
    return Json(std::move(list));
  }

  Result<Json> Object(JS::HandleObject object, const std::string& path, int depth) {
    JS::RootedIdVector ids(cx_);
    if (!js::GetPropertyKeys(cx_, object, JSITER_OWNONLY, &ids)) return Failed(path);
    JsonObject fields;
    JS::RootedValue item(cx_), key(cx_);
    JS::RootedString text(cx_);
    for (std::size_t i = 0; i < ids.length(); ++i) {
      bool found = false;
      if (!JS_IdToValue(cx_, ids[i], &key) || !(text = JS::ToString(cx_, key))) return Failed(path);
      const std::string name = TextOf(cx_, text);
      const std::string own = fmt::format("{}.{}", path, name);
      if (!Own(object, ids[i], &item, &found)) return Failed(own);
      if (!found) return Refuse(own, "a getter");
      if (item.isUndefined()) continue;
      DOSSIER_ASSIGN_OR_RETURN(fields[name], Read(item, own, depth + 1));
    }
    return Json(std::move(fields));
  }

  JSContext* cx_;
};

// The text that {"blob":[offset,length]} names; none for another value.
std::optional<std::string_view> BlobOf(const JsonObject& object, std::string_view raw) {
  const Json* blob = object.size() == 1 ? object.if_contains("blob") : nullptr;
  const JsonArray* pair = blob ? blob->if_array() : nullptr;
  if (!pair || pair->size() != 2) return std::nullopt;
  const std::int64_t* at = pair->at(0).if_int64();
  const std::int64_t* length = pair->at(1).if_int64();
  if (!at || !length || *at < 0 || *length < 0) return std::nullopt;
  const auto begin = static_cast<std::uint64_t>(*at), size = static_cast<std::uint64_t>(*length);
  if (begin > raw.size() || size > raw.size() - begin) return std::nullopt;
  return raw.substr(begin, size);
}

bool StringValue(JSContext* cx, std::string_view text, JS::MutableHandleValue out) {
  JSString* string = MakeString(cx, text);
  if (string) out.setString(string);
  return string != nullptr;
}

}  // namespace

std::string TextOf(JSContext* cx, JS::HandleString text) {
  JS::UniqueChars chars = JS_EncodeStringToUTF8(cx, text);
  if (!chars) return {};
  JSLinearString* linear = JS_EnsureLinearString(cx, text);
  // The length is not that of the C string: a NUL may be in it.
  return linear ? std::string(chars.get(), JS::GetDeflatedUTF8StringLength(linear)) : std::string();
}

JSString* MakeString(JSContext* cx, std::string_view utf8) {
  // One copy; the other way counts and converts first.
  if (JS::StringIsASCII(mozilla::Span(utf8.data(), utf8.size()))) {
    return JS_NewStringCopyN(cx, utf8.data(), utf8.size());
  }
  return JS_NewStringCopyUTF8N(cx, JS::UTF8Chars(utf8.data(), utf8.size()));
}

Result<Json> ToJsonValue(JSContext* cx, JS::HandleValue value, std::string_view path) {
  return Reader(cx).Read(value, std::string(path), 0);
}

bool FromJsonValue(JSContext* cx, const Json& json, std::string_view raw,
                   JS::MutableHandleValue out) {
  if (json.is_null()) return out.setNull(), true;
  if (json.is_bool()) return out.setBoolean(json.get_bool()), true;
  if (json.is_number()) return out.setNumber(json.to_number<double>()), true;
  if (json.is_string()) return StringValue(cx, json.get_string(), out);
  JS::RootedValue item(cx);
  if (const JsonArray* list = json.if_array()) {
    JS::RootedObject array(cx, JS::NewArrayObject(cx, list->size()));
    if (!array) return false;
    std::uint32_t index = 0;
    for (const Json& value : *list) {
      if (!FromJsonValue(cx, value, raw, &item) ||
          !JS_DefineElement(cx, array, index++, item, JSPROP_ENUMERATE)) {
        return false;
      }
    }
    return out.setObject(*array), true;
  }
  const JsonObject& fields = json.get_object();
  if (const auto blob = BlobOf(fields, raw)) return StringValue(cx, *blob, out);
  JS::RootedObject object(cx, JS_NewPlainObject(cx));
  if (!object) return false;
  JS::RootedString name(cx);
  JS::RootedValue key(cx);
  JS::RootedId id(cx);
  for (const auto& [field, value] : fields) {
    if (!(name = MakeString(cx, field))) return false;
    key.setString(name);
    if (!JS_ValueToId(cx, key, &id) || !FromJsonValue(cx, value, raw, &item) ||
        !JS_DefinePropertyById(cx, object, id, item, JSPROP_ENUMERATE)) {
      return false;
    }
  }
  return out.setObject(*object), true;
}

bool GetOwn(JSContext* cx, JS::HandleObject object, const char* name, JS::MutableHandleValue out) {
  JS::Rooted<mozilla::Maybe<JS::PropertyDescriptor>> property(cx);
  out.setUndefined();
  if (!JS_GetOwnPropertyDescriptor(cx, object, name, &property)) return false;
  if (property.isSome() && property->isDataDescriptor()) out.set(property->value());
  return true;
}

}  // namespace dossier::worker
