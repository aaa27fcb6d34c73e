// EDN, the data notation of Clojure, read into the project's JSON values.
//
//   DOSSIER_ASSIGN_OR_RETURN(const EdnDocument tasks, ParseEdn(text, "config/tasks.edn"));
//   tasks.value.as_array().at(0).at("id");        // "fact-001" of [{:id "fact-001"}]
//
// What JSON has no type for: keywords, symbols and characters become strings (a keyword without its
// colon), sets and lists become arrays, a tagged form is its inner value. Keys of maps are
// NormalKey of themselves. An integer that does not fit 64 bits is kept as text; `M` numbers are
// doubles.
//
// Nothing is evaluated. Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_HEADER_EDN_H_
#define DOSSIER_SOURCES_HEADER_EDN_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::sources {

inline constexpr std::size_t kMaxEdnBytes = 16 << 20;
inline constexpr int kMaxEdnDepth = 64;             // forms inside each other
inline constexpr std::size_t kMaxEdnWarnings = 20;  // of one file, and one that counts the others

struct EdnDocument {
  Json value;                         // the first form; null of an empty file
  std::vector<std::string> warnings;  // unknown tags, more forms: "FILE:LINE:COL: …"
};

// Errors: kConfig, "FILE:LINE:COL: WHAT", columns in code points from 1: a duplicate key, a map
// with an odd number of forms, an open form, a malformed token, too deep, too large.
Result<EdnDocument> ParseEdn(std::string_view text, std::string_view file);

// The byte where the form of `path` begins, such as "/1/targets"; of a value in a map, its key. Of
// a path that leads nowhere, the nearest form around it. `text` is one that ParseEdn reads.
std::size_t FindInEdn(std::string_view text, std::string_view path);

// A key as programs name it: without colons in front and `?` at the end, `-` as `_`. Files in YAML
// and JSON get the same names: ":max-lines-added" and "max_lines_added" are one key.
std::string NormalKey(std::string_view key);

// "FILE:LINE:COL" of the byte at `offset`.
std::string PlaceInText(std::string_view file, std::string_view text, std::size_t offset);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_EDN_H_
