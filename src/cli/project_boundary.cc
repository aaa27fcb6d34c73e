#include "cli/project_boundary.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"

namespace dossier::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 32;

// The git folder that all work trees of the repository share; empty outside of one.
std::string CommonGitFolder(fs::path at) {
  std::error_code error;
  for (; !at.empty(); at = at.parent_path()) {
    const fs::path git = at / ".git";
    if (fs::is_directory(git, error)) return git.string();
    if (fs::is_regular_file(git, error)) {
      const std::string text = ReadFile(git.string(), 4096).value_or("");
      if (!text.starts_with("gitdir: ")) return {};
      const fs::path own = at / fs::path(std::string(TrimSpace(text.substr(8))));
      const std::string common = ReadFile((own / "commondir").string(), 4096).value_or("");
      return common.empty() ? own.string() : (own / std::string(TrimSpace(common))).string();
    }
    if (at == at.parent_path()) break;
  }
  return {};
}

Result<std::string> StateFolder(const std::string& folder) {
  std::error_code error;
  const fs::path place = fs::canonical(folder, error);
  if (error) return MakeErrnoError(error.value(), folder);
  if (const std::string git = CommonGitFolder(place); !git.empty()) return git + "/dossier";
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  return fmt::format("{}/projects/{}", data, Sha256Hex(place.string()).substr(0, kDigits));
}

bool IsBoundary(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

Result<std::string> ProjectBoundary(const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string state, StateFolder(folder));
  const std::string path = state + "/boundary";
  const auto read = [&] {
    return std::string(TrimSpace(ReadFile(path, 4096).value_or("")));
  };
  if (std::string known = read(); IsBoundary(known)) return known;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(state, 0700));
  const UniqueFd lock(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return MakeErrnoError(errno, path + ".lock");
  if (flock(lock.get(), LOCK_EX) != 0) return MakeErrnoError(errno, path + ".lock");
  if (std::string known = read(); IsBoundary(known)) return known;
  const std::string drawn = RandomHex(kDigits);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, drawn + "\n", 0600));
  return drawn;
}

}  // namespace dossier::cli
