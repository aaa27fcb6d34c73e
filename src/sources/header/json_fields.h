// Reads maps of JSON values into typed fields with a table of keys, as
// assembly/layout/yaml_fields.h does for YAML with places.
//
//   constexpr JsonField<Policy> kFields[] = {
//       {"max_files", Into<ReadWholeFrom<0>, &Policy::max_files>}};
//   DOSSIER_RETURN_IF_ERROR(ReadJsonFields<Policy>(value, "policy.edn", kFields,
//                                                  UnknownKeys::kRefused, &policy));
//
// Null means "not given". Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_HEADER_JSON_FIELDS_H_
#define DOSSIER_SOURCES_HEADER_JSON_FIELDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assembly/layout/yaml_fields.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "sources/header/data_file.h"

namespace dossier::sources {

using assembly::Into;
using assembly::ReadFlagAs;
using assembly::ReadWordOf;

// The place of a map in a file that people write.
struct DataPlace {
  const DataFile& file;
  std::string path;  // "/1" for the second item of a list
};

// Returns "FILE:LINE:COL: WHERE" for a key, without WHERE if it is empty; without a file, WHERE.
std::string PlaceText(const DataPlace* in, std::string_view where, std::string_view key);

// A value and its place: "config/policy.edn", "max_files".
struct JsonPlace {
  std::string_view where;
  std::string_view key;
  const Json& value;
  const DataPlace* in = nullptr;  // the map that contains `key`

  // Returns kConfig, "WHERE: KEY is VALUE; it must be WANTED".
  tl::unexpected<Error> Fail(std::string_view wanted) const;
};

Status ReadText(const JsonPlace& at, std::string* out);
// Reads a list of texts; one text counts as a list of one.
Status ReadTexts(const JsonPlace& at, std::vector<std::string>* out);
// Like ReadTexts, but also accepts integers, since ids may be numbers.
Status ReadNames(const JsonPlace& at, std::vector<std::string>* out);
Status ReadFlag(const JsonPlace& at, bool* out);
Status ReadWhole(const JsonPlace& at, std::uint64_t least, std::uint64_t* out);
template <std::uint64_t kLeast>
Status ReadWholeFrom(const JsonPlace& at, std::uint64_t* out) {
  return ReadWhole(at, kLeast, out);
}
// Reads a number of seconds, or "90s", "3m", "2h", "1d"; the range is `least` to 365 days.
Status ReadTime(const JsonPlace& at, Millis least, Millis* out);
template <std::int64_t kLeastSeconds>
Status ReadTimeFrom(const JsonPlace& at, Millis* out) {
  return ReadTime(at, std::chrono::seconds(kLeastSeconds), out);
}
// Reads one of `names` as its index.
Status ReadChoice(const JsonPlace& at, std::span<const std::string_view> names, std::size_t* out);

enum class UnknownKeys : std::uint8_t { kRefused, kIgnored };

template <typename T>
struct JsonField {
  std::string_view key;
  Status (*read)(const JsonPlace& at, T* out);
};

// Returns kConfig, "WHERE: unknown key KEY (nearest?)".
tl::unexpected<Error> UnknownKey(std::string_view where, std::string_view key,
                                 std::span<const std::string> known);

template <typename T>
Status ReadJsonFields(const Json& value, std::string_view where,
                      std::span<const JsonField<T>> fields, UnknownKeys unknown, T* out,
                      const DataPlace* in = nullptr) {
  if (!value.is_object()) {
    return MakeError(ErrorCode::kConfig, "{}: must be a map of keys", PlaceText(in, where, ""));
  }
  for (const auto& [key, inner] : value.get_object()) {
    const JsonField<T>* found = nullptr;
    for (const JsonField<T>& field : fields) {
      if (field.key == std::string_view(key)) found = &field;
    }
    if (found) {
      if (!inner.is_null()) DOSSIER_RETURN_IF_ERROR(found->read({where, key, inner, in}, out));
    } else if (unknown == UnknownKeys::kRefused) {
      std::vector<std::string> known;
      for (const JsonField<T>& field : fields) known.emplace_back(field.key);
      return UnknownKey(PlaceText(in, where, key), key, known);
    }
  }
  return {};
}

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_JSON_FIELDS_H_
