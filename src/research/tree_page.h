// The tree of a run as one HTML page that loads nothing: nodes, what they cost, their prompts by
// section, their figures (5.1).
//
//   const std::string html = TreePage(title, stages);
//   DOSSIER_RETURN_IF_ERROR(WriteTreePages(services, results));
//
// The page's policy allows the one script and the one style in it, by their hashes, images that are
// part of it, and no address at all. Thread-safety: pure, but for WriteTreePages.

#ifndef DOSSIER_RESEARCH_TREE_PAGE_H_
#define DOSSIER_RESEARCH_TREE_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "research/node.h"
#include "research/phases.h"
#include "research/results.h"

namespace dossier::research {

struct PagePrompt {
  std::string name;                                           // of its log: "0003_draft_a1_r0"
  std::vector<std::pair<std::string, std::string>> sections;  // name, text
  std::string reply;
};
struct PageImage {
  std::string name;  // "loss.png"
  std::string png;   // bytes
};
struct PageNode {
  const Node* node = nullptr;
  std::vector<PagePrompt> prompts;
  std::vector<PageImage> images;
};
struct PageStage {
  std::string name, best_node;
  std::vector<PageNode> nodes;  // in the order of their steps
};

std::string TreePage(std::string_view title, const std::vector<PageStage>& stages);

// logs/unified_tree_viz.html, tree_data.json and tree_plot.html of each stage, and
// logs/memory_database.html where there is a memory. Errors: kIo.
Status WriteTreePages(const Services& services, const RunResults& results);

// Of one run folder, made of its files alone: for `dossier research tree --format html`.
Result<std::string> TreePageOf(const std::string& run_folder, std::string_view title,
                               const std::vector<StageResults>& stages);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_PAGE_H_
