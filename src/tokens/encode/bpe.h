// Byte-pair encoding of one piece of text, in time linear in its length.
//
//   Bpe bpe(vocabulary);
//   std::size_t tokens = bpe.Count("internationalisation");
//   Encoding encoding;
//   bpe.Extend(text, &encoding);             // the encoding of all of `text`
//   bpe.Extend(text + more, &encoding);      // costs what `more` is long
//
// Short pieces are merged by looking for the best pair again and again. Long ones are cut into
// windows, each is merged alone, and the windows are joined. That is exact: a row of tokens is the
// encoding of its text if and only if each two neighbours are the encoding of theirs, which IsJoint
// tells from the vocabulary alone. Where two windows do not join, tokens at the end of the first
// are merged again with the second.
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

// The tokens of a text by their numbers in Vocabulary (not those of the vocabulary's maker). A code
// point that the vocabulary does not have is kUnknown plus its value.
struct Encoding {
  std::vector<std::uint32_t> tokens;
  std::size_t bytes = 0;  // of their texts
};

class Bpe {
 public:
  // The top bit of an inner number: a code point that is sent as its bytes.
  static constexpr std::uint32_t kUnknown = 0x80000000;

  explicit Bpe(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // How many tokens merges make of `piece`, which is not one as a whole.
  std::size_t Count(std::string_view piece) const;

  // `encoding` is that of the first bytes of `text`, or empty, and becomes that of all of it;
  // tokens at its end may be taken back.
  void Extend(std::string_view text, Encoding* encoding) const;

  // Takes tokens off the end until at most `bytes` are left.
  void Shorten(std::size_t bytes, Encoding* encoding) const;

  // Whether the encoding of two tokens' texts joined is these two. Only for monotone vocabularies.
  bool IsJoint(std::uint32_t left, std::uint32_t right) const;

  // Bytes of text of an inner number, and the tokens that are sent for it.
  std::size_t Bytes(std::uint32_t inner) const;
  std::size_t Sent(std::uint32_t inner) const;

 private:
  // Appends the encoding of `text`, merged alone.
  void Merge(std::string_view text, std::vector<std::uint32_t>* tokens) const;
  void MergeByQueue(std::string_view text, std::vector<std::uint32_t>* tokens) const;
  // The base symbols of `text` into `symbols`, which has room for one a byte; how many.
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
