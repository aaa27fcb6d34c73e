// The variables of command templates: where their values come from, and which type a text becomes.
//
//   VariableInput input{.declared = {{"BRANCH", TemplateValue("main")}, {"N", std::nullopt}},
//                       .given = {"N=7"}, .environment = LookUpEnvironment};
//   DOSSIER_ASSIGN_OR_RETURN(TemplateVariables variables, ResolveVariables(input));
//   // N is the number 7
//
// Thread-safety: pure functions, but for what `environment` does.

#ifndef DOSSIER_SOURCES_COMMANDS_VARIABLES_H_
#define DOSSIER_SOURCES_COMMANDS_VARIABLES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml/yaml.h"
#include "sources/template/template_render.h"

namespace dossier::sources {

// Whose rules hold: ours, or those of the Python tool whose files we read.
enum class CommandRules { kDossier, kCompat };

struct VariableInput {
  std::map<std::string, std::optional<TemplateValue>> declared;  // name -> default; none: required
  std::vector<std::string> given;                                // "NAME=VALUE" of -D, in order
  // Asked for declared names only.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  CommandRules rules = CommandRules::kDossier;
};

// Errors: kUsage (a -D without a name or `=`), kConfig (a required one is missing).
Result<TemplateVariables> ResolveVariables(const VariableInput& input);

// The value that a text from -D or the environment means.
TemplateValue CoerceText(std::string_view text, CommandRules rules);

// A variable of a YAML file, types as written there.
TemplateValue ValueOfYaml(const YamlNode& node);

std::optional<std::string> LookUpEnvironment(const std::string& name);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_VARIABLES_H_
