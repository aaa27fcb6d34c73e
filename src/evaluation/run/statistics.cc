#include "evaluation/run/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"

namespace dossier::evaluation {
namespace {

constexpr double kTail = 0.025;        // on each side of a 95 % interval
constexpr int kMostExactWindows = 13;  // up to this number all sign flips are tried: 8,192

// The contribution of one window to a mean.
struct WindowSum {
  double sum = 0;
  double tasks = 0;
};

std::vector<WindowSum> SumsOf(std::span<const PairedScore> scores) {
  std::map<std::string_view, WindowSum> by_window;
  for (const PairedScore& score : scores) {
    WindowSum& window = by_window[score.window];
    window.sum += score.first - score.second;
    window.tasks += 1;
  }
  std::vector<WindowSum> sums;
  sums.reserve(by_window.size());
  for (const auto& [name, sum] : by_window) sums.push_back(sum);
  return sums;
}

// Draws numbers below `limit`, which fits into 32 bits, without a division: 10,000 resamples of
// 100,000 windows need a thousand million of them.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  std::size_t Below(std::uint64_t limit) {
    if (half_ == 0) bits_ = random_.Next();
    half_ ^= 1;
    const std::uint64_t word = half_ != 0 ? bits_ >> 32 : bits_ & 0xffffffffU;
    return static_cast<std::size_t>(word * limit >> 32);
  }

 private:
  Random random_;
  std::uint64_t bits_ = 0;
  unsigned half_ = 0;
};

// Returns the means of `resamples` sets of windows, each drawn with replacement.
std::vector<double> ResampledMeans(const std::vector<WindowSum>& windows, int resamples,
                                   std::uint64_t seed) {
  Draws draws(seed);
  std::vector<double> means(static_cast<std::size_t>(resamples));
  for (double& mean : means) {
    WindowSum all;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const WindowSum& drawn = windows[draws.Below(windows.size())];
      all.sum += drawn.sum;
      all.tasks += drawn.tasks;
    }
    mean = all.sum / all.tasks;
  }
  return means;
}

// Returns how often a sum with random signs per window is at least as far from 0 as the real one.
double SignFlipP(const std::vector<WindowSum>& windows, int resamples, std::uint64_t seed) {
  double real = 0;
  for (const WindowSum& window : windows) real += window.sum;
  const double bound = std::abs(real) - 1e-9;
  const bool exact = windows.size() <= kMostExactWindows;
  const std::uint64_t rounds =
      exact ? std::uint64_t{1} << windows.size() : static_cast<std::uint64_t>(resamples);
  Random random(seed);
  std::uint64_t as_far = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    double sum = 0;
    std::uint64_t signs = round;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (!exact && i % 64 == 0) signs = random.Next();
      sum += (signs & 1) != 0 ? windows[i].sum : -windows[i].sum;
      signs >>= 1;
    }
    if (std::abs(sum) >= bound) ++as_far;
  }
  // The real signs are one of the possible draws.
  if (exact) return static_cast<double>(as_far) / static_cast<double>(rounds);
  return static_cast<double>(as_far + 1) / static_cast<double>(rounds + 1);
}

}  // namespace

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::lround(share * last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

Interval MeanWithInterval(std::span<const PairedScore> scores, int resamples, std::uint64_t seed) {
  if (scores.empty()) return {};
  const std::vector<WindowSum> windows = SumsOf(scores);
  WindowSum all;
  for (const WindowSum& window : windows) {
    all.sum += window.sum;
    all.tasks += window.tasks;
  }
  const std::vector<double> means = ResampledMeans(windows, resamples, seed);
  return {.mean = 100 * all.sum / all.tasks,
          .low = 100 * Quantile(means, kTail),
          .high = 100 * Quantile(means, 1 - kTail),
          .windows = static_cast<int>(windows.size())};
}

ArmComparison Compare(std::span<const PairedScore> scores, int resamples, std::uint64_t seed) {
  if (scores.empty()) return {};
  const Interval found = MeanWithInterval(scores, resamples, seed);
  const std::vector<WindowSum> windows = SumsOf(scores);
  ArmComparison result{.difference = found.mean,
                       .low = found.low,
                       .high = found.high,
                       .p = SignFlipP(windows, resamples, seed + 1),
                       .tasks = static_cast<int>(scores.size()),
                       .windows = static_cast<int>(windows.size())};
  result.separated = result.enough() && (result.low > 0 || result.high < 0);
  return result;
}

std::vector<double> AdjustByHolm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p[order[rank]] * static_cast<double>(p.size() - rank);
    least = std::max(least, std::min(1.0, scaled));
    adjusted[order[rank]] = least;
  }
  return adjusted;
}

int MoreTasksNeeded(const ArmComparison& found) {
  if (found.separated) return 0;
  const double half_width = (found.high - found.low) / 2;
  if (found.difference == 0) return -1;
  const double ratio = half_width / std::abs(found.difference);
  const double by_width = found.tasks * ratio * ratio;
  // A missing window needs a question at least.
  const double by_windows = found.tasks + std::max(0, kLeastWindows - found.windows);
  const double wanted = std::max({by_width, by_windows, 1.0 * kLeastTasks});
  if (wanted > 1e6) return -1;
  // Rounded, so that nobody takes it for an exact number.
  return std::max(10, static_cast<int>(std::ceil((wanted - found.tasks) / 10)) * 10);
}

}  // namespace dossier::evaluation
