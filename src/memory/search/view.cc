#include "memory/search/view.h"

#include <algorithm>

#include "memory/search/view_state.h"

namespace dossier::memory {
namespace {

// None stands for all.
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
  DOSSIER_ASSIGN_OR_RETURN(const Lease lease, state_->connections->Borrow());
  return FindRecord(lease.connection(), *state_, id);
}

Result<std::vector<Record>> View::Window(int max_events) const {
  // A link is read through the records_by_time index.
  static const std::string kSql = fmt::format(
      "{}SELECT {} FROM records AS r JOIN chain ON r.branch_id = chain.branch_id "
      "AND r.seq <= chain.last WHERE r.branch_id = ?2 AND r.tier = 'recall' AND {} IS NULL "
      "ORDER BY r.at DESC, r.id DESC LIMIT ?3",
      WithChain(), RecordColumns(), HiddenBy());
  DOSSIER_ASSIGN_OR_RETURN(const Lease lease, state_->connections->Borrow());
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
  // By way of the index of branch and tier: few records of many may be of a tier.
  static const std::string kTieredSql = VisibleRecords(
      RecordColumns(), fmt::format("AND r.tier IN (SELECT value FROM json_each(?2)) {}", kMatches));
  // By way of the records that have the first tag: the sign keeps that index out.
  static const std::string kTaggedSql = VisibleRecords(
      RecordColumns(),
      fmt::format("AND r.id IN (SELECT record_id FROM tags WHERE tag = ?7 ->> '$[0]') "
                  "AND +r.tier IN (SELECT value FROM json_each(?2)) {}",
                  kMatches));
  const std::string& sql = filter.tags.empty() ? kTieredSql : kTaggedSql;
  DOSSIER_ASSIGN_OR_RETURN(const Lease lease, state_->connections->Borrow());
  const std::string tiers = TierList(filter.tiers);
  const std::string tags = TagList(filter.tags);
  return LoadRecords(lease.connection(), *state_, sql, tiers, filter.kind, filter.thread,
                     filter.since, filter.until, tags, filter.limit.value_or(-1));
}

Result<ViewCounts> View::Counts() const {
  // One pass without groups, which SQLite would sort ten thousand rows for. A hidden event counts
  // nowhere; a record that was consolidated is still found.
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
  DOSSIER_ASSIGN_OR_RETURN(const Lease lease, state_->connections->Borrow());
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

}  // namespace dossier::memory
