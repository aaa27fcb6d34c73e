#include "sources/commands/context_command.h"

#include <fmt/format.h>

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

}  // namespace dossier::sources
