// The tree of a run as one HTML page that loads nothing: nodes, what they cost, their prompts by
// section, their figures (5.1).
//
//   const std::string html = TreePage(title, stages);
//   DOSSIER_RETURN_IF_ERROR(WriteTreePages(services, results));
//
// The page's policy allows the one script and the one style in it, by their hashes, images that are
// part of it, and no address at all. A text that stands in many prompts is in the page once. What
// does not fit into kMaxPageBytes is left out, and the page says so. Thread-safety: pure, but for
// the functions over files.

#ifndef DOSSIER_RESEARCH_TREE_PAGE_H_
#define DOSSIER_RESEARCH_TREE_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "research/node.h"
#include "research/phases.h"
#include "research/results.h"

namespace dossier::research {

inline constexpr std::size_t kMaxPageBytes = 48u << 20;  // of prompts and of images, each
inline constexpr std::uint64_t kMaxPageText = 40'000;    // characters of one text
inline constexpr std::uint32_t kPageImageSide = 1'000;   // pixels

struct PagePrompt {
  std::string name;                                           // of its log: "0003_draft_a1_r0"
  std::vector<std::pair<std::string, std::string>> sections;  // name, text; the last: the reply
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

// The prompts and figures of these stages, from the files of the run folder. What cannot be read is
// left out.
std::vector<PageStage> ReadPageStages(const std::string& run_folder,
                                      const std::vector<StageResults>& stages);

// logs/unified_tree_viz.html, tree_data.json and tree_plot.html of each stage, and
// logs/memory_database.html where there is a memory. Errors: kIo, and those of the memory store.
Status WriteTreePages(const Services& services, const RunResults& results);

// Internal: tree_page_assets.cc.
std::string_view TreePageStyle();
std::string_view TreePageScript();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_PAGE_H_
