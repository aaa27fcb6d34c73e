// Writes to recall and archival memory.

#include <algorithm>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/records/redaction.h"
#include "memory/store/branch_transaction_impl.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kModelTag = "LLM_INSIGHT";
constexpr std::string_view kDefaultKind = "llm_insight";

void RemoveRepeated(std::vector<std::string>* tags) {
  std::set<std::string, std::less<>> seen;
  std::erase_if(*tags, [&](const std::string& tag) { return !seen.insert(tag).second; });
}

bool SameTags(std::vector<std::string> a, std::vector<std::string> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

Status CheckText(const Record& record) {
  if (TrimSpace(record.text).empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "empty_text: there is no text to keep");
  }
  if (record.text.size() > kMaxTextBytes) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "too_large: the text has {} bytes; the limit is {}", record.text.size(),
                     kMaxTextBytes);
  }
  const auto check = [](std::string_view name, std::string_view text) -> Status {
    if (utf8::IsValid(text)) return {};
    return MakeError(ErrorCode::kInvalidArgument, "bad_value: {} is not UTF-8", name);
  };
  DOSSIER_RETURN_IF_ERROR(check("the text", record.text));
  DOSSIER_RETURN_IF_ERROR(check("kind", record.kind));
  DOSSIER_RETURN_IF_ERROR(check("thread", record.thread));
  DOSSIER_RETURN_IF_ERROR(check("ref", record.ref));
  DOSSIER_RETURN_IF_ERROR(check("phase", record.phase));
  for (const std::string& tag : record.tags) DOSSIER_RETURN_IF_ERROR(check("a tag", tag));
  return {};
}

// Written by a consolidation that a model asked for: no insight of its own.
bool IsConsolidated(const Record& record) {
  return std::ranges::find(record.tags, "AUTO_CONSOLIDATE") != record.tags.end();
}

Error NotVisible(std::int64_t id, std::string_view branch) {
  return {ErrorCode::kNotFound,
          fmt::format("not_visible: record #{} is not visible from branch \"{}\"", id, branch)};
}

std::string EvictedText(const Record& event) {
  return fmt::format("[Evicted Recall Event]\nKind: {}\nTime: {}\n\n{}", event.kind,
                     FormatMicrosTime(event.at), event.text);
}

std::string ToUpperAscii(std::string text) {
  for (char& c : text) {
    if (IsLower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

Record ArchivedEvent(const Record& event, Micros now) {
  Record archived{.tier = Tier::kArchival,
                  .text = EvictedText(event),
                  .ref = event.ref,
                  .at = now,
                  .tags = {"EVICTED_RECALL", "RECALL_" + ToUpperAscii(event.kind)}};
  std::ranges::copy(event.tags, std::back_inserter(archived.tags));
  RemoveRepeated(&archived.tags);
  return archived;
}

}  // namespace

Status SessionImpl::Prepare(Record* record, std::int64_t* redacted) const {
  DOSSIER_RETURN_IF_ERROR(CheckText(*record));
  if (redacts()) *redacted = RedactRecord(record);
  if (record->at == 0) record->at = now();
  if (record->tier == Tier::kRecall) {
    if (record->kind.empty()) record->kind = kDefaultKind;
    if (record->thread.empty()) record->thread = "branch:" + branch();
  } else if (record->tier == Tier::kArchival && setup_.context.actor == Actor::kModel &&
             !IsConsolidated(*record)) {
    record->tags.insert(record->tags.begin(), std::string(kModelTag));
  }
  if (record->phase.empty()) record->phase = setup_.context.phase;
  RemoveRepeated(&record->tags);
  return {};
}

Result<std::optional<RecordWrite>> SessionImpl::FindEqual(const Record& record) {
  const std::string hash = TextHash(record.text);
  DOSSIER_ASSIGN_OR_RETURN(
      const auto any,
      ReadInt(connection_, "SELECT 1 FROM records WHERE text_hash = ? LIMIT 1", store::Blob{hash}));
  if (!any) return std::nullopt;
  static const std::string kSql = fmt::format(
      "{}SELECT {} FROM records AS r CROSS JOIN chain "
      "ON r.branch_id = chain.branch_id AND r.seq <= chain.last "
      "WHERE r.text_hash = ?2 AND r.tier = ?3 AND {} ORDER BY r.id",
      WithChain(), RecordColumns(), IsShown());
  DOSSIER_ASSIGN_OR_RETURN(
      const std::vector<Record> equal,
      LoadRecords(connection_, state_, kSql, store::Blob{hash}, TierName(record.tier)));
  for (const Record& old : equal) {
    if (!SameTags(old.tags, record.tags)) continue;
    if (record.tier == Tier::kRecall && (old.branch != branch() || old.kind != record.kind ||
                                         old.thread != record.thread || old.ref != record.ref)) {
      continue;
    }
    return RecordWrite{.id = old.id, .seq = old.seq, .unchanged = true};
  }
  return std::nullopt;
}

Result<RecordWrite> SessionImpl::Store(std::string_view op, const Record& record,
                                       const Replaces& replaces) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<RecordWrite> equal, FindEqual(record));
  if (equal && (!replaces.id || *replaces.id == equal->id)) return *equal;
  RecordWrite written = equal.value_or(RecordWrite());
  if (!equal) {
    DOSSIER_ASSIGN_OR_RETURN(written.id, rows_.AddRecord(branch_id(), record));
  }
  JsonObject details{{"record", written.id}};
  if (replaces.id) {
    DOSSIER_RETURN_IF_ERROR(rows_.AddHidden(branch_id(), *replaces.id, replaces.reason));
    details["hides"] = JsonArray{*replaces.id};
    details["reason"] = HideReasonName(replaces.reason);
  }
  DOSSIER_ASSIGN_OR_RETURN(written.seq, AddOp(op, std::move(details)));
  return written;
}

Result<Record> SessionImpl::FindShown(std::int64_t id) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Record> record, FindRecord(connection_, state_, id));
  if (!record) return tl::unexpected(NotVisible(id, branch()));
  return *std::move(record);
}

Result<Record> SessionImpl::FindOwnArchival(std::int64_t id, std::string_view what) {
  DOSSIER_ASSIGN_OR_RETURN(Record record, FindShown(id));
  if (record.branch != branch()) {
    return MakeError(ErrorCode::kNotFound,
                     "inherited: record #{} is of branch \"{}\"; write with supersedes", id,
                     record.branch);
  }
  if (record.tier == Tier::kRecall) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "bad_value: record #{} is an event; {} takes archival records", id, what);
  }
  return record;
}

Result<RecordWrite> SessionImpl::Add(Record record) {
  std::int64_t redacted = 0;
  DOSSIER_RETURN_IF_ERROR(Prepare(&record, &redacted));
  if (record.supersedes) DOSSIER_RETURN_IF_ERROR(FindShown(*record.supersedes));
  DOSSIER_ASSIGN_OR_RETURN(RecordWrite written,
                           Store(AddOpName(record.tier), record, {.id = record.supersedes}));
  written.redacted = redacted;
  return written;
}

Result<RecordWrite> SessionImpl::Update(std::int64_t id, std::optional<std::string> text,
                                        std::optional<std::vector<std::string>> tags) {
  DOSSIER_ASSIGN_OR_RETURN(Record record, FindOwnArchival(id, "archival_update"));
  if (text) record.text = *std::move(text);
  if (tags) record.tags = *std::move(tags);
  record.at = now();
  record.supersedes = id;
  std::int64_t redacted = 0;
  DOSSIER_RETURN_IF_ERROR(Prepare(&record, &redacted));
  DOSSIER_ASSIGN_OR_RETURN(RecordWrite written, Store("archival_update", record, {.id = id}));
  written.redacted = redacted;
  return written;
}

Result<Seq> SessionImpl::DeleteArchival(std::int64_t id) {
  DOSSIER_RETURN_IF_ERROR(FindOwnArchival(id, "archival_delete"));
  DOSSIER_RETURN_IF_ERROR(rows_.AddHidden(branch_id(), id, HideReason::kDeleted));
  return AddOp("archival_delete", {{"hides", JsonArray{id}}, {"reason", "deleted"}});
}

Result<std::vector<Record>> SessionImpl::SelectOwnEvents(const EvictSelection& selection) {
  // Those of `oldest` are counted over the window's events: what was consolidated left it already.
  static const std::string kSql = fmt::format(
      "{0}SELECT {1} FROM records AS r WHERE r.branch_id = ?2 AND r.tier = 'recall' AND {2} AND "
      "(r.id IN (SELECT value FROM json_each(?3)) OR r.kind = ?4 OR r.id IN "
      "(SELECT r.id FROM records AS r WHERE r.branch_id = ?2 AND r.tier = 'recall' AND {3} IS NULL "
      "ORDER BY r.at, r.id LIMIT ?5)) ORDER BY r.at, r.id",
      WithChain(), RecordColumns(), IsShown(), HiddenBy());
  const std::string ids = ToJson(JsonArray(selection.ids.begin(), selection.ids.end()));
  return LoadRecords(connection_, state_, kSql, branch_id(), ids, selection.kind,
                     std::max<std::int64_t>(selection.oldest, 0));
}

Result<EvictResult> SessionImpl::Evict(const EvictSelection& selection) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> events, SelectOwnEvents(selection));
  EvictResult result;
  for (const Record& event : events) {
    const Seq before = rows_.next_seq();
    DOSSIER_ASSIGN_OR_RETURN(const RecordWrite archived,
                             Store("recall_evict", ArchivedEvent(event, now()),
                                   {.id = event.id, .reason = HideReason::kEvicted}));
    result.evicted_count += rows_.next_seq() - before;
    if (!archived.unchanged) ++result.archived_count;
  }
  for (const std::int64_t id : selection.ids) {
    if (std::ranges::find(events, id, &Record::id) == events.end()) result.refused.push_back(id);
  }
  return result;
}

Status SessionImpl::Hide(std::span<const std::int64_t> ids, HideReason reason) {
  for (const std::int64_t id : ids) DOSSIER_RETURN_IF_ERROR(FindShown(id));
  if (ids.empty()) return {};
  for (const std::int64_t id : ids) {
    DOSSIER_RETURN_IF_ERROR(rows_.AddHidden(branch_id(), id, reason));
  }
  DOSSIER_RETURN_IF_ERROR(AddOp(
      "hide", {{"hides", JsonArray(ids.begin(), ids.end())}, {"reason", HideReasonName(reason)}}));
  return {};
}

Status SessionImpl::LinkSources(std::int64_t summary, std::span<const std::int64_t> sources) {
  DOSSIER_RETURN_IF_ERROR(FindShown(summary));
  for (const std::int64_t id : sources) DOSSIER_RETURN_IF_ERROR(FindShown(id));
  for (const std::int64_t id : sources) {
    DOSSIER_RETURN_IF_ERROR(
        Run(connection_, "INSERT OR IGNORE INTO summary_sources VALUES(?, ?)", summary, id));
  }
  DOSSIER_RETURN_IF_ERROR(
      AddOp("link_sources",
            {{"record", summary}, {"sources", JsonArray(sources.begin(), sources.end())}}));
  return {};
}

}  // namespace dossier::memory
