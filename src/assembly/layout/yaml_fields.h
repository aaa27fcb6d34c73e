// Reads YAML maps into typed members by a table of keys. An unknown key is refused with the nearest
// known one, a wrong type with the expected one.
//
//   constexpr YamlField<Server> kFields[] = {{"port", Into<ReadWholeFrom<1>, &Server::port>},
//                                        {"name", Into<ReadString, &Server::name>}};
//   DOSSIER_RETURN_IF_ERROR(ReadFields<Server>(node, file, kFields, &server));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_
#define DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assembly/layout/template_scan.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {

// A key and its value, for reading and for error messages.
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
// Reads a whole number, at least `least`.
Status ReadWhole(const FieldPlace& at, std::int64_t least, std::int64_t* out);
template <std::int64_t kLeast>
Status ReadWholeFrom(const FieldPlace& at, std::int64_t* out) {
  return ReadWhole(at, kLeast, out);
}
// Reads a number from `low` to `high`.
Status ReadNumber(const FieldPlace& at, double low, double high, double* out);
// Reads the index of the value among `names`.
Status ReadChoice(const FieldPlace& at, std::span<const std::string_view> names, std::size_t* out);

// Readers made of readers, for tables of YAML and JSON fields (sources/header/json_fields.h).

// Reads one of the words as the enumerator at the same index.
template <const auto& kWords>
inline constexpr auto ReadWordOf = [](const auto& at, auto* out) -> Status {
  std::size_t index = 0;
  DOSSIER_RETURN_IF_ERROR(ReadChoice(at, kWords, &index));
  *out = static_cast<std::remove_pointer_t<decltype(out)>>(index);
  return {};
};

// Reads a flag as one of two values: kTrue or kFalse.
template <auto kTrue, auto kFalse>
inline constexpr auto ReadFlagAs = [](const auto& at, decltype(kTrue)* out) -> Status {
  bool flag = false;
  DOSSIER_RETURN_IF_ERROR(ReadFlag(at, &flag));
  *out = flag ? kTrue : kFalse;
  return {};
};

template <typename T, typename Member>
T OwnerOf(Member T::*);  // for decltype

template <typename T>
T* PlaceOf(T* member) {
  return member;
}
template <typename T>
T* PlaceOf(std::optional<T>* member) {
  return &member->emplace();
}

// Reads with kRead into a member, or into a member of a member; an optional member is set.
template <auto kRead, auto kMember, auto... kInner>
Status Into(const auto& at, decltype(OwnerOf(kMember))* out) {
  if constexpr (sizeof...(kInner) == 0) {
    return kRead(at, PlaceOf(&(out->*kMember)));
  } else {
    return Into<kRead, kInner...>(at, &(out->*kMember));
  }
}

template <typename T>
struct YamlField {
  std::string_view key;
  Status (*read)(const FieldPlace& at, T* out);
};

template <typename T>
Status ReadFields(const YamlNode& node, std::string_view file, std::span<const YamlField<T>> fields,
                  T* out) {
  if (node.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(PlaceError(file, node.line, node.column, "must be a map of keys"));
  }
  for (const YamlEntry& entry : node.entries) {
    const YamlField<T>* found = nullptr;
    for (const YamlField<T>& field : fields) {
      if (field.key == entry.key) found = &field;
    }
    if (!found) {
      std::vector<std::string> known;
      for (const YamlField<T>& field : fields) known.emplace_back(field.key);
      return tl::unexpected(
          PlaceError(file, entry.line, entry.column, Guess("unknown key", entry.key, known)));
    }
    DOSSIER_RETURN_IF_ERROR(found->read({file, entry.key, entry.value}, out));
  }
  return {};
}

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_YAML_FIELDS_H_
