// The terms of a text: what a search compares.
//
//   Terms(connection, "The builds failed.");              // {"the", "build", "fail"}
//   QueryTerms(connection, "Why did the builds fail?");   // {"build", "fail"}
//   IndexText("用GPU計算");      // "用 GPU 計算"; of three characters, two pairs
//
// A text is put into SQLite's full-text index as IndexText gives it, and the index's terms are then
// those of Terms, byte for byte: the same tokenizer makes them (FTS5's `porter unicode61
// remove_diacritics 2`). So texts can be searched without an index, with the same scores. Bytes
// that are no UTF-8 separate words. Thread-safety: as the connection's; IndexText is pure.

#ifndef DOSSIER_MEMORY_SEARCH_TERMS_H_
#define DOSSIER_MEMORY_SEARCH_TERMS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "memory/records/connection.h"

namespace dossier::memory {

// `text` with each run of Han, Hiragana, Katakana, Hangul and Thai as overlapping pairs of letters,
// separated by blanks; a run of one letter stays one. Combining marks in a run, which no term
// keeps, are left out.
std::string IndexText(std::string_view text);

// In the order of the text, each as often as it stands there.
std::vector<std::string> Terms(const Connection& connection, std::string_view text);
// How many those are: the length of the text, for its score.
std::size_t CountTerms(const Connection& connection, std::string_view text);

// Each term once, in the order of the query, without the words that nearly every question has; if
// those are all there is, with them.
std::vector<std::string> QueryTerms(const Connection& connection, std::string_view query);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_TERMS_H_
