#include "measure.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

namespace dossier::bench {

double Samples::Median() const {
  std::vector<double> sorted = seconds_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Samples::Smallest() const { return *std::min_element(seconds_.begin(), seconds_.end()); }

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

namespace {

// "VmHWM:     1234 kB" of /proc/self/status.
std::int64_t StatusBytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

}  // namespace

MemoryGrowth::MemoryGrowth() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what is resident now
  before_ = StatusBytes("VmRSS");
}

std::int64_t MemoryGrowth::Grown() const {
  return std::max<std::int64_t>(StatusBytes("VmHWM") - before_, 0);
}

void Report(std::string_view name, const Samples& samples) {
  fmt::print(R"({{"name":"{}","median":{:.9f},"min":{:.9f},"runs":{}}})"
             "\n",
             name, samples.Median(), samples.Smallest(), samples.size());
  std::fflush(stdout);
}

}  // namespace dossier::bench
