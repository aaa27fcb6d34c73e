// Makes the figures of one node: a model writes a script, the sandbox runs it, a vision model reads
// the images.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PlotOutcome outcome,
//                            MakeNodePlots(services, {.node = &node, .worker = "worker-0",
//                            .scope = scope, .prefix = prefix, .workspace = folder}, cancel));
//   KeepPlots(outcome, &node);
//
// Failures are outcomes: without an image that decodes, the node's plots are buggy. Errors end the
// run, as in RoleCaller::Call. Thread-safety: one thread per node; several nodes at the same time.

#ifndef DOSSIER_RESEARCH_NODE_PLOTS_H_
#define DOSSIER_RESEARCH_NODE_PLOTS_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"

namespace dossier::research {

inline constexpr std::size_t kMaxAnalysedPlots = 10;  // images sent to the vision model

struct PlotWork {
  const Node* node = nullptr;  // has run, and is not buggy
  std::string worker;          // "worker-0"
  CallOrigin scope;
  PrefixSections prefix;
  std::string workspace;       // absolute; the script runs there
  std::string base_plot_code;  // of the best earlier node, in stages 3 and 4; "": none
};

struct PlotOutcome {
  std::vector<std::string> plots;  // relative to the run folder, sorted: "nodes/ID/plots/loss.png"
  std::string plan, code;          // of the script
  std::vector<std::string> analyses;  // one per analysed image
  std::string vlm_feedback_summary;
  std::vector<std::string> datasets;  // tested successfully
  enum class Plots : std::uint8_t { kBuggy, kValid } state = Plots::kBuggy;
  std::vector<std::string> warnings;
};

// Call sites: plotting_code, plot_selection, vlm_analysis, datasets_tested. Files: nodes/ID/plots.
Result<PlotOutcome> MakeNodePlots(const Services& services, const PlotWork& work,
                                  const CancelToken& cancel);
void KeepPlots(const PlotOutcome& outcome, Node* node);

struct SeedPlotWork {
  const Node* best = nullptr;       // its script is the example
  std::vector<const Node*> reruns;  // their workspaces hold the data
  std::string node_id;              // the node that represents all of them
  std::string worker;
  CallOrigin scope;
  PrefixSections prefix;
};

// Makes one script over the data of all reruns; without analysis.
Result<PlotOutcome> MakeSeedPlot(const Services& services, const SeedPlotWork& work,
                                 const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PLOTS_H_
