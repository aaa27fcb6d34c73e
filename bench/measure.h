// What the benchmarks of this folder share: stopwatches, medians, one line of JSON a figure.
//
//   Samples ours;
//   ours.Time([&] { Work(); });          // several times
//   Report("cell.round_trip", ours);     // {"name":"cell.round_trip","median":…,"min":…,"runs":…}
//
// Times are wall seconds of a steady clock. Thread-safety: one owner.

#ifndef DOSSIER_BENCH_MEASURE_H_
#define DOSSIER_BENCH_MEASURE_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dossier::bench {

class Samples {
 public:
  template <typename Work>
  void Time(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    Add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  void Add(double seconds) { seconds_.push_back(seconds); }

  // Of at least one sample.
  double Median() const;
  double Smallest() const;
  std::size_t size() const { return seconds_.size(); }

 private:
  std::vector<double> seconds_;
};

// CPU seconds of this process: other work on the machine counts less.
double CpuSeconds();

// The most memory that this process ever had resident.
std::int64_t PeakBytes();

// How much memory this process has resident now, and the most since then: Grown() is 0 where what
// was free inside the process was enough. Gives free memory back first, so that it is not.
class MemoryGrowth {
 public:
  MemoryGrowth();
  std::int64_t Grown() const;  // bytes

 private:
  std::int64_t before_;
};

// Prints one line on stdout.
void Report(std::string_view name, const Samples& samples);

}  // namespace dossier::bench

#endif  // DOSSIER_BENCH_MEASURE_H_
