#include "chat/context/gather.h"

#include <algorithm>

#include "assembly/sources/fence.h"
#include "base/hash.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "sources/commands/context_command.h"
#include "sources/commands/context_run.h"

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

// Returns the command as recorded: an argv as words, secrets as ***.
std::string TextOf(const ContextCommand& command) {
  const auto* line = std::get_if<std::string>(&command.run);
  const std::string text = line ? *line : Join(std::get<sources::CommandArgv>(command.run), " ");
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

// Conversion of gathered blocks to and from the journal's form.

namespace {

using Freshness = CommandRecord::Freshness;
using Origin = DeclaredCommand::Origin;
using Persist = DeclaredCommand::Persist;
using Unchanged = DeclaredCommand::Unchanged;

JsonObject CommandJson(const DeclaredCommand& command) {
  return {{"name", command.name},
          {"command", command.command},
          {"origin", OriginName(command.origin)},
          {"dynamic", command.freshness == Freshness::kDynamic},
          {"persist", command.persist == Persist::kYes},
          {"note", command.unchanged == Unchanged::kNote},
          {"on_failure", command.on_failure}};
}

JsonObject BlockJson(const ContextBlock& block) {
  const CommandRecord& record = block.record;
  return {{"command", block.command},          {"text", block.text},
          {"outcome", record.outcome},         {"status", record.status},
          {"duration_ms", record.duration_ms}, {"bytes", record.bytes},
          {"bytes_kept", record.bytes_kept},   {"tokens", record.tokens},
          {"sha256", record.sha256},           {"notes", record.notes}};
}

DeclaredCommand CommandOf(const Json& json) {
  const auto is = [&](std::string_view key) { return FindBool(json, key).value_or(false); };
  return {.name = TextAt(json, "name"),
          .command = TextAt(json, "command"),
          .origin =
              TextAt(json, "origin") == OriginName(Origin::kExec) ? Origin::kExec : Origin::kConfig,
          .freshness = is("dynamic") ? Freshness::kDynamic : Freshness::kStatic,
          .persist = is("persist") ? Persist::kYes : Persist::kNo,
          .unchanged = is("note") ? Unchanged::kNote : Unchanged::kFull,
          .on_failure = TextAt(json, "on_failure")};
}

ContextBlock BlockOf(const Json& json) {
  const auto number = [&](std::string_view key) { return FindInt(json, key).value_or(0); };
  ContextBlock block{.command = static_cast<std::size_t>(number("command")),
                     .text = TextAt(json, "text")};
  CommandRecord& record = block.record;
  record.outcome = TextAt(json, "outcome");
  record.status = static_cast<int>(number("status"));
  record.duration_ms = number("duration_ms");
  record.bytes = static_cast<std::uint64_t>(number("bytes"));
  record.bytes_kept = static_cast<std::uint64_t>(number("bytes_kept"));
  record.tokens = number("tokens");
  record.sha256 = TextAt(json, "sha256");
  if (const Json* notes = Find(json, "notes")) record.notes = *notes;
  return block;
}

}  // namespace

Json ToJson(const Gathered& gathered) {
  JsonArray commands, blocks;
  for (const DeclaredCommand& command : gathered.commands) commands.push_back(CommandJson(command));
  for (const ContextBlock& block : gathered.blocks) blocks.push_back(BlockJson(block));
  return JsonObject{{"commands", std::move(commands)}, {"blocks", std::move(blocks)}};
}

Result<Gathered> GatheredOf(const Json& json) {
  const Json* commands = Find(json, "commands");
  const Json* blocks = Find(json, "blocks");
  if (!commands || !commands->is_array() || !blocks || !blocks->is_array()) {
    return MakeError(ErrorCode::kDamaged, "the journal's record of the context is damaged");
  }
  Gathered out;
  for (const Json& command : commands->get_array()) out.commands.push_back(CommandOf(command));
  for (const Json& one : blocks->get_array()) {
    ContextBlock block = BlockOf(one);
    if (block.command >= out.commands.size()) {
      return MakeError(ErrorCode::kDamaged,
                       "the journal's record of the context names command {} of {}", block.command,
                       out.commands.size());
    }
    out.blocks.push_back(std::move(block));
  }
  return out;
}

std::vector<DeclaredCommand> TextContext::Declared() const {
  std::vector<DeclaredCommand> out = commands_.Declared();
  for (const NamedText& text : texts_) {
    out.push_back({.name = assembly::MarkerName(text.name),
                   .command = text.name,
                   .origin = DeclaredCommand::Origin::kExec,
                   .kind = DeclaredCommand::Kind::kText});
  }
  return out;
}

Result<Gathered> TextContext::Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                                     const CancelToken& cancel) {
  const std::size_t commands = commands_.Declared().size();
  std::vector<std::size_t> programs;
  for (const std::size_t index : run) {
    if (index < commands) programs.push_back(index);
  }
  DOSSIER_ASSIGN_OR_RETURN(Gathered gathered, commands_.Gather(programs, limits, cancel));
  // Keeps the properties that commands declared after they ran.
  const std::vector<DeclaredCommand> all = Declared();
  gathered.commands.insert(gathered.commands.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(commands), all.end());
  for (const std::size_t index : run) {
    if (index < commands) continue;
    gathered.blocks.push_back(BlockOf(texts_[index - commands], index, limits));
  }
  return gathered;
}

ContextBlock TextContext::BlockOf(const NamedText& text, std::size_t index,
                                  const GatherLimits& limits) const {
  sources::CommandResult result{.bytes = text.text.size(), .text = text.text};
  while (result.text.ends_with('\n') || result.text.ends_with('\r')) result.text.pop_back();
  result.kept = result.text.size();
  ContextBlock block{
      .command = index, .text = sources::RenderBlock(text.name, result), .record = {}};
  block.record.outcome = "ok";
  block.record.bytes = text.text.size();
  block.record.bytes_kept = result.text.size();
  block.record.tokens = limits.counter.CountText(block.text).tokens;
  block.record.sha256 = Sha256Hex(text.text);
  return block;
}

}  // namespace dossier::chat
