#include "base/json.h"

namespace dossier {
namespace {

void Indent(std::string& out, int depth) { out.append(static_cast<std::size_t>(depth) * 2, ' '); }

void Pretty(const Json& value, int depth, std::string& out) {
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, member] : *object) {
      if (!first) out += ",\n";
      first = false;
      Indent(out, depth + 1);
      out += boost::json::serialize(key);
      out += ": ";
      Pretty(member, depth + 1, out);
    }
    out += '\n';
    Indent(out, depth);
    out += '}';
  } else if (const auto* array = value.if_array(); array && !array->empty()) {
    out += "[\n";
    bool first = true;
    for (const Json& member : *array) {
      if (!first) out += ",\n";
      first = false;
      Indent(out, depth + 1);
      Pretty(member, depth + 1, out);
    }
    out += '\n';
    Indent(out, depth);
    out += ']';
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::size_t max_depth) {
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::json::stream_parser parser({}, options);
  boost::system::error_code error;
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (error) {
    return MakeError(ErrorCode::kInvalidArgument, "not JSON at byte {}: {}", used, error.message());
  }
  if (const auto rest = text.find_first_not_of(" \t\r\n", used); rest != std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "more than one JSON value: text at byte {}",
                     rest);
  }
  if (!error) parser.finish(error);  // a lone number is complete only at the end of input
  if (error || !parser.done()) {
    return MakeError(ErrorCode::kInvalidArgument, "JSON ends early at byte {}", text.size());
  }
  return parser.release();
}

std::string ToJson(const Json& value) { return boost::json::serialize(value); }

std::string ToPrettyJson(const Json& value) {
  std::string out;
  Pretty(value, 0, out);
  return out;
}

const Json* Find(const JsonObject& object, std::string_view key) { return object.if_contains(key); }

const Json* Find(const Json& value, std::string_view key) {
  const auto* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

std::optional<std::string_view> FindString(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  const auto* text = found ? found->if_string() : nullptr;
  if (!text) return std::nullopt;
  return std::string_view(text->data(), text->size());
}

std::optional<std::int64_t> FindInt(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  if (!found) return std::nullopt;
  if (const auto* n = found->if_int64()) return *n;
  if (const auto* n = found->if_uint64(); n && *n <= INT64_MAX)
    return static_cast<std::int64_t>(*n);
  return std::nullopt;
}

std::optional<double> FindNumber(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  if (!found || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

std::optional<bool> FindBool(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  const auto* flag = found ? found->if_bool() : nullptr;
  return flag ? std::optional<bool>(*flag) : std::nullopt;
}

}  // namespace dossier
