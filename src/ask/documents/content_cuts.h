// Where a text is cut so that the cuts stay where they are when the text changes elsewhere.
//
//   for (const std::uint64_t end : *ContentCuts(text, {.size = 16'000})) …;   // ends, ascending
//
// A position is a cut if the hash of the 64 bytes before it is small enough, so whether it is one
// depends on those bytes alone: an edit changes the piece that it lies in, and hardly ever another.
// The hash is `h = 2h + Gear(byte)` modulo 2^64, where Gear(0), Gear(1), … are the first 256
// outputs of SplitMix64 from the state 0; `h` is small enough below 2^64 / size. It is not started
// anew at a cut. Two rules keep pieces from 1/16 to 4 times the size, and look no farther back than
// one cut:
//
// - A cut nearer than size / 16 to the one before it is left out.
// - A piece that is longer than 4 sizes is cut, as often as that takes, at the smallest `h` between
//   1 and 3.75 sizes behind its begin (the first of equal ones).
//
// Each cut then moves to the end of its line if that is at most size / 4 away, else to the end of
// its character. Thread-safety: a pure function.

#ifndef DOSSIER_ASK_DOCUMENTS_CONTENT_CUTS_H_
#define DOSSIER_ASK_DOCUMENTS_CONTENT_CUTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::ask {

struct ContentCutOptions {
  std::uint64_t size = 16'000;      // bytes of a piece, on average
  std::uint64_t most = UINT64_MAX;  // pieces
};

inline constexpr std::uint64_t kLeastContentPiece = 64;  // bytes: what the hash looks at

// The end of each piece of `text`, which is UTF-8: the last is its size; none of an empty text.
// Errors: kInvalidArgument for a size below kLeastContentPiece; kTooLong for more pieces than
// `most`; kCancelled.
Result<std::vector<std::uint64_t>> ContentCuts(std::string_view text,
                                               const ContentCutOptions& options,
                                               const CancelToken& cancel = {});

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTENT_CUTS_H_
