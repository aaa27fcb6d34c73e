#include "chat/document/stored.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "sources/commands/context_command.h"

namespace dossier::chat {
namespace {

using Mode = ContextRecord::Mode;

std::uint64_t SizeAt(const Json& json, std::string_view key) {
  const std::int64_t value = FindInt(json, key).value_or(0);
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

// Reads a number that we rely on; 0 if it is absent. An invalid number must not pass for the start,
// and sums with it must stay in range.
Result<std::int64_t> NumberAt(const Json& json, std::string_view key, std::string_view of) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const Json* found = Find(json, key);
  const std::optional<std::int64_t> value = FindInt(json, key);
  if (found && !found->is_null() && (!value || *value < 0 || *value > kMost)) {
    return MakeError(ErrorCode::kDamaged, "{}.{} is {}, no number from 0 to {}", of, key,
                     ToJson(*found), kMost);
  }
  return value.value_or(0);
}

Result<std::uint64_t> PositionAt(const Json& json, std::string_view key, std::string_view of) {
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t number, NumberAt(json, key, of));
  return static_cast<std::uint64_t>(number);
}

// Returns the items of a list; empty if the list is missing.
Result<std::span<const Json>> ListAt(const Json& json, std::string_view key) {
  const Json* found = Find(json, key);
  if (!found || found->is_null()) return std::span<const Json>();
  if (!found->is_array()) return MakeError(ErrorCode::kDamaged, "{} is not a list", key);
  return std::span<const Json>(found->get_array().data(), found->get_array().size());
}

CommandRecord ReadCommand(const Json& json) {
  CommandRecord command{.name = TextAt(json, "name"),
                        .command = TextAt(json, "command"),
                        .origin = TextAt(json, "origin"),
                        .on_failure = TextAt(json, "on_failure"),
                        .outcome = TextAt(json, "outcome")};
  if (FindBool(json, "dynamic").value_or(false)) {
    command.freshness = CommandRecord::Freshness::kDynamic;
  }
  command.status = static_cast<int>(FindInt(json, "status").value_or(0));
  command.duration_ms = FindInt(json, "duration_ms").value_or(0);
  command.bytes = SizeAt(json, "bytes");
  command.bytes_kept = SizeAt(json, "bytes_kept");
  command.tokens = FindInt(json, "tokens").value_or(0);
  command.sha256 = TextAt(json, "sha256");
  if (const Json* notes = Find(json, "notes")) command.notes = *notes;
  return command;
}

Result<ContextRecord> ReadContext(const Json& json) {
  ContextRecord context;
  const std::string mode = TextAt(json, "mode");
  const std::array modes = {Mode::kStatic, Mode::kDisabled, Mode::kNone};
  const auto known =
      std::find_if(modes.begin(), modes.end(), [&](Mode one) { return ModeName(one) == mode; });
  if (known == modes.end()) {
    return MakeError(ErrorCode::kDamaged, "metadata.context.mode is '{}'", mode);
  }
  context.mode = *known;
  context.source = TextAt(json, "source");
  context.executed_at = TextAt(json, "executed_at");
  DOSSIER_ASSIGN_OR_RETURN(context.offset, PositionAt(json, "offset", "metadata.context"));
  DOSSIER_ASSIGN_OR_RETURN(context.length, PositionAt(json, "length", "metadata.context"));
  context.sha256 = TextAt(json, "sha256");
  context.system_sha256 = TextAt(json, "system_sha256");
  context.tokens = FindInt(json, "tokens").value_or(0);
  DOSSIER_ASSIGN_OR_RETURN(const auto commands, ListAt(json, "commands"));
  for (const Json& command : commands) context.commands.push_back(ReadCommand(command));
  if (const Json* history = Find(json, "history")) context.history = *history;
  return context;
}

Result<TurnRecord> ReadTurn(const Json& json) {
  TurnRecord turn{.at = TextAt(json, "at"),
                  .model = TextAt(json, "model"),
                  .base = FindInt(json, "base").value_or(0)};
  DOSSIER_ASSIGN_OR_RETURN(turn.n, NumberAt(json, "n", "a turn"));
  if (const Json* usage = Find(json, "usage")) turn.usage = *usage;
  if (const Json* dynamic = Find(json, "dynamic")) turn.dynamic = *dynamic;
  if (const Json* tools = Find(json, "tools")) turn.tools = *tools;
  if (FindBool(json, "incomplete").value_or(false)) turn.reply = TurnRecord::Reply::kIncomplete;
  turn.run = TextAt(json, "run");
  if (const Json* memory = Find(json, "memory")) turn.memory = *memory;
  return turn;
}

Result<CompactionRecord> ReadCompaction(const Json& json) {
  CompactionRecord record{.method = TextAt(json, "method"),
                          .text = TextAt(json, "text"),
                          .tokens_before = FindInt(json, "tokens_before").value_or(0),
                          .tokens_after = FindInt(json, "tokens_after").value_or(0),
                          .model = TextAt(json, "model"),
                          .at = TextAt(json, "at")};
  DOSSIER_ASSIGN_OR_RETURN(record.id, NumberAt(json, "id", "a compaction"));
  DOSSIER_ASSIGN_OR_RETURN(record.from, PositionAt(json, "from", "a compaction"));
  DOSSIER_ASSIGN_OR_RETURN(record.to, PositionAt(json, "to", "a compaction"));
  return record;
}

Status ReadDossier(const Json& dossier, std::size_t message_count, Stored* stored) {
  stored->title = TextAt(dossier, "title");
  DOSSIER_ASSIGN_OR_RETURN(const auto turns, ListAt(dossier, "turns"));
  for (const Json& turn : turns) {
    DOSSIER_ASSIGN_OR_RETURN(TurnRecord read, ReadTurn(turn));
    stored->turns.push_back(std::move(read));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto compaction, ListAt(dossier, "compaction"));
  for (const Json& record : compaction) {
    DOSSIER_ASSIGN_OR_RETURN(CompactionRecord read, ReadCompaction(record));
    if (read.from < stored->HistoryBegin() || read.from > read.to || read.to >= message_count) {
      stored->warnings.push_back(fmt::format(
          "compaction {} of conversation {} covers messages that are not there, or the system "
          "message, and does not count; "
          "to remove it, run: dossier conversations repair {}",
          read.id, stored->id, stored->id));
      continue;
    }
    stored->compaction.push_back(std::move(read));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto hints, ListAt(dossier, "hints"));
  for (const Json& hint : hints) {
    if (hint.is_string()) stored->hints.emplace_back(hint.get_string());
  }
  stored->former_ids = StringsOf(Find(dossier, "former_ids"));
  return {};
}

// A system message that differs from the recorded one was edited by a user or another program. The
// blocks that it contains now are the context.
void FindEditedContext(Stored* stored) {
  ContextRecord& context = *stored->context;
  const StoredMessage* system = stored->System();
  const std::string text = system ? system->Text() : "";
  const std::uint64_t size = text.size();
  const bool outside = context.offset > size || context.length > size - context.offset;
  const bool other = !context.system_sha256.empty() && context.system_sha256 != Sha256Hex(text);
  if (!outside && !other) return;
  stored->edited = Stored::Edited::kYes;
  const std::vector<sources::BlockSpan> blocks = sources::FindBlocks(text);
  context.offset = blocks.empty() ? 0 : blocks.front().offset;
  const std::uint64_t end = blocks.empty() ? 0 : blocks.back().offset + blocks.back().length;
  context.length = end - context.offset;
  context.sha256 = Sha256Hex(text.substr(context.offset, context.length));
  context.system_sha256 = Sha256Hex(text);
  stored->warnings.push_back(
      fmt::format("the system message of conversation {} was edited; its context is taken as it "
                  "stands (to write its record anew, run: dossier conversations repair {})",
                  stored->id, stored->id));
}

Status ReadMetadata(const Json& metadata, std::size_t message_count, Stored* stored) {
  // Other programs also write this one.
  const auto total = NumberAt(metadata, "total_tokens", "metadata");
  if (total && FindInt(metadata, "total_tokens")) stored->total_tokens = *total;
  if (const Json* context = Find(metadata, "context"); context && context->is_object()) {
    DOSSIER_ASSIGN_OR_RETURN(stored->context, ReadContext(*context));
    FindEditedContext(stored);
  }
  const Json* dossier = Find(metadata, "dossier");
  if (!dossier || dossier->is_null()) return {};
  if (!dossier->is_object()) return MakeError(ErrorCode::kDamaged, "metadata.dossier is no object");
  return ReadDossier(*dossier, message_count, stored);
}

Json OrEmptyList(const Json& json) { return json.is_null() ? Json(JsonArray()) : json; }
Json OrEmptyObject(const Json& json) { return json.is_null() ? Json(JsonObject()) : json; }

}  // namespace

std::string StoredMessage::Text() const {
  const Json* content = Find(json, "content");
  if (!content) return {};
  if (content->is_string()) return std::string(content->get_string());
  std::string out;
  if (!content->is_array()) return out;
  for (const Json& part : content->get_array()) {
    const auto text = FindString(part, "text");
    if (!text) continue;
    if (!out.empty()) out += "\n\n";
    out += *text;
  }
  return out;
}

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kStatic:
      return "static";
    case Mode::kDisabled:
      return "disabled";
    case Mode::kNone:
      break;
  }
  return "none";
}

Json ToJson(const ContextRecord& context) {
  JsonArray commands;
  for (const CommandRecord& command : context.commands) {
    commands.push_back(
        JsonObject{{"name", command.name},
                   {"command", command.command},
                   {"origin", command.origin},
                   {"dynamic", command.freshness == CommandRecord::Freshness::kDynamic},
                   {"on_failure", command.on_failure},
                   {"outcome", command.outcome},
                   {"status", command.status},
                   {"duration_ms", command.duration_ms},
                   {"bytes", command.bytes},
                   {"bytes_kept", command.bytes_kept},
                   {"tokens", command.tokens},
                   {"sha256", command.sha256},
                   {"notes", OrEmptyObject(command.notes)}});
  }
  return JsonObject{{"version", 1},
                    {"mode", ModeName(context.mode)},
                    {"source", context.source},
                    {"executed_at", context.executed_at},
                    {"offset", context.offset},
                    {"length", context.length},
                    {"sha256", context.sha256},
                    {"system_sha256", context.system_sha256},
                    {"tokens", context.tokens},
                    {"commands", std::move(commands)},
                    {"history", OrEmptyList(context.history)}};
}

Json ToJson(const TurnRecord& turn) {
  JsonObject json{{"n", turn.n},
                  {"at", turn.at},
                  {"model", turn.model},
                  {"base", turn.base},
                  {"usage", OrEmptyObject(turn.usage)},
                  {"dynamic", OrEmptyList(turn.dynamic)},
                  {"tools", OrEmptyList(turn.tools)},
                  {"incomplete", turn.reply == TurnRecord::Reply::kIncomplete},
                  {"run", turn.run}};
  if (!turn.memory.is_null()) json["memory"] = turn.memory;
  return json;
}

Json ToJson(const CompactionRecord& record) {
  return JsonObject{{"id", record.id},
                    {"from", record.from},
                    {"to", record.to},
                    {"method", record.method},
                    {"text", record.text},
                    {"tokens_before", record.tokens_before},
                    {"tokens_after", record.tokens_after},
                    {"model", record.model},
                    {"at", record.at}};
}

const StoredMessage* Stored::System() const {
  return !messages.empty() && messages[0].role == "system" ? &messages[0] : nullptr;
}

namespace {

Result<Stored> ReadWith(const Document& document, std::size_t messages_read) {
  Stored stored{.id = document.name(),
                .model = document.model(),
                .created_at = document.created_at(),
                .updated_at = document.updated_at()};
  const auto read = [&]() -> Status {
    for (std::size_t i = 0; i < messages_read; ++i) {
      DOSSIER_ASSIGN_OR_RETURN(Json json, document.ReadMessage(i));
      std::string role = TextAt(json, "role");
      stored.messages.push_back({std::move(role), std::move(json)});
    }
    DOSSIER_ASSIGN_OR_RETURN(const Json metadata, document.ReadMetadata());
    return ReadMetadata(metadata, document.message_count(), &stored);
  };
  const Status done = read();
  if (!done) {
    return MakeError(ErrorCode::kDamaged, "conversation {} is malformed: {}", document.name(),
                     done.error().message);
  }
  for (const std::string& key : document.ForeignKeys()) {
    stored.warnings.push_back(
        fmt::format("conversation {} has a foreign key '{}', which is kept; to move it to its "
                    "metadata, run: dossier context migrate {}",
                    document.name(), key, document.name()));
  }
  return stored;
}

}  // namespace

Result<Stored> ReadStored(const Document& document) {
  return ReadWith(document, document.message_count());
}

Result<Stored> ReadRecords(const Document& document) {
  return ReadWith(document, std::min<std::size_t>(1, document.message_count()));
}

bool HasContextBlocks(std::string_view text) { return !sources::FindBlocks(text).empty(); }

State StateOf(const Stored* stored) {
  if (!stored) return State::kNew;
  if (stored->context) {
    switch (stored->context->mode) {
      case Mode::kStatic:
        return State::kFrozen;
      case Mode::kDisabled:
        return State::kDisabled;
      case Mode::kNone:
        return State::kNoCommands;
    }
  }
  const StoredMessage* system = stored->System();
  const bool frozen = system && HasContextBlocks(system->Text());
  return frozen ? State::kLegacyFrozen : State::kLegacyBare;
}

SystemHalves SplitSystem(const Stored& stored) {
  const StoredMessage* system = stored.System();
  if (!system) return {};
  std::string text = system->Text();
  if (!stored.context || stored.context->length == 0) return {.text = std::move(text)};
  const auto offset = static_cast<std::size_t>(stored.context->offset);
  const auto length = static_cast<std::size_t>(stored.context->length);
  if (offset + length != text.size()) return {.text = std::move(text)};
  if (offset == 0) return {.context = std::move(text)};
  if (offset < 3 || text.compare(offset - 2, 2, "\n\n") != 0) return {.text = std::move(text)};
  return {.text = text.substr(0, offset - 2), .context = text.substr(offset)};
}

}  // namespace dossier::chat
