// Finds removable rows: those hidden or replaced in every view from `before` on, and in every
// snapshot that a fork took earlier.

#include <algorithm>
#include <map>
#include <set>

#include "memory/search/branches.h"
#include "memory/search/terms.h"
#include "memory/store/store_impl.h"

namespace dossier::memory {
namespace {

// For each branch, the last writes that forks see, if they are before `before`.
using Snapshots = std::map<std::int64_t, std::vector<Seq>>;

struct PlannedPrune {
  std::vector<Seq> core;
  std::vector<std::int64_t> records;
};

class Pruning {
 public:
  Pruning(Connection& connection, Seq before) : connection_(connection), before_(before) {}

  Result<PlannedPrune> Plan() {
    DOSSIER_RETURN_IF_ERROR(LoadChains());
    PlannedPrune plan;
    DOSSIER_RETURN_IF_ERROR(PlanCore(&plan));
    DOSSIER_RETURN_IF_ERROR(PlanRecords(&plan));
    return plan;
  }

 private:
  Status LoadChains() {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<Branch> branches, LoadBranches(connection_));
    for (const Branch& branch : branches) {
      DOSSIER_ASSIGN_OR_RETURN(View::State state,
                               LoadChain(connection_, {.branch = branch.name, .at = before_}));
      for (const ChainLink& link : state.chain) {
        if (link.last < before_) snapshots_[link.branch_id].push_back(link.last);
      }
      chains_.push_back(std::move(state.chain_json));
    }
    for (auto& [branch, snapshots] : snapshots_) std::ranges::sort(snapshots);
    return {};
  }

  bool IsSeenByAFork(std::int64_t branch, Seq from, Seq to) const {
    const auto at = snapshots_.find(branch);
    if (at == snapshots_.end()) return false;
    const auto last = std::ranges::lower_bound(at->second, from);
    return last != at->second.end() && *last < to;
  }

  // A row of core is visible from its write until the next write of its key.
  Status PlanCore(PlannedPrune* plan) {
    return ForEachRow(
        connection_,
        "SELECT seq, branch_id, next FROM (SELECT seq, branch_id, lead(seq) OVER "
        "(PARTITION BY branch_id, key ORDER BY seq) AS next FROM core) WHERE next <= ?",
        [&](const store::Statement& row) {
          if (!IsSeenByAFork(row.Int(1), row.Int(0), row.Int(2))) plan->core.push_back(row.Int(0));
        },
        before_);
  }

  // Only records that some branch hides can be invisible to all.
  Status PlanRecords(PlannedPrune* plan) {
    static const std::string kVisible = fmt::format(
        "{}SELECT r.id FROM json_each(?2) AS wanted CROSS JOIN records AS r ON r.id = wanted.value "
        "CROSS JOIN chain ON r.branch_id = chain.branch_id AND r.seq <= chain.last WHERE {}",
        WithChain(), IsShown());
    std::set<std::int64_t> unseen;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_,
        "SELECT DISTINCT record_id FROM hidden AS h WHERE seq <= ?1 "
        "AND reason NOT IN ('consolidated', 'restored') "
        "AND NOT EXISTS (SELECT 1 FROM summary_sources AS s WHERE s.record_id = h.record_id) "
        "AND NOT EXISTS (SELECT 1 FROM hidden AS l WHERE l.record_id = h.record_id "
        "AND l.seq > ?1 AND l.reason IN ('consolidated', 'restored')) ORDER BY 1",
        [&](const store::Statement& row) { unseen.insert(row.Int(0)); }, before_));
    for (const std::string& chain : chains_) {
      if (unseen.empty()) break;
      const std::string wanted = ToJson(JsonArray(unseen.begin(), unseen.end()));
      DOSSIER_RETURN_IF_ERROR(ForEachRow(
          connection_, kVisible, [&](const store::Statement& row) { unseen.erase(row.Int(0)); },
          chain, wanted));
    }
    plan->records.assign(unseen.begin(), unseen.end());
    return {};
  }

  Connection& connection_;
  const Seq before_;
  std::vector<std::string> chains_;  // chain of every branch as of before_
  Snapshots snapshots_;
};

Status RemoveFromIndex(Connection& connection, std::int64_t id) {
  DOSSIER_ASSIGN_OR_RETURN(const bool has_index, HasIndex(connection));
  if (!has_index) return {};
  DOSSIER_ASSIGN_OR_RETURN(const auto text,
                           ReadText(connection, "SELECT text FROM records WHERE id = ?", id));
  // A contentless index must be told which text it removes.
  const std::string indexed = IndexText(text.value_or(""));
  return Run(connection, "INSERT INTO search(search, rowid, text) VALUES('delete', ?, ?)", id,
             indexed);
}

Status RemoveCounted(Connection& connection, std::string_view sql, std::int64_t id,
                     std::int64_t* count) {
  DOSSIER_RETURN_IF_ERROR(Run(connection, sql, id));
  *count += connection.db().changes();
  return {};
}

Status RemoveRecord(Connection& connection, std::int64_t id, PruneCounts* counts) {
  DOSSIER_RETURN_IF_ERROR(RemoveFromIndex(connection, id));
  DOSSIER_RETURN_IF_ERROR(
      RemoveCounted(connection, "DELETE FROM tags WHERE record_id = ?", id, &counts->tags));
  DOSSIER_RETURN_IF_ERROR(
      RemoveCounted(connection, "DELETE FROM hidden WHERE record_id = ?", id, &counts->hidden));
  DOSSIER_RETURN_IF_ERROR(Run(connection, "DELETE FROM summary_sources WHERE summary_id = ?", id));
  return RemoveCounted(connection, "DELETE FROM records WHERE id = ?", id, &counts->records);
}

Status Remove(Connection& connection, const PlannedPrune& plan, PruneCounts* counts) {
  for (const Seq seq : plan.core) {
    DOSSIER_RETURN_IF_ERROR(
        RemoveCounted(connection, "DELETE FROM core WHERE seq = ?", seq, &counts->core));
  }
  for (const std::int64_t id : plan.records) {
    DOSSIER_RETURN_IF_ERROR(RemoveRecord(connection, id, counts));
  }
  DOSSIER_RETURN_IF_ERROR(Run(
      connection, "DELETE FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM records)"));
  counts->vectors = connection.db().changes();
  return {};
}

}  // namespace

Result<PruneCounts> PruneRows(Connection& connection, Seq before, PruneMode mode) {
  DOSSIER_ASSIGN_OR_RETURN(const PlannedPrune plan, Pruning(connection, before).Plan());
  PruneCounts counts;
  // Removes the rows and undoes that, so that counting and removing use the same code.
  DOSSIER_ASSIGN_OR_RETURN(store::Savepoint part, store::Savepoint::Begin(connection.db()));
  DOSSIER_RETURN_IF_ERROR(Remove(connection, plan, &counts));
  if (mode == PruneMode::kCount || counts == PruneCounts()) return counts;
  DOSSIER_RETURN_IF_ERROR(
      Run(connection, "INSERT OR REPLACE INTO meta VALUES(?, ?)", kPrunedBefore, before));
  DOSSIER_RETURN_IF_ERROR(part.Release());
  return counts;
}

}  // namespace dossier::memory
