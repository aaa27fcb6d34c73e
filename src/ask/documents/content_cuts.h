// Cuts a text at positions that stay the same when the text changes elsewhere.
//
//   for (const std::uint64_t end : *ContentCuts(text, {.size = 16'000})) …;   // ends, ascending
//
// A position is a cut if the hash of the 64 bytes before it is small enough, so it depends only on
// those bytes: an edit changes the piece that contains it, and hardly ever another. The hash is
// `h = 2h + Gear(byte)` modulo 2^64, where Gear(0), Gear(1), … are the first 256 outputs of
// SplitMix64 from the state 0; `h` is small enough below 2^64 / size. It is not reset at a cut. Two
// rules keep pieces between 1/16 and 4 times the size and look back no farther than one cut:
//
// - A cut nearer than size / 16 to the previous one is dropped.
// - A piece longer than 4 sizes is cut, repeatedly if needed, at the smallest `h` (the first among
//   equals) between 1 and 3.75 sizes after its start.
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
  std::uint64_t size = 16'000;      // average bytes per piece
  std::uint64_t most = UINT64_MAX;  // maximum number of pieces
};

inline constexpr std::uint64_t kLeastContentPiece = 64;  // bytes: the hash's input

// Returns the end of each piece of `text`, which must be UTF-8: the last is its size; empty for an
// empty text. Errors: kInvalidArgument for a size below kLeastContentPiece; kTooLong for more
// pieces than `most`; kCancelled.
Result<std::vector<std::uint64_t>> ContentCuts(std::string_view text,
                                               const ContentCutOptions& options,
                                               const CancelToken& cancel = {});

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTENT_CUTS_H_
