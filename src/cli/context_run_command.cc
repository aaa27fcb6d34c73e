#include "cli/context_run_command.h"

#include <charconv>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "sources/context_blocks.h"
#include "sources/context_render.h"
#include "sources/context_run.h"
#include "store/content.h"

namespace dossier::cli {
namespace {

using sources::CommandResult;
using sources::ContextCommand;

// Config commands, then those of --exec, then the one of --argv (N9).
Result<std::vector<ContextCommand>> MakeCommands(const ContextRunArguments& arguments,
                                                 std::ostream& err) {
  sources::VariableInput input = arguments.config.variables;
  input.given = arguments.variables;
  input.environment = sources::LookUpEnvironment;
  DOSSIER_ASSIGN_OR_RETURN(const sources::Variables variables, sources::ResolveVariables(input));
  std::vector<std::string> warnings;
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ContextCommand> commands,
                           sources::RenderCommands(arguments.config.commands, variables,
                                                   input.dialect, &warnings));
  for (const std::string& warning : warnings) PrintWarning(err, warning);
  for (ContextCommand& command : sources::ExecCommands(arguments.exec)) {
    commands.push_back(std::move(command));
  }
  if (!arguments.argv.empty()) {
    commands.push_back({.name = fmt::format("CLI Command {}", arguments.exec.size() + 1),
                        .run = arguments.argv,
                        .origin = sources::CommandOrigin::kExec});
  }
  return commands;
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
  return MakeError(ErrorCode::kNotFound, "--block {}: there is no such command (1 to {}: {})", block,
                   commands.size(), names.empty() ? "none" : Join(names, ", "));
}

Result<sources::RunOptions> MakeOptions(const ContextRunArguments& arguments) {
  if (arguments.jobs < 1 || arguments.jobs > 1000) {
    return MakeError(ErrorCode::kUsage, "--context-jobs {}: must be from 1 to 1,000",
                     arguments.jobs);
  }
  sources::RunOptions options{.max_parallel = static_cast<std::size_t>(arguments.jobs),
                              .known_keys = arguments.config.known_keys,
                              .dialect = arguments.config.variables.dialect};
  DOSSIER_ASSIGN_OR_RETURN(options.deadline, ParseDuration(arguments.timeout));
  if (options.deadline <= Millis(0)) {
    return MakeError(ErrorCode::kUsage, "--context-timeout {}: must be above 0", arguments.timeout);
  }
  return options;
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
  out << ToJson(JsonObject{{"schema", "dossier.context-run/1"},
                           {"text", sources::JoinBlocks(blocks)},
                           {"context", std::move(list)},
                           {"exit", 0}})
      << '\n';
}

Result<int> Run(const ContextRunArguments& arguments, std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(sources::RunOptions options, MakeOptions(arguments));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ContextCommand> commands, MakeCommands(arguments, err));
  DOSSIER_ASSIGN_OR_RETURN(commands, Select(std::move(commands), arguments.block));
  if (commands.empty()) PrintWarning(err, "there are no context commands; give --exec CMD");
  std::unique_ptr<store::ContentStore> store;
  const auto kept = [](const ContextCommand& command) { return command.keep_full; };
  if (std::any_of(commands.begin(), commands.end(), kept)) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    DOSSIER_ASSIGN_OR_RETURN(store, store::ContentStore::Open(data + "/content"));
    options.store = store.get();
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<CommandResult> results,
                           sources::RunContext(commands, options, arguments.cancel));
  Print(arguments, commands, results, out, err);
  out.flush();
  constexpr int kBrokenPipe = 141;
  return out ? 0 : kBrokenPipe;
}

struct Failure {
  std::string_view name;
  int exit;
};

// RunContext's kFailed is a command with `fail`, which has an exit code of its own (CON-4).
Failure Explain(const Error& error) {
  if (error.code == ErrorCode::kFailed) return {"context_command_failed", 14};
  return {ErrorName(error.code), ExitCode(error.code)};
}

}  // namespace

int RunContextRun(const ContextRunArguments& arguments, std::ostream& out, std::ostream& err) {
  const Result<int> code = Run(arguments, out, err);
  if (code) return *code;
  const Failure failure = Explain(code.error());
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.context-run/1"},
                             {"error", JsonObject{{"code", failure.name},
                                                  {"exit", failure.exit},
                                                  {"message", code.error().message}}}})
        << '\n';
  }
  PrintError(err, code.error());
  return failure.exit;
}

void AddContextRun(CLI::App& app, ContextRunArguments* arguments) {
  CLI::App& run = *app.get_subcommand("context")
                       ->add_subcommand("run", "run context commands, print their blocks");
  run.callback([arguments] { arguments->chosen = true; });
  run.add_option("--exec", arguments->exec, "run CMD with /bin/sh (repeat)")
      ->allow_extra_args(false);
  run.add_option("--argv", arguments->argv, "run a program without a shell: all words that follow")
      ->expected(1, 1000);
  run.add_option("-D,--var", arguments->variables, "NAME=VALUE for templates in commands (repeat)")
      ->allow_extra_args(false);
  run.add_option("--block", arguments->block, "only the command of this name or number");
  run.add_option("--context-jobs", arguments->jobs, "commands that run at once")
      ->capture_default_str();
  run.add_option("--context-timeout", arguments->timeout, "seconds for all of them, or 500ms, 2m")
      ->capture_default_str();
  run.add_flag("--json", arguments->json, "one object with blocks, outcomes, bytes and hashes");
}

}  // namespace dossier::cli
