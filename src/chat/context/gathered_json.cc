// What was gathered, as the journal keeps it.

#include "chat/context/gather.h"

namespace dossier::chat {
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

}  // namespace dossier::chat
