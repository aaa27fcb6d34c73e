// Changes one entry of a client's settings and keeps every other byte: comments, order,
// indentation, line ends, a byte order mark.
//
//   DOSSIER_ASSIGN_OR_RETURN(
//       std::string text,
//       SetEntry(old, SettingsForm::kJson, {"mcpServers", "dossier"}, entry, "settings.json"));
//   DOSSIER_ASSIGN_OR_RETURN(old, RemoveEntry(text, SettingsForm::kJson, {"mcpServers", "dossier"},
//   file));
//
// kJson: JSON with comments and trailing commas, as editors write it. kToml: the last two names of
// the path are a table, [mcp_servers.dossier]; tables above or beside it stay. Errors: kDamaged,
// "FILE:LINE: reason", if the text cannot be read or changed safely; leave it unchanged then.
// Thread-safety: pure functions.

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

// Returns the value at `path`, if there is one.
Result<std::optional<Json>> FindEntry(std::string_view text, SettingsForm form, const Path& path,
                                      std::string_view file);
// Sets `value` at `path` and creates missing objects on the way. In TOML the value is an object of
// texts and lists of texts.
Result<std::string> SetEntry(std::string_view text, SettingsForm form, const Path& path,
                             const Json& value, std::string_view file);
// Removes `path`; returns the text unchanged if `path` is not there.
Result<std::string> RemoveEntry(std::string_view text, SettingsForm form, const Path& path,
                                std::string_view file);
// JSON only: appends `value` to the list at `path`, which is created if missing.
Result<std::string> AppendElement(std::string_view text, const Path& path, const Json& value,
                                  std::string_view file);
// JSON only: removes the elements of the list at `path` whose bytes contain `mark`.
Result<std::string> RemoveElements(std::string_view text, const Path& path, std::string_view mark,
                                   std::string_view file);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_SETTINGS_EDIT_H_
