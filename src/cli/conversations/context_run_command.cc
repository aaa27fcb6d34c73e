// context run: runs the commands of the configuration and of --exec without a model. Blocks go to
// stdout, warnings to stderr.

#include <algorithm>
#include <ostream>

#include "base/json/json.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/conversations/context_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "sources/commands/context_command.h"
#include "sources/commands/context_run.h"

namespace dossier::cli {
namespace {

using sources::CommandResult;
using sources::ContextCommand;

struct ContextRunArguments {
  ContextFlags context;
  std::vector<std::string> argv;
  std::string block;
  bool no_context_exec = false, json = false;
};

// Order: config commands, then those of --exec, then that of --argv.
void Choose(const ContextRunArguments& arguments, std::vector<ContextCommand>* commands) {
  if (arguments.no_context_exec) {
    std::erase_if(*commands, [](const ContextCommand& command) {
      return command.origin == sources::CommandOrigin::kConfig;
    });
  }
  if (!arguments.argv.empty()) {
    commands->push_back({.name = fmt::format("CLI Command {}", arguments.context.exec.size() + 1),
                         .run = arguments.argv,
                         .origin = sources::CommandOrigin::kExec});
  }
}

// Renders all templates before anything runs. Without templates no variable is required.
Result<std::vector<ContextCommand>> Render(const std::vector<ContextCommand>& commands,
                                           sources::VariableInput input, std::ostream& err) {
  const bool templates = std::any_of(commands.begin(), commands.end(), [](const auto& command) {
    return command.origin == sources::CommandOrigin::kConfig;
  });
  if (!templates) input.declared.clear();
  DOSSIER_ASSIGN_OR_RETURN(const sources::TemplateVariables variables,
                           sources::ResolveVariables(input));
  std::vector<std::string> warnings;
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ContextCommand> rendered,
                           sources::RenderCommands(commands, variables, input.rules, &warnings));
  for (const std::string& warning : warnings) PrintWarning(err, warning);
  return rendered;
}

// Handles --block NAME or N (from 1); a name takes precedence.
Result<std::vector<ContextCommand>> Select(std::vector<ContextCommand> commands,
                                           const std::string& block) {
  if (block.empty()) return commands;
  std::vector<std::string> names;
  for (const ContextCommand& command : commands) {
    if (command.name == block) return std::vector<ContextCommand>{command};
    names.push_back(command.name);
  }
  const auto number = ExactNumber<std::size_t>(block);
  if (number && *number >= 1 && *number <= commands.size()) {
    return std::vector<ContextCommand>{commands[*number - 1]};
  }
  return MakeError(ErrorCode::kNotFound, "--block {}: there is no such command (1 to {}: {}){}",
                   block, commands.size(), names.empty() ? "none" : Join(names, ", "),
                   DidYouMean(block, names));
}

Json BlockJson(const ContextCommand& command, const CommandResult& result, std::string_view block) {
  JsonObject json{{"name", assembly::MarkerName(command.name)},
                  {"outcome", sources::OutcomeName(result.outcome)},
                  {"status", result.status},
                  {"bytes", result.bytes},
                  {"bytes_kept", result.kept},
                  {"sha256", result.sha256},
                  {"duration_ms", result.took.count()},
                  {"text", block}};
  const sources::CommandNotes& notes = result.notes;
  json["notes"] = JsonObject{{"escaped_lines", notes.escaped_lines},
                             {"invalid_bytes", notes.invalid_bytes},
                             {"terminal_escapes", notes.terminal_escapes},
                             {"cut_bytes", notes.cut_bytes},
                             {"left_background", notes.left_background}};
  return json;
}

void Print(const ContextRunArguments& arguments, std::span<const ContextCommand> commands,
           std::span<const CommandResult> results, std::ostream& out, std::ostream& err) {
  const std::vector<std::string> blocks = sources::RenderBlocks(commands, results);
  for (const CommandResult& result : results) {
    for (const std::string& warning : sources::CommandWarnings(commands[result.index], result)) {
      PrintWarning(err, warning);
    }
  }
  if (!arguments.json) {
    if (!blocks.empty()) out << sources::JoinBlocks(blocks) << '\n';
    return;
  }
  JsonArray list;
  for (const CommandResult& result : results) {
    const auto own = sources::RenderBlocks(commands, {&result, 1});
    list.push_back(BlockJson(commands[result.index], result, own.empty() ? "" : own[0]));
  }
  out << ToJson(JsonObject{
             {"schema", "dossier.context-run/1"}, {"context", std::move(list)}, {"exit", 0}})
      << '\n';
}

Status RunCommands(const ContextRunArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  DOSSIER_ASSIGN_OR_RETURN(PreparedContext prepared, PrepareContext(arguments.context, config));
  chat::ContextSetup& setup = prepared.setup;
  Choose(arguments, &setup.commands);
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ContextCommand> commands,
                           Select(std::move(setup.commands), arguments.block));
  DOSSIER_ASSIGN_OR_RETURN(commands, Render(commands, setup.variables, context.err));
  if (commands.empty()) PrintWarning(context.err, "there are no context commands; give --exec CMD");
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<CommandResult> results,
                           sources::RunContext(commands, setup.run, context.cancel));
  Print(arguments, commands, results, context.out, context.err);
  return {};
}

void DeclareRun(Flags& flags, ContextRunArguments& to) {
  AddContextFlags(flags, &to.context);
  flags.Add("--argv", &to.argv, "run a program without a shell: all words that follow")
      .Kind(kWord)
      .TakesRest();
  flags.Add("--no-context-exec", &to.no_context_exec,
            "do not run the commands that the configuration names");
  flags.Add("--block", &to.block, "only the command of this name or number");
  flags.Add("--json", &to.json, "one object with blocks, outcomes, bytes and hashes");
}

}  // namespace

Command ContextRunCommand() {
  return {.name = "run",
          .summary = "run context commands and print what a prompt would get",
          .binding = Bind(DeclareRun, RunCommands)};
}

}  // namespace dossier::cli
