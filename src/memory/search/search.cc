#include <algorithm>
#include <unordered_map>

#include "base/text/text.h"
#include "memory/search/corpus.h"
#include "memory/search/ranking.h"
#include "memory/search/terms.h"
#include "memory/search/view.h"
#include "memory/search/view_state.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kMostTerms = 32;  // terms used of one query

struct QueryTerm {
  std::size_t place = 0;  // in the query
  std::string term;
  std::shared_ptr<const TermPostings> postings;
};

// Keeps the 32 terms with the highest idf; among equals the earlier in the query.
void KeepRarest(std::vector<QueryTerm>* terms) {
  if (terms->size() <= kMostTerms) return;
  std::ranges::sort(*terms, {}, [](const QueryTerm& term) {
    return std::pair(term.postings->records.size(), term.place);
  });
  terms->resize(kMostTerms);
  std::ranges::sort(*terms, {}, &QueryTerm::place);
}

// Returns the query terms that occur in any text. Terms of a long query are looked up in parts, so
// that not all their postings are in memory at once.
Result<std::vector<QueryTerm>> FindTerms(Connection& connection, Corpus& corpus,
                                         const std::vector<std::string>& terms) {
  constexpr std::size_t kPart = 256;
  std::vector<QueryTerm> found;
  for (std::size_t start = 0; start < terms.size(); start += kPart) {
    const std::size_t end = std::min(start + kPart, terms.size());
    const std::vector<std::string> part(terms.begin() + static_cast<std::ptrdiff_t>(start),
                                        terms.begin() + static_cast<std::ptrdiff_t>(end));
    DOSSIER_ASSIGN_OR_RETURN(auto postings, corpus.Find(connection, part));
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (postings[i]->records.size() == 0) continue;
      found.push_back({.place = start + i, .term = part[i], .postings = std::move(postings[i])});
    }
    KeepRarest(&found);
  }
  return found;
}

// One list of the fusion. `unit` is unset for lists that are not based on terms.
struct List {
  std::string name;
  std::optional<ScoredUnit> unit;
  WeightedList places;
};

// A running query: its results, and the data that its hits are made from.
class SearchRun {
 public:
  SearchRun(Connection& connection, const View::State& state, const Query& query, Corpus& corpus)
      : connection_(connection), state_(state), query_(query), corpus_(corpus) {}

  Result<std::vector<Hit>> Run(const std::vector<std::string>& terms) {
    DOSSIER_ASSIGN_OR_RETURN(terms_, FindTerms(connection_, corpus_, terms));
    DOSSIER_RETURN_IF_ERROR(RankLists());
    std::vector<WeightedList> places;
    for (const List& list : lists_) places.push_back(list.places);
    const auto k = static_cast<std::size_t>(std::max(query_.k, 0));
    const std::vector<FusedText> best = Fuse(corpus_.table(), places, k);
    DOSSIER_ASSIGN_OR_RETURN(auto records, ReadRecords(best));
    std::vector<Hit> hits;
    for (const FusedText& fused : best) {
      const std::int64_t id = corpus_.table().id(fused.text);
      const auto record = records.find(id);
      if (id < 0) {
        hits.push_back(CoreHit(state_.core[CorePlace(id)]));
      } else if (record != records.end()) {
        hits.push_back(RecordHit(std::move(record->second)));
      } else {
        continue;  // pruned since the corpus was loaded
      }
      hits.back().score = fused.score;
      for (std::size_t i = 0; i < lists_.size(); ++i) {
        if (!fused.ranks[i]) continue;
        hits.back().places.push_back(Explain(lists_[i], fused.text, *fused.ranks[i]));
      }
    }
    return hits;
  }

 private:
  Status RankLists() {
    DOSSIER_ASSIGN_OR_RETURN(const auto allowed, corpus_.Allowed(connection_, state_, query_));
    std::vector<const TermPostings*> postings;
    for (const QueryTerm& term : terms_) postings.push_back(term.postings.get());
    const auto add = [&](std::string name, ScoredUnit unit, double weight) {
      lists_.push_back({std::move(name),
                        unit,
                        {weight, BestTexts(corpus_.table(), unit, postings, allowed.get())}});
    };
    add("records", ScoredUnit::kRecord, kRecordsWeight);
    add("windows", ScoredUnit::kWindow, kWindowsWeight);
    return state_.embedder ? AddNearest(*state_.embedder, allowed.get()) : Status();
  }

  Status AddNearest(const Embedder& embedder, const std::vector<bool>* allowed) {
    DOSSIER_ASSIGN_OR_RETURN(const Vector query, embedder.Embed(query_.text));
    if (query.empty()) return {};
    DOSSIER_ASSIGN_OR_RETURN(const auto vectors,
                             corpus_.Vectors(connection_, state_, query.size()));
    lists_.push_back(
        {embedder.name(), std::nullopt, {kVectorsWeight, vectors->Best(query, allowed)}});
    return {};
  }

  // Reads the records among `best`, by id, with their tags, in one query.
  Result<std::unordered_map<std::int64_t, Record>> ReadRecords(
      const std::vector<FusedText>& best) const {
    JsonArray ids;
    for (const FusedText& fused : best) {
      const std::int64_t id = corpus_.table().id(fused.text);
      if (id > 0) ids.push_back(id);
    }
    static const std::string kSql = fmt::format(
        "SELECT {} FROM json_each(?1) AS wanted CROSS JOIN records AS r ON r.id = wanted.value",
        RecordColumns());
    std::vector<Record> found;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_, kSql,
        [&](const store::Statement& row) -> Status {
          DOSSIER_ASSIGN_OR_RETURN(Record record, ReadRecord(row));
          found.push_back(std::move(record));
          return {};
        },
        ToJson(ids)));
    DOSSIER_RETURN_IF_ERROR(ReadTags(connection_, found));
    std::unordered_map<std::int64_t, Record> by_id;
    for (Record& record : found) {
      const std::int64_t id = record.id;
      by_id.emplace(id, std::move(record));
    }
    return by_id;
  }

  static Hit CoreHit(const CoreEntry& entry) {
    return {.record = {.seq = entry.seq,
                       .branch = entry.branch,
                       .text = CoreText(entry),
                       .ref = entry.key,
                       .at = entry.updated_at},
            .tier = SearchTier::kCore};
  }

  static Hit RecordHit(Record record) {
    const SearchTier tier =
        record.tier == Tier::kRecall ? SearchTier::kRecall : SearchTier::kArchival;
    return {.record = std::move(record), .tier = tier};
  }

  ListPlace Explain(const List& list, TextNumber text, std::size_t rank) const {
    const TextTable& table = corpus_.table();
    ListPlace place{.list = list.name,
                    .rank = static_cast<std::int64_t>(rank),
                    .score = list.places.texts[rank].score,
                    .part = PlacePart(list.places.weight, rank),
                    .texts = table.size()};
    if (!list.unit) return place;
    place.length = table.length(*list.unit, text);
    place.average_length = table.average_length(*list.unit);
    for (const QueryTerm& term : terms_) {
      const ScorePart part = ExplainPart(table, *list.unit, *term.postings, text);
      if (part.f == 0) continue;
      place.terms.push_back(
          {.term = term.term, .f = part.f, .n = part.n, .idf = part.idf, .part = part.part});
    }
    return place;
  }

  Connection& connection_;
  const View::State& state_;
  const Query& query_;
  Corpus& corpus_;
  std::vector<QueryTerm> terms_;
  std::vector<List> lists_;
};

}  // namespace

Result<std::vector<Hit>> View::Search(const Query& query) const {
  if (TrimSpace(query.text).empty()) return MakeError(ErrorCode::kUsage, "query is empty");
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state_->connections->Borrow());
  const std::vector<std::string> terms = QueryTerms(lease.connection(), query.text);
  if (terms.empty() && !state_->embedder) return std::vector<Hit>();
  DOSSIER_ASSIGN_OR_RETURN(
      const std::shared_ptr<Corpus> corpus,
      state_->corpora->Get(lease.connection(), *state_, ToTierSet(query.tiers)));
  return SearchRun(lease.connection(), *state_, query, *corpus).Run(terms);
}

}  // namespace dossier::memory
