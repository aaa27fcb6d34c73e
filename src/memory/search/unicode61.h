// Which code points make words, and the form in which they are compared: those of SQLite's FTS5
// tokenizer `unicode61 remove_diacritics 2`.
//
//   IsWordCodePoint(U'é');   // true
//   FoldCodePoint(U'É');     // U'e'
//
// The tables are measured: every code point was put through SQLite 3.40 (its data are those of
// Unicode 6.1; what was not assigned then makes words). terms_test.cc compares all of them again
// with the SQLite that is linked. Thread-safety: pure functions.

#ifndef DOSSIER_MEMORY_SEARCH_UNICODE61_H_
#define DOSSIER_MEMORY_SEARCH_UNICODE61_H_

namespace dossier::memory {

// A letter, a digit, a mark of private use; begins a word or goes on with one.
bool IsWordCodePoint(char32_t code_point);
// A combining mark that goes on with a word, begins none, and is left out of it.
bool IsDiacritic(char32_t code_point);
// Lower case, without accents where a plain letter is left; 0 for a mark that is left out.
char32_t FoldCodePoint(char32_t code_point);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_UNICODE61_H_
