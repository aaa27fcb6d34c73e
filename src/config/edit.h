// Changes one key of a configuration file and leaves every other byte as it is: comments, order,
// quotes.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string text,
//                            SetKey(old, "compaction.horizon", "12", "dossier.yml"));
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

// Returns `text` with `key` (dotted) set to `value`, which is YAML on one line. The result is
// parsed again and compared: it differs from `text` in that key only. Errors: kConfig if `text` or
// `value` is not YAML, or if a line edit cannot safely change that place; `file` is used in
// messages.
Result<std::string> SetKey(std::string_view text, std::string_view key, std::string_view value,
                           std::string_view file);

// Returns a YAML scalar that reads back as exactly `text`, quoted if necessary.
std::string QuoteScalar(std::string_view text);

// One configuration file, read once with safety checks and parsed.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto file, ReadConfigFile("/repo/dossier.yml"));
//   if (file) { DOSSIER_ASSIGN_OR_RETURN(Value values, ParseConfigFile(*file)); }
//
// The owner, the bytes and the real path come from one open file, so that nothing can change
// between the check, the approval and the use.
// Thread-safety: functions over files and plain data.

inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

struct ConfigFile {
  std::string path;       // as it was looked up; used in messages
  std::string real_path;  // links resolved; trust is bound to this path
  std::string bytes;
};

// Reads a file; nullopt if there is none. Tests supply files from a map.
using FileReader = std::function<Result<std::optional<ConfigFile>>(const std::string& path)>;

// Errors: kRefused for a file owned by another user (except root) or writable by others; kConfig
// for a file over 1 MiB or not a regular file; kPermission.
Result<std::optional<ConfigFile>> ReadConfigFile(const std::string& path);

// Returns true if `file` is a link to something outside the folder `top` (any file of the user).
bool LeadsOut(const ConfigFile& file, const std::string& top);

// An empty file is an empty map. Errors: kConfig with FILE:LINE:COL (YAML syntax, duplicate keys,
// over 10,000 nodes, not a map).
Result<Value> ParseConfigFile(const ConfigFile& file);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_EDIT_H_
