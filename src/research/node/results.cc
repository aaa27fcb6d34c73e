#include "research/node/results.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/file.h"
#include "research/node/node_work.h"
#include "research/node/select.h"

namespace dossier::research {

const Node* RunResults::Find(std::string_view id) const {
  if (id.empty()) return nullptr;
  for (const StageResults& stage : stages) {
    if (const Node* node = stage.tree.Find(id)) return node;
  }
  return nullptr;
}

std::set<std::string, std::less<>> RunResults::Ids() const {
  std::set<std::string, std::less<>> ids;
  for (const StageResults& stage : stages) {
    for (const Node& node : stage.tree.nodes) ids.insert(node.id);
  }
  return ids;
}

std::vector<const Node*> RunResults::GoodNodes(std::string_view primary) const {
  std::vector<const Node*> good;
  for (const StageResults& stage : stages) {
    for (const Node* node : ByMetric(stage.tree, primary)) {
      // The copy that a stage begins with represents a node that is already counted.
      if (node->kind != NodeKind::kCopy) good.push_back(node);
    }
  }
  SortByMetric(&good, primary);
  return good;
}

bool Counts(const Node& node) {
  return node.kind != NodeKind::kCopy && !node.is_seed_node && !node.is_seed_agg_node;
}

NodeCount CountNodes(const Tree& tree) {
  NodeCount count;
  for (const Node& node : tree.nodes) {
    if (!Counts(node)) continue;
    ++count.done;
    ++(IsGood(node) ? count.good : count.buggy);
  }
  return count;
}

NodeCount CountNodes(std::span<const StageResults> stages) {
  NodeCount count;
  for (const StageResults& stage : stages) {
    const NodeCount one = CountNodes(stage.tree);
    count.done += one.done;
    count.good += one.good;
    count.buggy += one.buggy;
  }
  return count;
}

std::vector<std::string> ResultFiles(const Node& node) {
  std::vector<std::string> files;
  const Json* run = Find(node.phase_artifacts, "phase_artifacts");
  run = run ? Find(*run, "run") : Find(node.phase_artifacts, "run");
  const Json* outputs = run ? Find(*run, "expected_outputs") : nullptr;
  if (outputs == nullptr || !outputs->is_array() || node.workspace_path.empty()) return files;
  for (const Json& output : outputs->as_array()) {
    if (!output.is_string() || !std::string_view(output.as_string()).ends_with(".npy")) continue;
    files.push_back(
        fmt::format("{}/{}", node.workspace_path, std::string_view(output.as_string())));
  }
  return files;
}

std::vector<std::string> DataFiles(const Services& services, const Node& node) {
  std::vector<std::string> files = ResultFiles(node);
  const std::string metrics = fmt::format("{}/{}", node.workspace_path, kMetricsFile);
  if (files.empty() && Exists(services.run_folder + "/" + metrics)) files.push_back(metrics);
  return files;
}

Status ShowNodes(const Services& services, WorkspacePlace* place) {
  const std::string nodes = services.run_folder + "/nodes";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(nodes));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(place->workspace + "/working"));
  const std::string link = place->workspace + "/nodes";
  if (::symlink(nodes.c_str(), link.c_str()) != 0 && errno != EEXIST) {
    return MakeErrnoError(errno, link);
  }
  place->binds.push_back({.host = nodes, .mount = nodes});
  return {};
}

}  // namespace dossier::research
