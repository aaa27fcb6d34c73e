#include "sandbox/walls/rlimits.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "base/instrumentation.h"

namespace dossier::sandbox {
namespace {

Status SetLimit(__rlimit_resource resource, const char* name, std::uint64_t value) {
  rlimit current;
  if (getrlimit(resource, &current) != 0) return MakeErrnoError(errno, name);
  const rlim_t wanted = std::min<rlim_t>(value, current.rlim_max);
  const rlimit both = {wanted, wanted};
  if (setrlimit(resource, &both) != 0) return MakeErrnoError(errno, name);
  return {};
}

}  // namespace

Status SetResourceLimits(const ResourceLimits& limits) {
  // A write above the file limit is then an error (EFBIG), not death.
  signal(SIGXFSZ, SIG_IGN);
  const struct {
    __rlimit_resource resource;
    const char* name;
    std::uint64_t value;
  } table[] = {
      {RLIMIT_DATA, "DATA", limits.data},
      {RLIMIT_CPU, "CPU", limits.cpu_seconds},
      {RLIMIT_FSIZE, "FSIZE", limits.file_size},
      {RLIMIT_NOFILE, "NOFILE", limits.files},
      {RLIMIT_STACK, "STACK", limits.stack},
      {RLIMIT_CORE, "CORE", 0},
      {RLIMIT_MEMLOCK, "MEMLOCK", 0},
      {RLIMIT_MSGQUEUE, "MSGQUEUE", 0},
  };
  for (const auto& entry : table) {
    // The shadow memory of a sanitizer counts as data, and is larger than any limit.
    if (kThisBuild == Instrumentation::kSanitizer && entry.resource == RLIMIT_DATA) continue;
    DOSSIER_RETURN_IF_ERROR(SetLimit(entry.resource, entry.name, entry.value));
  }
  if (limits.threads) DOSSIER_RETURN_IF_ERROR(SetLimit(RLIMIT_NPROC, "NPROC", *limits.threads));
  return {};
}

}  // namespace dossier::sandbox
