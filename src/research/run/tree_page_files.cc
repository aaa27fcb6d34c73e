#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/text/text.h"
#include "memory/render/viewer.h"
#include "memory/store/store.h"
#include "research/files/run_folder.h"
#include "research/node/select.h"
#include "research/run/run_history.h"
#include "research/run/run_record.h"
#include "research/search/tree_page.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxLog = 64ull << 20;  // bytes per file
constexpr std::size_t kBestNodes = 5;

std::optional<PagePrompt> ReadPrompt(const std::string& path, std::string_view ending) {
  const std::string stem = path.substr(0, path.size() - ending.size());
  const auto text = ReadRegularFile(path, kMaxLog);
  const auto log = text ? ParseJson(*text) : Result<Json>(Json());
  const Json* sections = log ? Find(*log, "sections") : nullptr;
  if (sections == nullptr || !sections->is_array()) return {};
  PagePrompt prompt{.name = stem.substr(stem.rfind('/') + 1)};
  for (const Json& section : sections->as_array()) {
    const auto name = FindString(section, "name");
    const auto body = FindString(section, "text");
    if (name && body) prompt.sections.emplace_back(*name, *body);
  }
  if (auto reply = ReadRegularFile(stem + "_response.txt", kMaxLog)) {
    prompt.sections.emplace_back("Reply", *std::move(reply));
  }
  return prompt;
}

// In numeric order; aliases have no number and are skipped.
std::vector<PagePrompt> ReadPrompts(const std::string& folder) {
  constexpr std::string_view kEnding = "_prompt.json";
  std::vector<PagePrompt> prompts;
  if (!Exists(folder)) return prompts;
  const auto walked = WalkFolder(folder, {.ignore = IgnoreRules::kDisregard});
  if (!walked) return prompts;
  for (const std::string& path : walked->files) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!name.ends_with(kEnding) || name.empty() || name[0] < '0' || name[0] > '9') continue;
    if (auto prompt = ReadPrompt(path, kEnding)) prompts.push_back(*std::move(prompt));
  }
  return prompts;
}

void AddImage(const std::string& path, std::vector<PageImage>* images) {
  auto png = ReadRegularFile(path, kMaxLog);
  if (png) images->push_back({.name = path.substr(path.rfind('/') + 1), .png = *std::move(png)});
}

JsonObject TreeData(const StageResults& stage) {
  JsonArray nodes;
  for (const Node& node : stage.tree.nodes) {
    nodes.push_back(JsonObject{{"id", node.id},
                               {"parent_id", node.parent_id},
                               {"step", node.step},
                               {"kind", NodeKindName(node.kind)},
                               {"is_buggy", node.is_buggy},
                               {"is_buggy_plots", node.is_buggy_plots},
                               {"is_seed_node", node.is_seed_node || node.is_seed_agg_node},
                               {"metric", node.metric ? Json(MetricJson(*node.metric)) : Json()},
                               {"exec_time", node.exec_time},
                               {"exc_type", node.exc_type}});
  }
  return {{"schema", "dossier.research.tree_data/1"},
          {"stage", stage.name},
          {"best_node", stage.best_node},
          {"nodes", std::move(nodes)}};
}

Status WriteMemoryPage(const RunHistory& history, memory::Store* memory) {
  if (memory == nullptr) return {};
  memory::ViewerExtras extras{.reads = history.memory_reads};
  for (const StageResults& stage : history.results.stages) {
    for (const Node& node : stage.tree.nodes) extras.node_names.emplace(node.id, node.name);
  }
  for (const Node& node : history.unfinished) extras.node_names.emplace(node.id, node.name);
  const std::vector<const Node*> good = history.results.GoodNodes(history.primary_metric);
  for (std::size_t i = 0; i < good.size() && i < kBestNodes; ++i) {
    const Node& node = *good[i];
    const bool measured =
        node.metric && !node.metric->empty() && !node.metric->front().values.empty();
    extras.best_nodes.push_back({.name = node.name,
                                 .score = measured ? node.metric->front().values.front().value : 0,
                                 .summary = node.metric ? RoundedMetricText(*node.metric) : "N/A"});
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::ViewerData data, memory::GatherViewer(*memory, extras));
  return WriteRunFile(fmt::format("{}/{}", history.folder, run_files::kMemoryPage),
                      memory::ViewerPage(data));
}

Status WritePage(const std::string& path, std::string_view text) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
  return WriteRunFile(path, text);
}

PageStage ReadPageStage(const std::string& run_folder, const StageResults& stage) {
  PageStage page{.name = stage.name, .best_node = stage.best_node};
  for (const Node& node : stage.tree.nodes) {
    PageNode shown{
        .node = &node,
        .prompts = ReadPrompts(fmt::format("{}/{}", run_folder, run_files::PromptLogs(node.id)))};
    for (const std::string& plot : node.plots) {
      AddImage(run_folder + "/" + plot, &shown.images);
    }
    page.nodes.push_back(std::move(shown));
  }
  return page;
}

// Opens the memory that a run used, if that is still possible.
std::unique_ptr<memory::Store> MemoryOf(const std::string& folder, const RunRecord& record) {
  std::string path = record.memory_store;
  if (path.empty()) path = fmt::format("{}/{}", folder, run_files::kMemory);
  if (!Exists(path)) return nullptr;
  return memory::Store::Open({.path = std::move(path)}).value_or(nullptr);
}

}  // namespace

std::vector<PageStage> ReadPageStages(const RunHistory& history, int stage) {
  std::vector<PageStage> pages;
  for (const StageResults& one : history.results.stages) {
    if (stage != 0 && one.stage != stage) continue;
    pages.push_back(ReadPageStage(history.folder, one));
    for (const Node& node : history.unfinished) {
      if (node.stage != one.name) continue;
      pages.back().nodes.push_back({.node = &node, .state = PageNode::State::kRunning});
    }
  }
  return pages;
}

PageRun ReadPageRun(const std::string& run_folder, model::UsageSum usage) {
  PageRun run{.prompts = ReadPrompts(fmt::format("{}/{}", run_folder, run_files::kPromptLogs)),
              .usage = std::move(usage)};
  const std::string folder = fmt::format("{}/{}", run_folder, run_files::kFigures);
  if (!Exists(folder)) return run;
  const auto walked = WalkFolder(folder, {.ignore = IgnoreRules::kDisregard});
  if (!walked) return run;
  for (const std::string& path : walked->files) {
    if (path.ends_with(".png")) AddImage(path, &run.images);
  }
  return run;
}

Status WriteStagePages(const std::string& run_folder, std::string_view title,
                       const StageResults& stage) {
  const std::string folder = fmt::format("{}/{}", run_folder, run_files::StageLogs(stage.name));
  DOSSIER_RETURN_IF_ERROR(
      WritePage(folder + "/tree_data.json", ToPrettyJson(TreeData(stage)) + "\n"));
  return WritePage(folder + "/tree_plot.html", TreePage(fmt::format("{}: {}", title, stage.name),
                                                        {ReadPageStage(run_folder, stage)}));
}

Status WriteRunPages(const RunHistory& history, memory::Store* memory) {
  const std::vector<PageStage> stages = ReadPageStages(history, 0);
  const PageRun run = ReadPageRun(history.folder, history.usage);
  DOSSIER_RETURN_IF_ERROR(WritePage(fmt::format("{}/{}", history.folder, run_files::kTreePage),
                                    TreePage(history.results.title, stages, &run)));
  return WriteMemoryPage(history, memory);
}

Status WritePagesOf(const RunHistory& history) {
  DOSSIER_ASSIGN_OR_RETURN(const RunRecord record, ReadRunRecord(history.folder));
  for (const StageResults& stage : history.results.stages) {
    DOSSIER_RETURN_IF_ERROR(WriteStagePages(history.folder, history.results.title, stage));
  }
  return WriteRunPages(history, MemoryOf(history.folder, record).get());
}

}  // namespace dossier::research
