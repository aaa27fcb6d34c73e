// Reads the text of a source as UTF-8, block by block.
//
//   TextStream stream(source, {.kind = EncodingKind::kUtf8});
//   while (true) {
//     DOSSIER_ASSIGN_OR_RETURN(std::string_view block, stream.Next());
//     if (block.empty()) break;
//     scanner.Feed(block);                       // never ends inside a code point
//   }
//
// A block is valid until the next call; a source in memory is not copied. Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_TEXT_TEXT_STREAM_H_
#define DOSSIER_INSPECT_TEXT_TEXT_STREAM_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/text/byte_source.h"
#include "inspect/text/encoding.h"

namespace dossier::inspect {

struct TextStreamOptions {
  EncodingKind kind = EncodingKind::kUtf8;
  bool replace_invalid = false;  // UTF-8 that is known to contain invalid parts
  std::uint64_t start = 0;       // stored bytes; after the BOM
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  // stored bytes from 0
  std::size_t block_bytes = 256 << 10;
  CancelToken cancel;
};

class TextStream {
 public:
  TextStream(const ByteSource& source, TextStreamOptions options);

  // Returns the next block; empty at the end. Errors: kIo, kCancelled.
  Result<std::string_view> Next();

  // Returns the offset in the stored bytes of `decoded_offset` (from the start of the last block).
  std::uint64_t StoredOffset(std::size_t decoded_offset) const;
  // Returns the number of stored bytes returned so far.
  std::uint64_t position() const { return next_; }
  std::uint64_t invalid() const { return invalid_; }
  std::uint64_t first_invalid() const { return first_invalid_; }

 private:
  Result<std::string_view> ReadStored();

  const ByteSource& source_;
  const TextStreamOptions options_;
  std::string buffer_;   // stored bytes, if the source is not in memory
  std::string decoded_;  // if the stored bytes are not the text
  std::string_view stored_;
  std::uint64_t block_start_, next_;
  std::uint64_t invalid_ = 0, first_invalid_ = 0;
  bool last_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_TEXT_STREAM_H_
