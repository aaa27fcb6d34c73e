#include "store/erase_texts.h"

#include <algorithm>

#include "base/hash.h"

namespace dossier::store {
namespace {

// Words of ours, never of a person, a file or a model.
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

  // As Journal::Body makes them, and those that --no-log or a deletion left out.
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

Erased EraseTextsOf(const JsonObject& data) {
  Erased erased;
  erased.data = Eraser(&erased.bodies).Object(data);
  return erased;
}

}  // namespace dossier::store
