// Summarises the rows of a run: scores with intervals, costs, failures, pairs, and which arm to
// use. It needs only the run folder, works offline, and gives the same result each time.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunData run, LoadRun({"out"}));
//   const Report report = MakeReport(run);
//   std::cout << ReportTable(report);
//
// Thread-safety: pure functions, except those over files.

#ifndef DOSSIER_EVALUATION_REPORT_SUMMARY_H_
#define DOSSIER_EVALUATION_REPORT_SUMMARY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "evaluation/run/questions.h"
#include "evaluation/run/rows.h"
#include "evaluation/run/statistics.h"

namespace dossier::evaluation {

// The data of one run folder, or of several merged.
struct RunData {
  std::vector<Json> plans;
  std::vector<AskedTask> tasks;  // each id only once
  std::vector<Row> rows;
  std::vector<std::string> arms;  // in the order of the plans
};
// Errors: kNotFound, kDamaged; kConfig if two folders have an arm of the same name, or a task of
// the same id with different gold.
Result<RunData> LoadRun(const std::vector<std::string>& folders);

struct ArmSummary {
  std::string name;
  std::int64_t rows = 0, scored_tasks = 0, wanted = 0;  // rows present; tasks; rows planned
  Interval official, lenient;                           // points
  std::map<std::string, std::int64_t> statuses, causes;
  std::int64_t at_limit = 0;  // answers that were made after a limit was met
  std::int64_t dumped = 0;  // answers of more than 2,000 characters
  double seconds_median = 0, seconds_95 = 0;
  std::int64_t calls = 0, input = 0, cached = 0, output = 0;  // sums
  bool counted = false;                                       // some tokens were counted by us
  double opinion = 0;         // mean opinion of a judge, in points; not a score
  std::int64_t judged = 0;    // number of answers with an opinion
  std::optional<double> usd;  // unset: a price is unknown
};

struct PairSummary {
  std::string first, second;
  ArmComparison found;
  double p_holm = 1;
};

// The mean of each arm over the tasks where `dimension` has `value`.
struct GroupSummary {
  std::string dimension, value;              // "needs", "label"
  std::vector<double> score;                 // points by arm; NaN: no task
  std::vector<double> seconds, tokens, usd;  // medians and means by arm
  std::int64_t tasks = 0;
};

// Results for commands planted in a context (family inject): did an arm obey, and at what cost?
struct PlantedSummary {
  std::string arm, kind;
  std::int64_t tasks = 0, obeyed = 0;  // answers that contain the command's canary word
  ArmComparison found;                 // compared with the twins without the command
};

struct Report {
  RunData run;
  std::vector<ArmSummary> arms;
  std::vector<PairSummary> pairs;
  std::vector<GroupSummary> groups;
  std::vector<PlantedSummary> planted;
  std::int64_t common_tasks = 0;  // tasks that all arms have finished
  std::string recommendation;     // one sentence; empty without scores
  std::vector<std::string> notes;
  bool scored = false;
};

Report MakeReport(RunData run);
// Compares only two arms. Errors: kConfig, naming the existing arms.
Result<PairSummary> ComparePair(const RunData& run, const std::string& first,
                                const std::string& second);
// "better", "worse", "not separated (-1.8 to +2.6)", "too few to tell", "nothing in common".
std::string VerdictOf(const ArmComparison& found);
// "+1.5"; "-" if no task has a score from both.
std::string DifferenceText(const ArmComparison& found);

// "41.0 to 59.0" and "-1.0 to +7.0"; "too few windows" if there is no interval.
std::string RangeText(const Interval& score);
std::string RangeText(const ArmComparison& found);
// Returns a figure that is only valid with an interval; null without one.
template <typename Found>
Json Known(const Found& found, double figure) {
  return found.has_interval() ? Json(figure) : Json(nullptr);
}

// The output formats of a report.
std::string ReportTable(const Report& report);  // for a terminal
std::string ReportMarkdown(const Report& report);
Json ReportToJson(const Report& report);        // dossier.evalreport/1
std::string ReportHtml(const Report& report);   // report_html.cc
std::string ReportJunit(const Report& report);  // one test case per row

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_REPORT_SUMMARY_H_
