// A list or map that a person wrote as EDN, YAML or JSON, read to one form.
//
//   DOSSIER_ASSIGN_OR_RETURN(const DataFile file, ReadDataFile(root, "config/tasks.edn"));
//   for (const Json& task : file.value.as_array()) …
//
// The ending of the name says what it is. Keys are the same in all three (NormalKey in edn.h).
// Thread-safety: functions over files that are only read.

#ifndef DOSSIER_SOURCES_HEADER_DATA_FILE_H_
#define DOSSIER_SOURCES_HEADER_DATA_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::sources {

// In the order in which they are looked for.
inline constexpr std::string_view kDataEndings[] = {".edn", ".yaml", ".yml", ".json"};

struct DataFile {
  Json value;
  std::vector<std::string> warnings;
  std::string text;  // as it was read
  std::string file;

  // "FILE:LINE:COL" of what stands at `path`, such as "/1/targets"; of a value in a map, its key's.
  // Looked up in the text, so it is for errors.
  std::string PlaceOf(std::string_view path) const;
};

// `file` is relative to `root`, or absolute. Errors: kConfig, "FILE:LINE:COL: WHAT", also for a
// file that is missing, no regular file, over 16 MiB, or of another ending.
Result<DataFile> ReadDataFile(const std::string& root, const std::string& file);
// The text of `file`, without touching the disk.
Result<DataFile> ParseData(std::string text, std::string_view file);

bool HasDataEnding(std::string_view file);

// The one file ROOT/STEM.edn, .yaml, .yml or .json; nullopt if there is none.
// Errors: kConfig if there are two, naming both.
Result<std::optional<std::string>> FindDataFile(const std::string& root, std::string_view stem);

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

#endif  // DOSSIER_SOURCES_HEADER_DATA_FILE_H_
