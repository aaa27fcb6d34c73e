#include "sources/commands/context_render.h"

#include "assembly/sources/fence.h"
#include "base/text/text.h"

namespace dossier::sources {
namespace {

Error Explain(const ContextCommand& command, const Error& error,
              const TemplateVariables& variables) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : variables) names.push_back(name);
  return {ErrorCode::kConfig, fmt::format("context command '{}': {} (variables: {})",
                                          assembly::MarkerName(command.name), error.message,
                                          names.empty() ? "none" : Join(names, ", "))};
}

Status RenderRun(const TemplateVariables& variables, ShellRule rule,
                 std::vector<std::string>* warnings, ContextCommand* command) {
  if (auto* line = std::get_if<std::string>(&command->run)) {
    DOSSIER_ASSIGN_OR_RETURN(*line, RenderTemplate(*line, variables, rule, warnings));
    return {};
  }
  for (std::string& word : std::get<Argv>(command->run)) {
    DOSSIER_ASSIGN_OR_RETURN(word, RenderTemplate(word, variables));
  }
  return {};
}

}  // namespace

Result<std::vector<ContextCommand>> RenderCommands(std::span<const ContextCommand> commands,
                                                   const TemplateVariables& variables,
                                                   CommandRules rules,
                                                   std::vector<std::string>* warnings) {
  const ShellRule rule = rules == CommandRules::kCompat ? ShellRule::kWarn : ShellRule::kRefuse;
  std::vector<ContextCommand> rendered(commands.begin(), commands.end());
  for (ContextCommand& command : rendered) {
    if (command.origin == CommandOrigin::kExec) continue;
    if (const Status done = RenderRun(variables, rule, warnings, &command); !done) {
      return tl::unexpected(Explain(command, done.error(), variables));
    }
  }
  return rendered;
}

}  // namespace dossier::sources
