// Compares two builds of this program: both do the same scripted and stub runs. Results are
// compared exactly, speed in alternating rounds, without a model, noise or timings of another day.
// In addition, recorded runs of a real model are replayed, and at night a real model is asked.
//
//   DOSSIER_ASSIGN_OR_RETURN(GateConfig config, LoadGates("bench/gates.yml"));
//   DOSSIER_ASSIGN_OR_RETURN(const auto lines, CompareExactly(config, {base, head}, parts, …));
//   for (const GateLine& line : lines) std::cout << line.Text() << "\n";
//
// Thread-safety: functions; one gate per folder at a time.

#ifndef DOSSIER_EVALUATION_GATE_GATE_H_
#define DOSSIER_EVALUATION_GATE_GATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "evaluation/run/runner.h"
#include "evaluation/run/statistics.h"

namespace dossier::evaluation {

// A run that both builds do: questions with a script, or a task set with a stub.
struct GateSuite {
  std::string name;                   // "aggregate/stub P=0.1"
  std::string questions;              // file beside gates.yml; empty: a generated set
  std::vector<std::string> generate;  // arguments of `eval generate`, without --out
  std::string script;                 // replies of the scripted model
  std::string plan, stub_errors;      // for a stub, whose table is the set's labels
  std::string recording, model;       // a folder with one recording per task; its model
  int repeats = 1;                    // for a real model
  std::vector<std::string> flags;     // further flags of `dossier ask`
};

// Increases above which a figure counts as worse; shares: 0.01 is 1 %.
struct GateLimits {
  double requests = 0, tokens = 0.01, journal = 0.01, prefix = 0.01;
  double worse_ratio = 1.05, better_ratio = 0.95, half_width = 0.02;
  int least_rounds = 10, most_rounds = 40;
  double most_seconds = 300;  // of all rounds
};

struct GateConfig {
  std::vector<GateSuite> suites;             // exact figures: a script or a stub
  std::vector<GateSuite> speed;              // for speed instead of `suites`, if there are any
  std::vector<GateSuite> recorded, nightly;  // replayed; run with a real model
  GateLimits limits;
  std::vector<std::string> build;  // argv that builds a checkout, run in its folder
  std::string program;             // the built program, relative to the checkout
};
// Errors: kConfig with FILE:LINE; kNotFound.
Result<GateConfig> LoadGates(const std::string& path);

// An intended change (bench/accepted.yml).
struct Accepted {
  std::string gate, metric, from, to, reason;
};
Result<std::vector<Accepted>> LoadAccepted(const std::string& path);

struct GateLine {
  // kRecord: its prompts have changed, so a new recording is needed. kWatch: fewer points, but not
  // separated.
  enum class Verdict : std::uint8_t {
    kWorse,
    kUnclear,
    kRecord,
    kWatch,
    kAccepted,
    kBetter,
    kOpen
  } verdict;
  std::string metric, gate;  // "requests", the suite's name
  std::string said;          // "9 (was 8)"
  std::string show;          // a command that shows the details; empty: none
  std::string from, to;      // as in accepted.yml
  std::string Text() const;
};
// Sorts the worst first.
void SortLines(std::vector<GateLine>* lines);
// Marks lines that `accepted` lists with the same values.
void Accept(const std::vector<Accepted>& accepted, std::vector<GateLine>* lines);

// The figures of one program in one suite.
struct GateFigures {
  std::map<std::string, std::string> answers;    // by task
  std::map<std::string, std::int64_t> requests;  // by purpose
  std::map<std::string, std::int64_t> tokens;    // by purpose, in and out
  std::map<std::string, std::int64_t> warnings;  // by code
  std::int64_t journal = 0;                      // bytes
  double kept = 0, sent = 0;  // bytes of requests that repeat the start of the previous one; all
};
// Adds one run: the output of `ask --json` and its journal. `sent` is the number of requests that
// the proxy has seen, whatever the journal says.
void AddRun(const std::string& task, const Answer& answer, std::int64_t sent, GateFigures* to);
// Returns the lines in which `head` differs; none for equal figures.
std::vector<GateLine> CompareFigures(const std::string& gate, const GateFigures& base,
                                     const GateFigures& head, const GateLimits& limits);

struct GatePrograms {
  std::string base, head;
};
// Generates the sets that suites need below `folder`, unless they exist. Errors: kNotFound.
Status PrepareSets(const std::string& program, const std::string& folder, const CancelToken& cancel,
                   GateConfig* config);
// Runs all suites with both. `folder` gets transcripts/. Errors: those of files, sets and servers.
Result<std::vector<GateLine>> CompareExactly(const GateConfig& config, const GatePrograms& programs,
                                             const SystemParts& parts, const std::string& folder,
                                             const CancelToken& cancel);

// Replays the recorded suites with both programs. Answers and figures are compared if all prompts
// are those of the recording; each task with another prompt gets a line. Errors: as CompareExactly;
// a task without a recording is also a line (kNotFound).
Result<std::vector<GateLine>> CompareRecorded(const GateConfig& config,
                                              const GatePrograms& programs,
                                              const SystemParts& parts, const CancelToken& cancel);
// Asks `model` all tasks of the recorded suites with `program`, and saves the replies. Returns the
// files. Errors: kFailed with the task that got no answer; those of the model.
Result<std::vector<std::string>> RecordSuites(const GateConfig& config, const std::string& program,
                                              const EvalModel& model, const SystemParts& parts,
                                              const CancelToken& cancel);
// Asks `model` the nightly suites with both programs and the same seeds, and reports for each how
// the scores differ. `folder` gets the runs. Errors: as RunPlan; kPartial if it ended early.
Result<std::vector<GateLine>> CompareNightly(const GateConfig& config, const GatePrograms& programs,
                                             const EvalModel& model, const SystemParts& parts,
                                             const std::string& folder, const CancelToken& cancel);
// Judges head minus base, in points: worse, watch, better, not separated; unclear: too few tasks.
GateLine NightlyLine(const std::string& gate, const ArmComparison& head_minus_base);

// One measurement of a program, in seconds.
struct Seconds {
  double cpu = 0, wall = 0;
};
using Measure = std::function<Result<Seconds>(const std::string& program)>;
struct SpeedResult {
  double ratio = 1, low = 1, high = 1;           // head relative to base: median, 95 % interval
  double same_low = 1, same_high = 1, same = 1;  // base relative to base, in the same rounds
  int rounds = 0;
  GateLine::Verdict verdict = GateLine::Verdict::kOpen;  // open: as fast
};
struct SpeedResults {
  SpeedResult cpu, wall;
};
using SayRound = std::function<void(const SpeedResults& so_far)>;
// Runs rounds of base, head, head, base until both intervals are narrow enough or the time is over.
// If two runs of the base differ, it tries once more and then reports unclear, as it does for too
// few rounds. Errors: those of `measure`.
Result<SpeedResults> CompareSpeed(const GatePrograms& programs, const GateLimits& limits,
                                  const Measure& measure, const SayRound& say);
// Measures all suites for speed with one program.
Measure MeasureSuites(const GateConfig& config, const SystemParts& parts,
                      const CancelToken& cancel);

// Finds the program of `reference`: a program, a folder with one, or a commit, which is checked out
// and built once. Errors: kNotFound with the end of the build log, or without such a commit.
Result<std::string> ProgramOf(const std::string& reference, const GateConfig& config,
                              const CancelToken& cancel);
// Returns the first bad one of `count` steps, if the last one is bad and every step after a bad one
// is bad too. Errors: those of `is_bad`.
Result<std::size_t> FirstBad(std::size_t count,
                             const std::function<Result<bool>(std::size_t)>& is_bad);
// Returns the commits after `good` up to the checked-out one, oldest first.
Result<std::vector<std::string>> CommitsSince(const std::string& good, const CancelToken& cancel);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_GATE_GATE_H_
