#include "store/event_data.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/utf8.h"

namespace dossier::store {
namespace {

std::string_view View(const boost::json::string& text) { return {text.data(), text.size()}; }

// A short name of letters is no secret and does not mark a value as one.
bool IsOurs(std::string_view key) {
  constexpr std::array<std::string_view, 5> kTelling = {"pass", "pwd", "secret", "token", "key"};
  return key.size() < 16 &&
         std::ranges::all_of(
             key, [](char c) { return c == '_' || IsLower(c); }) &&
         std::ranges::none_of(
             kTelling,
             [key](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

// {"password": "…"}: the text of the value does not contain the name.
void RedactNamed(std::string_view key, Json& value) {
  const auto* text = value.if_string();
  if (!text) return;
  const std::string_view kind = KindOfNamedSecret(key, View(*text));
  if (!kind.empty()) value = fmt::format("[redacted:{}]", kind);
}

class Cleaner {
 public:
  Cleaner(std::size_t inline_limit, ContentStore& content)
      : inline_limit_(inline_limit), content_(content) {}

  Status Object(JsonObject& object, std::size_t depth) {
    if (depth > kMaxEventDepth) {
      return MakeError(ErrorCode::kInvalidArgument, "event data is nested deeper than {} levels",
                       kMaxEventDepth);
    }
    bool keys_change = false;
    for (auto&& member : object) {
      const std::string_view key = member.key();
      if (IsOurs(key)) {
        DOSSIER_RETURN_IF_ERROR(Value(member.value(), depth));
        continue;
      }
      RedactNamed(key, member.value());
      DOSSIER_RETURN_IF_ERROR(Value(member.value(), depth));
      keys_change |= CleanText(key) != key;
    }
    if (keys_change) RenameKeys(object);
    return {};
  }

 private:
  Status Value(Json& value, std::size_t depth) {
    if (auto* object = value.if_object()) return Object(*object, depth + 1);
    if (auto* array = value.if_array()) return Array(*array, depth + 1);
    if (const auto* number = value.if_double(); number && !std::isfinite(*number)) {
      value = nullptr;
    } else if (const auto* text = value.if_string()) {
      std::string clean = CleanText(View(*text));
      if (clean.size() > inline_limit_) {
        DOSSIER_ASSIGN_OR_RETURN(value, MakeBody(clean, inline_limit_, content_));
      } else if (clean != View(*text)) {
        value = clean;
      }
    }
    return {};
  }

  Status Array(JsonArray& array, std::size_t depth) {
    if (depth > kMaxEventDepth) {
      return MakeError(ErrorCode::kInvalidArgument, "event data is nested deeper than {} levels",
                       kMaxEventDepth);
    }
    for (Json& element : array) DOSSIER_RETURN_IF_ERROR(Value(element, depth));
    return {};
  }

  // Keys are ours, except the variables and arguments of model code. If two become equal, both
  // values stay, under numbered names.
  static void RenameKeys(JsonObject& object) {
    JsonObject renamed;
    for (auto&& member : object) {
      const std::string clean = CleanText(member.key());
      std::string key = clean;
      for (int n = 2; renamed.contains(key); ++n) key = fmt::format("{} ({})", clean, n);
      renamed[key] = std::move(member.value());
    }
    object = std::move(renamed);
  }

  const std::size_t inline_limit_;
  ContentStore& content_;
};

}  // namespace

std::string CleanText(std::string_view text) {
  std::string clean = Redact(text);
  return utf8::IsValid(clean) ? clean : utf8::Sanitize(clean);
}

Result<Json> MakeBody(std::string_view text, std::size_t inline_limit, ContentStore& content) {
  if (text.size() <= inline_limit) return Json{{"text", text}};
  DOSSIER_ASSIGN_OR_RETURN(const std::string sha256, content.Put(text));
  return Json{{"sha256", sha256}, {"bytes", text.size()}};
}

Status CleanEventData(JsonObject& data, std::size_t inline_limit, ContentStore& content) {
  return Cleaner(inline_limit, content).Object(data, 1);
}

namespace {

bool IsHashDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

}  // namespace

void ForEachHash(std::string_view text, const std::function<void(std::string_view hash)>& see) {
  std::size_t start = 0;  // after the last non-digit
  while (start + kHashDigits <= text.size()) {
    std::size_t end = start + kHashDigits;
    while (end > start && IsHashDigit(text[end - 1])) --end;
    if (end > start) {
      start = end;
      continue;
    }
    end = start + kHashDigits;
    if (end == text.size() || !IsHashDigit(text[end])) see(text.substr(start, kHashDigits));
    while (end < text.size() && IsHashDigit(text[end])) ++end;
    start = end;
  }
}

namespace {

// Our own words, never those of a person, a file or a model.
constexpr std::string_view kKept[] = {"kind",   "conversation", "folder",   "model",
                                      "status", "purpose",      "finish",   "method",
                                      "mode",   "type",         "decision", "outcome"};

bool IsKept(std::string_view key) {
  return std::find(std::begin(kKept), std::end(kKept), key) != std::end(kKept);
}

class Eraser {
 public:
  explicit Eraser(std::vector<std::string>* bodies) : bodies_(bodies) {}

  JsonObject Object(const JsonObject& object) {
    JsonObject out;
    for (const auto& [key, value] : object) {
      // Of a context's copy, which has more fields than a body.
      const auto* hash = key == "sha256" ? value.if_string() : nullptr;
      if (hash && IsSha256Hex(View(*hash))) bodies_->emplace_back(View(*hash));
      const bool keeps = value.is_string() && IsKept({key.data(), key.size()});
      out[key] = keeps ? value : Value(value);
    }
    return out;
  }

 private:
  Json Value(const Json& value) {
    if (const auto* object = value.if_object())
      return IsBody(value) ? Body(value) : Json(Object(*object));
    if (const auto* array = value.if_array()) {
      JsonArray out;
      for (const Json& element : *array) out.push_back(Value(element));
      return out;
    }
    return value.is_string() ? Json("") : value;
  }

  // Bodies as Journal::Body makes them, and those left out by --no-log or a deletion.
  static bool IsBody(const Json& value) {
    const JsonObject& object = value.get_object();
    if (object.size() == 1) return FindString(value, "text").has_value();
    const bool named = FindString(value, "sha256") || FindBool(value, "left_out") == true;
    return named && FindInt(value, "bytes") && object.size() <= 3;
  }

  Json Body(const Json& value) {
    std::int64_t bytes = FindInt(value, "bytes").value_or(0);
    if (const auto text = FindString(value, "text")) {
      bytes = static_cast<std::int64_t>(text->size());
    }
    if (const auto sha256 = FindString(value, "sha256"); sha256 && IsSha256Hex(*sha256)) {
      bodies_->emplace_back(*sha256);
    }
    return JsonObject{{"bytes", bytes}, {"left_out", true}};
  }

  std::vector<std::string>* const bodies_;
};

}  // namespace

std::string_view WhyLeftOut(const Json& body) {
  if (!body.is_object() || FindBool(body, "left_out") != true) return "";
  return FindString(body, "sha256") ? kNotKept : kDeleted;
}

Erased EraseTextsOf(const JsonObject& data) {
  Erased erased;
  erased.data = Eraser(&erased.bodies).Object(data);
  return erased;
}

}  // namespace dossier::store
