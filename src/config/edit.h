// Changes one key of a configuration file and leaves every other byte as it is: comments, order,
// quotes.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string text, SetKey(old, "compaction.horizon", "12",
//   "dossier.yml"));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CONFIG_EDIT_H_
#define DOSSIER_CONFIG_EDIT_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/value.h"

namespace dossier::config {

// `text` with `key` (dotted) set to `value`, which is YAML on one line. The result is read again
// and compared: it differs from `text` in that key only. Errors: kConfig if `text` or `value` is no
// YAML, or if the place is written in a form that a line edit can't change safely; `file` is for
// messages.
Result<std::string> SetKey(std::string_view text, std::string_view key, std::string_view value,
                           std::string_view file);

// `text` as a YAML scalar that reads back as exactly it: in quotes where that is needed.
std::string QuoteScalar(std::string_view text);

// One configuration file: read once, with care, and taken apart.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto file, ReadConfigFile("/repo/dossier.yml"));
//   if (file) { DOSSIER_ASSIGN_OR_RETURN(Value values, ParseConfigFile(*file)); }
//
// The owner, the bytes and the real path are those of one open file, so that nothing can change
// between the check, the approval and the use.
// Thread-safety: functions over files and plain data.

inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

struct ConfigFile {
  std::string path;       // as it was looked for; what messages name
  std::string real_path;  // without links; what trust is bound to
  std::string bytes;
};

// How files are read; nullopt: there is none. Tests give files as a map.
using FileReader = std::function<Result<std::optional<ConfigFile>>(const std::string& path)>;

// Errors: kRefused for a file of another owner (but root) or one that others may write; kConfig
// over 1 MiB or for what is no regular file; kPermission.
Result<std::optional<ConfigFile>> ReadConfigFile(const std::string& path);

// Whether `file` is a link to what lies outside of the folder `top`: any file of the user's.
bool LeadsOut(const ConfigFile& file, const std::string& top);

// An empty file is an empty map. Errors: kConfig with FILE:LINE:COL (YAML, duplicate keys, over
// 10,000 nodes, no map).
Result<Value> ParseConfigFile(const ConfigFile& file);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_EDIT_H_
