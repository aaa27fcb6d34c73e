// Runs staged research: from an idea, programs are planned, built, run and measured, the best ones
// are developed further, and a report and a paper are written.
//
// [example]
//   auto model = dossier::Model::Open("gpt-5-mini");
//   if (!model) return dossier::ExitCode(model.error().code);
//   auto run = dossier::RunResearch({.idea = "idea.md", .model = *model, .out = "experiments",
//                                    .settings = {"agent.steps=2", "limits.max_cost_usd=1"}});
//   if (!run) return dossier::ExitCode(run.error().code);
//   std::cout << run->end << " " << run->folder << "\n";
//   auto status = dossier::GetResearchStatus(run->folder);
//   if (status) std::cout << status->good << " nodes worked\n";
// [/example]
//
// All state is in the run's folder: ResumeResearch continues a run that was killed. Units: US
// dollars, tokens, seconds, as documented for the settings in docs/formats. Errors: kDamaged (idea
// or resources, listing all faults), kInvalidArgument (an option), kConfig (a setting, with the
// nearest name), kNotFound, kTooLong (the idea), kLocked (another process is working on the run),
// kUnavailable (the backend). A run that failed or reached a limit is a result. Ownership: plain
// values. Thread-safety: the functions block; different folders are independent. Callbacks come
// from the run's threads, one event at a time; they must not block or throw.

#ifndef DOSSIER_RESEARCH_H_
#define DOSSIER_RESEARCH_H_

#include <dossier/cancel.h>
#include <dossier/model.h>
#include <dossier/result.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct ResearchOptions {
  std::string idea;                   // path of the idea file
  Model model;                        // for every role; none: the configured models
  std::string out = "experiments";    // parent folder of the runs
  std::string name;                   // name of this run; "": the idea's title
  std::string config;                 // path of the configuration file; "": defaults
  std::vector<std::string> settings;  // KEY=VALUE, overrides the file
  std::string stages = "1-4";
  std::string until;              // last step to run: "phase0", "stage1", …; "": all
  std::vector<std::string> skip;  // any of plots, citations, writeup, review
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // For ResumeResearch. kApproved: since the folder says which commands run, it must be unchanged
  // since this user's own run left it, or approved (`dossier trust`). kFolder: the caller vouches
  // for it.
  enum class Trust { kApproved, kFolder } trust = Trust::kApproved;
  std::function<void(std::string_view line)> progress;
  std::function<void(const RunEvent& event)> on_event;
  CancelToken cancel;
};

struct ResearchRun {
  std::string folder;
  std::string end;        // "done", "failed", "limited", "stopped"
  std::string reason;     // why it did not finish; otherwise empty
  std::string best_node;  // node id; "": none
  std::string report;     // path relative to the folder; "": none
  std::vector<std::string> warnings;
};

struct ResearchStatus {
  std::string run, folder, title;
  std::string state;  // "running", "waiting", "killed", "done", "failed", "limited", "stopped"
  std::string stage;  // "" before the first stage
  std::int64_t done = 0, good = 0, buggy = 0, running = 0;  // numbers of nodes
  std::string best_node, best_metric;
  std::string reason;  // why the run ended
};

Result<ResearchRun> RunResearch(const ResearchOptions& options);
// Continues the run in `folder`. Only options that a resume may change are used: model, limit and
// model settings, until, network, trust, callbacks. Additional error: kRefused for a folder that is
// not this user's own.
Result<ResearchRun> ResumeResearch(const std::string& folder, const ResearchOptions& options);
Result<ResearchStatus> GetResearchStatus(const std::string& folder);

// Estimated cost of a run, as minimum and maximum; both are 0 if nothing is known.
struct ResearchPlan {
  struct Range {
    double least = 0, most = 0;
  };
  Range nodes, calls, tokens, usd, hours, bytes;
  std::string text;  // the same for a person, with the basis of the estimate
};
Result<ResearchPlan> PlanResearch(const ResearchOptions& options);

// Gives an order about a node, which the run applies before its next round: "pin", "prune", "free"
// (undoes both), "hint" or "name" (both with a text). `node` is its name, such as "draft 2", or a
// prefix of its id. Returns a line for a person. Additional error: kInvalidArgument (an unknown
// kind, a finished run).
Result<std::string> SteerResearch(const std::string& folder, std::string_view kind,
                                  const std::string& node, const std::string& text = {});

}  // namespace dossier

#endif  // DOSSIER_RESEARCH_H_
