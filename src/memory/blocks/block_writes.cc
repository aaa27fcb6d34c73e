#include "memory/blocks/block_run.h"
#include "memory/consolidate/consolidate.h"

namespace dossier::memory {
namespace {

std::string_view StatusOf(bool unchanged) { return unchanged ? "unchanged" : "ok"; }

// An error that concerns one write, and not the store.
bool IsRefusal(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound ||
         error.code == ErrorCode::kUsage;
}

}  // namespace

void BlockRun::Log(std::string_view status, JsonObject details) {
  JsonObject entry{
      {"type", OperationOf(id_).name}, {"timestamp", FormatMicrosTime(now_)}, {"status", status}};
  for (auto& member : details) entry[member.key()] = std::move(member.value());
  if (status == "error") ++result_.errors;
  result_.operations_log.push_back(std::move(entry));
}

Status BlockRun::Refuse(const Error& error, JsonObject details) {
  if (!IsRefusal(error)) return tl::unexpected(error);
  details["error"] = error.message;
  if (OperationOf(id_).access == Access::kRead) result_.reads.errors.push_back(error.message);
  Log("error", std::move(details));
  return {};
}

Status BlockRun::Write(BranchTransaction& session, AnswerBook& answers,
                       const BlockOperation& operation) {
  Begin(operation.id, session.now());
  if (const auto* bad = std::get_if<BadValue>(&operation.value)) {
    return Refuse({ErrorCode::kInvalidArgument, bad->Text()}, {{"path", bad->path}});
  }
  switch (operation.id) {
    case OperationId::kCoreSet:
      return SetCore(session, std::get<CoreSetItems>(operation.value));
    case OperationId::kCoreDelete:
      return DeleteCore(session, std::get<Keys>(operation.value));
    case OperationId::kArchivalWrite:
    case OperationId::kRecallAppend:
      return AddRecords(session, std::get<NewRecords>(operation.value));
    case OperationId::kArchivalUpdate:
      return UpdateRecords(session, std::get<RecordChanges>(operation.value));
    case OperationId::kArchivalDelete:
      return DeleteRecords(session, std::get<Ids>(operation.value));
    case OperationId::kRecallEvict:
      return EvictEvents(session, std::get<EvictSelection>(operation.value));
    case OperationId::kRecallSummarize:
      return Summarize(session, answers);
    case OperationId::kConsolidate:
      return Consolidate(session, answers);
    default:
      return {};
  }
}

Status BlockRun::SetCore(BranchTransaction& session, const CoreSetItems& items) {
  JsonArray evicted;
  for (const CoreSetItem& item : items.items) {
    DOSSIER_RETURN_IF_ERROR(SetOne(session, item, evicted));
  }
  SetResult(JsonObject{{"evicted", std::move(evicted)}});
  return {};
}

Status BlockRun::SetOne(BranchTransaction& session, const CoreSetItem& item, JsonArray& evicted) {
  if (!item.refused.empty()) {
    return Refuse({ErrorCode::kInvalidArgument, item.refused}, {{"key", item.key}});
  }
  CoreValue value = item.value;
  if (item.ttl) value.expires_at = item.ttl->ExpiryAt(session.now());
  const Result<CoreWrite> written = session.SetCore(item.key, std::move(value));
  if (!written) return Refuse(written.error(), {{"key", item.key}});
  result_.redacted += written->redacted;
  JsonObject details{{"seq", written->seq}, {"key", item.key}};
  if (written->archived_whole) details["archived"] = *written->archived_whole;
  if (!written->evicted.empty()) {
    details["evicted"] = JsonArray(written->evicted.begin(), written->evicted.end());
    for (const std::string& key : written->evicted) evicted.emplace_back(key);
  }
  Log(StatusOf(written->unchanged), std::move(details));
  return {};
}

Status BlockRun::DeleteCore(BranchTransaction& session, const Keys& keys) {
  for (const std::string& key : keys.keys) {
    const Result<Seq> seq = session.DeleteCore(key);
    if (seq) {
      Log("ok", {{"seq", *seq}, {"key", key}});
    } else {
      DOSSIER_RETURN_IF_ERROR(Refuse(seq.error(), {{"key", key}}));
    }
  }
  return {};
}

Status BlockRun::AddRecords(BranchTransaction& session, const NewRecords& records) {
  JsonArray ids;
  for (std::size_t i = 0; i < records.records.size(); ++i) {
    const Result<RecordWrite> written = session.Add(records.records[i]);
    if (!written) {
      ids.emplace_back(nullptr);  // each id stands where its text stood
      DOSSIER_RETURN_IF_ERROR(Refuse(written.error(), {{"index", i}}));
      continue;
    }
    ids.emplace_back(written->id);
    result_.redacted += written->redacted;
    Log(StatusOf(written->unchanged), {{"seq", written->seq}, {"id", written->id}});
  }
  SetResult(std::move(ids));
  return {};
}

Status BlockRun::UpdateRecords(BranchTransaction& session, const RecordChanges& changes) {
  JsonArray updated;
  for (const RecordChange& change : changes.changes) {
    const Result<RecordWrite> written = session.Update(change.id, change.text, change.tags);
    if (!written) {
      DOSSIER_RETURN_IF_ERROR(Refuse(written.error(), {{"id", change.id}}));
      continue;
    }
    updated.push_back(JsonObject{{"id", written->id}, {"supersedes", change.id}});
    result_.redacted += written->redacted;
    Log(StatusOf(written->unchanged),
        {{"seq", written->seq}, {"id", written->id}, {"supersedes", change.id}});
  }
  SetResult(std::move(updated));
  return {};
}

Status BlockRun::DeleteRecords(BranchTransaction& session, const Ids& ids) {
  for (const std::int64_t id : ids.ids) {
    const Result<Seq> seq = session.DeleteArchival(id);
    if (seq) {
      Log("ok", {{"seq", *seq}, {"id", id}});
    } else {
      DOSSIER_RETURN_IF_ERROR(Refuse(seq.error(), {{"id", id}}));
    }
  }
  return {};
}

Status BlockRun::EvictEvents(BranchTransaction& session, const EvictSelection& selection) {
  const Result<EvictResult> evicted = session.Evict(selection);
  if (!evicted) return Refuse(evicted.error(), {});
  JsonObject counts{{"evicted_count", evicted->evicted_count},
                    {"archived_count", evicted->archived_count}};
  Log(StatusOf(evicted->evicted_count == 0), counts);
  for (const std::int64_t id : evicted->refused) {
    DOSSIER_RETURN_IF_ERROR(Refuse(
        {ErrorCode::kNotFound,
         fmt::format("not_visible: #{} is no event of branch \"{}\" itself", id, session.branch())},
        {{"id", id}}));
  }
  if (!evicted->refused.empty()) {
    counts["refused"] = JsonArray(evicted->refused.begin(), evicted->refused.end());
  }
  SetResult(std::move(counts));
  return {};
}

Status BlockRun::Summarize(BranchTransaction& session, AnswerBook& answers) {
  DOSSIER_ASSIGN_OR_RETURN(const RecallConsolidation done, ConsolidateRecall(session, answers));
  const std::string_view status = StatusOf(done.events == 0);
  Log(status, {{"events_consolidated", done.events}});
  SetResult(JsonObject{{"status", status}, {"events_consolidated", done.events}});
  return {};
}

Status BlockRun::Consolidate(BranchTransaction& session, AnswerBook& answers) {
  DOSSIER_ASSIGN_OR_RETURN(const Consolidation done,
                           ConsolidateIn(session, answers, PressureLevel::kHigh));
  const std::string_view status =
      StatusOf(done.core_items_evicted + done.recall_events_consolidated == 0);
  Log(status, {{"details", ConsolidationJson(done)}});
  SetResult(JsonObject{{"status", status}, {"details", ConsolidationJson(done)}});
  return {};
}

Status BlockRun::ConsolidateFrom(BranchTransaction& session, AnswerBook& answers,
                                 PressureLevel level) {
  DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const Pressure pressure, MeasurePressure(view, session.limits()));
  if (pressure.level < level) return {};
  Begin(OperationId::kConsolidate, session.now());
  DOSSIER_ASSIGN_OR_RETURN(const Consolidation done,
                           ConsolidateIn(session, answers, pressure.level));
  Log(StatusOf(done.core_items_evicted + done.recall_events_consolidated == 0),
      {{"automatic", true}, {"details", ConsolidationJson(done)}});
  return {};
}

}  // namespace dossier::memory
