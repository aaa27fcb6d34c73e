// Lines and characters of a large text, found through sparse indexes.
//
//   LineIndex lines(text);
//   text.substr(lines.Start(3), lines.Start(5) - lines.Start(3));  // lines 3 and 4, from 0
//   CharacterIndex characters(text);
//   characters.ToByte(1'000'000);
//
// Memory: 8 bytes per 1,024 lines, 8 bytes per 64 KiB. Lines end with LF, CRLF or a lone CR; a
// character is a code point of valid UTF-8.
// Ownership: `text` must outlive the index. Thread-safety: immutable after construction.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_POSITIONS_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_POSITIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace dossier::ask {

class LineIndex {
 public:
  static constexpr std::uint64_t kStride = 1024;

  explicit LineIndex(std::string_view text);

  std::uint64_t count() const { return count_; }
  // Where line `line` (from 0) starts; the end of the text for count() and beyond.
  std::uint64_t Start(std::uint64_t line) const;
  // The line that holds the byte at `offset`; that of the last byte at the end of the text.
  std::uint64_t LineAt(std::uint64_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> starts_;  // of lines 0, kStride, 2 kStride…
  std::uint64_t count_ = 0;
};

class CharacterIndex {
 public:
  static constexpr std::uint64_t kBlock = 64 * 1024;

  explicit CharacterIndex(std::string_view text);

  std::uint64_t count() const { return count_; }
  // Where character `character` starts; the end of the text for count() and beyond.
  std::uint64_t ToByte(std::uint64_t character) const;
  // The character that holds the byte at `offset`; count() at the end of the text and beyond.
  std::uint64_t ToCharacter(std::uint64_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> before_;  // characters that start in front of each block
  std::uint64_t count_ = 0;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_POSITIONS_H_
