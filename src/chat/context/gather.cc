#include "chat/context/gather.h"

#include <algorithm>

#include "assembly/sources/fence.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "sources/commands/context_blocks.h"
#include "sources/commands/context_cut.h"

namespace dossier::chat {
namespace {

using sources::CommandOrigin;
using sources::CommandResult;
using sources::ContextCommand;

std::string_view OnFailureName(sources::OnFailure choice) {
  switch (choice) {
    case sources::OnFailure::kWarn:
      return "warn";
    case sources::OnFailure::kIgnore:
      return "ignore";
    case sources::OnFailure::kFail:
      return "fail";
  }
  return "warn";
}

// As it is recorded: an argv as words, secrets as ***.
std::string TextOf(const ContextCommand& command) {
  const auto* line = std::get_if<std::string>(&command.run);
  const std::string text = line ? *line : Join(std::get<sources::Argv>(command.run), " ");
  return Redact(text, FindSecrets(text), [](const Secret&) { return std::string("***"); });
}

DeclaredCommand Declare(const ContextCommand& command) {
  using Freshness = CommandRecord::Freshness;
  return {
      .name = assembly::MarkerName(command.name),
      .command = TextOf(command),
      .origin = command.origin == CommandOrigin::kExec ? DeclaredCommand::Origin::kExec
                                                       : DeclaredCommand::Origin::kConfig,
      .freshness = command.freshness == sources::Freshness::kDynamic ? Freshness::kDynamic
                                                                     : Freshness::kStatic,
      .persist = command.persist ? DeclaredCommand::Persist::kYes : DeclaredCommand::Persist::kNo,
      .unchanged = command.unchanged == sources::Unchanged::kNote
                       ? DeclaredCommand::Unchanged::kNote
                       : DeclaredCommand::Unchanged::kFull,
      .on_failure = std::string(OnFailureName(command.on_failure))};
}

Json NotesOf(const sources::CommandNotes& notes) {
  JsonObject out{{"escaped_lines", notes.escaped_lines}};
  const auto add = [&](std::string_view name, std::uint64_t count) {
    if (count > 0) out[name] = count;
  };
  add("invalid_bytes", notes.invalid_bytes);
  add("terminal_escapes", notes.terminal_escapes);
  add("cut_bytes", notes.cut_bytes);
  if (notes.left_background) out["left_background"] = true;
  if (notes.survivors) out["survivors"] = true;
  if (notes.phase_deadline) out["phase_deadline"] = true;
  if (!notes.stored.empty()) out["stored"] = notes.stored;
  return out;
}

CommandRecord RecordOf(const CommandResult& result, std::string_view block,
                       const tokens::Counter& counter) {
  CommandRecord record;
  record.outcome = sources::OutcomeName(result.outcome);
  record.status = result.status;
  record.duration_ms = result.took.count();
  record.bytes = result.bytes;
  record.bytes_kept = result.text.size();
  record.tokens = counter.CountText(block).tokens;
  record.sha256 = result.sha256;
  record.notes = NotesOf(result.notes);
  return record;
}

}  // namespace

std::vector<DeclaredCommand> CommandContext::Declared() const {
  std::vector<DeclaredCommand> out;
  out.reserve(setup_.commands.size());
  for (const ContextCommand& command : setup_.commands) out.push_back(Declare(command));
  return out;
}

Result<std::vector<ContextCommand>> CommandContext::Render(
    std::span<const std::size_t> run, std::vector<std::string>* warnings) const {
  std::vector<ContextCommand> chosen;
  bool templates = false;
  for (const std::size_t index : run) {
    chosen.push_back(setup_.commands[index]);
    templates |= chosen.back().origin == CommandOrigin::kConfig;
  }
  if (!templates) return chosen;
  DOSSIER_ASSIGN_OR_RETURN(const sources::TemplateVariables variables,
                           sources::ResolveVariables(setup_.variables));
  return sources::RenderCommands(chosen, variables, setup_.variables.rules, warnings);
}

Result<Gathered> CommandContext::Gather(std::span<const std::size_t> run,
                                        const GatherLimits& limits, const CancelToken& cancel) {
  Gathered gathered{.commands = Declared()};
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<ContextCommand> commands,
                           Render(run, &gathered.warnings));
  if (commands.empty()) return gathered;
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CommandResult> results,
                           sources::RunContext(commands, setup_.run, cancel));
  const auto count = [&](std::string_view text) { return limits.counter.CountText(text).upper(); };
  DOSSIER_RETURN_IF_ERROR(sources::CutToTokens(commands, limits.max_tokens, count, &results));
  for (const CommandResult& result : results) {
    const ContextCommand& command = commands[result.index];
    const auto text = sources::RenderBlocks(commands, {&result, 1});
    ContextBlock block{.command = run[result.index], .text = text.empty() ? "" : text.front()};
    block.record = RecordOf(result, block.text, limits.counter);
    gathered.commands[block.command] = Declare(command);
    for (std::string& warning : sources::CommandWarnings(command, result)) {
      gathered.warnings.push_back(std::move(warning));
    }
    gathered.blocks.push_back(std::move(block));
  }
  return gathered;
}

}  // namespace dossier::chat
