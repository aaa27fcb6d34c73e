// The tree of a run as one HTML page that loads nothing: nodes, what they cost, their prompts by
// section, their figures; and the same of what belongs to no node: report, figures, citations,
// paper, review.
//
//   const std::string html = TreePage(title, stages, run);
//   DOSSIER_RETURN_IF_ERROR(WriteStagePages(folder, title, stage));  // when the stage ended
//   DOSSIER_RETURN_IF_ERROR(WriteRunPages(pages));                   // when the run did
//
// The page's policy allows the one script and the one style in it, by their hashes, images that are
// part of it, and no address at all. A text that stands in many prompts is in the page once. What
// does not fit into kMaxPageBytes is left out, and the page says so. Thread-safety: pure, but for
// the functions over files.

#ifndef DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_
#define DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"
#include "research/tree/node.h"

namespace dossier::research {

struct RunHistory;

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

// The calls that are of no node on the page, and the figures of the run.
struct PageRun {
  std::vector<PagePrompt> prompts;
  std::vector<PageImage> images;
  model::UsageSum usage;
};

// Without `run`: of stages alone.
std::string TreePage(std::string_view title, const std::vector<PageStage>& stages,
                     const PageRun* run = nullptr);

// The prompts and figures of these stages, from the files of the run folder. What cannot be read is
// left out.
std::vector<PageStage> ReadPageStages(const std::string& run_folder,
                                      const std::vector<StageResults>& stages);

// `usage` is what those calls cost.
PageRun ReadPageRun(const std::string& run_folder, model::UsageSum usage);

// Pages are views of what the journal and the logs hold: they are made anew, so they are not
// journalled themselves. Errors: kIo, and those of the memory store.

// tree_data.json and tree_plot.html of a stage.
Status WriteStagePages(const std::string& run_folder, std::string_view title,
                       const StageResults& stage);

struct RunPages {
  std::string run_folder;
  const RunResults* results = nullptr;
  model::UsageSum usage;            // of the calls that are of no node of `results`
  memory::Store* memory = nullptr;  // null: the run has none
  std::string primary_metric;
};
// logs/unified_tree_viz.html, and logs/memory_database.html where there is a memory.
Status WriteRunPages(const RunPages& pages);
// All pages of a run at which no process works: of a killed one too.
Status WritePagesOf(const RunHistory& history);

// Internal: tree_page_assets.cc.
std::string_view TreePageStyle();
std::string_view TreePageScript();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_
