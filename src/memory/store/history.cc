#include <map>

#include "memory/search/branches.h"
#include "memory/store/store_impl.h"

namespace dossier::memory {
namespace {

// Reads backwards from the newest write, so that the limit stops it.
constexpr std::string_view kHistorySql =
    "SELECT o.seq, o.at, b.name, o.op, o.actor, o.block_id, o.node_id, o.phase, o.details "
    "FROM ops AS o CROSS JOIN chain ON o.branch_id = chain.branch_id AND o.seq <= chain.last "
    "JOIN branches AS b ON b.id = o.branch_id "
    "WHERE (?2 IS NULL OR o.details ->> '$.key' = ?2) AND (?3 IS NULL OR "
    "o.details ->> '$.record' = ?3 OR o.details ->> '$.archived' = ?3 OR "
    "EXISTS (SELECT 1 FROM json_each(o.details, '$.hides') WHERE value = ?3) OR "
    "EXISTS (SELECT 1 FROM json_each(o.details, '$.shows') WHERE value = ?3)) "
    "ORDER BY o.seq DESC LIMIT ?4";

Result<LoggedWrite> ReadChange(const store::Statement& row) {
  LoggedWrite change{.seq = row.Int(0),
                     .at = row.Int(1),
                     .branch = row.Text(2),
                     .op = row.Text(3),
                     .actor = row.Text(4),
                     .block_id = row.Text(5),
                     .node_id = row.Text(6),
                     .phase = row.Text(7)};
  Result<Json> details = ParseJson(row.Text(8));
  if (!details || !details->is_object()) {
    return MakeError(ErrorCode::kDamaged, "write {} has details that are no JSON object",
                     change.seq);
  }
  change.details = std::move(details->as_object());
  return change;
}

// Returns the only id of a list; nothing for a longer list, whose texts nobody would compare.
std::optional<std::int64_t> OnlyId(const JsonObject& details, std::string_view key) {
  const Json* ids = Find(details, key);
  if (!ids || !ids->is_array() || ids->as_array().size() != 1) return std::nullopt;
  const Json& id = ids->as_array().front();
  return id.is_int64() ? std::optional(id.as_int64()) : std::nullopt;
}

Result<std::optional<std::string>> TextOf(Connection& connection, std::optional<std::int64_t> id) {
  if (!id) return std::nullopt;
  return ReadText(connection, "SELECT text FROM records WHERE id = ?", *id);
}

Result<std::optional<std::string>> ValueOf(Connection& connection, std::optional<Seq> seq) {
  if (!seq) return std::nullopt;
  return ReadText(connection, "SELECT value FROM core WHERE seq = ?", *seq);
}

// Looks up the values before and after a change, so that no text is stored twice.
Status AddTexts(Connection& connection, LoggedWrite* change) {
  const Json details(change->details);
  if (const auto key = FindString(details, "key")) {
    change->key = *key;
    DOSSIER_ASSIGN_OR_RETURN(change->before, ValueOf(connection, FindInt(details, "before")));
    DOSSIER_ASSIGN_OR_RETURN(change->after, ValueOf(connection, change->seq));
    return {};
  }
  const auto hidden = OnlyId(change->details, "hides");
  const auto shown = OnlyId(change->details, "shows");
  const auto written = FindInt(details, "record");
  change->record = written ? written : hidden ? hidden : shown;
  DOSSIER_ASSIGN_OR_RETURN(change->before, TextOf(connection, hidden));
  DOSSIER_ASSIGN_OR_RETURN(change->after, TextOf(connection, written ? written : shown));
  return {};
}

}  // namespace

Result<std::vector<LoggedWrite>> LoadHistory(Connection& connection, std::string_view branch,
                                             const HistoryFilter& filter) {
  static const std::string kSql = fmt::format("{}{}", WithChain(), kHistorySql);
  DOSSIER_ASSIGN_OR_RETURN(const View::State state, LoadChain(connection, {.branch = branch}));
  std::vector<LoggedWrite> changes;
  const auto add = [&](const store::Statement& row) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(LoggedWrite change, ReadChange(row));
    changes.push_back(std::move(change));
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(
      ForEachRow(connection, kSql, add, state.chain_json, filter.key, filter.record, filter.limit));
  for (LoggedWrite& change : changes) DOSSIER_RETURN_IF_ERROR(AddTexts(connection, &change));
  return changes;
}

namespace {

using CoreByKey = std::map<std::string, CoreRow, std::less<>>;

Result<CoreByKey> LoadCore(Connection& connection, const View::State& state) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> rows, LoadCoreRows(connection, state.chain));
  CoreByKey by_key;
  for (CoreRow& row : rows) by_key.emplace(row.key, row);
  return by_key;
}

bool Same(const CoreRow& a, const CoreRow& b) {
  if (!a.value || !b.value) return !a.value && !b.value;
  return a.value == b.value && a.importance == b.importance && a.expires_at == b.expires_at &&
         a.pinned == b.pinned;
}

// The ways in which a view shows a record.
enum class Shown : std::uint8_t { kNot, kConsolidated, kFully };

Result<Shown> ShownBy(Connection& connection, const View::State& state, std::int64_t id) {
  static const std::string kSql = fmt::format(
      "{}SELECT coalesce({}, '') FROM records AS r CROSS JOIN chain "
      "ON r.branch_id = chain.branch_id AND r.seq <= chain.last WHERE r.id = ?2",
      WithChain(), HiddenBy());
  DOSSIER_ASSIGN_OR_RETURN(const auto hidden, ReadText(connection, kSql, state.chain_json, id));
  if (!hidden) return Shown::kNot;
  if (hidden->empty()) return Shown::kFully;
  return *hidden == HideReasonName(HideReason::kConsolidated) ? Shown::kConsolidated : Shown::kNot;
}

HideReason ReasonFor(Shown shown) {
  switch (shown) {
    case Shown::kNot:
      return HideReason::kReverted;
    case Shown::kConsolidated:
      return HideReason::kConsolidated;
    case Shown::kFully:
      return HideReason::kRestored;
  }
  return HideReason::kReverted;
}

class Reverting {
 public:
  Reverting(Connection& connection, const RevertRequest& request, View::State then, View::State now,
            RowWriter rows)
      : connection_(connection),
        request_(request),
        then_(std::move(then)),
        now_(std::move(now)),
        rows_(rows) {}

  Status RevertCore() {
    DOSSIER_ASSIGN_OR_RETURN(CoreByKey then, LoadCore(connection_, then_));
    DOSSIER_ASSIGN_OR_RETURN(const CoreByKey now, LoadCore(connection_, now_));
    const auto lacks_key = [&](const CoreByKey& core) {
      const auto row = core.find(*request_.key);
      return row == core.end() || !row->second.value;
    };
    if (request_.key && lacks_key(then) && lacks_key(now)) {
      return MakeError(ErrorCode::kNotFound, "no key \"{}\" in branch \"{}\", now or at write {}",
                       *request_.key, request_.branch, request_.to);
    }
    for (const auto& [key, row] : now) {  // keys that did not exist then get a tombstone
      then.try_emplace(key, CoreRow{.key = key, .updated_at = request_.now});
    }
    for (const auto& [key, row] : then) {
      const auto current = now.find(key);
      if (request_.key && *request_.key != key) continue;
      const CoreRow absent;
      const CoreRow& old = current == now.end() ? absent : current->second;
      if (!Same(old, row)) DOSSIER_RETURN_IF_ERROR(WriteCore(row, old));
    }
    return {};
  }

  Status RevertRecords() {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids, TouchedSince());
    JsonArray hides, shows;
    for (const std::int64_t id : ids) {
      DOSSIER_ASSIGN_OR_RETURN(const Shown then, ShownBy(connection_, then_, id));
      DOSSIER_ASSIGN_OR_RETURN(const Shown now, ShownBy(connection_, now_, id));
      if (then == now) continue;
      DOSSIER_RETURN_IF_ERROR(rows_.AddHidden(branch_id(), id, ReasonFor(then)));
      (then == Shown::kNot ? hides : shows).emplace_back(id);
    }
    if (hides.empty() && shows.empty()) return {};
    return AddOp({{"to", request_.to}, {"hides", hides}, {"shows", shows}});
  }

 private:
  std::int64_t branch_id() const { return now_.chain.front().branch_id; }

  Status WriteCore(const CoreRow& row, const CoreRow& old) {
    JsonObject details{{"to", request_.to}, {"key", row.key}};
    if (IsLive(old, request_.now)) details["before"] = old.seq;
    DOSSIER_RETURN_IF_ERROR(rows_.AddCore(branch_id(), row));
    return AddOp(std::move(details));
  }

  Status AddOp(JsonObject details) {
    DOSSIER_RETURN_IF_ERROR(rows_.AddOp({.at = request_.now,
                                         .branch_id = branch_id(),
                                         .op = "revert",
                                         .actor = ActorName(request_.context.actor),
                                         .block_id = request_.context.block_id,
                                         .node_id = request_.context.node_id,
                                         .phase = request_.context.phase,
                                         .details = std::move(details)}));
    return {};
  }

  // Returns records whose rows, or rows that hide them, came after the target write.
  Result<std::vector<std::int64_t>> TouchedSince() {
    static const std::string kSql = fmt::format(
        "{}SELECT r.id FROM chain CROSS JOIN records AS r ON r.branch_id = chain.branch_id "
        "AND r.seq <= chain.last WHERE r.seq > ?2 UNION "
        "SELECT h.record_id FROM chain CROSS JOIN hidden AS h ON h.branch_id = chain.branch_id "
        "AND h.seq <= chain.last WHERE h.seq > ?2 ORDER BY 1",
        WithChain());
    std::vector<std::int64_t> ids;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_, kSql, [&](const store::Statement& row) { ids.push_back(row.Int(0)); },
        now_.chain_json, request_.to));
    return ids;
  }

  Connection& connection_;
  const RevertRequest& request_;
  const View::State then_, now_;
  RowWriter rows_;
};

}  // namespace

Result<Seq> RevertBranch(Connection& connection, const RevertRequest& request) {
  DOSSIER_ASSIGN_OR_RETURN(View::State then,
                           LoadChain(connection, {.branch = request.branch, .at = request.to}));
  DOSSIER_ASSIGN_OR_RETURN(View::State now, LoadChain(connection, {.branch = request.branch}));
  DOSSIER_ASSIGN_OR_RETURN(const RowWriter rows, RowWriter::Make(connection));
  Reverting reverting(connection, request, std::move(then), std::move(now), rows);
  DOSSIER_RETURN_IF_ERROR(reverting.RevertCore());
  if (!request.key) DOSSIER_RETURN_IF_ERROR(reverting.RevertRecords());
  return NewestSeq(connection);
}

}  // namespace dossier::memory
