// Reads a list or map that a person wrote as EDN, YAML or JSON into one form.
//
//   DOSSIER_ASSIGN_OR_RETURN(const DataFile file, ReadDataFile(root, "config/tasks.edn"));
//   for (const Json& task : file.value.as_array()) …
//
// The file extension selects the format. Keys are the same in all three (NormalKey).
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

// In the order in which they are tried.
inline constexpr std::string_view kDataEndings[] = {".edn", ".yaml", ".yml", ".json"};

struct DataFile {
  Json value;
  std::vector<std::string> warnings;
  std::string text;  // as read
  std::string file;

  // Returns "FILE:LINE:COL" of the value at `path`, such as "/1/targets"; for a value in a map,
  // that of its key. It searches the text, so use it for errors.
  std::string PlaceOf(std::string_view path) const;
};

// `file` is relative to `root`, or absolute. Errors: kConfig, "FILE:LINE:COL: WHAT", also for a
// file that is missing, not regular, over 16 MiB, or has another extension.
Result<DataFile> ReadDataFile(const std::string& root, const std::string& file);
// Parses the text of `file` without accessing the disk.
Result<DataFile> ParseData(std::string text, std::string_view file);

bool HasDataEnding(std::string_view file);

// Returns the existing one of ROOT/STEM.edn, .yaml, .yml and .json; nullopt if there is none.
// Errors: kConfig if there are two, naming both.
Result<std::optional<std::string>> FindDataFile(const std::string& root, std::string_view stem);

// Reads EDN, the data notation of Clojure, into the project's JSON values.
//
//   DOSSIER_ASSIGN_OR_RETURN(const EdnDocument tasks, ParseEdn(text, "config/tasks.edn"));
//   tasks.value.as_array().at(0).at("id");        // "fact-001" of [{:id "fact-001"}]
//
// EDN types that JSON lacks: keywords, symbols and characters become strings (a keyword loses its
// colon), sets and lists become arrays, and a tagged form becomes its inner value. Map keys are
// passed through NormalKey. An integer that does not fit 64 bits is kept as text; `M` numbers
// become doubles.
//
// It evaluates nothing. Thread-safety: pure functions.

inline constexpr std::size_t kMaxEdnBytes = 16 << 20;
inline constexpr int kMaxEdnDepth = 64;             // nesting of forms
inline constexpr std::size_t kMaxEdnWarnings = 20;  // per file, plus one that counts the others

struct EdnDocument {
  Json value;                         // the first form; null for an empty file
  std::vector<std::string> warnings;  // unknown tags, additional forms: "FILE:LINE:COL: …"
};

// Errors: kConfig, "FILE:LINE:COL: WHAT" (columns in code points from 1): a duplicate key, a map
// with an odd number of forms, an unclosed form, a malformed token, too deep, too large.
Result<EdnDocument> ParseEdn(std::string_view text, std::string_view file);

// Returns the byte where the form at `path` ("/1/targets") begins; for a value in a map, its key.
// Without such a path it uses the nearest enclosing form. ParseEdn must accept `text`.
std::size_t FindInEdn(std::string_view text, std::string_view path);

// Normalises a key: removes leading colons and a final `?`, and replaces `-` by `_`. YAML and JSON
// files get the same names: ":max-lines-added" and "max_lines_added" are one key.
std::string NormalKey(std::string_view key);

// Returns "FILE:LINE:COL" for the byte at `offset`.
std::string PlaceInText(std::string_view file, std::string_view text, std::size_t offset);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_DATA_FILE_H_
