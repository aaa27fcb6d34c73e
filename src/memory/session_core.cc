// Writes to core: MEM-8 to MEM-13.

#include <algorithm>

#include "base/utf8.h"
#include "memory/redaction.h"
#include "memory/session_impl.h"

namespace dossier::memory {
namespace {

constexpr int kDefaultImportance = 3;
constexpr int kModelImportance = 4;

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

Status CheckKey(std::string_view key) {
  constexpr std::uint64_t kMaxKey = 128;  // code points
  const std::uint64_t length = utf8::CodePoints(key);
  if (length < 1 || length > kMaxKey) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "bad_key: a key has 1 to {} characters, this one {}", kMaxKey, length);
  }
  for (std::size_t at = 0; at < key.size();) {
    if (IsControl(utf8::Next(key, &at))) {
      return MakeError(ErrorCode::kInvalidArgument, "bad_key: \"{}\" holds a control character",
                       utf8::CleanForTerminal(key));
    }
  }
  if (!utf8::IsValid(key)) {
    return MakeError(ErrorCode::kInvalidArgument, "bad_key: a key is UTF-8");
  }
  return {};
}

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

// Core keeps the beginning, and says where the rest is.
Result<CoreWrite> SessionImpl::ArchiveWhole(CoreRow* row) {
  constexpr std::int64_t kLongestDigest = 400;
  const std::int64_t chars = static_cast<std::int64_t>(utf8::CodePoints(*row->value));
  Record record{.tier = Tier::kArchival,
                .text = *row->value,
                .at = now(),
                .tags = {"CORE_DIGEST", "core_key:" + row->key}};
  DOSSIER_ASSIGN_OR_RETURN(const RecordWrite written, Store("core_archive", record, {}));
  const std::int64_t keep = std::min(kLongestDigest, limits().core_max_chars / 4);
  row->value =
      fmt::format("{} … [#{}: {} characters in archival memory]",
                  utf8::Prefix(*row->value, static_cast<std::uint64_t>(keep)), written.id, chars);
  return CoreWrite{.archived_whole = written.id};
}

Result<CoreWrite> SessionImpl::SetCore(std::string_view key, CoreValue value) {
  DOSSIER_RETURN_IF_ERROR(CheckKey(key));
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
  DOSSIER_ASSIGN_OR_RETURN(written.evicted, EnforceCoreBudget());
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

Result<std::vector<std::string>> SessionImpl::EnforceCoreBudget() {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> own, OwnLiveCore());
  std::erase_if(own, IsProtected);
  const auto all = [](const CoreRow&) { return true; };
  std::ranges::stable_sort(own, {}, &CoreRow::importance);  // rows come by key
  std::vector<std::string> evicted;
  while (Chars(own, all) > limits().core_max_chars) {
    const CoreRow& row = own.front();
    const Record record{.tier = Tier::kArchival,
                        .text = fmt::format("Core evicted: {}\n{}", row.key, *row.value),
                        .at = now(),
                        .tags = {"CORE_EVICT", "core_key:" + row.key}};
    DOSSIER_ASSIGN_OR_RETURN(const RecordWrite archived, Store("core_archive", record, {}));
    DOSSIER_RETURN_IF_ERROR(WriteCore("core_evict", {.key = row.key, .updated_at = now()},
                                      {{"archived", archived.id}}));
    evicted.push_back(row.key);
    own.erase(own.begin());
  }
  return evicted;
}

}  // namespace dossier::memory
