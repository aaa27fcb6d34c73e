#include "memory/store/branch_transaction.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/records/types.h"
#include "memory/store/branch_transaction_impl.h"

namespace dossier::memory {

Result<ConnectionLease> SessionConnections::Borrow() {
  const std::lock_guard lock(mutex_);
  return writer_ ? ConnectionLease(writer_) : readers_->Borrow();
}

void SessionConnections::End() {
  const std::lock_guard lock(mutex_);
  writer_ = nullptr;
}

std::string_view AddOpName(Tier tier) {
  switch (tier) {
    case Tier::kRecall:
      return "recall_append";
    case Tier::kArchival:
      return "archival_write";
    case Tier::kSummary:
      return "summary_write";
  }
  return "";
}

SessionImpl::SessionImpl(Connection& connection, const Setup& setup, View::State state,
                         RowWriter rows)
    : connection_(connection),
      setup_(setup),
      state_(std::move(state)),
      rows_(rows),
      connections_(std::make_shared<SessionConnections>(connection, setup.readers)) {}

Result<std::unique_ptr<SessionImpl>> SessionImpl::Begin(Connection& connection,
                                                        const Setup& setup) {
  DOSSIER_ASSIGN_OR_RETURN(
      View::State state,
      LoadChain(connection, {.branch = setup.branch, .now = setup.now, .index = setup.index}));
  state.chain.front().last = std::numeric_limits<Seq>::max();  // so that its own writes are visible
  state.chain_json = ChainJson(state.chain);
  DOSSIER_ASSIGN_OR_RETURN(
      const RowWriter rows,
      RowWriter::Make(connection, setup.options.embedder.get(), setup.options.numbering));
  return std::make_unique<SessionImpl>(connection, setup, std::move(state), rows);
}

Result<View> SessionImpl::Snapshot() {
  return LoadView(connections_, connection_,
                  {.branch = branch(),
                   .now = setup_.now,
                   .index = setup_.index,
                   .embedder = setup_.options.embedder});
}

Result<Seq> SessionImpl::AddOp(std::string_view op, JsonObject details) {
  return rows_.AddOp({.at = setup_.now,
                      .branch_id = branch_id(),
                      .op = op,
                      .actor = ActorName(setup_.context.actor),
                      .block_id = setup_.context.block_id,
                      .node_id = setup_.context.node_id,
                      .phase = setup_.context.phase,
                      .details = std::move(details)});
}

// Writes to core memory.
namespace {

constexpr int kDefaultImportance = 3;
constexpr int kModelImportance = 4;

Status CheckValue(std::string_view key, std::string_view value) {
  if (value.size() > kMaxTextBytes) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "too_large: the value of {} has {} bytes; the limit is {}", key, value.size(),
                     kMaxTextBytes);
  }
  if (!utf8::IsValid(value)) {
    return MakeError(ErrorCode::kInvalidArgument, "bad_value: the value of {} is not UTF-8", key);
  }
  return {};
}

bool IsProtected(const CoreRow& row) { return row.pinned || IsProtectedKey(row.key); }

// Returns the length of the entry's line "key: value".
std::int64_t LineChars(const CoreRow& row) {
  return static_cast<std::int64_t>(utf8::CodePoints(row.key) + 2 + utf8::CodePoints(*row.value));
}

// Counts code points of the lines, joined by newlines, of the entries that `counts` accepts.
template <typename Counts>
std::int64_t Chars(const std::vector<CoreRow>& rows, const Counts& counts) {
  std::int64_t chars = 0, lines = 0;
  for (const CoreRow& row : rows) {
    if (!counts(row)) continue;
    chars += LineChars(row);
    ++lines;
  }
  return chars + std::max<std::int64_t>(lines - 1, 0);
}

// The minimum length of a digest: "… [#N]" for any N.
constexpr std::int64_t kLeastDigest = 24;
constexpr std::int64_t kLongestBeginning = 400;

struct DigestSize {
  std::int64_t chars = 0;  // length of the whole value
  std::int64_t room = 0;   // maximum length of the digest
  std::int64_t keep = 0;   // maximum length kept from the value's start
};
std::string Digest(std::string_view value, std::int64_t record, const DigestSize& size) {
  std::string tail = fmt::format(" … [#{}: {} characters in archival memory]", record, size.chars);
  if (std::cmp_greater(utf8::CodePoints(tail), size.room)) tail = fmt::format("… [#{}]", record);
  const std::int64_t left = size.room - static_cast<std::int64_t>(utf8::CodePoints(tail));
  const std::int64_t keep = std::min({kLongestBeginning, size.keep, left});
  return fmt::format("{}{}", utf8::Prefix(value, static_cast<std::uint64_t>(keep)), tail);
}

bool SameValue(const CoreRow& a, const CoreRow& b) {
  return a.value == b.value && a.importance == b.importance && a.expires_at == b.expires_at &&
         a.pinned == b.pinned;
}

}  // namespace

Result<std::vector<CoreRow>> SessionImpl::OwnLiveCore() {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> own, LoadOwnCoreRows(connection_, chain_.front()));
  std::erase_if(own, [&](const CoreRow& row) { return !IsLive(row, now()); });
  return own;
}

Result<Seq> SessionImpl::WriteCore(std::string_view op, const CoreRow& row, JsonObject details) {
  DOSSIER_ASSIGN_OR_RETURN(const auto before, FindCoreRow(connection_, chain_, row.key));
  details["key"] = row.key;
  if (before && IsLive(*before, now())) details["before"] = before->seq;
  DOSSIER_RETURN_IF_ERROR(rows_.AddCore(branch_id(), row));
  return AddOp(op, std::move(details));
}

Status SessionImpl::CheckProtectedRoom(const std::vector<CoreRow>& own,
                                       const CoreRow& added) const {
  std::vector<CoreRow> then = own;
  std::erase_if(then, [&](const CoreRow& row) { return row.key == added.key; });
  then.push_back(added);
  const std::int64_t chars = Chars(then, IsProtected);
  if (chars <= limits().core_protected_max_chars) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "too_large: with {} the protected keys have {} characters; the limit is {} "
                   "(core_protected_max_chars)",
                   added.key, chars, limits().core_protected_max_chars);
}

// Core keeps the beginning and a reference to the rest, at most what a core of this size can hold
// besides the key.
Result<CoreWrite> SessionImpl::ArchiveWhole(CoreRow* row) {
  const auto chars = static_cast<std::int64_t>(utf8::CodePoints(*row->value));
  const std::int64_t room =
      limits().core_max_chars - static_cast<std::int64_t>(utf8::CodePoints(row->key)) - 2;
  if (room < kLeastDigest) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "too_large: the value of {} has {} characters, and a core of {} "
                     "(core_max_chars) has no room to say where it would be kept",
                     row->key, chars, limits().core_max_chars);
  }
  Record record{.tier = Tier::kArchival,
                .text = *row->value,
                .at = now(),
                .tags = {"CORE_DIGEST", "core_key:" + row->key}};
  DOSSIER_ASSIGN_OR_RETURN(const RecordWrite written, Store("core_archive", record, {}));
  row->value = Digest(*row->value, written.id,
                      {.chars = chars, .room = room, .keep = limits().core_max_chars / 4});
  return CoreWrite{.archived_whole = written.id};
}

Result<CoreWrite> SessionImpl::SetCore(std::string_view key, CoreValue value) {
  DOSSIER_RETURN_IF_ERROR(CheckCoreKey(key));
  if (redacts()) DOSSIER_RETURN_IF_ERROR(CheckNoSecret(key));
  DOSSIER_RETURN_IF_ERROR(CheckValue(key, value.value));
  const std::int64_t redacted = redacts() ? RedactNamed(key, &value.value) : 0;
  const int importance =
      setup_.context.actor == Actor::kModel ? kModelImportance : kDefaultImportance;
  CoreRow row{.key = std::string(key),
              .value = std::move(value.value),
              .importance = std::clamp(value.importance.value_or(importance), 1, 5),
              .expires_at = value.expires_at,
              .pinned = value.pinned,
              .updated_at = now()};
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<CoreRow> own, OwnLiveCore());
  const auto same = std::ranges::find(own, key, &CoreRow::key);
  if (same != own.end() && SameValue(*same, row)) {
    return CoreWrite{.seq = same->seq, .unchanged = true, .redacted = redacted};
  }
  CoreWrite written;
  if (IsProtected(row)) {
    DOSSIER_RETURN_IF_ERROR(CheckProtectedRoom(own, row));
  } else if (LineChars(row) > limits().core_max_chars) {
    DOSSIER_ASSIGN_OR_RETURN(written, ArchiveWhole(&row));
  }
  DOSSIER_ASSIGN_OR_RETURN(written.seq, WriteCore("core_set", row));
  const bool is_digest = written.archived_whole.has_value();
  DOSSIER_ASSIGN_OR_RETURN(written.evicted, EvictSurplus(is_digest ? row.key : ""));
  written.redacted = redacted;
  return written;
}

Result<Seq> SessionImpl::DeleteCore(std::string_view key) {
  DOSSIER_ASSIGN_OR_RETURN(const auto shown, FindCoreRow(connection_, chain_, key));
  if (!shown || !IsLive(*shown, now())) {
    return MakeError(ErrorCode::kNotFound, "no key \"{}\" in branch \"{}\"", key, branch());
  }
  return WriteCore("core_delete", {.key = std::string(key), .updated_at = now()});
}

Status SessionImpl::RateCore(std::string_view key, int importance) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> own, OwnLiveCore());
  const auto entry = std::ranges::find(own, key, &CoreRow::key);
  if (entry == own.end()) {
    return MakeError(ErrorCode::kNotFound, "no key \"{}\" of branch \"{}\" itself", key, branch());
  }
  importance = std::clamp(importance, 1, 5);
  if (entry->importance == importance) return {};
  entry->importance = importance;
  DOSSIER_RETURN_IF_ERROR(WriteCore("core_rate", *entry));
  return {};
}

Result<std::vector<std::string>> SessionImpl::EnforceCoreBudget() { return EvictSurplus(""); }

Result<std::vector<std::string>> SessionImpl::EvictSurplus(std::string_view kept_key) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> own, OwnLiveCore());
  std::erase_if(own, IsProtected);
  std::int64_t chars = Chars(own, [](const CoreRow&) { return true; });
  std::ranges::stable_sort(own, {}, &CoreRow::importance);  // rows are sorted by key
  std::vector<std::string> evicted;
  for (const CoreRow& row : own) {
    if (chars <= limits().core_max_chars) break;
    if (row.key == kept_key) continue;
    chars -= LineChars(row) + 1;  // and the newline
    const Record record{.tier = Tier::kArchival,
                        .text = fmt::format("Core evicted: {}\n{}", row.key, *row.value),
                        .at = now(),
                        .tags = {"CORE_EVICT", "core_key:" + row.key}};
    DOSSIER_ASSIGN_OR_RETURN(const RecordWrite archived, Store("core_archive", record, {}));
    DOSSIER_RETURN_IF_ERROR(WriteCore("core_evict", {.key = row.key, .updated_at = now()},
                                      {{"archived", archived.id}}));
    evicted.push_back(row.key);
  }
  return evicted;
}

// Writes to recall and archival memory.
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

// Written by a consolidation that a model requested, so not an insight of its own.
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
  if (record->phase.empty()) record->phase = setup_.context.phase;
  if (redacts()) *redacted = RedactRecord(record);
  if (record->at == kTimeOfWrite) record->at = now();
  if (record->tier == Tier::kRecall) {
    if (record->kind.empty()) record->kind = kDefaultKind;
    if (record->thread.empty()) record->thread = "branch:" + branch();
  } else if (record->tier == Tier::kArchival && setup_.context.actor == Actor::kModel &&
             !IsConsolidated(*record)) {
    record->tags.insert(record->tags.begin(), std::string(kModelTag));
  }
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
  // The events of `oldest` are counted in the window, which no longer contains consolidated ones.
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
