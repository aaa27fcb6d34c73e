// Runs programs: by argv, never a shell; in a process group of their own that a deadline ends.
//
//   ProcessSpec spec{.argv = {"git", "status"}, .timeout = Millis(2000)};
//   DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, RunProcess(spec));
//   if (result.exit_code == 0) Use(result.out);
//
// Thread-safety: functions may be called from many threads.

#ifndef DOSSIER_BASE_PROCESS_PROCESS_H_
#define DOSSIER_BASE_PROCESS_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier {

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is searched in PATH if it holds no slash
  std::string folder;             // working folder; empty: ours
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; unset: ours
  std::string input;                                    // given on stdin; empty: /dev/null
  std::size_t max_output = 16 << 20;  // bytes kept of stdout and stderr each; the rest is counted
  std::optional<Millis> timeout;      // TERM, 100 ms, KILL to the whole group
};

struct ProcessResult {
  int exit_code = -1;  // -1 if ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out, err;
  std::uint64_t out_dropped = 0, err_dropped = 0;  // bytes
};

// Runs to the end. Errors: kNotFound (program), kCancelled, kIo. A non-zero exit is no error.
Result<ProcessResult> RunProcess(const ProcessSpec& spec, const CancelToken& cancel = {});

// Starts a program that outlives us (own session, stdin /dev/null, stdout and stderr appended to
// `log_path`). Returns its pid.
Result<pid_t> StartDetached(const ProcessSpec& spec, const std::string& log_path);

// The full path of `program` on PATH, if there is one; a name with a slash is a path already.
std::optional<std::string> FindProgram(std::string_view program);

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_PROCESS_H_
