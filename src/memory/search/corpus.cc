#include "memory/search/corpus.h"

#include <algorithm>
#include <unordered_map>

#include "memory/records/connection.h"
#include "memory/search/terms.h"
#include "memory/search/view_state.h"

namespace dossier::memory {
namespace {

// Postings are cached up to this many bytes for each term of the texts: less than FTS5 needs for a
// term in the table `search`.
constexpr std::size_t kKeptBytesPerTerm = 3;
constexpr std::size_t kLeastKeptBytes = 1 << 20;

// Records that pass filters, in any view: ids, ascending.
constexpr std::string_view kMatching =
    "SELECT r.id FROM records AS r WHERE (?1 IS NULL OR r.kind = ?1) "
    "AND (?2 IS NULL OR r.thread = ?2) AND (?3 IS NULL OR r.at >= ?3) "
    "AND (?4 IS NULL OR r.at <= ?4) AND ?5 IS NOT NULL ORDER BY r.id";
// ?5 is a JSON list of tags; the index on tags drives the query.
constexpr std::string_view kMatchingTags =
    "SELECT r.id FROM records AS r WHERE r.id IN "
    "(SELECT record_id FROM tags WHERE tag = ?5 ->> 0) "
    "AND NOT EXISTS (SELECT 1 FROM json_each(?5) AS wanted WHERE NOT EXISTS "
    "(SELECT 1 FROM tags WHERE tags.tag = wanted.value AND tags.record_id = r.id)) "
    "AND (?1 IS NULL OR r.kind = ?1) AND (?2 IS NULL OR r.thread = ?2) "
    "AND (?3 IS NULL OR r.at >= ?3) AND (?4 IS NULL OR r.at <= ?4) ORDER BY r.id";

// Reads the rows of the view's records in `tiers`.
Result<std::vector<TextRow>> ReadRows(Connection& connection, const View::State& state,
                                      TierSet tiers) {
  static const std::string kSql = VisibleRecords(
      "r.id, r.at, r.thread, r.tokens", "AND CASE r.tier WHEN 'recall' THEN ?2 ELSE ?3 END");
  std::vector<TextRow> rows;
  // Reserves space for all rows at once, estimated by the number of writes; unused space costs no
  // memory.
  constexpr std::int64_t kMostReserved = 1 << 20;
  DOSSIER_ASSIGN_OR_RETURN(const auto newest, ReadInt(connection, "SELECT max(seq) FROM ops"));
  rows.reserve(
      static_cast<std::size_t>(std::clamp<std::int64_t>(newest.value_or(0), 0, kMostReserved)));
  std::unordered_map<std::string, std::uint32_t> threads = {{"", 0}};
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, kSql,
      [&](const store::Statement& row) {
        const auto next = static_cast<std::uint32_t>(threads.size());
        const std::uint32_t thread = threads.try_emplace(row.Text(2), next).first->second;
        rows.push_back({.id = row.Int(0),
                        .at = row.Int(1),
                        .thread = thread,
                        .length = static_cast<std::uint32_t>(row.Int(3))});
      },
      state.chain_json, Has(tiers, SearchTier::kRecall) ? 1 : 0,
      Has(tiers, SearchTier::kArchival) ? 1 : 0));
  return rows;
}

// Adds one text's occurrences of the searched terms.
void AddTerms(std::int64_t id, const std::vector<std::string>& terms,
              std::map<std::string, PostingsBuilder, std::less<>>* builders) {
  for (const std::string& term : terms) {
    const auto builder = builders->find(term);
    if (builder != builders->end()) builder->second.Add(id);
  }
}

std::size_t BytesOf(std::string_view term, const TermPostings& postings) {
  constexpr std::size_t kEntry = 128;  // nodes, counters, allocations
  return kEntry + term.size() + postings.records.bytes();
}

}  // namespace

TierSet ToTierSet(const std::vector<SearchTier>& tiers) {
  TierSet set = 0;
  for (const SearchTier tier : tiers)
    set |= static_cast<TierSet>(1U << static_cast<unsigned>(tier));
  return set;
}

std::string CoreText(const CoreEntry& entry) { return entry.key + ": " + entry.value; }

Result<std::shared_ptr<Corpus>> Corpus::Load(Connection& connection, const View::State& state,
                                             TierSet tiers) {
  std::vector<TextRow> rows;
  if (Has(tiers, SearchTier::kRecall) || Has(tiers, SearchTier::kArchival)) {
    DOSSIER_ASSIGN_OR_RETURN(rows, ReadRows(connection, state, tiers));
  }
  std::vector<std::vector<std::string>> core_terms;
  if (Has(tiers, SearchTier::kCore)) {
    for (std::size_t place = 0; place < state.core.size(); ++place) {
      const CoreEntry& entry = state.core[place];
      core_terms.push_back(Terms(connection, CoreText(entry)));
      rows.push_back({.id = CoreId(place),
                      .at = entry.updated_at,
                      .length = static_cast<std::uint32_t>(core_terms.back().size())});
    }
  }
  return std::make_shared<Corpus>(std::move(rows), state.index, std::move(core_terms));
}

Result<std::vector<std::shared_ptr<const TermPostings>>> Corpus::Find(
    Connection& connection, const std::vector<std::string>& terms) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const TermPostings>> found(terms.size());
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto kept = kept_.find(terms[i]);
    if (kept != kept_.end()) {
      found[i] = kept->second;
    } else {
      missing.push_back(terms[i]);
    }
  }
  if (missing.empty()) return found;
  DOSSIER_ASSIGN_OR_RETURN(const Found read, Read(connection, missing));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!found[i]) found[i] = read.at(terms[i]);
  }
  Keep(read);
  return found;
}

void Corpus::Keep(const Found& found) {
  std::size_t bytes = 0;
  for (const auto& [term, postings] : found) bytes += BytesOf(term, *postings);
  const std::size_t most =
      std::max<std::size_t>(kLeastKeptBytes, table_.total_length() * kKeptBytesPerTerm);
  if (kept_bytes_ + bytes > most) {
    kept_.clear();
    kept_bytes_ = 0;
  }
  if (bytes > most) return;
  kept_.insert(found.begin(), found.end());
  kept_bytes_ += bytes;
}

Result<Corpus::Found> Corpus::Read(Connection& connection,
                                   const std::vector<std::string>& terms) const {
  std::map<std::string, PostingsBuilder, std::less<>> builders;
  for (const std::string& term : terms) builders.emplace(term, table_);
  for (std::size_t place = 0; place < core_terms_.size(); ++place) {
    AddTerms(CoreId(place), core_terms_[place], &builders);
  }
  if (index_ == IndexUse::kScan) {
    DOSSIER_RETURN_IF_ERROR(ReadTexts(connection, &builders));
  } else {
    DOSSIER_RETURN_IF_ERROR(ReadIndex(connection, &builders));
  }
  Found found;
  for (auto& [term, postings] : builders) {
    found.emplace(term, std::make_shared<const TermPostings>(std::move(postings).Finish()));
  }
  return found;
}

Status Corpus::ReadIndex(Connection& connection, Builders* builders) const {
  DOSSIER_RETURN_IF_ERROR(
      connection.db().Execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms "
                              "USING fts5vocab('main', 'search', 'instance')"));
  for (auto& [term, postings] : *builders) {
    PostingsBuilder& builder = postings;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection, "SELECT doc FROM temp.search_terms WHERE term = ?",
        [&](const store::Statement& row) { builder.Add(row.Int(0)); }, term));
  }
  return {};
}

Status Corpus::ReadTexts(Connection& connection, Builders* builders) const {
  IdCursor cursor(table_);
  return ForEachRow(connection, "SELECT id, text FROM records ORDER BY id",
                    [&](const store::Statement& row) {
                      const std::int64_t id = row.Int(0);
                      if (cursor.Find(id)) AddTerms(id, Terms(connection, row.Text(1)), builders);
                    });
}

Result<std::shared_ptr<const std::vector<bool>>> Corpus::Allowed(Connection& connection,
                                                                 const View::State& state,
                                                                 const Query& query) {
  if (query.tags.empty() && !query.kind && !query.thread && !query.since && !query.until) {
    return nullptr;
  }
  auto allowed = std::make_shared<std::vector<bool>>(table_.size(), false);
  if (query.tags.empty() && !query.kind && !query.thread) {
    for (std::size_t place = 0; place < core_terms_.size(); ++place) {
      const Micros at = state.core[place].updated_at;
      if (at < query.since.value_or(at) || at > query.until.value_or(at)) continue;
      if (const auto text = table_.Find(CoreId(place))) (*allowed)[*text] = true;
    }
  }
  IdCursor cursor(table_);
  const std::string tags = ToJson(JsonArray(query.tags.begin(), query.tags.end()));
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, query.tags.empty() ? kMatching : kMatchingTags,
      [&](const store::Statement& row) {
        if (const auto text = cursor.Find(row.Int(0))) (*allowed)[*text] = true;
      },
      query.kind, query.thread, query.since, query.until, tags));
  return allowed;
}

Result<std::shared_ptr<const VectorTable>> Corpus::Vectors(Connection& connection,
                                                           const View::State& state,
                                                           std::size_t dimensions) {
  const std::lock_guard lock(mutex_);
  if (!vectors_) {
    std::vector<std::string> core;
    for (std::size_t place = 0; place < core_terms_.size(); ++place) {
      core.push_back(CoreText(state.core[place]));
    }
    DOSSIER_ASSIGN_OR_RETURN(
        vectors_, VectorTable::Load(connection, *state.embedder, {table_, core, dimensions}));
  }
  return vectors_;
}

Result<std::shared_ptr<Corpus>> Corpora::Get(Connection& connection, const View::State& state,
                                             TierSet tiers) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Corpus>& corpus = loaded_[tiers];
  if (!corpus) {
    DOSSIER_ASSIGN_OR_RETURN(corpus, Corpus::Load(connection, state, tiers));
  }
  return corpus;
}

std::shared_ptr<Corpora> MakeCorpora() { return std::make_shared<Corpora>(); }

}  // namespace dossier::memory
