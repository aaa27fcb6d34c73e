#include "research/paper/citations.h"

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/paper/literature.h"
#include "research/search/summaries.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxAbstract = 600;  // characters per result

class Gatherer {
 public:
  Gatherer(const Services& services, const RunResults& results, Json summaries,
           const CancelToken& cancel)
      : services_(services),
        results_(results),
        summaries_(std::move(summaries)),
        cancel_(cancel),
        literature_(services) {}

  Result<Citations> Gather() {
    for (int round = 1; round <= services_.config->citation_rounds; ++round) {
      DOSSIER_ASSIGN_OR_RETURN(const Next next, Round(round));
      if (next == Next::kStop) break;
    }
    return std::move(found_);
  }

 private:
  enum class Next : std::uint8_t { kStop, kGoOn };

  Result<Next> Round(int round) {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::optional<Json> reply,
        Ask("citations", round,
            {{.name = "summaries", .value = summaries_}, {.name = "found", .value = FoundList()}}));
    const std::string query(
        TrimSpace(reply ? FindString(*reply, "Query").value_or("") : std::string_view()));
    // An empty query means that nothing is missing; a repeated one finds nothing new.
    if (query.empty() || !asked_.insert(ToLowerAscii(query)).second) return Next::kStop;
    Result<std::vector<BibEntry>> entries = literature_.Search(query, round, cancel_);
    if (!entries) {
      if (entries.error().code == ErrorCode::kCancelled) return tl::unexpected(entries.error());
      found_.warnings.push_back(fmt::format("citations: the search for \"{}\" failed: {}", query,
                                            entries.error().message));
      return Next::kStop;
    }
    std::erase_if(*entries, [this](const BibEntry& entry) { return HasKey(entry.key); });
    if (entries->empty()) return Next::kGoOn;
    return Choose(round, query, *entries);
  }

  Result<Next> Choose(int round, const std::string& query, const std::vector<BibEntry>& entries) {
    JsonArray results;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      results.push_back(
          JsonObject{{"number", i},
                     {"key", entries[i].key},
                     {"title", entries[i].Field("title")},
                     {"authors", entries[i].Field("author")},
                     {"year", entries[i].Field("year")},
                     {"abstract", CutText(entries[i].Field("abstract"), kMaxAbstract)}});
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> reply,
                             Ask("citation_choice", round,
                                 {{.name = "found", .value = FoundList()},
                                  {.name = "query", .value = Json(query)},
                                  {.name = "results", .value = std::move(results)}}));
    if (!reply) return Next::kStop;
    const Json* selected = Find(*reply, "Selected");
    if (selected == nullptr || !selected->is_array()) return Next::kGoOn;
    const std::string use = TextAt(*reply, "Description");
    for (const Json& choice : selected->as_array()) {
      const BibEntry* entry = Chosen(choice, entries);
      if (entry == nullptr || HasKey(entry->key)) continue;
      found_.entries.push_back(*entry);
      uses_.push_back(use);
    }
    return Next::kGoOn;
  }

  // Finds a result by number or by key; null: no such result.
  static const BibEntry* Chosen(const Json& choice, const std::vector<BibEntry>& entries) {
    if (choice.is_int64()) {
      const std::int64_t number = choice.as_int64();
      const bool there = number >= 0 && static_cast<std::size_t>(number) < entries.size();
      return there ? &entries[static_cast<std::size_t>(number)] : nullptr;
    }
    if (!choice.is_string()) return nullptr;
    const auto found =
        std::ranges::find(entries, std::string_view(choice.as_string()), &BibEntry::key);
    return found == entries.end() ? nullptr : &*found;
  }

  Result<std::optional<Json>> Ask(std::string_view site, int round,
                                  std::vector<OwnSection> sections) {
    const CallRequest request{
        .site = std::string(site),
        .scope = {.branch = results_.memory_branch},
        .label = fmt::format("{}_{}", site, round),
        .prefix = results_.prefix,
        .sections = std::move(sections),
        .variables =
            site == "citations"
                ? std::map<std::string, std::string>{{"round", std::to_string(round)},
                                                     {"rounds",
                                                      std::to_string(
                                                          services_.config->citation_rounds)}}
                : std::map<std::string, std::string>{}};
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, services_.caller->Call(request, cancel_));
    std::ranges::copy(called.warnings, std::back_inserter(found_.warnings));
    if (called.failure) {
      found_.warnings.push_back(fmt::format("{}: {}", request.label, FailureText(*called.failure)));
      return std::optional<Json>();
    }
    DOSSIER_ASSIGN_OR_RETURN(Json reply, ParseJson(called.payload));
    return std::optional<Json>(std::move(reply));
  }

  bool HasKey(std::string_view key) const {
    return std::ranges::find(found_.entries, key, &BibEntry::key) != found_.entries.end();
  }

  Json FoundList() const {
    JsonArray list;
    for (std::size_t i = 0; i < found_.entries.size(); ++i) {
      const BibEntry& entry = found_.entries[i];
      list.push_back(JsonObject{{"key", entry.key},
                                {"title", entry.Field("title")},
                                {"year", entry.Field("year")},
                                {"use", uses_[i]}});
    }
    return list;
  }

  const Services& services_;
  const RunResults& results_;
  const Json summaries_;
  const CancelToken& cancel_;
  const Literature literature_;
  std::set<std::string> asked_;
  std::vector<std::string> uses_;  // parallel to found_.entries
  Citations found_;
};

}  // namespace

Result<Citations> GatherCitations(const Services& services, const RunResults& results,
                                  const CancelToken& cancel) {
  Citations found;
  if (!Literature(services).HasSource()) {
    found.warnings.emplace_back(
        "citations: skipped, there is no source; name one as citations.bibtex or "
        "citations.search_url");
  } else if (results.models == Models::kNone) {
    found.warnings.emplace_back("citations: skipped, no model is asked any more");
  } else {
    DOSSIER_ASSIGN_OR_RETURN(const Json summaries, ReadSummaries(services.run_folder));
    DOSSIER_ASSIGN_OR_RETURN(
        found,
        Gatherer(services, results, FilterSummaries(summaries, SummaryFilter::kCitations), cancel)
            .Gather());
  }
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(
      services, fmt::format("{}/references.bib", run_files::kPaper), BibtexText(found.entries)));
  return found;
}

}  // namespace dossier::research
