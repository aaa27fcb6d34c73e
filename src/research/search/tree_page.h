// Shows the tree of a run as one self-contained HTML page: the drawn tree of nodes, their metrics
// over time, their cost, their prompts by section, their figures; and the same for what belongs to
// no node: report, figures, citations, paper, review.
//
//   const std::string html = TreePage(title, stages, run);
//   DOSSIER_RETURN_IF_ERROR(WriteStagePages(folder, title, stage));  // when the stage ended
//   DOSSIER_RETURN_IF_ERROR(WriteRunPages(history, memory));         // when the run did
//
// The page's content security policy allows only its one script and one style, by hash, and
// embedded images; no address at all. A text used in many prompts is stored once. What exceeds
// kMaxPageBytes is left out, and the page says so. Thread-safety: pure, except the functions over
// files.

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

inline constexpr std::size_t kMaxPageBytes = 48u << 20;  // for prompts and for images, each
inline constexpr std::uint64_t kMaxPageText = 40'000;    // characters per text
inline constexpr std::uint32_t kPageImageSide = 1'000;   // pixels

struct PagePrompt {
  std::string name;                                           // name of its log: "0003_draft_a1_r0"
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
  std::vector<PageNode> nodes;  // in step order
};

// The calls that belong to no node on the page, and the figures of the run.
struct PageRun {
  std::vector<PagePrompt> prompts;
  std::vector<PageImage> images;
  model::UsageSum usage;
};

// Without `run`: only the stages.
std::string TreePage(std::string_view title, const std::vector<PageStage>& stages,
                     const PageRun* run = nullptr);

// Reads the prompts and figures of stage 1 to 4, or of all for 0, from the run folder, including
// unfinished nodes. What cannot be read is left out. `history` must outlive the result.
std::vector<PageStage> ReadPageStages(const RunHistory& history, int stage);

// `usage` is the cost of those calls.
PageRun ReadPageRun(const std::string& run_folder, model::UsageSum usage);

// Pages are views of the journal and the logs; they can be made again, so they are not journalled.
// Errors: kIo, and those of the memory store.

// Writes tree_data.json and tree_plot.html of a stage.
Status WriteStagePages(const std::string& run_folder, std::string_view title,
                       const StageResults& stage);

// Writes logs/unified_tree_viz.html, and logs/memory_database.html if there is a memory.
Status WriteRunPages(const RunHistory& history, memory::Store* memory);
// Writes all pages of a run that no process works on, including a killed one.
Status WritePagesOf(const RunHistory& history);

// Internal: tree_page_drawing.cc.

// The anchor of each node on the page: "n12".
using PageAnchors = std::map<const Node*, std::string>;
// The symbol and word for the state of a node.
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
