// Byte-pair encoding of one piece of text in linear time.
//
//   Bpe bpe(vocabulary);
//   std::size_t tokens = bpe.Count("internationalisation");
//   Encoding encoding;
//   bpe.Extend(text, &encoding);             // the encoding of all of `text`
//   bpe.Extend(text + more, &encoding);      // costs what `more` is long
//
// Short pieces are merged by searching for the best pair repeatedly. Long ones are split into
// windows, which are merged separately and then joined. This is exact: a sequence of tokens is the
// encoding of its text if and only if every two neighbours are the encoding of theirs, which
// IsJoint decides from the vocabulary alone. If two windows do not join, tokens at the end of the
// first are merged again with the second.
//
// Thread-safety: immutable.

#ifndef DOSSIER_TOKENS_ENCODE_BPE_H_
#define DOSSIER_TOKENS_ENCODE_BPE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {

// The tokens of a text by their numbers in Vocabulary (not the maker's numbers). A code point that
// is not in the vocabulary is kUnknown plus its value.
struct Encoding {
  std::vector<std::uint32_t> tokens;
  std::size_t bytes = 0;  // of the tokens' texts
};

class Bpe {
 public:
  // The top bit of an inner number: a code point that is sent as its bytes.
  static constexpr std::uint32_t kUnknown = 0x80000000;

  explicit Bpe(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Returns how many tokens the merges make of `piece`, which must not be a token as a whole.
  std::size_t Count(std::string_view piece) const;

  // `encoding` is that of the first bytes of `text`, or empty; it becomes that of the whole. Tokens
  // at its end may be replaced.
  void Extend(std::string_view text, Encoding* encoding) const;

  // Removes tokens from the end until at most `bytes` are left.
  void Shorten(std::size_t bytes, Encoding* encoding) const;

  // Returns true if the two encode their joined texts. Only for monotone vocabularies.
  bool IsJoint(std::uint32_t left, std::uint32_t right) const;

  // Return the bytes of an inner number's text, and the number of tokens sent for it.
  std::size_t Bytes(std::uint32_t inner) const;
  std::size_t Sent(std::uint32_t inner) const;

 private:
  // Appends the encoding of `text`, merged separately.
  void Merge(std::string_view text, std::vector<std::uint32_t>* tokens) const;
  void MergeByQueue(std::string_view text, std::vector<std::uint32_t>* tokens) const;
  // Writes the base symbols of `text` to `symbols` (room for one per byte); returns their number.
  std::size_t Symbols(std::string_view text, std::uint32_t* symbols) const;
  std::uint32_t Pair(std::uint32_t left, std::uint32_t right) const {
    return (left | right) & kUnknown ? kNone : vocabulary_->Merge(left, right);
  }
  // Merges the `count` symbols of `text` in place, in time quadratic in `count`; returns how many
  // are left.
  std::size_t MergeInPlace(std::string_view text, std::uint32_t* symbols, std::size_t count) const;
  std::size_t CountThreeBytes(std::string_view piece) const;
  std::size_t CountFourBytes(std::string_view piece) const;
  // Appends tokens of a long run of one byte, as far as they are found quickly.
  void ExtendRun(std::string_view text, Encoding* encoding) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_BPE_H_
