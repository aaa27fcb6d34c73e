// Roles and templates of `dossier chat`: texts that a person stores under a name.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Preset role, FindPreset("roles", "reviewer", config_folder));
//   role.text;     // ~/.config/dossier/roles/reviewer.md without its front matter
//
// A file is Markdown; its front matter may set `model` and `temperature`. A template is a message
// in the template language of context commands, in which `input` is the typed or piped text.
// Thread-safety: functions over files.

#ifndef DOSSIER_CLI_CHAT_PRESET_H_
#define DOSSIER_CLI_CHAT_PRESET_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"
#include "model/schema/schema_source.h"

namespace dossier::cli {

struct Preset {
  std::string text, model;  // model "": none is set
  std::optional<double> temperature;
};

// Reads KIND/NAME.md in the user's own configuration folder, or the file if `name` is a path.
// Errors: kNotFound with the available names, kConfig (front matter), kUsage (not UTF-8).
Result<Preset> FindPreset(std::string_view kind, const std::string& name,
                          const std::string& config_folder);

// Stores `text` as KIND/NAME.md; it may already be there. Errors: kUsage (`name` is a path, or
// another text has that name), kIo.
Status KeepPreset(std::string_view kind, const std::string& name, std::string_view text,
                  const std::string& config_folder);

// `variables`: KEY=VALUE of -D. If the template does not use `input`, that is appended. Errors:
// kConfig, kUsage.
Result<std::string> FillTemplate(std::string_view text, std::string input,
                                 const std::vector<std::string>& variables);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_PRESET_H_
