// The counting loops of base/text/utf8.h: one for any CPU and one for AVX2, with equal results.
// Internal to `base` and its tests; call utf8::Count instead.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_UTF8_KERNELS_H_
#define DOSSIER_BASE_TEXT_UTF8_KERNELS_H_

#include <cstddef>
#include <string_view>

#include "base/text/utf8.h"

namespace dossier::utf8::internal {

// One code point or one maximal invalid part (the Unicode standard's "maximal subpart").
struct CodeUnit {
  std::size_t length = 1;  // bytes, 1 to 4
  bool valid = true;
};

// The unit that starts at `at`, which must be a start of a unit and < text.size().
CodeUnit UnitAt(std::string_view text, std::size_t at);

// Returns true if this CPU and the operating system can run the AVX2 loops.
bool HasAvx2();

Census CountScalar(std::string_view text);
// Needs HasAvx2().
Census CountAvx2(std::string_view text);

}  // namespace dossier::utf8::internal

#endif  // DOSSIER_BASE_TEXT_UTF8_KERNELS_H_
