// Reads the words of a text as hashes, for search, without copying them.
//
//   WordReader words("Two Gates, naïve");
//   for (std::uint64_t word; words.Next(&word);) Count(word);   // two, gate, naïve
//
// Case is folded for Latin, Greek and Cyrillic letters; a plural s is dropped; each CJK character
// is a separate word. Thread-safety: one owner.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_

#include <cstdint>
#include <string_view>

namespace dossier::ask {

class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}
  // Reads the next word's hash; returns false at the end.
  bool Next(std::uint64_t* word);
  // Continues at byte `at` of the text, which must not be inside a word.
  void GoTo(std::size_t at) { at_ = at; }
  // The position of the word read last, in bytes of the text.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return at_; }

 private:
  bool SkipToWord();
  std::uint64_t ReadWord();

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;
};

// Returns the hash that WordReader gives for `word` alone.
std::uint64_t WordHash(std::string_view word);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_WORDS_H_
