// A staged run of research: an idea goes in, programs are planned, built, run and measured, the
// best go on, and a report and a paper come out.
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
// Everything is in the run's folder: a run that was killed goes on with ResumeResearch. Units:
// dollars, tokens, seconds, as the settings of docs/formats say. Errors: kDamaged (idea, resources:
// all faults), kInvalidArgument (an option), kConfig (a setting, with the nearest), kNotFound,
// kTooLong (the idea),
// kLocked (another process works on it), kUnavailable (the backend). A run that failed or reached a
// limit is a result. Ownership: plain values. Thread-safety: functions that block; different
// folders are independent. Callbacks come from the run's threads, one event at a time; they must
// not block and must not throw.

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
  std::string idea;                   // file
  Model model;                        // of every role; none: those that the configuration names
  std::string out = "experiments";    // folder of the runs
  std::string name;                   // of this one; "": the idea's title
  std::string config;                 // file; "": defaults
  std::vector<std::string> settings;  // KEY=VALUE, over the file
  std::string stages = "1-4";
  std::string until;              // step after which it stops: "phase0", "stage1", …; "": the end
  std::vector<std::string> skip;  // of plots, citations, writeup, review
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // Of a resume. kApproved: its folder must be as this user's own run left it, or approved
  // (`dossier trust`), since it says which commands run. kFolder: the caller vouches for it.
  enum class Trust { kApproved, kFolder } trust = Trust::kApproved;
  std::function<void(std::string_view line)> progress;
  std::function<void(const RunEvent& event)> on_event;
  CancelToken cancel;
};

struct ResearchRun {
  std::string folder;
  std::string end;        // "done", "failed", "limited", "stopped"
  std::string reason;     // why it did not get to its end; else empty
  std::string best_node;  // id; "": none
  std::string report;     // file, relative to the folder; "": none
  std::vector<std::string> warnings;
};

struct ResearchStatus {
  std::string run, folder, title;
  std::string state;  // "running", "waiting", "killed", "done", "failed", "limited", "stopped"
  std::string stage;  // "" before the first
  std::int64_t done = 0, good = 0, buggy = 0, running = 0;  // nodes
  std::string best_node, best_metric;
  std::string reason;  // of the end
};

Result<ResearchRun> RunResearch(const ResearchOptions& options);
// Goes on with the run in `folder`. Of the options those count that a resume may change: model,
// settings of limits and models, until, network, trust, callbacks. Errors: kRefused, too, for a
// folder that is not this user's own.
Result<ResearchRun> ResumeResearch(const std::string& folder, const ResearchOptions& options);
Result<ResearchStatus> GetResearchStatus(const std::string& folder);

// What a run would take: at the least and at the most; both 0 where nothing is known.
struct ResearchPlan {
  struct Range {
    double least = 0, most = 0;
  };
  Range nodes, calls, tokens, usd, hours, bytes;
  std::string text;  // the same for a person, with what it stands on
};
Result<ResearchPlan> PlanResearch(const ResearchOptions& options);

// An order about a node, which the run takes before its next round: "pin", "prune", "free" (neither
// any more), "hint" or "name" with a text. `node`: its name, as "draft 2", or the start of its id.
// Gives a line for a person. Errors: also kInvalidArgument (a kind that is none, a run that is
// done).
Result<std::string> SteerResearch(const std::string& folder, std::string_view kind,
                                  const std::string& node, const std::string& text = {});

}  // namespace dossier

#endif  // DOSSIER_RESEARCH_H_
