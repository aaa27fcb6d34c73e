#include "agents/git/agent_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::agents {

Result<std::optional<std::string>> ReadAgentFile(const std::string& worktree,
                                                 const std::string& name, std::uint64_t max_bytes) {
  const std::string folder = worktree + "/.agent";
  const UniqueFd agent(open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!agent.valid()) return std::nullopt;
  // Does not block: it may be a pipe.
  const UniqueFd fd(
      openat(agent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!fd.valid() || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) > max_bytes) {
    return MakeError(ErrorCode::kTooLong, ".agent/{}: larger than {}", name, FormatSize(max_bytes));
  }
  DOSSIER_ASSIGN_OR_RETURN(std::string text,
                           ReadFile(fmt::format("/proc/self/fd/{}", fd.get()), max_bytes));
  return text;
}

}  // namespace dossier::agents
