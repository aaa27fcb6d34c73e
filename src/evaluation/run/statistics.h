// Compares two systems: paired differences over the tasks that both answered. Whole windows are
// resampled, because questions about one context are not independent.
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
// With fewer than either, nothing is called better or worse.
inline constexpr int kLeastTasks = 100, kLeastWindows = 10;

// One task answered by two systems; scores are 0 to 1.
struct PairedScore {
  std::string window;
  double first = 0, second = 0;
};

struct ArmComparison {
  double difference = 0;     // first minus second, in points: -100 to 100
  double low = 0, high = 0;  // of its 95 % interval
  double p = 1;              // by flipping the sign of whole windows
  int tasks = 0, windows = 0;
  bool separated = false;  // enough tasks and windows, and the interval excludes 0
  bool enough() const { return tasks >= kLeastTasks && windows >= kLeastWindows; }
  // Returns true if low, high and p are meaningful: one window says nothing about the variation
  // between windows.
  bool has_interval() const { return windows > 1; }
};

ArmComparison Compare(std::span<const PairedScore> scores, int resamples, std::uint64_t seed);

// The mean of scores from 0 to 1 and its interval, in points. `windows` counts the scores' windows.
struct Interval {
  double mean = 0, low = 0, high = 0;
  int windows = 0;
  bool has_interval() const { return windows > 1; }
};
Interval MeanWithInterval(std::span<const PairedScore> scores, int resamples, std::uint64_t seed);

// Holm's correction for multiple comparisons: returns the adjusted p of each, in the given order.
std::vector<double> AdjustByHolm(std::span<const double> p);

// Returns how many more tasks would separate such a difference, if it is real; 0 if it is separated
// already, -1 if there is no difference, so that no number would do.
int MoreTasksNeeded(const ArmComparison& found);

// Returns the value at rank share * (n - 1), rounded, of the sorted `values`; 0 if empty.
double Quantile(std::vector<double> values, double share);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_STATISTICS_H_
