#include "chat/store/save.h"

#include <algorithm>

#include "chat/context/compact.h"

namespace dossier::chat {
namespace {

JsonObject TextMessage(std::string_view role, std::string_view text) {
  return {{"role", role}, {"content", text}};
}

// OpenAI's format: a list of parts if there is more than a text.
JsonObject UserMessage(const TurnSave& save) {
  if (save.images.empty()) return TextMessage("user", save.user);
  JsonArray parts;
  for (const assembly::Block& image : save.images) {
    const std::string url = image.url.empty()
                                ? fmt::format("data:{};base64,{}", image.media_type, image.text)
                                : image.url;
    parts.push_back(JsonObject{{"type", "image_url"}, {"image_url", JsonObject{{"url", url}}}});
  }
  parts.push_back(JsonObject{{"type", "text"}, {"text", save.user}});
  return {{"role", "user"}, {"content", std::move(parts)}};
}

std::int64_t CountTurns(const Stored& stored) {
  return std::ranges::count(stored.messages, "user", &StoredMessage::role);
}

// Returns the start of the last turn: the user's message and everything after it.
std::size_t LastTurnBegin(const Stored& stored) {
  std::size_t begin = stored.messages.size();
  while (begin > stored.HistoryBegin()) {
    --begin;
    if (stored.messages[begin].role == "user") return begin;
  }
  return stored.messages.size();
}

Status DropCompactionsFrom(const Stored& stored, std::size_t message, Document* document) {
  std::size_t count = 0;
  for (auto record = stored.compaction.rbegin(); record != stored.compaction.rend(); ++record) {
    if (record->to < message) break;
    ++count;
  }
  return document->metadata().RemoveLast({"dossier", "compaction"}, count);
}

// All messages move by one, and so do the records' indexes.
Status InsertSystem(std::string_view text, const Stored& stored, Document* document) {
  DOSSIER_RETURN_IF_ERROR(document->InsertFirstMessage(TextMessage("system", text)));
  if (stored.compaction.empty()) return {};
  JsonArray moved;
  for (CompactionRecord record : stored.compaction) {
    ++record.from;
    ++record.to;
    moved.push_back(ToJson(record));
  }
  return document->metadata().Set({"dossier", "compaction"}, moved);
}

Status SetTotal(const TurnSave& save, const FinishedTurn& finished, const Stored& stored,
                Document* document) {
  // Unknown after a turn was removed: the next plan counts again.
  const bool known = save.recounted || stored.total_tokens;
  if (!known && save.kind == TurnSave::Kind::kAppend) return {};
  const std::int64_t before = save.recounted.value_or(stored.total_tokens.value_or(0));
  return document->metadata().Set({"total_tokens"}, before + save.tokens + finished.tokens);
}

// Returns the number of the turn to be added to `document` with `records`: a conversation of
// another program has messages but no turns.
Result<std::int64_t> NextTurn(const Stored& records, const Document& document) {
  if (!records.turns.empty()) return records.turns.back().n + 1;
  DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(document));
  return 1 + CountTurns(stored);
}

Status AddTurnRecord(const TurnSave& save, const FinishedTurn& finished, std::int64_t number,
                     Document* document) {
  TurnRecord record = finished.record;
  record.n = number;
  record.at = finished.now;
  record.base = save.base;
  record.dynamic = save.dynamic;
  if (finished.keep) record.memory = finished.keep(document->id(), number);
  return document->metadata().Append({"dossier", "turns"}, ToJson(record));
}

Status AddDossier(const TurnSave& save, Document* document) {
  DOSSIER_ASSIGN_OR_RETURN(const Json metadata, document->ReadMetadata());
  const Json* dossier = Find(metadata, "dossier");
  if (!dossier || !Find(*dossier, "version")) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Set({"dossier", "version"}, 1));
  }
  const bool untitled = !dossier || !FindString(*dossier, "title");
  if (save.kind == TurnSave::Kind::kCreate || (untitled && !save.title.empty())) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Set({"dossier", "title"}, Json(save.title)));
  }
  for (const std::string& hint : save.hints) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Append({"dossier", "hints"}, Json(hint)));
  }
  return {};
}

// Creates a message if there is none.
Status SetSystem(const std::string& text, Document* document) {
  DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
  if (stored.System()) return document->SetContent(0, Json(text));
  return text.empty() ? Status() : InsertSystem(text, stored, document);
}

}  // namespace

Status ApplyTurn(const TurnSave& save, const FinishedTurn& finished, Document* document) {
  if (save.kind == TurnSave::Kind::kNothing) {
    return MakeError(ErrorCode::kInvalidArgument, "this turn is not to be saved");
  }
  if (finished.replaces == FinishedTurn::Replaces::kIncomplete) {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
    if (stored.turns.empty() || stored.turns.back().reply != TurnRecord::Reply::kIncomplete) {
      return MakeError(ErrorCode::kInvalidArgument, "the last turn of conversation {} is complete",
                       document->name());
    }
  }
  const bool still_last = finished.replaces == FinishedTurn::Replaces::kLast &&
                          document->message_count() == finished.seen;
  if (still_last || finished.replaces == FinishedTurn::Replaces::kIncomplete) {
    DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t gone,
                             RemoveLastTurn(document, finished.now));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Stored records, ReadRecords(*document));
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t number, NextTurn(records, *document));
  if (save.adopted) DOSSIER_RETURN_IF_ERROR(document->SetModel(*save.adopted));
  if (save.context && save.kind == TurnSave::Kind::kAppend) {
    DOSSIER_RETURN_IF_ERROR(
        ApplyContext({save.system.value_or(""), *save.context}, finished.now, document));
  } else if (save.system && save.kind == TurnSave::Kind::kAppend) {
    DOSSIER_RETURN_IF_ERROR(SetSystem(*save.system, document));
  } else if (save.kind == TurnSave::Kind::kCreate && save.system && !save.system->empty()) {
    document->AppendMessage(TextMessage("system", *save.system));
  }
  document->AppendMessage(UserMessage(save));
  for (const JsonObject& message : finished.messages) document->AppendMessage(message);
  document->SetUpdated(finished.now);
  DOSSIER_RETURN_IF_ERROR(SetTotal(save, finished, records, document));
  if (save.kind == TurnSave::Kind::kCreate && save.context) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Set({"context"}, ToJson(*save.context)));
  }
  DOSSIER_RETURN_IF_ERROR(AddDossier(save, document));
  DOSSIER_RETURN_IF_ERROR(AddTurnRecord(save, finished, number, document));
  return ApplyCompaction(save.compaction, document);
}

Result<std::size_t> RemoveLastTurn(Document* document, std::string_view now) {
  DOSSIER_RETURN_IF_ERROR(document->Apply());
  DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
  const std::size_t begin = LastTurnBegin(stored);
  const std::size_t count = stored.messages.size() - begin;
  if (count == 0) return 0;
  DOSSIER_RETURN_IF_ERROR(DropCompactionsFrom(stored, begin, document));
  if (!stored.turns.empty()) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().RemoveLast({"dossier", "turns"}, 1));
  }
  DOSSIER_RETURN_IF_ERROR(document->metadata().Remove({"total_tokens"}));
  // It was made from the removed text.
  if (CountTurns(stored) == 1) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Remove({"dossier", "title"}));
  }
  document->SetUpdated(std::string(now));
  DOSSIER_RETURN_IF_ERROR(document->EraseMessagesFrom(begin));
  return count;
}

Status ApplyContext(const Frozen& frozen, std::string_view now, Document* document) {
  DOSSIER_RETURN_IF_ERROR(SetSystem(frozen.system, document));
  document->SetUpdated(std::string(now));
  return document->metadata().Set({"context"}, ToJson(frozen.record));
}

Status ApplyCompaction(const std::vector<CompactionRecord>& records, Document* document) {
  for (const CompactionRecord& record : records) {
    DOSSIER_RETURN_IF_ERROR(document->metadata().Append({"dossier", "compaction"}, ToJson(record)));
  }
  return {};
}

Status UndoCompaction(Document* document) {
  DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
  if (stored.compaction.empty()) {
    return MakeError(ErrorCode::kNotFound, "conversation {} has no compaction to undo",
                     document->name());
  }
  const std::size_t count = LastCompactionEntries(stored);
  if (count == stored.compaction.size())
    return document->metadata().Remove({"dossier", "compaction"});
  return document->metadata().RemoveLast({"dossier", "compaction"}, count);
}

}  // namespace dossier::chat
