#include "sandbox/session/watchdog.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

std::uint64_t NumberAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

}  // namespace

ProcessUsage ParseProcessStatus(std::string_view text) {
  constexpr std::uint64_t kKibibyte = 1024;
  ProcessUsage usage;
  usage.private_bytes = NumberAfter(text, "\nRssAnon:") * kKibibyte;
  usage.peak_bytes = NumberAfter(text, "\nVmHWM:") * kKibibyte;
  usage.threads = static_cast<int>(NumberAfter(text, "\nThreads:"));
  constexpr std::string_view kState = "\nState:\t";
  const std::size_t state = text.find(kState);
  if (state != std::string_view::npos && text.substr(state + kState.size()).starts_with('R')) {
    usage.state = ProcessUsage::State::kRunnable;
  }
  return usage;
}

Result<ProcessUsage> ReadProcessUsage(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = fd.valid() ? read(fd.get(), buffer, sizeof(buffer)) : -1;
  if (got <= 0) return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  return ParseProcessStatus({buffer, static_cast<std::size_t>(got)});
}

Result<Millis> ProcessCpu(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  }
  return Millis(used.tv_sec * 1000 + used.tv_nsec / 1'000'000);
}

}  // namespace dossier::sandbox
