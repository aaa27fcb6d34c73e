// Which of two systems is better, and how sure that is: paired differences over the tasks that both
// answered, with whole windows as the unit of chance, because questions over one context are not
// independent.
//
//   std::vector<PairedScore> scores = {{.window = "w0", .first = 1.0, .second = 0.0}, …};
//   const ArmComparison found = Compare(scores, kResamples, /*seed=*/1);
//   if (found.separated) Say("better by", found.difference);      // points, 0 to 100
//
// The same input gives the same numbers on every machine. Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_RUN_STATISTICS_H_
#define DOSSIER_EVALUATION_RUN_STATISTICS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dossier::evaluation {

inline constexpr int kResamples = 10'000;
// Below either of them nothing is called better or worse.
inline constexpr int kLeastTasks = 100, kLeastWindows = 10;

// One task, answered by two systems; scores from 0 to 1.
struct PairedScore {
  std::string window;
  double first = 0, second = 0;
};

struct ArmComparison {
  double difference = 0;     // first minus second, in points: -100 to 100
  double low = 0, high = 0;  // of its 95 % interval
  double p = 1;              // by flipping the sign of whole windows
  int tasks = 0, windows = 0;
  bool separated = false;  // enough tasks and windows, and the interval leaves out 0
  bool enough() const { return tasks >= kLeastTasks && windows >= kLeastWindows; }
  // Whether low, high and p mean anything: one window does not say how far others lie from it.
  bool has_interval() const { return windows > 1; }
};

ArmComparison Compare(std::span<const PairedScore> scores, int resamples, std::uint64_t seed);

// The mean of scores from 0 to 1 and its interval, in points. `windows` beside `scores`.
struct Interval {
  double mean = 0, low = 0, high = 0;
  int windows = 0;
  bool has_interval() const { return windows > 1; }
};
Interval MeanWithInterval(std::span<const PairedScore> scores, int resamples, std::uint64_t seed);

// Holm's correction for several comparisons: the adjusted p of each, in the order given.
std::vector<double> AdjustByHolm(std::span<const double> p);

// How many more tasks would make such a difference stand out, if it is real; 0 if it does already,
// -1 if no number would, because there is no difference.
int MoreTasksNeeded(const ArmComparison& found);

// The middle of `values`, or the value that a share of them is at most; 0 for none.
double Quantile(std::vector<double> values, double share);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_STATISTICS_H_
