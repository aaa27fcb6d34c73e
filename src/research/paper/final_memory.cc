#include "research/paper/final_memory.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/number_text.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/paper/paper_sections.h"

namespace dossier::research {
namespace {

constexpr std::string_view kNothing = "Not found.";
constexpr std::uint64_t kMaxPartText =
    4'000;  // characters of one field, so that the whole is bounded
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
  // A text of its own, with headings that cannot be taken for ours.
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

  // From the best node back to the draft it comes from, across stages.
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

}  // namespace dossier::research
