#include "research/paper/final_memory.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"

namespace dossier::research {
namespace {

constexpr std::string_view kNothing = "Not found.";
constexpr std::uint64_t kMaxPartText = 4'000;  // characters per field, to bound the document
constexpr std::size_t kTopNodes = 5;
constexpr std::size_t kMaxLessons = 12;

class Document {
 public:
  Document(const Services& services, const RunResults& results, std::string memory_sections)
      : services_(services), results_(results), memory_sections_(std::move(memory_sections)) {}

  std::string Write() && {
    Add("# Final memory: {}\n", OneLine(results_.title));
    // The headings of the document, in order.
    using Part = void (Document::*)();
    constexpr std::pair<std::string_view, Part> kParts[] = {
        {"Executive Summary", &Document::WriteSummary},
        {"Best Node Details", &Document::WriteBest},
        {"VLM Analysis & Visual Feedback", &Document::WriteVisual},
        {"Top Nodes Comparison", &Document::WriteTop},
        {"Memory-Based Analysis", &Document::WriteMemory},
        {"Resources Used", &Document::WriteResources},
        {"Execution Feedback", &Document::WriteExecution},
        {"Negative Results & Lessons Learned", &Document::WriteLessons},
        {"Provenance Chain", &Document::WriteProvenance}};
    for (const auto& [heading, part] : kParts) {
      Add("\n## {}\n\n", heading);
      const std::size_t before = text_.size();
      (this->*part)();
      if (text_.size() == before) Add("{}\n", kNothing);
    }
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void Fact(std::string_view name, std::string_view value) {
    if (!TrimSpace(value).empty()) Add("- {}: {}\n", name, OneLine(CutText(value, kMaxPartText)));
  }
  // Writes a text in which headings cannot be mistaken for ours.
  void Text(std::string_view text) {
    const std::string cut = CutText(TrimSpace(text), kMaxPartText);
    for (const std::string_view line : Split(cut, '\n')) {
      Add("{}{}\n", line.starts_with('#') ? "\\" : "", line);
    }
  }
  static std::string OneLine(std::string_view text) {
    std::string line = ReplaceAll(std::string(TrimSpace(text)), "\n", " ");
    return ReplaceAll(line, "\r", "");
  }
  static std::string Short(std::string_view id) { return std::string(id.substr(0, 8)); }
  static std::string MetricOf(const Node& node) {
    return node.metric ? MetricText(*node.metric) : "N/A";
  }

  template <typename Visit>
  void ForEachNode(const Visit& visit) const {
    for (const StageResults& stage : results_.stages) {
      for (const Node& node : stage.tree.nodes) visit(node);
    }
  }

  void WriteSummary() {
    std::int64_t nodes = 0;
    std::int64_t good = 0;
    ForEachNode([&](const Node& node) {
      ++nodes;
      if (IsGood(node)) ++good;
    });
    Add("{} nodes in {} stages, {} of them good.\n\n", nodes, results_.stages.size(), good);
    const Node* best = results_.Best();
    Fact("Best node", best ? fmt::format("{}, {}", Short(best->id), MetricOf(*best)) : "none");
    for (const StageResults& stage : results_.stages) {
      const Node* own = stage.tree.Find(stage.best_node);
      Fact(stage.name, own ? MetricOf(*own) : std::string("no good node"));
      if (!stage.notes.empty()) {
        Add("\n");
        Text(stage.notes);
        Add("\n");
      }
    }
  }

  void WriteBest() {
    const Node* best = results_.Best();
    if (best == nullptr) return Add("There is no best node: no program of this run was good.\n");
    Fact("Id", best->id);
    Fact("Stage", best->stage);
    Fact("Kind", NodeKindName(best->kind));
    Fact("Metric", MetricOf(*best));
    Fact("Run time", SecondsText(best->exec_time));
    Fact("Tuned", best->hyperparam_name);
    Fact("Ablation", best->ablation_name);
    WriteCommands(*best);
    if (!best->plan.empty()) {
      Add("\nPlan:\n\n");
      Text(best->plan);
    }
    if (!best->analysis.empty()) {
      Add("\nAnalysis:\n\n");
      Text(best->analysis);
    }
  }

  void WriteCommands(const Node& node) {
    const Json* artifacts = Find(node.phase_artifacts, "phase_artifacts");
    if (artifacts == nullptr) artifacts = &node.phase_artifacts;
    for (const std::string_view phase : {"compile", "run"}) {
      const Json* part = Find(*artifacts, phase);
      const Json* commands = part ? Find(*part, "commands") : nullptr;
      if (commands == nullptr || !commands->is_array()) continue;
      for (const Json& command : commands->as_array()) {
        if (command.is_string())
          Fact(phase, fmt::format("`{}`", std::string_view(command.as_string())));
      }
    }
  }

  void WriteVisual() {
    const Node* best = results_.Best();
    if (best == nullptr) return;
    Fact("Figures", Join(best->plots, ", "));
    Fact("Feedback", best->vlm_feedback_summary);
    for (const std::string& analysis : best->plot_analyses) Fact("Analysis", analysis);
    Fact("Data sets", Join(best->datasets_successfully_tested, ", "));
  }

  void WriteTop() {
    Add("| node | stage | kind | metric | seconds |\n| --- | --- | --- | --- | --- |\n");
    std::size_t rows = 0;
    for (const Node* node : results_.GoodNodes(services_.config->primary_metric)) {
      if (rows++ == kTopNodes) break;
      Add("| {} | {} | {} | {} | {} |\n", Short(node->id), node->stage, NodeKindName(node->kind),
          ReplaceAll(OneLine(MetricOf(*node)), "|", "\\|"), RoundedText(node->exec_time));
    }
    if (rows == 0) Add("| none | | | | |\n");
  }

  void WriteMemory() { text_ += memory_sections_; }

  void WriteResources() {
    Text(results_.resources);
    Add("\nHardware and software, as probed:\n\n");
    Text(results_.environment.empty() ? kNothing : results_.environment);
  }

  void WriteExecution() {
    std::map<std::string, std::int64_t> errors;
    ForEachNode([&](const Node& node) {
      if (!node.exc_type.empty()) ++errors[node.exc_type];
    });
    for (const auto& [type, count] : errors) Fact(type, fmt::format("{} nodes", count));
    std::size_t told = 0;
    ForEachNode([&](const Node& node) {
      if (node.exec_time_feedback.empty() || told++ >= kMaxLessons) return;
      Fact(Short(node.id), node.exec_time_feedback);
    });
    if (errors.empty()) Add("No program failed.\n");
  }

  void WriteLessons() {
    std::size_t told = 0;
    ForEachNode([&](const Node& node) {
      if (IsGood(node) || told++ >= kMaxLessons) return;
      const std::string why = !node.failure.empty()    ? node.failure
                              : !node.analysis.empty() ? node.analysis
                              : !node.exc_info.empty() ? node.exc_info
                                                       : "its plots are not valid";
      Fact(fmt::format("{} ({}{}{})", Short(node.id), NodeKindName(node.kind),
                       node.exc_type.empty() ? "" : ", ", node.exc_type),
           CutText(why, kFailureInEvent));
    });
    if (told > kMaxLessons) Add("- and {} more\n", told - kMaxLessons);
    if (told == 0) Add("No node failed.\n");
  }

  // Follows the best node back to its original draft, across stages.
  void WriteProvenance() {
    std::set<std::string> seen;
    const Node* node = results_.Best();
    while (node != nullptr && seen.insert(node->id).second) {
      Add("{}. {} ({}, {}): {}\n", seen.size(), Short(node->id), NodeKindName(node->kind),
          node->stage, MetricOf(*node));
      node =
          results_.Find(node->parent_id.empty() ? node->inherited_from_node_id : node->parent_id);
    }
  }

  const Services& services_;
  const RunResults& results_;
  const std::string memory_sections_;
  std::string text_;
};

}  // namespace

Result<FinalMemory> MakeFinalMemory(const Services& services, const RunResults& results,
                                    const CancelToken& cancel) {
  FinalMemory memory;
  DOSSIER_ASSIGN_OR_RETURN(std::string sections,
                           PaperSections(services, results, &memory.warnings, cancel));
  memory.text = Document(services, results, std::move(sections)).Write();
  if (services.config->final_memory_enabled) {
    DOSSIER_RETURN_IF_ERROR(WriteArtefact(
        services,
        fmt::format("{}/{}", run_files::kMemoryFolder, services.config->final_memory_filename),
        memory.text));
  }
  return memory;
}

namespace {

constexpr std::string_view kNotFound = "not found";
constexpr std::uint64_t kMaxSectionText = 4'000;  // characters
constexpr std::uint64_t kMaxDocument = 24'000;    // characters: input for an outline
constexpr std::size_t kDocumentRecords = 60;      // the newest

// How much text of each tier one section is written from.
struct TierShare {
  memory::SearchTier tier;
  std::string_view section;
  int hits;
  std::uint64_t characters;
};
constexpr TierShare kShares[] = {{memory::SearchTier::kCore, "core", 24, 2'000},
                                 {memory::SearchTier::kRecall, "recall", 30, 1'500},
                                 {memory::SearchTier::kArchival, "archival", 20, 1'500}};

// The two that every paper has come first; the others fill the outline up.
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

  // Returns an object, or nothing with a warning that says why.
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
  // Reserves room for the required ones, wherever the model puts them.
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
