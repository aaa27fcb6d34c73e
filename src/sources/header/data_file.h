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

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_DATA_FILE_H_
