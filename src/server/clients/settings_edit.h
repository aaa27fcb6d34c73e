// Changes one entry of a client's settings and leaves every other byte as it is: comments, order,
// indent, line ends, a byte order mark.
//
//   DOSSIER_ASSIGN_OR_RETURN(
//       std::string text,
//       SetEntry(old, SettingsForm::kJson, {"mcpServers", "dossier"}, entry, "settings.json"));
//   DOSSIER_ASSIGN_OR_RETURN(old, RemoveEntry(text, SettingsForm::kJson, {"mcpServers", "dossier"},
//   file));
//
// kJson: JSON with comments and trailing commas, as editors write it. kToml: the last two names of
// the path are a table, [mcp_servers.dossier]; tables above or beside it stay.
// Errors: kDamaged, "FILE:LINE: reason", for what cannot be read or cannot be changed safely; the
// text is then to be left alone. Thread-safety: pure functions.

#ifndef DOSSIER_SERVER_CLIENTS_SETTINGS_EDIT_H_
#define DOSSIER_SERVER_CLIENTS_SETTINGS_EDIT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::clients {

enum class SettingsForm : std::uint8_t { kJson, kToml };
using Path = std::vector<std::string>;

// The value at `path`, if it is there.
Result<std::optional<Json>> FindEntry(std::string_view text, SettingsForm form, const Path& path,
                                      std::string_view file);
// With `value` at `path`; objects on the way are made where they are missing. Of TOML an object of
// texts and lists of texts.
Result<std::string> SetEntry(std::string_view text, SettingsForm form, const Path& path,
                             const Json& value, std::string_view file);
// Without `path`; the text as it is where it is not there.
Result<std::string> RemoveEntry(std::string_view text, SettingsForm form, const Path& path,
                                std::string_view file);
// JSON alone: with `value` behind the last element of the list at `path`, which is made where it is
// missing.
Result<std::string> AppendElement(std::string_view text, const Path& path, const Json& value,
                                  std::string_view file);
// JSON alone: without the elements of the list at `path` that hold `mark` in their bytes.
Result<std::string> RemoveElements(std::string_view text, const Path& path, std::string_view mark,
                                   std::string_view file);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_SETTINGS_EDIT_H_
