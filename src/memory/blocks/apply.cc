#include "memory/blocks/apply.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "memory/consolidate/consolidate.h"
#include "memory/records/connection.h"
#include "memory/records/types.h"

namespace dossier::memory {

// Runs a block's operations in one transaction and keeps their log.
class BlockRun {
 public:
  explicit BlockRun(UpdateResult& result) : result_(result) {}

  // Returns only errors that undo the whole block.
  Status Write(BranchTransaction& session, AnswerBook& answers, const BlockOperation& operation);
  Status Read(const View& view, const BlockOperation& operation);
  Status ConsolidateFrom(BranchTransaction& session, AnswerBook& answers, PressureLevel level);

 private:
  Status SetCore(BranchTransaction& session, const CoreSetItems& items);
  Status SetOne(BranchTransaction& session, const CoreSetItem& item, JsonArray& evicted);
  Status DeleteCore(BranchTransaction& session, const Keys& keys);
  Status AddRecords(BranchTransaction& session, const NewRecords& records);
  Status UpdateRecords(BranchTransaction& session, const RecordChanges& changes);
  Status DeleteRecords(BranchTransaction& session, const Ids& ids);
  Status EvictEvents(BranchTransaction& session, const EvictSelection& selection);
  Status Summarize(BranchTransaction& session, AnswerBook& answers);
  Status Consolidate(BranchTransaction& session, AnswerBook& answers);

  Status GetCore(const View& view, const Keys& keys);
  Status GetRecords(const View& view, const Ids& ids);
  Status SearchRecords(const View& view, const SearchRequest& request);

  void Begin(OperationId id, Micros now) {
    id_ = id;
    now_ = now;
  }
  // Adds an entry to the log; `details` are its last members.
  void Log(std::string_view status, JsonObject details);
  // Logs an error that concerns one item and returns any other error.
  Status Refuse(const Error& error, JsonObject details);
  void SetResult(Json value) { result_.results[OperationOf(id_).name] = std::move(value); }

  UpdateResult& result_;
  OperationId id_ = OperationId::kCoreSet;  // the current operation
  Micros now_ = 0;
};

namespace {

Micros ToMicros(Clock::Wall time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

bool IsRead(const BlockOperation& operation) {
  return OperationOf(operation.id).access == Access::kRead;
}

Status RunReads(const View& view, const UpdateBlock& block, BlockRun& run) {
  for (const BlockOperation& operation : block.operations) {
    if (IsRead(operation)) DOSSIER_RETURN_IF_ERROR(run.Read(view, operation));
  }
  return {};
}

// Runs the whole block from the beginning; `result` must not contain results of any operation yet.
Status RunAll(BranchTransaction& session, AnswerBook& answers, const UpdateBlock& block,
              const ApplyContext& context, UpdateResult& result) {
  BlockRun run(result);
  for (const BlockOperation& operation : block.operations) {
    if (!IsRead(operation)) DOSSIER_RETURN_IF_ERROR(run.Write(session, answers, operation));
  }
  if (block.Reads()) {
    DOSSIER_ASSIGN_OR_RETURN(const View view, session.Snapshot());
    DOSSIER_RETURN_IF_ERROR(RunReads(view, block, run));
  }
  if (context.also) DOSSIER_RETURN_IF_ERROR(context.also(session));
  if (context.consolidate_from) {
    DOSSIER_RETURN_IF_ERROR(run.ConsolidateFrom(session, answers, *context.consolidate_from));
  }
  return {};
}

UpdateResult Prepared(const UpdateBlock& block, const ApplyContext& context) {
  UpdateResult result{
      .input_updates = block.input, .warnings = block.warnings, .start = context.clock->WallNow()};
  RedactJson(&result.input_updates);
  result.errors = std::ranges::count(block.warnings, "unknown_operation", &Notice::name);
  return result;
}

}  // namespace

Result<UpdateResult> Apply(Store& store, std::string_view branch, const UpdateBlock& block,
                           const ApplyContext& context) {
  const Clock::Steady start = context.clock->Now();
  const UpdateResult prepared = Prepared(block, context);
  UpdateResult result = prepared;
  if (block.Writes() || context.also || context.consolidate_from) {
    AnswerBook answers(context.summarizer);
    const WriteContext writer{.actor = context.actor,
                              .block_id = context.block_id,
                              .node_id = context.node_id,
                              .phase = context.phase};
    DOSSIER_RETURN_IF_ERROR(
        TransactAsking(store, branch, writer, answers,
                       [&](BranchTransaction& session, AnswerBook& book) -> Status {
                         result = prepared;
                         return RunAll(session, book, block, context, result);
                       }));
    std::ranges::copy(answers.warnings(), std::back_inserter(result.warnings));
  } else {  // reads need no transaction
    DOSSIER_ASSIGN_OR_RETURN(const View view, store.Snapshot(branch));
    BlockRun run(result);
    DOSSIER_RETURN_IF_ERROR(RunReads(view, block, run));
  }
  result.end = context.clock->WallNow();
  result.duration = std::chrono::duration_cast<Millis>(context.clock->Now() - start);
  return result;
}

Result<bool> WasApplied(const Store& store, std::string_view block_id) {
  bool found = false;
  DOSSIER_RETURN_IF_ERROR(store.ReadRows([&](const RowAccess& rows) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(
        const auto row,
        ReadInt(rows.connection, "SELECT 1 FROM ops WHERE block_id = ? LIMIT 1", block_id));
    found = row.has_value();
    return {};
  }));
  return found;
}

JsonObject BlockResultJson(const UpdateResult& result) {
  JsonObject json = result.results;
  json["operations_log"] = result.operations_log;
  json["input_updates"] = result.input_updates;
  json["timing"] =
      JsonObject{{"start_timestamp", FormatMicrosTime(ToMicros(result.start))},
                 {"end_timestamp", FormatMicrosTime(ToMicros(result.end))},
                 {"duration_seconds", static_cast<double>(result.duration.count()) / 1000.0}};
  json["warnings"] = NoticesJson(result.warnings);
  if (result.redacted > 0) json["redacted"] = result.redacted;
  return json;
}

namespace {

JsonArray TagsJson(const Record& record) {
  return JsonArray(record.tags.begin(), record.tags.end());
}

JsonObject HitJson(OperationId id, const Hit& hit) {
  const Record& record = hit.record;
  if (id == OperationId::kRecallSearch) {
    return {{"id", record.id},
            {"kind", record.kind},
            {"summary", record.text},
            {"ts", FormatMicrosTime(record.at)}};
  }
  return {
      {"id", record.id}, {"text", record.text}, {"tags", TagsJson(record)}, {"score", hit.score}};
}

}  // namespace

Status BlockRun::Read(const View& view, const BlockOperation& operation) {
  Begin(operation.id, view.now());
  if (const auto* bad = std::get_if<BadValue>(&operation.value)) {
    return Refuse({ErrorCode::kInvalidArgument, bad->Text()}, {{"path", bad->path}});
  }
  switch (operation.id) {
    case OperationId::kCoreGet:
      return GetCore(view, std::get<Keys>(operation.value));
    case OperationId::kArchivalGet:
      return GetRecords(view, std::get<Ids>(operation.value));
    case OperationId::kArchivalSearch:
    case OperationId::kRecallSearch:
      return SearchRecords(view, std::get<SearchRequest>(operation.value));
    default:
      return {};
  }
}

Status BlockRun::GetCore(const View& view, const Keys& keys) {
  JsonObject values;
  auto& read = result_.reads.core.emplace();
  for (const std::string& key : keys.keys) {
    const std::optional<CoreEntry> entry = view.Core(key);
    values[key] = entry ? Json(entry->value) : Json(nullptr);
    read.emplace_back(key, entry ? std::optional(entry->value) : std::nullopt);
  }
  Log("ok", {{"count", values.size()}});
  SetResult(std::move(values));
  return {};
}

Status BlockRun::GetRecords(const View& view, const Ids& ids) {
  JsonArray records;
  auto& read = result_.reads.records.emplace();
  for (const std::int64_t id : ids.ids) {
    DOSSIER_ASSIGN_OR_RETURN(std::optional<Record> record, view.Find(id));
    if (!record) {
      DOSSIER_RETURN_IF_ERROR(
          Refuse({ErrorCode::kNotFound,
                  fmt::format("not_visible: record #{} is not visible from branch \"{}\"", id,
                              view.branch())},
                 {{"id", id}}));
      continue;
    }
    records.push_back(JsonObject{{"id", id}, {"text", record->text}, {"tags", TagsJson(*record)}});
    read.push_back(*std::move(record));
  }
  Log("ok", {{"count", records.size()}});
  SetResult(std::move(records));
  return {};
}

Status BlockRun::SearchRecords(const View& view, const SearchRequest& request) {
  const bool recall = id_ == OperationId::kRecallSearch;
  const Result<std::vector<Hit>> hits =
      view.Search({.text = request.query,
                   .k = request.k,
                   .tiers = {recall ? SearchTier::kRecall : SearchTier::kArchival},
                   .tags = request.tags,
                   .kind = request.kind});
  if (!hits) return Refuse(hits.error(), {{"query", request.query}});
  JsonArray list;
  auto& read = (recall ? result_.reads.recall : result_.reads.archival).emplace();
  for (const Hit& hit : *hits) {
    list.push_back(HitJson(id_, hit));
    read.push_back(hit.record);
  }
  Log("ok", {{"query", request.query}, {"count", list.size()}});
  SetResult(std::move(list));
  return {};
}

namespace {

std::string_view StatusOf(bool unchanged) { return unchanged ? "unchanged" : "ok"; }

// Returns true for an error that concerns one write, not the store.
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
      ids.emplace_back(nullptr);  // each id replaces its text
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
