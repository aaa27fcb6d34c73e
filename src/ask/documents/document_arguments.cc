#include "ask/documents/document_arguments.h"

#include <algorithm>
#include <cmath>

#include "base/text/nearest.h"
#include "base/text/text.h"

namespace dossier::ask {

const Json* Arguments::Get(std::string_view name) const {
  const Json* value = Find(args_, name);
  return value && !value->is_null() ? value : nullptr;
}

Result<std::uint64_t> Arguments::Read(std::string_view name, const Json& value,
                                      std::uint64_t max) const {
  std::uint64_t number = 0;
  if (value.is_uint64()) {
    number = value.get_uint64();
  } else if (value.is_int64() && value.get_int64() >= 0) {
    number = static_cast<std::uint64_t>(value.get_int64());
  } else if (value.is_int64()) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} is {}; it must not be negative", method_,
                     name, value.get_int64());
  } else {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} must be a whole number", method_, name);
  }
  if (number > max) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} is {}; it must be at most {}", method_,
                     name, GroupDigits(number), GroupDigits(max));
  }
  return number;
}

Result<std::uint64_t> Arguments::Whole(std::string_view name, WholeRange range) const {
  if (const Json* value = Get(name)) return Read(name, *value, range.max);
  if (range.otherwise) return *range.otherwise;
  return MakeError(ErrorCode::kInvalidArgument, "{}: {} is missing", method_, name);
}

Result<std::string_view> Arguments::Text(std::string_view name) const {
  const Json* value = Get(name);
  if (!value) return MakeError(ErrorCode::kInvalidArgument, "{}: {} is missing", method_, name);
  if (!value->is_string()) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} must be a text", method_, name);
  }
  const auto& text = value->get_string();
  return std::string_view(text.data(), text.size());
}

Result<std::string_view> Arguments::Choice(std::string_view name,
                                           std::initializer_list<std::string_view> choices) const {
  if (!Get(name)) return *choices.begin();
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view text, Text(name));
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  return MakeError(ErrorCode::kInvalidArgument, "{}: {} must be {}", method_, name,
                   OneOf(text, choices));
}

Result<bool> Arguments::Flag(std::string_view name) const {
  const Json* value = Get(name);
  if (!value) return false;
  if (value->is_bool()) return value->get_bool();
  return MakeError(ErrorCode::kInvalidArgument, "{}: {} must be true or false", method_, name);
}

Result<std::vector<std::uint64_t>> Arguments::Wholes(std::string_view name, std::size_t max_items,
                                                     std::uint64_t max) const {
  const Json* value = Get(name);
  if (!value || !value->is_array()) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} must be a list of whole numbers", method_,
                     name);
  }
  const JsonArray& items = value->get_array();
  if (items.size() > max_items) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} has {} items; at most {} are allowed",
                     method_, name, GroupDigits(items.size()), GroupDigits(max_items));
  }
  std::vector<std::uint64_t> numbers;
  numbers.reserve(items.size());
  for (const Json& item : items) {
    DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t number, Read(name, item, max));
    numbers.push_back(number);
  }
  return numbers;
}

Status Arguments::Only(std::initializer_list<std::string_view> names) const {
  for (const auto& entry : args_) {
    const std::string_view name(entry.key().data(), entry.key().size());
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return MakeError(ErrorCode::kInvalidArgument, "{}: there is no argument {}; there are {}{}",
                     method_, name.substr(0, 80), fmt::join(names, ", "),
                     DidYouMean(name.substr(0, 80), names));
  }
  return {};
}

}  // namespace dossier::ask
