// Where secrets may begin: a loop for AVX2 that passes over the rest of a text, 32 bytes at a time.
// What it marks is looked at again, so that it may mark too much but nothing too little; texts are
// searched with the same result without it. Internal to base/text/redact.h and its tests.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_SECRET_PLACES_H_
#define DOSSIER_BASE_TEXT_SECRET_PLACES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text/redact.h"

namespace dossier::secrets {

constexpr std::size_t kPartBytes = 4096;    // bytes that one call looks at
constexpr std::size_t kBeginningBytes = 4;  // of a shape that are compared

// Bits for bytes, 64 at a time.
struct Marks {
  std::array<std::uint64_t, kPartBytes / 64> starts;  // a shape may begin here
  std::array<std::uint64_t, kPartBytes / 64> runs;    // the 24th or later byte of a token in a row
};

// What a part leaves for the next one: bytes at its end with 1, 2, 4 and 8 of a token in a row.
using RunState = std::array<std::uint64_t, 4>;

// Two tables for each byte of a beginning, by its low and its high half: in which of eight groups
// of beginnings it occurs.
struct GroupTables {
  std::array<std::array<std::uint8_t, 16>, kBeginningBytes> low{}, high{};
};
const GroupTables& BeginningGroups();

// Only where utf8::internal::HasAvx2(). `text` has kPartBytes + kBeginningBytes bytes from `begin`
// on.
Marks MarkPartAvx2(std::string_view text, std::size_t begin, RunState* state);

enum class Loop { kScalar, kAvx2 };
// FindSecrets by one of the loops.
std::vector<Secret> FindSecretsBy(std::string_view text, Loop loop);

}  // namespace dossier::secrets

#endif  // DOSSIER_BASE_TEXT_SECRET_PLACES_H_
