// Points at which a test kills the program, to check how the next start recovers.
//
//   TestFault("after-intent");     // DOSSIER_TEST_FAULT=after-intent: SIGKILL here
//
// Only builds without NDEBUG read the variable; in others this does nothing. Thread-safety: a
// function that reads the environment, which must not change while threads run.

#ifndef DOSSIER_AGENTS_MERGE_TEST_FAULT_H_
#define DOSSIER_AGENTS_MERGE_TEST_FAULT_H_

#ifndef NDEBUG
#include <signal.h>

#include <cstdlib>
#endif
#include <string_view>

namespace dossier::agents {

inline void TestFault([[maybe_unused]] std::string_view point) {
#ifndef NDEBUG
  const char* wanted = std::getenv("DOSSIER_TEST_FAULT");
  if (wanted && point == wanted) raise(SIGKILL);
#endif
}

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_TEST_FAULT_H_
