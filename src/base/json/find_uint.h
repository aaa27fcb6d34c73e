// Reads an unsigned 64-bit number, such as a seed, from untrusted JSON.
//
//   const std::optional<std::uint64_t> seed = FindUint(request, "seed");
//
// Never throws: a value that is negative, has a fraction, is too large or no number counts as
// absent. Thread-safety: pure.

#ifndef DOSSIER_BASE_JSON_FIND_UINT_H_
#define DOSSIER_BASE_JSON_FIND_UINT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/json.h"

namespace dossier {

inline std::optional<std::uint64_t> FindUint(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  if (!found) return std::nullopt;
  if (const auto* n = found->if_uint64()) return *n;
  if (const auto* n = found->if_int64(); n && *n >= 0) return static_cast<std::uint64_t>(*n);
  return std::nullopt;
}

}  // namespace dossier

#endif  // DOSSIER_BASE_JSON_FIND_UINT_H_
