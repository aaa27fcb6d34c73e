// Context commands: what the configuration declares, and the results of running them.
//
//   ContextCommand command{.name = "Git Status", .run = "git status --short"};
//
// Thread-safety: plain data.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMAND_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMAND_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assembly/sources/fence.h"
#include "base/result.h"
#include "base/yaml/yaml.h"
#include "sources/commands/command_text.h"
#include "sources/template/template_render.h"

namespace dossier::sources {

enum class OnFailure { kWarn, kIgnore, kFail };
enum class Freshness { kStatic, kDynamic };
enum class Unchanged { kFull, kNote };  // what is shown if a dynamic command is repeated
enum class CommandOrigin { kConfig, kExec };

using CommandArgv = std::vector<std::string>;

struct ContextCommand {
  std::string name;
  std::variant<std::string, CommandArgv> run;  // a line for /bin/sh, or a program and its arguments
  OnFailure on_failure = OnFailure::kWarn;
  std::chrono::milliseconds timeout{10'000};
  Freshness freshness = Freshness::kStatic;
  std::uint64_t max_output = 65'536;  // maximum size of the text, in bytes
  bool persist = false;               // save the block with its turn
  Unchanged unchanged = Unchanged::kFull;
  bool keep_full = false;  // store the whole output in the content store
  std::string folder;      // working folder; empty: the current one
  std::vector<std::pair<std::string, std::string>> environment;  // set for this command
  std::vector<std::string> pass_environment;  // secret variables that are passed on anyway
  CommandOrigin origin = CommandOrigin::kConfig;
};

// Returns the commands of --exec, named "CLI Command N" from 1.
std::vector<ContextCommand> ExecCommands(const std::vector<std::string>& lines);

enum class CommandOutcome { kOk, kExit, kSignal, kTimeout, kStartError };
// Returns "ok", "exit", "signal", "timeout" or "start_error".
std::string_view OutcomeName(CommandOutcome outcome);

// Facts about a run that its text does not show.
struct CommandNotes {
  std::uint64_t escaped_lines = 0;     // lines like our markers, escaped when rendered
  std::uint64_t invalid_bytes = 0;     // sequences of invalid UTF-8, and NULs
  std::uint64_t terminal_escapes = 0;  // number removed
  std::uint64_t cut_bytes = 0;         // omitted because of max_output, or dropped (see sha256)
  bool left_background = false;        // a successful command left children running
  bool survivors = false;              // some children could not be killed
  bool phase_deadline = false;         // the deadline of all commands together expired
  std::string stored;                  // name of the whole output in the content store

  bool operator==(const CommandNotes&) const = default;
};

struct CommandResult {
  std::size_t index = 0;  // index of the command
  CommandOutcome outcome = CommandOutcome::kOk;
  int status = 0;  // exit code or signal
  std::chrono::milliseconds took{0};
  std::uint64_t bytes = 0;  // of the whole output: stdout and, if it is not blank, LF and stderr
  std::uint64_t kept = 0;   // bytes in `text`
  std::string sha256;       // of the whole output; of stderr the first 64 MiB, the rest is dropped
  std::string text;         // cleaned and truncated; empty if there was no output
  std::string error;        // "Command exited with code 2"; empty for kOk
  CommandNotes notes;

  bool failed() const { return outcome != CommandOutcome::kOk; }
};

// Returns the environment of this process as "NAME=VALUE" strings.
std::vector<std::string> CurrentEnvironment();

// Starts from `inherited` without variables that IsSecretVariable matches or whose value contains
// one of `known_keys`, but keeps those that the command passes on. Then adds what every command
// gets (no git locks, no colours, no pager) and the command's own variables.
std::vector<std::string> CommandEnvironment(std::span<const std::string> inherited,
                                            const ContextCommand& command,
                                            std::span<const std::string> known_keys);

// Reads the configuration key `context_commands`.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, ReadContextCommands(*value, "dossier.yml"));
//
// Thread-safety: a pure function.

// `list` is the key's value; null counts as an empty list. Errors: kConfig with key, value, legal
// values and place; indexes count from 0: "context_commands[2]: 'command' is missing (FILE:LINE)".
Result<std::vector<ContextCommand>> ReadContextCommands(const YamlNode& list,
                                                        std::string_view file);

// Blocks: the output of context commands between markers that no output can forge.
//
//   RenderBlock("Git Status", result);   // --- Context: Git Status ---
//                                        //  M src/file.py
//                                        // --- End Context ---
//   JoinBlocks(blocks);                  // one blank line between
//   RestoreOutput(body);                 // the output as it was
//   FindBlocks(system_message);          // for files that do not record their blocks
//
// Thread-safety: pure functions.

// Renders the templates in context commands before any process starts.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, RenderCommands(declared, variables, {}, &warnings));
//
// Thread-safety: pure functions.

// `command` strings are rendered with the shell rule, elements of `argv` one by one without it.
// Names, folders and the commands of --exec stay as they are. Errors: kConfig, naming the command
// and the variables that exist.
Result<std::vector<ContextCommand>> RenderCommands(std::span<const ContextCommand> commands,
                                                   const TemplateVariables& variables,
                                                   CommandRules rules,
                                                   std::vector<std::string>* warnings);

// The result has no newline at its end.
std::string RenderBlock(std::string_view name, const CommandResult& result);
// Returns sentences for a person about a finished command, with its name: a failure, a cut, an
// omission or a process left running is never silent.
std::vector<std::string> CommandWarnings(const ContextCommand& command,
                                         const CommandResult& result);
std::string JoinBlocks(std::span<const std::string> blocks);

// Reverses the escaping of marker-like lines in a body.
inline std::string RestoreOutput(std::string_view body) { return assembly::UnescapeMarkers(body); }

struct BlockSpan {
  std::size_t offset = 0, length = 0;  // in bytes, including both marker lines
  std::string name;
  bool error = false;
};

// Pairs each start line with the next end line. A start without an end is no block, and neither is
// an end without a start; a start inside a block is text.
std::vector<BlockSpan> FindBlocks(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMAND_H_
