// Writes to core memory.

#include <algorithm>

#include "base/text/utf8.h"
#include "memory/records/redaction.h"
#include "memory/store/branch_transaction_impl.h"

namespace dossier::memory {
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

// Of its line "key: value".
std::int64_t LineChars(const CoreRow& row) {
  return static_cast<std::int64_t>(utf8::CodePoints(row.key) + 2 + utf8::CodePoints(*row.value));
}

// Code points of the lines of those entries that `counts` takes, joined by newlines.
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

// The least room for a digest: "… [#N]", whatever N is.
constexpr std::int64_t kLeastDigest = 24;
constexpr std::int64_t kLongestBeginning = 400;

struct DigestSize {
  std::int64_t chars = 0;  // of the whole value
  std::int64_t room = 0;   // of the digest, at most
  std::int64_t keep = 0;   // of the value's beginning, at most
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

// Core keeps the beginning, and says where the rest is: at most what a core of this size holds
// beside the key.
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
  } else if (std::cmp_greater(utf8::CodePoints(*row.value), limits().core_max_chars)) {
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
  std::ranges::stable_sort(own, {}, &CoreRow::importance);  // rows come by key
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

}  // namespace dossier::memory
