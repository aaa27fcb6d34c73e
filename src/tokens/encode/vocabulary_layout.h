// Where the sections of a vocabulary file lie, and its checksum. Shared by the reader and the
// writer; internal to `tokens`. Thread-safety: plain data and pure functions.

#ifndef DOSSIER_TOKENS_ENCODE_VOCABULARY_LAYOUT_H_
#define DOSSIER_TOKENS_ENCODE_VOCABULARY_LAYOUT_H_

#include <cstdint>
#include <string_view>

#include "tokens/encode/vocabulary.h"

namespace dossier::tokens::internal {

// Offsets of the sections, from the sizes in the head.
struct VocabularyLayout {
  explicit VocabularyLayout(const VocabularyHeader& header);

  std::uint64_t filter, pairs, long_pieces, short_keys, short_tokens, byte_tokens, byte_pairs, left,
      right, outer, offsets, blob, file_bytes;
};

std::uint64_t Checksum(std::string_view bytes);

}  // namespace dossier::tokens::internal

#endif  // DOSSIER_TOKENS_ENCODE_VOCABULARY_LAYOUT_H_
