#include <fmt/format.h>

#include <unordered_map>

#include "memory/search/view_state.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kWithChain =
    "WITH chain(depth, branch_id, last) AS MATERIALIZED "
    "(SELECT key, value ->> 0, value ->> 1 FROM json_each(?1)) ";

// The nearest branch that says anything about the record decides, by its newest row.
constexpr std::string_view kHiddenBy =
    "(SELECT nullif(h.reason, 'restored') FROM chain AS c CROSS JOIN hidden AS h "
    "ON h.branch_id = c.branch_id AND h.record_id = r.id AND h.seq <= c.last "
    "ORDER BY c.depth, h.seq DESC LIMIT 1)";

// The ids of all records that a branch of the chain hides, or hid once: a list that SQLite makes
// once a query. Nearly all records of most stores are not in it, and need not be looked up one by
// one.
constexpr std::string_view kMayBeHidden =
    "r.id IN (SELECT record_id FROM hidden WHERE branch_id IN (SELECT branch_id FROM chain))";

constexpr std::string_view kRecordColumns =
    "r.id, r.seq, (SELECT name FROM branches WHERE branches.id = r.branch_id), r.tier, r.kind, "
    "r.text, r.thread, r.ref, r.at, r.phase, r.supersedes, r.meta";

}  // namespace

std::string_view WithChain() { return kWithChain; }
std::string_view HiddenBy() { return kHiddenBy; }

std::string_view IsShown() {
  static const std::string kShown =
      fmt::format("coalesce({}, 'consolidated') = 'consolidated'", kHiddenBy);
  return kShown;
}

std::string_view MayBeHidden() { return kMayBeHidden; }

std::string VisibleRecords(std::string_view columns, std::string_view more) {
  return fmt::format(
      "{}SELECT {} FROM chain CROSS JOIN records AS r "
      "ON r.branch_id = chain.branch_id AND r.seq <= chain.last WHERE (NOT {} OR {}) {}",
      kWithChain, columns, kMayBeHidden, IsShown(), more);
}

std::string_view RecordColumns() { return kRecordColumns; }

Result<Record> ReadRecord(const store::Statement& row) {
  Record record{.id = row.Int(0),
                .seq = row.Int(1),
                .branch = row.Text(2),
                .kind = row.Text(4),
                .text = row.Text(5),
                .thread = row.Text(6),
                .ref = row.Text(7),
                .at = row.Int(8),
                .phase = row.Text(9),
                .supersedes = row.OptionalInt(10)};
  const auto tier = FindTier(row.Text(3));
  if (!tier) {
    return MakeError(ErrorCode::kDamaged, "record #{} has a tier that is none: \"{}\"", record.id,
                     row.Text(3));
  }
  record.tier = *tier;
  if (const std::string meta = row.Text(11); !meta.empty()) {
    Result<Json> parsed = ParseJson(meta);
    if (!parsed || !parsed->is_object()) {
      return MakeError(ErrorCode::kDamaged, "record #{} has a field meta that is no JSON object",
                       record.id);
    }
    record.meta = std::move(parsed->as_object());
  }
  return record;
}

Status ReadTags(Connection& connection, std::span<Record> records) {
  if (records.empty()) return {};
  JsonArray ids;
  std::unordered_map<std::int64_t, Record*> by_id;
  for (Record& record : records) {
    if (by_id.emplace(record.id, &record).second) ids.push_back(record.id);
  }
  return ForEachRow(
      connection,
      "SELECT record_id, tag FROM json_each(?) AS wanted CROSS JOIN tags "
      "ON tags.record_id = wanted.value ORDER BY wanted.key, position",
      [&](const store::Statement& row) { by_id.at(row.Int(0))->tags.push_back(row.Text(1)); },
      ToJson(ids));
}

Result<std::optional<Record>> FindRecord(Connection& connection, const View::State& state,
                                         std::int64_t id) {
  static const std::string kSql = fmt::format(
      "{}SELECT {} FROM records AS r CROSS JOIN chain "
      "ON r.branch_id = chain.branch_id AND r.seq <= chain.last WHERE r.id = ?2 AND {}",
      kWithChain, kRecordColumns, IsShown());
  DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> found, LoadRecords(connection, state, kSql, id));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

}  // namespace dossier::memory
