// The processor time of a test's own thread: what a test of growth compares. Time on the wall says
// on a busy machine how busy it is.
//
//   const double small = CpuSeconds([] { Work(10'000); });
//   EXPECT_LT(CpuSeconds([] { Work(40'000); }), 10 * small);   // 4 times if linear, 16 if
//   quadratic

#ifndef DOSSIER_TESTING_CPU_TIME_H_
#define DOSSIER_TESTING_CPU_TIME_H_

#include <ctime>

namespace dossier::testing {

inline double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <typename Work>
double CpuSeconds(const Work& work) {
  const double begin = ThreadCpuSeconds();
  work();
  return ThreadCpuSeconds() - begin;
}

}  // namespace dossier::testing

#endif  // DOSSIER_TESTING_CPU_TIME_H_
