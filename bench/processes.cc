#include "processes.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dossier::bench {

Status Spawn(std::vector<const char*> argv) {
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, argv[0], nullptr, nullptr, const_cast<char**>(argv.data()), environ);
  if (failed != 0) return MakeErrnoError(failed, argv[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) return MakeError(ErrorCode::kFailed, "{} ended with {}", argv[0], status);
  return {};
}

double CpuSecondsWithChildren() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    total += static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  }
  return total;
}

}  // namespace dossier::bench
