#include "sources/commands/context_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "assembly/layout/yaml_fields.h"
#include "assembly/sources/fence.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

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

// Sets a variable, replacing an earlier one of that name.
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

namespace {

using assembly::FieldPlace;
using assembly::Into;
using assembly::ReadFlag;
using assembly::ReadString;
using assembly::ReadStrings;
using assembly::YamlField;

std::string Shown(const YamlNode& value) {
  switch (value.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return value.style == YamlNode::Style::kQuoted ? fmt::format("\"{}\"", value.scalar)
                                                 : value.scalar;
}

tl::unexpected<Error> Refuse(const FieldPlace& at, std::string_view legal) {
  return at.Fail(fmt::format("{} {}: must be {}", at.key, Shown(at.value), legal));
}

template <typename T>
Status ReadWord(const FieldPlace& at, std::span<const std::pair<std::string_view, T>> words,
                T* out) {
  std::string legal;
  const std::string given = ToLowerAscii(at.value.scalar);
  for (const auto& [word, value] : words) {
    if (at.value.kind == YamlNode::Kind::kScalar && word == given) {
      *out = value;
      return {};
    }
    if (!legal.empty()) legal += word == words.back().first ? " or " : ", ";
    legal += word;
  }
  return Refuse(at, legal);
}

Status ReadOnFailure(const FieldPlace& at, ContextCommand* out) {
  constexpr std::pair<std::string_view, OnFailure> kWords[] = {
      {"warn", OnFailure::kWarn}, {"ignore", OnFailure::kIgnore}, {"fail", OnFailure::kFail}};
  return ReadWord<OnFailure>(at, kWords, &out->on_failure);
}

Status ReadUnchanged(const FieldPlace& at, ContextCommand* out) {
  constexpr std::pair<std::string_view, Unchanged> kWords[] = {{"full", Unchanged::kFull},
                                                               {"note", Unchanged::kNote}};
  return ReadWord<Unchanged>(at, kWords, &out->unchanged);
}

// Accepts 10, 0.5, 500ms, 2m.
Status ReadTimeout(const FieldPlace& at, ContextCommand* out) {
  constexpr std::string_view kLegal = "above 0: seconds, or a time such as 500ms or 2m";
  constexpr double kMostSeconds = 7 * 86'400;
  if (at.value.kind != YamlNode::Kind::kScalar) return Refuse(at, kLegal);
  const std::string& text = at.value.scalar;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  const bool plain = text.find_first_not_of("0123456789.-") == std::string::npos;
  if (plain && !text.empty() && end == text.c_str() + text.size()) {
    if (seconds > kMostSeconds) return Refuse(at, "at most 7d");
    out->timeout = std::chrono::milliseconds(std::llround(seconds * 1000));
  } else if (const auto time = ParseDuration(text)) {
    out->timeout = *time;
  } else {
    return Refuse(at, kLegal);
  }
  if (out->timeout <= std::chrono::milliseconds(0)) return Refuse(at, kLegal);
  return {};
}

Status ReadMaxOutput(const FieldPlace& at, ContextCommand* out) {
  std::int64_t bytes = 0;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadWhole(at, 1, &bytes));
  out->max_output = static_cast<std::uint64_t>(bytes);
  return {};
}

Status ReadEnvironment(const FieldPlace& at, ContextCommand* out) {
  if (at.value.kind != YamlNode::Kind::kMap) return Refuse(at, "a map of names to texts");
  for (const YamlEntry& entry : at.value.entries) {
    std::string value;
    DOSSIER_RETURN_IF_ERROR(assembly::ReadString({at.file, entry.key, entry.value}, &value));
    const bool usable = !entry.key.empty() &&
                        entry.key.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    if (!usable || value.find('\0') != std::string::npos) {
      return Refuse({at.file, entry.key, entry.value}, "a name without = and a text without NUL");
    }
    out->environment.emplace_back(entry.key, std::move(value));
  }
  return {};
}

constexpr auto ReadDynamic = assembly::ReadFlagAs<Freshness::kDynamic, Freshness::kStatic>;

constexpr YamlField<ContextCommand> kFields[] = {
    {"name", Into<ReadString, &ContextCommand::name>},
    {"command",
     [](const FieldPlace& at, ContextCommand* out) {
       return ReadString(at, &out->run.emplace<std::string>());
     }},
    {"argv", [](const FieldPlace& at,
                ContextCommand* out) { return ReadStrings(at, &out->run.emplace<CommandArgv>()); }},
    {"on_failure", ReadOnFailure},
    {"timeout", ReadTimeout},
    {"dynamic", Into<ReadDynamic, &ContextCommand::freshness>},
    {"persist", Into<ReadFlag, &ContextCommand::persist>},
    {"unchanged", ReadUnchanged},
    {"cwd", Into<ReadString, &ContextCommand::folder>},
    {"env", ReadEnvironment},
    {"pass_env", Into<ReadStrings, &ContextCommand::pass_environment>},
    {"max_output", ReadMaxOutput},
    {"keep_full", Into<ReadFlag, &ContextCommand::keep_full>},
};

bool Has(const YamlNode& item, std::string_view key) {
  return std::any_of(item.entries.begin(), item.entries.end(),
                     [&](const YamlEntry& entry) { return entry.key == key; });
}

// Reads the item with number `index`.
class ItemReader {
 public:
  ItemReader(const YamlNode& item, std::string_view file, std::size_t index)
      : item_(item), file_(file), index_(index) {}

  Result<ContextCommand> Read() const {
    if (item_.kind != YamlNode::Kind::kMap) return Fail("must be a map with 'name' and 'command'");
    if (!Has(item_, "name")) return Fail("'name' is missing");
    const bool line = Has(item_, "command"), argv = Has(item_, "argv");
    if (!line && !argv) return Fail("'command' is missing");
    if (line && argv) return Fail("give 'command' or 'argv', not both");
    ContextCommand command;
    if (const Status read = assembly::ReadFields<ContextCommand>(item_, file_, kFields, &command);
        !read) {
      return tl::unexpected(Error{ErrorCode::kConfig, fmt::format("context_commands[{}]: {}",
                                                                  index_, read.error().message)});
    }
    if (TrimSpace(command.name).empty()) return Fail("'name' is empty");
    if (const auto* text = std::get_if<std::string>(&command.run);
        text && TrimSpace(*text).empty()) {
      return Fail("'command' is empty");
    }
    if (const auto* words = std::get_if<CommandArgv>(&command.run); words && words->empty()) {
      return Fail("'argv' is empty");
    }
    // Otherwise the earlier block is out of view, and the note would refer to nothing.
    if (command.unchanged == Unchanged::kNote && !command.persist) {
      return Fail("'unchanged: note' needs 'persist: true'");
    }
    return command;
  }

 private:
  tl::unexpected<Error> Fail(std::string_view message) const {
    return MakeError(ErrorCode::kConfig, "context_commands[{}]: {} ({}:{})", index_, message, file_,
                     item_.line);
  }

  const YamlNode& item_;
  std::string_view file_;
  std::size_t index_;
};

}  // namespace

Result<std::vector<ContextCommand>> ReadContextCommands(const YamlNode& list,
                                                        std::string_view file) {
  std::vector<ContextCommand> commands;
  if (list.kind == YamlNode::Kind::kNull) return commands;
  if (list.kind != YamlNode::Kind::kList) {
    return MakeError(ErrorCode::kConfig,
                     "context_commands: must be a list of maps with 'name' and 'command' ({}:{})",
                     file, list.line);
  }
  for (const YamlNode& item : list.items) {
    DOSSIER_ASSIGN_OR_RETURN(ContextCommand command,
                             ItemReader(item, file, commands.size()).Read());
    commands.push_back(std::move(command));
  }
  return commands;
}

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
  for (std::string& word : std::get<CommandArgv>(command->run)) {
    DOSSIER_ASSIGN_OR_RETURN(word, RenderTemplate(word, variables));
  }
  return {};
}

constexpr std::string_view kStart = "--- Context: ";
constexpr std::string_view kErrorStart = "--- Context Error: ";
constexpr std::string_view kEnd = "--- End Context ---";
constexpr std::string_view kClose = " ---";

std::string Wrap(std::string_view start, std::string_view name, std::string_view body) {
  return fmt::format("{}{}{}\n{}\n{}", start, assembly::MarkerName(name), kClose, body, kEnd);
}

struct Header {
  std::string_view name;
  bool error = false;
};

std::optional<Header> ReadHeader(std::string_view line) {
  for (const std::string_view start : {kErrorStart, kStart}) {
    if (!line.starts_with(start) || !line.ends_with(kClose)) continue;
    if (line.size() < start.size() + kClose.size()) continue;
    return Header{line.substr(start.size(), line.size() - start.size() - kClose.size()),
                  start == kErrorStart};
  }
  return std::nullopt;
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

std::string RenderBlock(std::string_view name, const CommandResult& result) {
  const std::string output = assembly::EscapeMarkers(result.text);
  if (!result.failed()) return Wrap(kStart, name, output.empty() ? "(no output)" : output);
  std::string body = assembly::EscapeMarkers(result.error);
  if (!output.empty()) body += "\nPartial output:\n" + output;
  return Wrap(kErrorStart, name, body);
}

std::vector<std::string> CommandWarnings(const ContextCommand& command,
                                         const CommandResult& result) {
  std::vector<std::string> warnings;
  const auto warn = [&](std::string_view text) {
    warnings.push_back(
        fmt::format("context command '{}' {}", assembly::MarkerName(command.name), text));
  };
  if (result.failed() && command.on_failure == OnFailure::kWarn) {
    const std::string said = utf8::CleanForTerminal(utf8::Prefix(FirstLine(result.text), 200));
    warn(fmt::format("failed: {}{}; the prompt says so in its place", result.error,
                     said.empty() ? "" : fmt::format(" ({})", said)));
  }
  if (result.notes.cut_bytes > 0) {
    warn(fmt::format("gave {} bytes more than are kept", GroupDigits(result.notes.cut_bytes)));
  }
  if (result.notes.left_background) warn("left a process in the background");
  if (result.notes.survivors) warn("left a process that could not be ended");
  return warnings;
}

std::string JoinBlocks(std::span<const std::string> blocks) {
  return fmt::format("{}", fmt::join(blocks, "\n\n"));
}

std::vector<BlockSpan> FindBlocks(std::string_view text) {
  std::vector<BlockSpan> blocks;
  std::optional<BlockSpan> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, newline - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto header = open ? std::nullopt : ReadHeader(line);
    if (header) {
      open = BlockSpan{.offset = at, .name = std::string(header->name), .error = header->error};
    } else if (open && line == kEnd) {
      open->length = at + line.size() - open->offset;
      blocks.push_back(std::move(*open));
      open.reset();
    }
    at = newline + 1;
  }
  return blocks;
}

}  // namespace dossier::sources
