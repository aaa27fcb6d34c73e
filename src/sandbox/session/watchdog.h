// What the host sees of a worker from outside: memory, threads, CPU (the `watchdog` layer).
//
//   Result<ProcessUsage> usage = ReadProcessUsage(pid);
//   if (usage && usage->private_bytes > limit) process.Kill();
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_SESSION_WATCHDOG_H_
#define DOSSIER_SANDBOX_SESSION_WATCHDOG_H_

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::sandbox {

struct ProcessUsage {
  std::uint64_t private_bytes = 0;  // resident and not backed by a file
  std::uint64_t peak_bytes = 0;     // highest resident set ever
  int threads = 0;
  // Whether the main thread runs, or would run if it had a processor.
  enum class State { kWaiting, kRunnable } state = State::kWaiting;
};

// Reads the text of /proc/PID/status. Missing lines leave zeros.
ProcessUsage ParseProcessStatus(std::string_view text);
// Errors: kNotFound if the process has ended.
Result<ProcessUsage> ReadProcessUsage(pid_t pid);
// CPU of all threads since the process began. Errors: kNotFound if it has ended.
Result<Millis> ProcessCpu(pid_t pid);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_WATCHDOG_H_
