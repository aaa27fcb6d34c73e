// Compares a store with what it should contain, and rebuilds its index.

#include <unordered_map>

#include "memory/search/terms.h"
#include "memory/store/store_impl.h"

namespace dossier::memory {
namespace {

constexpr std::int64_t kMostFindings = 20;  // reported for each kind

// Each query returns the numbers of wrong rows; the sentence names one of them.
struct RowCheck {
  std::string_view sql;
  fmt::format_string<std::int64_t> sentence;
};

const RowCheck kRowChecks[] = {
    {"SELECT b.id FROM branches AS b WHERE b.id <> 1 AND NOT EXISTS "
     "(SELECT 1 FROM branches AS p WHERE p.id = b.parent_id AND p.id < b.id)",
     "branch {} has no parent that is older"},
    {"SELECT id FROM branches WHERE fork_seq >= seq AND id <> 1",
     "branch {} sees writes of its parent that came after it was made"},
    {"SELECT seq FROM ops WHERE branch_id NOT IN (SELECT id FROM branches)",
     "write {} is of a branch that is not there"},
    {"SELECT seq FROM core AS c WHERE NOT EXISTS (SELECT 1 FROM ops AS o WHERE o.seq = c.seq AND "
     "o.branch_id = c.branch_id)",
     "a row of core is of write {}, which is not there"},
    {"SELECT id FROM records AS r WHERE NOT EXISTS (SELECT 1 FROM ops AS o WHERE o.seq = r.seq AND "
     "o.branch_id = r.branch_id)",
     "record {} is of a write that is not there"},
    {"SELECT id FROM records WHERE tier NOT IN ('recall', 'archival', 'summary')",
     "record {} is of a tier that is none"},
    {"SELECT record_id FROM tags WHERE record_id NOT IN (SELECT id FROM records)",
     "a tag is of record {}, which is not there"},
    {"SELECT seq FROM hidden AS h WHERE NOT EXISTS (SELECT 1 FROM ops AS o WHERE o.seq = h.seq AND "
     "o.branch_id = h.branch_id)",
     "a hidden row is of write {}, which is not there"},
    {"WITH RECURSIVE up(branch_id, id) AS (SELECT id, id FROM branches UNION ALL "
     "SELECT up.branch_id, b.parent_id FROM up JOIN branches AS b ON b.id = up.id "
     "WHERE b.parent_id < b.id) "
     "SELECT h.record_id FROM hidden AS h LEFT JOIN records AS r ON r.id = h.record_id "
     "WHERE r.id IS NULL OR NOT EXISTS (SELECT 1 FROM up WHERE up.branch_id = h.branch_id "
     "AND up.id = r.branch_id)",
     "a branch hides record {}, which it cannot see"},
    {"SELECT record_id FROM summary_sources WHERE record_id NOT IN (SELECT id FROM records) OR "
     "summary_id NOT IN (SELECT id FROM records)",
     "a summary names record {} as its source, and one of both is not there"},
};

class Findings {
 public:
  void Add(std::string sentence) {
    if (++count_ <= kMostFindings) sentences_.push_back(std::move(sentence));
  }
  // Finishes one kind of finding.
  void MoveTo(std::vector<std::string>* all) {
    for (std::string& sentence : sentences_) all->push_back(std::move(sentence));
    if (count_ > kMostFindings) {
      all->push_back(fmt::format("… and {} more of this kind", count_ - kMostFindings));
    }
  }

 private:
  std::vector<std::string> sentences_;
  std::int64_t count_ = 0;
};

Status CheckFile(Connection& connection, std::vector<std::string>* all) {
  Findings findings;
  DOSSIER_RETURN_IF_ERROR(
      ForEachRow(connection, "PRAGMA integrity_check", [&](const store::Statement& row) {
        if (row.Text(0) != "ok") findings.Add("SQLite: " + row.Text(0));
      }));
  findings.MoveTo(all);
  return {};
}

// FNV-1a. The order of a text's terms does not matter, so the sum of the hashes represents them.
std::uint64_t TermHash(std::string_view term) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : term) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

using SumsById = std::unordered_map<std::int64_t, std::uint64_t>;

Result<SumsById> SumPostings(Connection& connection) {
  DOSSIER_RETURN_IF_ERROR(connection.db().Execute(
      "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms USING fts5vocab(main, search, "
      "instance)"));
  SumsById sums;
  DOSSIER_RETURN_IF_ERROR(
      ForEachRow(connection, "SELECT term, doc FROM temp.search_terms",
                 [&](const store::Statement& row) { sums[row.Int(1)] += TermHash(row.Text(0)); }));
  return sums;
}

Status CheckIndex(Connection& connection, std::vector<std::string>* all) {
  DOSSIER_ASSIGN_OR_RETURN(const bool has_index, HasIndex(connection));
  SumsById sums;
  if (has_index) {
    DOSSIER_ASSIGN_OR_RETURN(sums, SumPostings(connection));
  }
  Findings findings;
  const auto check = [&](const store::Statement& row) {
    const std::vector<std::string> terms = Terms(connection, row.Text(1));
    if (row.Int(2) != static_cast<std::int64_t>(terms.size())) {
      findings.Add(
          fmt::format("record {} has {} terms, not {}", row.Int(0), terms.size(), row.Int(2)));
    }
    if (!has_index) return;
    std::uint64_t sum = 0;
    for (const std::string& term : terms) sum += TermHash(term);
    const auto indexed = sums.extract(row.Int(0));
    if ((indexed.empty() ? 0 : indexed.mapped()) != sum) {
      findings.Add(fmt::format("record {} has other words than the index says", row.Int(0)));
    }
  };
  DOSSIER_RETURN_IF_ERROR(
      ForEachRow(connection, "SELECT id, text, tokens FROM records ORDER BY id", check));
  for (const auto& [id, sum] : sums) {
    findings.Add(fmt::format("the index has record {}, which is not there", id));
  }
  findings.MoveTo(all);
  return {};
}

}  // namespace

Result<std::vector<std::string>> CheckRows(Connection& connection) {
  std::vector<std::string> all;
  DOSSIER_RETURN_IF_ERROR(CheckFile(connection, &all));
  for (const RowCheck& row_check : kRowChecks) {
    Findings findings;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(connection, row_check.sql, [&](const store::Statement& row) {
      const std::int64_t number = row.Int(0);
      findings.Add(fmt::format(fmt::runtime(fmt::string_view(row_check.sentence)), number));
    }));
    findings.MoveTo(&all);
  }
  DOSSIER_RETURN_IF_ERROR(CheckIndex(connection, &all));
  return all;
}

Status RebuildIndex(Connection& connection) {
  DOSSIER_RETURN_IF_ERROR(connection.db().Execute("DROP TABLE IF EXISTS search"));
  DOSSIER_RETURN_IF_ERROR(connection.db().Execute(std::string(kCreateSearch)));
  const auto add = [&](const store::Statement& row) -> Status {
    const std::string text = row.Text(1);
    DOSSIER_RETURN_IF_ERROR(Run(connection, "UPDATE records SET tokens = ? WHERE id = ?",
                                CountTerms(connection, text), row.Int(0)));
    const std::string indexed = IndexText(text);
    return Run(connection, "INSERT INTO search(rowid, text) VALUES(?, ?)", row.Int(0), indexed);
  };
  DOSSIER_RETURN_IF_ERROR(ForEachRow(connection, "SELECT id, text FROM records ORDER BY id", add));
  return Run(connection, "INSERT OR REPLACE INTO meta VALUES('tokenizer_version', ?)",
             kTokenizerVersion);
}

}  // namespace dossier::memory
