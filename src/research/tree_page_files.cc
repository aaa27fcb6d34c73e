#include "base/file.h"
#include "base/text.h"
#include "base/walk.h"
#include "memory/viewer_page.h"
#include "research/driver.h"
#include "research/run_folder.h"
#include "research/select.h"
#include "research/tree_page.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxLog = 64ull << 20;  // bytes of one file
constexpr std::size_t kBestNodes = 5;

std::optional<PagePrompt> ReadPrompt(const std::string& path, std::string_view ending) {
  const std::string stem = path.substr(0, path.size() - ending.size());
  const auto text = ReadFile(path, kMaxLog);
  const auto log = text ? ParseJson(*text) : Result<Json>(Json());
  const Json* sections = log ? Find(*log, "sections") : nullptr;
  if (sections == nullptr || !sections->is_array()) return {};
  PagePrompt prompt{.name = stem.substr(stem.rfind('/') + 1)};
  for (const Json& section : sections->as_array()) {
    const auto name = FindString(section, "name");
    const auto body = FindString(section, "text");
    if (name && body) prompt.sections.emplace_back(*name, *body);
  }
  if (auto reply = ReadFile(stem + "_response.txt", kMaxLog)) {
    prompt.sections.emplace_back("Reply", *std::move(reply));
  }
  return prompt;
}

// In the order of their numbers; aliases have none.
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

Status WriteMemoryPage(const Services& services, const RunResults& results) {
  if (services.memory == nullptr) return {};
  memory::ViewerExtras extras;
  const std::vector<const Node*> good = results.GoodNodes(services.config->primary_metric);
  for (std::size_t i = 0; i < good.size() && i < kBestNodes; ++i) {
    const Node& node = *good[i];
    const bool measured =
        node.metric && !node.metric->empty() && !node.metric->front().values.empty();
    extras.best_nodes.push_back({.name = node.id,
                                 .score = measured ? node.metric->front().values.front().value : 0,
                                 .summary = node.metric ? MetricText(*node.metric) : "N/A"});
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::ViewerData data,
                           memory::GatherViewer(*services.memory, extras));
  return WriteFileAtomic(fmt::format("{}/{}", services.run_folder, run_files::kMemoryPage),
                         memory::ViewerPage(data));
}

}  // namespace

std::vector<PageStage> ReadPageStages(const std::string& run_folder,
                                      const std::vector<StageResults>& stages) {
  std::vector<PageStage> pages;
  for (const StageResults& stage : stages) {
    PageStage page{.name = stage.name, .best_node = stage.best_node};
    for (const Node& node : stage.tree.nodes) {
      PageNode shown{
          .node = &node,
          .prompts = ReadPrompts(fmt::format("{}/{}", run_folder, run_files::PromptLogs(node.id)))};
      for (const std::string& plot : node.plots) {
        if (auto png = ReadFile(run_folder + "/" + plot, kMaxLog)) {
          shown.images.push_back(
              {.name = plot.substr(plot.rfind('/') + 1), .png = *std::move(png)});
        }
      }
      page.nodes.push_back(std::move(shown));
    }
    pages.push_back(std::move(page));
  }
  return pages;
}

// Views of what the journal holds: they are made anew, so they are not journalled themselves.
Status WriteTreePages(const Services& services, const RunResults& results) {
  const std::vector<PageStage> pages = ReadPageStages(services.run_folder, results.stages);
  const auto write = [&](const std::string& path, std::string_view text) -> Status {
    const std::string whole = services.run_folder + "/" + path;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(whole.substr(0, whole.rfind('/'))));
    return WriteFileAtomic(whole, text);
  };
  DOSSIER_RETURN_IF_ERROR(write(std::string(run_files::kTreePage), TreePage(results.title, pages)));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::string folder = run_files::StageLogs(pages[i].name);
    DOSSIER_RETURN_IF_ERROR(
        write(folder + "/tree_data.json", ToPrettyJson(TreeData(results.stages[i])) + "\n"));
    DOSSIER_RETURN_IF_ERROR(
        write(folder + "/tree_plot.html",
              TreePage(fmt::format("{}: {}", results.title, pages[i].name), {pages[i]})));
  }
  return WriteMemoryPage(services, results);
}

}  // namespace dossier::research
