#include "memory/search/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "memory/search/view_state.h"

namespace dossier::memory {
namespace {

// An empty list means all tiers.
std::string TierList(std::vector<Tier> tiers) {
  if (tiers.empty()) tiers = {Tier::kRecall, Tier::kArchival, Tier::kSummary};
  JsonArray names;
  for (const Tier tier : tiers) names.emplace_back(TierName(tier));
  return ToJson(names);
}

std::string TagList(const std::vector<std::string>& tags) {
  return ToJson(JsonArray(tags.begin(), tags.end()));
}

bool IsNewer(const Record& a, const Record& b) { return a.at != b.at ? a.at > b.at : a.id > b.id; }

}  // namespace

const std::string& View::branch() const { return state_->chain.front().name; }
Seq View::at() const { return state_->at; }
Micros View::now() const { return state_->now; }
const std::vector<CoreEntry>& View::AllCore() const { return state_->core; }

std::optional<CoreEntry> View::Core(std::string_view key) const {
  const auto at = std::ranges::lower_bound(state_->core, key, {}, &CoreEntry::key);
  if (at == state_->core.end() || at->key != key) return std::nullopt;
  return *at;
}

Result<std::optional<Record>> View::Find(std::int64_t id) const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state_->connections->Borrow());
  return FindRecord(lease.connection(), *state_, id);
}

Result<std::vector<Record>> View::Window(int max_events) const {
  // Reads each link through the index records_by_time.
  static const std::string kSql = fmt::format(
      "{}SELECT {} FROM records AS r JOIN chain ON r.branch_id = chain.branch_id "
      "AND r.seq <= chain.last WHERE r.branch_id = ?2 AND r.tier = 'recall' AND {} IS NULL "
      "ORDER BY r.at DESC, r.id DESC LIMIT ?3",
      WithChain(), RecordColumns(), HiddenBy());
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state_->connections->Borrow());
  std::vector<Record> window;
  for (const ChainLink& link : state_->chain) {
    DOSSIER_ASSIGN_OR_RETURN(
        std::vector<Record> newest,
        LoadRecords(lease.connection(), *state_, kSql, link.branch_id, max_events));
    std::ranges::move(newest, std::back_inserter(window));
  }
  std::ranges::sort(window, IsNewer);
  if (std::cmp_greater(window.size(), max_events)) window.resize(std::max(max_events, 0));
  std::ranges::reverse(window);
  return window;
}

Result<std::vector<Record>> View::Records(const RecordFilter& filter) const {
  constexpr std::string_view kMatches =
      "AND (?3 IS NULL OR r.kind = ?3) AND (?4 IS NULL OR r.thread = ?4) "
      "AND (?5 IS NULL OR r.at >= ?5) AND (?6 IS NULL OR r.at <= ?6) "
      "AND NOT EXISTS (SELECT 1 FROM json_each(?7) AS wanted WHERE NOT EXISTS "
      "(SELECT 1 FROM tags WHERE tags.tag = wanted.value AND tags.record_id = r.id)) "
      "ORDER BY r.at DESC, r.id DESC LIMIT ?8";
  // Uses the index on branch and tier: a tier may have few of many records.
  static const std::string kTieredSql = VisibleRecords(
      RecordColumns(), fmt::format("AND r.tier IN (SELECT value FROM json_each(?2)) {}", kMatches));
  // Starts from the records with the first tag; the + sign disables the other index.
  static const std::string kTaggedSql = VisibleRecords(
      RecordColumns(),
      fmt::format("AND r.id IN (SELECT record_id FROM tags WHERE tag = ?7 ->> '$[0]') "
                  "AND +r.tier IN (SELECT value FROM json_each(?2)) {}",
                  kMatches));
  const std::string& sql = filter.tags.empty() ? kTieredSql : kTaggedSql;
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state_->connections->Borrow());
  const std::string tiers = TierList(filter.tiers);
  const std::string tags = TagList(filter.tags);
  return LoadRecords(lease.connection(), *state_, sql, tiers, filter.kind, filter.thread,
                     filter.since, filter.until, tags, filter.limit.value_or(-1));
}

Result<ViewCounts> View::Counts() const {
  // One pass without groups, for which SQLite would sort ten thousand rows. A hidden event is not
  // counted; a consolidated record can still be found.
  static const std::string kSql = fmt::format(
      "{}SELECT COUNT(*) FILTER (WHERE r.tier = 'recall' AND chain.depth = 0), "
      "COUNT(*) FILTER (WHERE r.tier = 'recall'), "
      "COUNT(*) FILTER (WHERE r.tier <> 'recall' AND chain.depth = 0), "
      "COUNT(*) FILTER (WHERE r.tier <> 'recall'), "
      "coalesce(SUM(length(r.text)) FILTER (WHERE r.tier <> 'recall'), 0) "
      "FROM chain CROSS JOIN records AS r ON r.branch_id = chain.branch_id "
      "AND r.seq <= chain.last WHERE NOT {} OR "
      "CASE r.tier WHEN 'recall' THEN {} IS NULL ELSE {} END",
      WithChain(), MayBeHidden(), HiddenBy(), IsShown());
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state_->connections->Borrow());
  ViewCounts counts;
  const auto read = [&](const store::Statement& row) {
    counts = {.own_events = row.Int(0),
              .events = row.Int(1),
              .own_archival = row.Int(2),
              .archival = row.Int(3),
              .archival_code_points = row.Int(4)};
  };
  DOSSIER_RETURN_IF_ERROR(ForEachRow(lease.connection(), kSql, read, state_->chain_json));
  return counts;
}

namespace {

constexpr std::string_view kWithChain =
    "WITH chain(depth, branch_id, last) AS MATERIALIZED "
    "(SELECT key, value ->> 0, value ->> 1 FROM json_each(?1)) ";

// The nearest branch that mentions the record decides, by its newest row.
constexpr std::string_view kHiddenBy =
    "(SELECT nullif(h.reason, 'restored') FROM chain AS c CROSS JOIN hidden AS h "
    "ON h.branch_id = c.branch_id AND h.record_id = r.id AND h.seq <= c.last "
    "ORDER BY c.depth, h.seq DESC LIMIT 1)";

// The ids of all records that a branch of the chain hides or once hid; SQLite builds the list once
// per query. In most stores it lacks nearly all records, so these need no further look-up.
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
