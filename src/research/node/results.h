// The results of a run, at its end or so far: the input of everything that is written about it.
//
//   RunResults results{.title = idea.title, .prefix = prefix, .best_node = best.id};
//   results.stages.push_back({.stage = 1, .name = name, .tree = tree, .best_node = best.id});
//   DOSSIER_ASSIGN_OR_RETURN(const Json summary,
//                            SummarizeStage(services, results, results.stages.back(), cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, MakeFinalMemory(services, results, cancel));
//
// The parts, in the order in which a run makes them: per node MakeNodePlots (plots.h); per stage
// MakeSeedPlot, SummarizeStage (summaries.h) and WriteStagePages (tree_page.h); at the end
// MakeFinalMemory, AggregatePlots, GatherCitations, MakePaper, ReviewPaper, WriteRunPages. Each
// writes its own files below Services::run_folder and journals them; a part that found nothing to
// do says so in its warnings. Plain data.
//
// Thread-safety: plain data; changed by the thread of the run alone.

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
  int stage = 1;          // 1 to 4
  std::string name;       // "2_baseline_tuning_1_first_attempt"
  Tree tree;              // with the seed reruns
  std::string best_node;  // id; "": none
  std::string notes;      // of journal_summary, stage_notes; "": none
  Json seed_statistics;   // mean and deviation by metric and data set; null: none
};

// Of these stages, the one count that every view gives: each program once, so without the copies
// that stages begin with and without reruns. done = good + buggy.
struct NodeCount {
  std::int64_t done = 0, good = 0, buggy = 0;
};
bool Counts(const Node& node);
NodeCount CountNodes(std::span<const StageResults> stages);
NodeCount CountNodes(const Tree& tree);

// kNone: texts are made from what is there, and no model is asked: after a limit, or for the report
// of a run that was ended.
enum class Models : std::uint8_t { kAsk, kNone };

struct RunResults {
  std::string title;        // of the idea
  PrefixSections prefix;    // of calls of the run: without a plan
  std::string environment;  // text of the probe
  std::string resources;    // text of the index; "": none
  std::vector<StageResults> stages;
  std::string best_node;      // id, of the whole run; "": none
  std::string memory_branch;  // that is read; "": root
  Models models = Models::kAsk;

  const Node* Find(std::string_view id) const;                         // in any stage; null: none
  const Node* Best() const { return Find(best_node); }                 // null: none
  std::set<std::string, std::less<>> Ids() const;                      // of the nodes of all stages
  std::vector<const Node*> GoodNodes(std::string_view primary) const;  // best first, no reruns
};

// Expected outputs of a node that end in .npy, relative to the run folder.
std::vector<std::string> ResultFiles(const Node& node);
// Lets a script in this workspace read what the nodes of the run wrote, at the paths of
// ResultFiles. Makes the workspace, a link `nodes` in it, and the folder `working`. Errors: kIo.
Status ShowNodes(const Services& services, WorkspacePlace* place);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_RESULTS_H_
