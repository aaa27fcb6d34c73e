#include "memory/search/branches.h"
#include "memory/store/store_impl.h"

namespace dossier::memory {
namespace {

// Walks back from the newest write, so that the limit ends it.
constexpr std::string_view kHistorySql =
    "SELECT o.seq, o.at, b.name, o.op, o.actor, o.block_id, o.node_id, o.phase, o.details "
    "FROM ops AS o CROSS JOIN chain ON o.branch_id = chain.branch_id AND o.seq <= chain.last "
    "JOIN branches AS b ON b.id = o.branch_id "
    "WHERE (?2 IS NULL OR o.details ->> '$.key' = ?2) AND (?3 IS NULL OR "
    "o.details ->> '$.record' = ?3 OR o.details ->> '$.archived' = ?3 OR "
    "EXISTS (SELECT 1 FROM json_each(o.details, '$.hides') WHERE value = ?3) OR "
    "EXISTS (SELECT 1 FROM json_each(o.details, '$.shows') WHERE value = ?3)) "
    "ORDER BY o.seq DESC LIMIT ?4";

Result<Change> ReadChange(const store::Statement& row) {
  Change change{.seq = row.Int(0),
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

// The only id of a list; none of a longer one, whose texts nobody would read side by side.
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

// What a change replaced and put in its place is looked up, so that no text is kept twice.
Status AddTexts(Connection& connection, Change* change) {
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

Result<std::vector<Change>> LoadHistory(Connection& connection, std::string_view branch,
                                        const HistoryFilter& filter) {
  static const std::string kSql = fmt::format("{}{}", WithChain(), kHistorySql);
  DOSSIER_ASSIGN_OR_RETURN(const View::State state, LoadChain(connection, {.branch = branch}));
  std::vector<Change> changes;
  const auto add = [&](const store::Statement& row) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(Change change, ReadChange(row));
    changes.push_back(std::move(change));
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(
      ForEachRow(connection, kSql, add, state.chain_json, filter.key, filter.record, filter.limit));
  for (Change& change : changes) DOSSIER_RETURN_IF_ERROR(AddTexts(connection, &change));
  return changes;
}

}  // namespace dossier::memory
