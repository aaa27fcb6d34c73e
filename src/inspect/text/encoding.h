// Detects the encoding of a text by its first bytes, and decodes text to UTF-8.
//
//   EncodingGuess guess = GuessEncoding(head);          // head: up to 64 KiB
//   std::string utf8;
//   DecodeStats stats = Decode(guess.kind, bytes, LastBytes::kYes, &utf8);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_TEXT_ENCODING_H_
#define DOSSIER_INSPECT_TEXT_ENCODING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

struct EncodingGuess {
  EncodingKind kind =
      EncodingKind::kUtf8;    // kUtf8 includes every 8-bit encoding: only the whole text decides
  std::size_t bom_bytes = 0;  // length of the byte order mark
};

// Examines the first 64 KiB of `head`.
EncodingGuess GuessEncoding(std::string_view head);
// Returns the length of `kind`'s byte order mark at the start of `head`, or 0.
std::size_t BomBytes(EncodingKind kind, std::string_view head);

enum class LastBytes : std::uint8_t { kNo, kYes };

struct DecodeStats {
  std::size_t consumed = 0;       // bytes; without kYes an incomplete code point is left over
  std::uint64_t invalid = 0;      // parts replaced by U+FFFD
  std::size_t first_invalid = 0;  // offset in the bytes, if invalid > 0
};

// Appends `bytes` as UTF-8. `bytes` must begin at the start of a code point.
DecodeStats Decode(EncodingKind kind, std::string_view bytes, LastBytes last, std::string* utf8);

// Returns how many of the stored `bytes` give the first `utf8_length` bytes of Decode's output.
std::size_t StoredLength(EncodingKind kind, std::string_view bytes, std::size_t utf8_length);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_ENCODING_H_
