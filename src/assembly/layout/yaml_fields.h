// Typed reading of YAML maps by a table of keys: unknown keys are refused with the nearest known
// one, wrong types with what was meant.
//
//   constexpr Field<Server> kFields[] = {{"port", [](const FieldPlace& at, Server* out) {
//     return ReadInt(at, &out->port); }}};
//   DOSSIER_RETURN_IF_ERROR(ReadFields<Server>(node, file, kFields, &server));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_
#define DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/template_scan.h"
#include "base/yaml/yaml_reader.h"

namespace dossier::assembly {

// A key and its value, for reading and for errors.
struct FieldPlace {
  std::string_view file;
  std::string_view key;
  const YamlNode& value;

  tl::unexpected<Error> Fail(std::string_view message) const {
    return tl::unexpected(PlaceError(file, value.line, value.column, message));
  }
};

Status ReadString(const FieldPlace& at, std::string* out);
Status ReadStrings(const FieldPlace& at, std::vector<std::string>* out);
Status ReadFlag(const FieldPlace& at, bool* out);
// A whole number from `least` up.
Status ReadWhole(const FieldPlace& at, std::int64_t least, std::int64_t* out);
// A number from `low` to `high`.
Status ReadNumber(const FieldPlace& at, double low, double high, double* out);
// The index of the value among `names`.
Status ReadChoice(const FieldPlace& at, std::span<const std::string_view> names, std::size_t* out);

template <typename T>
struct Field {
  std::string_view key;
  Status (*read)(const FieldPlace& at, T* out);
};

template <typename T>
Status ReadFields(const YamlNode& node, std::string_view file, std::span<const Field<T>> fields,
                  T* out) {
  if (node.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(PlaceError(file, node.line, node.column, "must be a map of keys"));
  }
  for (const YamlEntry& entry : node.entries) {
    const Field<T>* found = nullptr;
    for (const Field<T>& field : fields) {
      if (field.key == entry.key) found = &field;
    }
    if (!found) {
      std::vector<std::string> known;
      for (const Field<T>& field : fields) known.emplace_back(field.key);
      return tl::unexpected(
          PlaceError(file, entry.line, entry.column, Guess("unknown key", entry.key, known)));
    }
    DOSSIER_RETURN_IF_ERROR(found->read({file, entry.key, entry.value}, out));
  }
  return {};
}

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_
