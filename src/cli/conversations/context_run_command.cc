#include "cli/conversations/context_run_command.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "base/json/json.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"
#include "sources/commands/context_blocks.h"
#include "sources/commands/context_run.h"

namespace dossier::cli {
namespace {

using sources::CommandResult;
using sources::ContextCommand;

// Config commands, then those of --exec, then the one of --argv.
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

// All templates, before anything runs. Without any no variable of the configuration is required.
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

// --block NAME or N, from 1; a name wins.
Result<std::vector<ContextCommand>> Select(std::vector<ContextCommand> commands,
                                           const std::string& block) {
  if (block.empty()) return commands;
  std::vector<std::string> names;
  for (const ContextCommand& command : commands) {
    if (command.name == block) return std::vector<ContextCommand>{command};
    names.push_back(command.name);
  }
  std::size_t number = 0;
  const auto parsed = std::from_chars(block.data(), block.data() + block.size(), number);
  if (parsed.ptr == block.data() + block.size() && number >= 1 && number <= commands.size()) {
    return std::vector<ContextCommand>{commands[number - 1]};
  }
  return MakeError(ErrorCode::kNotFound, "--block {}: there is no such command (1 to {}: {})",
                   block, commands.size(), names.empty() ? "none" : Join(names, ", "));
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

// Nothing is cut or left over silently.
void Warn(const ContextCommand& command, const CommandResult& result, std::ostream& err) {
  const std::string name = assembly::MarkerName(command.name);
  if (result.notes.left_background) {
    PrintWarning(err, fmt::format("context command '{}' left a process in the background", name));
  }
  if (result.notes.survivors) {
    PrintWarning(err, fmt::format("context command '{}': a process could not be ended", name));
  }
  if (result.notes.cut_bytes > 0) {
    PrintWarning(err, fmt::format("context command '{}': {} bytes cut by max_output", name,
                                  GroupDigits(result.notes.cut_bytes)));
  }
}

void Print(const ContextRunArguments& arguments, std::span<const ContextCommand> commands,
           std::span<const CommandResult> results, std::ostream& out, std::ostream& err) {
  const std::vector<std::string> blocks = sources::RenderBlocks(commands, results);
  for (const CommandResult& result : results) Warn(commands[result.index], result, err);
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

Status Run(const ContextRunArguments& arguments, const GlobalFlags& global, std::ostream& out,
           std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(global, {}, err));
  DOSSIER_ASSIGN_OR_RETURN(PreparedContext prepared, PrepareContext(arguments.context, config));
  chat::ContextSetup& setup = prepared.setup;
  Choose(arguments, &setup.commands);
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ContextCommand> commands,
                           Select(std::move(setup.commands), arguments.block));
  DOSSIER_ASSIGN_OR_RETURN(commands, Render(commands, setup.variables, err));
  if (commands.empty()) PrintWarning(err, "there are no context commands; give --exec CMD");
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<CommandResult> results,
                           sources::RunContext(commands, setup.run, arguments.cancel));
  Print(arguments, commands, results, out, err);
  return {};
}

}  // namespace

int RunContextRun(const ContextRunArguments& arguments, const GlobalFlags& global,
                  std::ostream& out, std::ostream& err) {
  const Status done = Run(arguments, global, out, err);
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  out.flush();
  return out ? 0 : kExitClosedStdout;
}

void AddContextRun(CLI::App& context, ContextRunArguments* arguments) {
  CLI::App& run = *context.add_subcommand("run", "run context commands, print their blocks");
  run.callback([arguments] { arguments->chosen = true; });
  AddContextFlags(run, &arguments->context);
  run.add_option("--argv", arguments->argv, "run a program without a shell: all words that follow")
      ->expected(1, 1000);
  run.add_flag("--no-context-exec", arguments->no_context_exec,
               "run no commands of the configuration");
  run.add_option("--block", arguments->block, "only the command of this name or number");
  run.add_flag("--json", arguments->json, "one object with blocks, outcomes, bytes and hashes");
}

}  // namespace dossier::cli
