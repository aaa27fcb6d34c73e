// The start of a code point whose end is still to come, for texts that arrive in parts.
//
//   OpenBytes("na\xC3")      // 1
//
// Thread-safety: pure function.

#ifndef DOSSIER_TOKENS_COUNTER_OPEN_BYTES_H_
#define DOSSIER_TOKENS_COUNTER_OPEN_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace dossier::tokens {

// Bytes at the end of `text`, 0 to 3. What is before them is not changed by anything appended: a
// lead byte always starts a code point or an invalid part.
inline std::size_t OpenBytes(std::string_view text) {
  const std::size_t most = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= most; ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if ((lead & 0xC0) == 0x80) continue;
    const std::size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_OPEN_BYTES_H_
