// Context commands: what the config declares, and what running one gave.
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
enum class Unchanged { kFull, kNote };  // what a dynamic command's repeat shows
enum class CommandOrigin { kConfig, kExec };

using CommandArgv = std::vector<std::string>;

struct ContextCommand {
  std::string name;
  std::variant<std::string, CommandArgv> run;  // a line for /bin/sh, or a program and its arguments
  OnFailure on_failure = OnFailure::kWarn;
  std::chrono::milliseconds timeout{10'000};
  Freshness freshness = Freshness::kStatic;
  std::uint64_t max_output = 65'536;  // bytes of text
  bool persist = false;               // the block is saved with its turn
  Unchanged unchanged = Unchanged::kFull;
  bool keep_full = false;  // the whole output goes to the content store
  std::string folder;      // working folder; empty: ours
  std::vector<std::pair<std::string, std::string>> environment;  // added for this command
  std::vector<std::string> pass_environment;                     // names that are not held back
  CommandOrigin origin = CommandOrigin::kConfig;
};

// The commands of --exec, named "CLI Command N" from 1.
std::vector<ContextCommand> ExecCommands(const std::vector<std::string>& lines);

enum class CommandOutcome { kOk, kExit, kSignal, kTimeout, kStartError };
// "ok", "exit", "signal", "timeout", "start_error".
std::string_view OutcomeName(CommandOutcome outcome);

// What is worth knowing about a run beside its text.
struct CommandNotes {
  std::uint64_t escaped_lines = 0;     // marker-like lines, made harmless when rendered
  std::uint64_t invalid_bytes = 0;     // parts that were no UTF-8, and NULs
  std::uint64_t terminal_escapes = 0;  // removed
  std::uint64_t cut_bytes = 0;         // left out by max_output
  bool left_background = false;        // children of a success live on
  bool survivors = false;              // children that could not be ended
  bool phase_deadline = false;         // the time of all commands together was up
  std::string stored;                  // name of the whole output in the content store

  bool operator==(const CommandNotes&) const = default;
};

struct CommandResult {
  std::size_t index = 0;  // of the command
  CommandOutcome outcome = CommandOutcome::kOk;
  int status = 0;  // exit code or signal
  std::chrono::milliseconds took{0};
  std::uint64_t bytes = 0;  // of the whole output: stdout and, if it is not blank, LF and stderr
  std::uint64_t kept = 0;   // of `text`
  std::string sha256;       // of the whole output
  std::string text;         // clean and capped; empty if there was none
  std::string error;        // "Command exited with code 2"; empty for kOk
  CommandNotes notes;

  bool failed() const { return outcome != CommandOutcome::kOk; }
};

// The environment of this process, "NAME=VALUE" each.
std::vector<std::string> CurrentEnvironment();

// `inherited` without what IsSecretVariable knows and without values that hold one of `known_keys`,
// but with those that the command passes on; then what every command gets (no locks of git's, no
// colours, no pager), then the command's own.
std::vector<std::string> CommandEnvironment(std::span<const std::string> inherited,
                                            const ContextCommand& command,
                                            std::span<const std::string> known_keys);

// The config key `context_commands`.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, ReadContextCommands(*value, "dossier.yml"));
//
// Thread-safety: a pure function.

// `list` is the key's value; nothing (null) is an empty list. Places are counted from 0, as in
// "context_commands[2]: 'command' is missing (FILE:LINE)".
// Errors: kConfig with key, value, legal values and place.
Result<std::vector<ContextCommand>> ReadContextCommands(const YamlNode& list,
                                                        std::string_view file);

// Blocks: the output of context commands between markers that no output can forge.
//
//   RenderBlock("Git Status", result);   // --- Context: Git Status ---
//                                        //  M src/file.py
//                                        // --- End Context ---
//   JoinBlocks(blocks);                  // one blank line between
//   RestoreOutput(body);                 // the output as it was
//   FindBlocks(system_message);          // in files that do not say where their blocks are
//
// Thread-safety: pure functions.

// The templates in context commands, rendered before any process starts.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, RenderCommands(declared, variables, {}, &warnings));
//
// Thread-safety: pure functions.

// `command` strings are rendered with the shell rule, elements of `argv` one by one without; names,
// folders and the commands of --exec stay as they are.
// Errors: kConfig, naming the command and the variables there are.
Result<std::vector<ContextCommand>> RenderCommands(std::span<const ContextCommand> commands,
                                                   const TemplateVariables& variables,
                                                   CommandRules rules,
                                                   std::vector<std::string>* warnings);

// Without a trailing line end.
std::string RenderBlock(std::string_view name, const CommandResult& result);
// What a person is told of a command that has run: nothing fails, is cut, left out or left running
// silently. Sentences with the command's name.
std::vector<std::string> CommandWarnings(const ContextCommand& command,
                                         const CommandResult& result);
std::string JoinBlocks(std::span<const std::string> blocks);

// What a body was before its marker-like lines were escaped: the inverse of that escaping.
inline std::string RestoreOutput(std::string_view body) { return assembly::UnescapeMarkers(body); }

struct BlockSpan {
  std::size_t offset = 0, length = 0;  // bytes, both marker lines included
  std::string name;
  bool error = false;
};

// Pairs of a start line and the next end line. A start without an end is no block, nor is an end
// without a start; a start inside a block is text.
std::vector<BlockSpan> FindBlocks(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMAND_H_
