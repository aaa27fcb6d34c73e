#include "sources/commands/context_blocks.h"

#include <fmt/format.h>

#include <optional>

#include "assembly/sources/fence.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

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
