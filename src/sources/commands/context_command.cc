#include "sources/commands/context_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/redact.h"

namespace dossier::sources {

std::vector<ContextCommand> ExecCommands(const std::vector<std::string>& lines) {
  std::vector<ContextCommand> commands;
  for (const std::string& line : lines) {
    commands.push_back({.name = fmt::format("CLI Command {}", commands.size() + 1),
                        .run = line,
                        .origin = CommandOrigin::kExec});
  }
  return commands;
}

std::string_view OutcomeName(CommandOutcome outcome) {
  constexpr std::string_view kNames[] = {"ok", "exit", "signal", "timeout", "start_error"};
  return kNames[static_cast<std::size_t>(outcome)];
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kAlways[] = {
    {"GIT_OPTIONAL_LOCKS", "0"}, {"NO_COLOR", "1"}, {"PAGER", "cat"}};

bool HoldsKey(std::string_view value, std::span<const std::string> known_keys) {
  return std::any_of(known_keys.begin(), known_keys.end(), [&](const std::string& key) {
    return !key.empty() && value.find(key) != std::string_view::npos;
  });
}

// Replaces an earlier one of that name.
void Set(std::string_view name, std::string_view value, std::vector<std::string>* environment) {
  const std::string start = std::string(name) + "=";
  std::erase_if(*environment,
                [&](const std::string& variable) { return variable.starts_with(start); });
  environment->push_back(start + std::string(value));
}

}  // namespace

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable && *variable; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<std::string> CommandEnvironment(std::span<const std::string> inherited,
                                            const ContextCommand& command,
                                            std::span<const std::string> known_keys) {
  std::vector<std::string> environment;
  const std::vector<std::string>& passed = command.pass_environment;
  for (const std::string& variable : inherited) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    const std::string name = variable.substr(0, equals);
    const std::string_view value =
        std::string_view(variable).substr(std::min(equals + 1, variable.size()));
    const bool pass = std::find(passed.begin(), passed.end(), name) != passed.end();
    if (pass || !(IsSecretVariable(name, value) || HoldsKey(value, known_keys))) {
      environment.push_back(variable);
    }
  }
  for (const auto& [name, value] : kAlways) Set(name, value, &environment);
  for (const auto& [name, value] : command.environment) Set(name, value, &environment);
  return environment;
}

}  // namespace dossier::sources
