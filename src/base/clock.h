// Time as an interface, so that tests decide what time it is.
//
//   void Wait(Clock& clock) { auto end = clock.Now() + std::chrono::seconds(1); … }
//   Wait(SystemClock());
//
// Thread-safety: all clocks may be used from many threads.

#ifndef DOSSIER_BASE_CLOCK_H_
#define DOSSIER_BASE_CLOCK_H_

#include <chrono>
#include <memory>
#include <string>

namespace dossier {

using Millis = std::chrono::milliseconds;

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  virtual Steady Now() const = 0;    // for durations and deadlines
  virtual Wall WallNow() const = 0;  // for dates shown and stored
};

// The machine's clock: one immutable instance that all callers share.
std::shared_ptr<const Clock> SystemClock();

// "2026-11-21T23:36:43.123Z": UTC, milliseconds.
std::string FormatTime(Clock::Wall time);

}  // namespace dossier

#endif  // DOSSIER_BASE_CLOCK_H_
