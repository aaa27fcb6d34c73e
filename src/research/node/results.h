// The results of a run, final or so far: the input of all texts that are written about it.
//
//   RunResults results{.title = idea.title, .prefix = prefix, .best_node = best.id};
//   results.stages.push_back({.stage = 1, .name = name, .tree = tree, .best_node = best.id});
//   DOSSIER_ASSIGN_OR_RETURN(const Json summary,
//                            SummarizeStage(services, results, results.stages.back(), cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, MakeFinalMemory(services, results, cancel));
//
// The parts, in the order in which a run calls them: per node MakeNodePlots (plots.h); per stage
// MakeSeedPlot, SummarizeStage (summaries.h) and WriteStagePages (tree_page.h); at the end
// MakeFinalMemory, AggregatePlots, GatherCitations, MakePaper, ReviewPaper, WriteRunPages. Each
// writes its own files below Services::run_folder and journals them; a part that had nothing to do
// says so in its warnings.
//
// Thread-safety: plain data; changed only by the run's thread.

#ifndef DOSSIER_RESEARCH_NODE_RESULTS_H_
#define DOSSIER_RESEARCH_NODE_RESULTS_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "research/call/caller.h"
#include "research/node/phases.h"
#include "research/node/workspace_command.h"
#include "research/tree/node.h"

namespace dossier::research {

struct StageResults {
  int stage = 1;            // 1 to 4
  std::string name;         // "2_baseline_tuning_1_first_attempt"
  Tree tree;                // includes the seed reruns
  std::string best_node;    // id; "": none
  std::int64_t rounds = 0;  // at its end
  std::string notes;        // from journal_summary, stage_notes; "": none
  Json seed_statistics;     // mean and deviation per metric and data set; null: none
};

// The node count of these stages that every view shows: each program once, so without the copies
// that stages begin with and without reruns. done = good + buggy.
struct NodeCount {
  std::int64_t done = 0, good = 0, buggy = 0;
};
bool Counts(const Node& node);
NodeCount CountNodes(std::span<const StageResults> stages);
NodeCount CountNodes(const Tree& tree);

// kNone: texts are made from existing data and no model is asked: after a limit, or for the report
// of a run that was ended.
enum class Models : std::uint8_t { kAsk, kNone };

struct RunResults {
  std::string title;        // title of the idea
  PrefixSections prefix;    // for calls of the run: without a plan
  std::string environment;  // text from the probe
  std::string resources;    // text of the index; "": none
  std::vector<StageResults> stages;
  std::string best_node;      // id, in the whole run; "": none
  std::string memory_branch;  // branch to read; "": root
  Models models = Models::kAsk;

  const Node* Find(std::string_view id) const;                         // in any stage; null: none
  const Node* Best() const { return Find(best_node); }                 // null: none
  std::set<std::string, std::less<>> Ids() const;                      // of the nodes in all stages
  std::vector<const Node*> GoodNodes(std::string_view primary) const;  // best first, no reruns
};

// Returns a node's expected outputs that end in .npy, relative to the run folder.
std::vector<std::string> ResultFiles(const Node& node);
// Returns these, or where a program writes none its metrics.json.
std::vector<std::string> DataFiles(const Services& services, const Node& node);
// Gives a script in this workspace access to what the run's nodes wrote, at the paths of
// ResultFiles. Makes the workspace, a link `nodes` in it, and the folder `working`. Errors: kIo.
Status ShowNodes(const Services& services, WorkspacePlace* place);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_RESULTS_H_
