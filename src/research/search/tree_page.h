// The tree of a run as one HTML page that loads nothing: the nodes as a drawn tree, their metrics
// over time, what they cost, their prompts by section, their figures; and the same of what belongs
// to no node: report, figures, citations, paper, review.
//
//   const std::string html = TreePage(title, stages, run);
//   DOSSIER_RETURN_IF_ERROR(WriteStagePages(folder, title, stage));  // when the stage ended
//   DOSSIER_RETURN_IF_ERROR(WriteRunPages(history, memory));         // when the run did
//
// The page's policy allows the one script and the one style in it, by their hashes, images that are
// part of it, and no address at all. A text that stands in many prompts is in the page once. What
// does not fit into kMaxPageBytes is left out, and the page says so. Thread-safety: pure, but for
// the functions over files.

#ifndef DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_
#define DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_

#include <cstdint>
#include <map>
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
  enum class State : std::uint8_t { kFinished, kRunning } state = State::kFinished;
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

// The prompts and figures of stage 1 to 4, or, 0, of all, from the files of the run folder, with
// the nodes that have no end yet. What cannot be read is left out. `history` outlives it.
std::vector<PageStage> ReadPageStages(const RunHistory& history, int stage);

// `usage` is what those calls cost.
PageRun ReadPageRun(const std::string& run_folder, model::UsageSum usage);

// Pages are views of what the journal and the logs hold: they are made anew, so they are not
// journalled themselves. Errors: kIo, and those of the memory store.

// tree_data.json and tree_plot.html of a stage.
Status WriteStagePages(const std::string& run_folder, std::string_view title,
                       const StageResults& stage);

// logs/unified_tree_viz.html, and logs/memory_database.html where there is a memory.
Status WriteRunPages(const RunHistory& history, memory::Store* memory);
// All pages of a run at which no process works: of a killed one too.
Status WritePagesOf(const RunHistory& history);

// Internal: tree_page_drawing.cc.

// The place of each node on the page: "n12".
using PageAnchors = std::map<const Node*, std::string>;
// What stands for the state of a node: a sign and a word.
struct NodeMark {
  std::string_view sign, name;
};
NodeMark MarkOf(const PageNode& page, std::string_view best);
std::string DrawTree(const std::vector<PageStage>& stages, const PageAnchors& anchors);
std::string DrawMetrics(const std::vector<PageStage>& stages, const PageAnchors& anchors);

// Internal: tree_page_assets.cc.
std::string_view TreePageStyle();
std::string_view TreePageScript();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_TREE_PAGE_H_
