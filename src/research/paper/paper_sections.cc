#include "research/paper/paper_sections.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/node/driver.h"

namespace dossier::research {
namespace {

constexpr std::string_view kNotFound = "not found";
constexpr std::uint64_t kMaxSectionText = 4'000;  // characters
constexpr std::uint64_t kMaxDocument = 24'000;    // characters: what an outline is made from
constexpr std::size_t kDocumentRecords = 60;      // the newest

// How much of each tier one section is written from.
struct TierShare {
  memory::SearchTier tier;
  std::string_view section;
  int hits;
  std::uint64_t characters;
};
constexpr TierShare kShares[] = {{memory::SearchTier::kCore, "core", 24, 2'000},
                                 {memory::SearchTier::kRecall, "recall", 30, 1'500},
                                 {memory::SearchTier::kArchival, "archival", 20, 1'500}};

// The two that every paper has come first; the others fill up.
constexpr auto kFixed = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"experimental_setup", "machine, compilers, flags, data sets, how it was measured"},
    {"results", "what was measured, with numbers"},
    {"method", "what the program does and how"},
    {"baseline", "what the results are compared with"},
    {"tuning", "which parameters were tried, and what they changed"},
    {"ablations", "what each part contributes"},
    {"analysis", "why the results are as they are"},
    {"negative_results", "what did not work, and why"},
    {"limitations", "what was not shown"},
    {"related_work", "what is built upon"},
    {"reproduction", "commands, seeds and versions that give the results again"},
    {"conclusion", "what follows"},
});
constexpr std::size_t kRequired = 2;

std::string Identifier(std::string_view name) {
  std::string identifier;
  for (const char c : ToLowerAscii(TrimSpace(name))) {
    const bool plain = IsLower(c) || IsDigit(c);
    if (plain) {
      identifier += c;
    } else if (!identifier.empty() && identifier.back() != '_') {
      identifier += '_';
    }
  }
  while (identifier.ends_with('_')) identifier.pop_back();
  return identifier.substr(0, 60);
}

JsonObject SectionJson(const PaperSection& section) {
  return {{"name", section.name}, {"description", section.description}};
}

class SectionWriter {
 public:
  SectionWriter(const Services& services, const RunResults& results, memory::View view,
                std::vector<std::string>* warnings, const CancelToken& cancel)
      : services_(services),
        results_(results),
        view_(std::move(view)),
        warnings_(warnings),
        cancel_(cancel) {}

  Result<std::string> Write() {
    const int count = services_.config->paper_section_count;
    if (services_.config->paper_section_mode == "memory_summary" &&
        results_.models == Models::kAsk) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string text, WriteAtOnce(count));
      if (!text.empty()) return text;
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<PaperSection> outline, Outline(count));
    std::string text;
    for (const PaperSection& section : outline) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string body, Fill(section));
      AddSection(section.name, body, &text);
    }
    return text;
  }

 private:
  static void AddSection(std::string_view name, std::string_view body, std::string* text) {
    *text += fmt::format("### {}\n\n", name);
    for (const std::string_view line : Split(TrimSpace(body), '\n')) {
      *text += fmt::format("{}{}\n", line.starts_with('#') ? "\\" : "", line);
    }
    *text += "\n";
  }

  // An object, or nothing: then a warning says why.
  Result<std::optional<Json>> Ask(CallRequest request) {
    request.scope = {.branch = results_.memory_branch};
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, services_.caller->Call(request, cancel_));
    std::ranges::copy(called.warnings, std::back_inserter(*warnings_));
    if (called.failure) {
      warnings_->push_back(fmt::format("{}: {}",
                                       request.label.empty() ? request.site : request.label,
                                       FailureText(*called.failure)));
      return std::optional<Json>();
    }
    const Result<Json> reply = ParseJson(called.payload);
    return std::optional<Json>(reply ? *reply : Json(called.payload));
  }

  static JsonArray RequiredNames() {
    JsonArray names;
    for (std::size_t i = 0; i < kRequired; ++i) names.emplace_back(kFixed[i].first);
    return names;
  }

  std::vector<OwnSection> DocumentSections() const {
    std::string document;
    for (const memory::CoreEntry& entry : view_.AllCore()) {
      if (!memory::IsHiddenKey(entry.key)) {
        document += fmt::format("- {}: {}\n", entry.key, entry.value);
      }
    }
    const auto records = view_.Records({.limit = static_cast<std::int64_t>(kDocumentRecords)});
    if (records) {
      for (const memory::Record& record : *records) document += fmt::format("- {}\n", record.text);
    }
    return {{.name = "document", .value = Json(CutText(document, kMaxDocument))},
            {.name = "required", .value = RequiredNames()}};
  }

  Result<std::string> WriteAtOnce(int count) {
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> reply,
                             Ask({.site = "final_summary",
                                  .prefix = results_.prefix,
                                  .sections = DocumentSections(),
                                  .variables = {{"count", std::to_string(count)}}}));
    std::string text;
    const Json* sections = reply ? Find(*reply, "sections") : nullptr;
    if (sections == nullptr || !sections->is_array()) return text;
    for (const Json& section : sections->as_array()) {
      const std::string name = Identifier(FindString(section, "name").value_or(""));
      const std::string_view body = FindString(section, "text").value_or(kNotFound);
      if (!name.empty()) AddSection(name, CutText(body, kMaxSectionText), &text);
    }
    return text;
  }

  Result<std::vector<PaperSection>> Outline(int count) {
    if (results_.models == Models::kNone) return FixedOutline(count);
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> reply,
                             Ask({.site = "final_outline",
                                  .prefix = results_.prefix,
                                  .sections = DocumentSections(),
                                  .variables = {{"count", std::to_string(count)}}}));
    std::vector<PaperSection> outline;
    const Json* sections = reply ? Find(*reply, "sections") : nullptr;
    if (sections != nullptr && sections->is_array()) {
      for (const Json& section : sections->as_array()) {
        outline.push_back({TextAt(section, "name"), TextAt(section, "description")});
      }
    }
    return FittedOutline(std::move(outline), count);
  }

  Result<std::string> Keywords(const PaperSection& section) {
    const std::string query =
        fmt::format("{} {}", ReplaceAll(section.name, "_", " "), section.description);
    if (results_.models == Models::kNone) return query;
    DOSSIER_ASSIGN_OR_RETURN(
        const std::optional<Json> reply,
        Ask({.site = "final_keywords",
             .label = "final_keywords_" + section.name,
             .prefix = results_.prefix,
             .sections = {{.name = "section", .value = SectionJson(section)}}}));
    const Json* keywords = reply ? Find(*reply, "keywords") : nullptr;
    if (keywords == nullptr || !keywords->is_array()) return query;
    std::string more = query;
    for (const Json& keyword : keywords->as_array()) {
      if (keyword.is_string()) more += " " + std::string(keyword.as_string());
    }
    return more;
  }

  Result<std::string> Search(const TierShare& share, const std::string& query) const {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<memory::Hit> hits,
                             view_.Search({.text = query, .k = share.hits, .tiers = {share.tier}}));
    std::string found;
    for (const memory::Hit& hit : hits) {
      found +=
          fmt::format("- {}\n", ReplaceAll(std::string(TrimSpace(hit.record.text)), "\n", " "));
    }
    return CutText(found, share.characters);
  }

  Result<std::string> Fill(const PaperSection& section) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string query, Keywords(section));
    CallRequest request{.site = "final_section",
                        .label = "final_section_" + section.name,
                        .prefix = results_.prefix,
                        .sections = {{.name = "section", .value = SectionJson(section)}}};
    std::string all;
    for (const TierShare& share : kShares) {
      DOSSIER_ASSIGN_OR_RETURN(std::string found, Search(share, query));
      if (found.empty()) continue;
      all += found + (found.ends_with('\n') ? "" : "\n");
      request.sections.push_back({.name = std::string(share.section), .value = Json(found)});
    }
    if (all.empty()) return std::string(kNotFound);
    if (results_.models == Models::kNone) return all;
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> reply, Ask(std::move(request)));
    if (!reply || !reply->is_string()) return all;
    return CutText(std::string_view(reply->as_string()), kMaxSectionText);
  }

  const Services& services_;
  const RunResults& results_;
  const memory::View view_;
  std::vector<std::string>* const warnings_;
  const CancelToken& cancel_;
};

}  // namespace

std::vector<PaperSection> FixedOutline(int count) { return FittedOutline({}, count); }

std::vector<PaperSection> FittedOutline(std::vector<PaperSection> outline, int count) {
  const auto size = static_cast<std::size_t>(std::max(count, 3));
  std::vector<PaperSection> fitted;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(fitted, name, &PaperSection::name) != fitted.end();
  };
  const auto is_required = [](std::string_view name) {
    return std::ranges::any_of(std::span(kFixed).first(kRequired),
                               [&](const auto& fixed) { return fixed.first == name; });
  };
  // Room is kept for those that must be there, wherever the model puts them.
  std::size_t room = size - kRequired;
  for (PaperSection& section : outline) {
    section.name = Identifier(section.name);
    if (section.name.empty() || has(section.name)) continue;
    if (!is_required(section.name)) {
      if (room == 0) continue;
      --room;
    }
    fitted.push_back(std::move(section));
  }
  for (const auto& [name, description] : kFixed) {
    if (fitted.size() == size) break;
    if (!has(name)) fitted.push_back({std::string(name), std::string(description)});
  }
  for (std::size_t i = fitted.size(); i < size; ++i) {
    fitted.push_back({fmt::format("further_{}", i + 1), "what else is remembered"});
  }
  return fitted;
}

Result<std::string> PaperSections(const Services& services, const RunResults& results,
                                  std::vector<std::string>* warnings, const CancelToken& cancel) {
  if (services.memory == nullptr) return std::string();
  const std::string_view branch =
      results.memory_branch.empty() ? memory::kRootBranch : std::string_view(results.memory_branch);
  DOSSIER_ASSIGN_OR_RETURN(memory::View view, services.memory->Snapshot(branch));
  return SectionWriter(services, results, std::move(view), warnings, cancel).Write();
}

}  // namespace dossier::research
