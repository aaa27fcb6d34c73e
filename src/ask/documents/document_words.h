// Words of a text as hashes, for search: no word is copied.
//
//   WordReader words("Two Gates, naïve");
//   for (std::uint64_t word; words.Next(&word);) Count(word);   // two, gate, naïve
//
// Case is folded for Latin, Greek and Cyrillic letters; a plural s is dropped; each CJK character
// is a word of its own. Thread-safety: one owner.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_

#include <cstdint>
#include <string_view>

namespace dossier::ask {

class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}
  // The hash of the next word; false at the end.
  bool Next(std::uint64_t* word);
  // Reads on from byte `at` of the text, which is not inside a word.
  void GoTo(std::size_t at) { at_ = at; }
  // Where the word read last stands, in bytes of the text.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return at_; }

 private:
  bool SkipToWord();
  std::uint64_t ReadWord();

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;
};

// The hash that WordReader gives for `word` alone.
std::uint64_t WordHash(std::string_view word);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_
