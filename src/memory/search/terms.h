// Splits a text into terms, the units that a search compares.
//
//   Terms(connection, "The builds failed.");              // {"the", "build", "fail"}
//   QueryTerms(connection, "Why did the builds fail?");   // {"build", "fail"}
//   IndexText("用GPU計算");      // "用 GPU 計算"; of three characters, two pairs
//
// IndexText prepares a text for SQLite's full-text index. The index's terms are then equal to those
// of Terms, byte for byte, because the same tokenizer makes them (FTS5's `porter unicode61
// remove_diacritics 2`). Texts can therefore be searched without an index, with the same scores.
// Invalid UTF-8 bytes separate words. Thread-safety: that of the connection; IndexText is pure.

#ifndef DOSSIER_MEMORY_SEARCH_TERMS_H_
#define DOSSIER_MEMORY_SEARCH_TERMS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "memory/records/connection.h"

namespace dossier::memory {

// Returns `text` with each run of Han, Hiragana, Katakana, Hangul and Thai split into overlapping
// pairs of letters, separated by spaces; a run of one letter is kept. Combining marks in a run are
// omitted, since no term contains them.
std::string IndexText(std::string_view text);

// Returns the terms in text order, including repetitions.
std::vector<std::string> Terms(const Connection& connection, std::string_view text);
// Returns the number of those terms: the length of the text, used for its score.
std::size_t CountTerms(const Connection& connection, std::string_view text);

// Returns each term once, in query order, without the words that occur in nearly every question; if
// only such words are left, it keeps them.
std::vector<std::string> QueryTerms(const Connection& connection, std::string_view query);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_TERMS_H_
