#include "memory/blocks/block_run.h"

namespace dossier::memory {
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

}  // namespace dossier::memory
