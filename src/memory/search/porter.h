// The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980), as SQLite's FTS5
// runs it: "connections" and "connected" become "connect".
//
//   std::string word = "failed";
//   Stem(&word);   // "fail"
//
// Where FTS5 departs from the paper, so does this: words of fewer than 3 or more than 64 bytes stay
// as they are, a y behind the first letter counts as a vowel where a stem has to have one, and a
// letter outside ASCII is a run of consonants, one a byte. Thread-safety: pure function.

#ifndef DOSSIER_MEMORY_SEARCH_PORTER_H_
#define DOSSIER_MEMORY_SEARCH_PORTER_H_

#include <string>

namespace dossier::memory {

// `word` is in lower case.
void Stem(std::string* word);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_PORTER_H_
