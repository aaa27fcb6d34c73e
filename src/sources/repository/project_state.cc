#include "sources/repository/project_state.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/files/user_folders.h"
#include "base/hash.h"
#include "base/random.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kBoundaryDigits = 32;

std::string ReadBoundary(const std::string& path) {
  auto text = ReadFile(path, 4096);
  if (!text || text->size() != kBoundaryDigits + 1) return "";
  text->pop_back();
  const bool hex = std::all_of(text->begin(), text->end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  return hex ? *text : "";
}

}  // namespace

Result<std::string> ProjectStateFolder(const std::string& path) {
  if (const auto git = FindGitFolders(path)) return git->common + "/dossier";
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error) return MakeErrnoError(error.value(), path);
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  return fmt::format("{}/projects/{}", data, Sha256Hex(real).substr(0, 32));
}

Result<std::string> ProjectBoundary(const std::string& state_folder) {
  const std::string path = state_folder + "/boundary";
  if (std::string kept = ReadBoundary(path); !kept.empty()) return kept;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(state_folder, 0700));
  // Written whole beside it and linked into place: of two processes the first one's draw stays.
  const std::string fresh = fmt::format("{}.{}", path, RandomHex(16));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fresh, RandomHex(kBoundaryDigits) + "\n", 0600));
  const bool damaged = Exists(path) && ReadBoundary(path).empty();
  const int failed =
      damaged ? rename(fresh.c_str(), path.c_str()) : link(fresh.c_str(), path.c_str());
  const int failure = failed == 0 ? 0 : errno;
  unlink(fresh.c_str());
  if (failure != 0 && failure != EEXIST) return MakeErrnoError(failure, path);
  std::string kept = ReadBoundary(path);
  if (kept.empty()) return MakeError(ErrorCode::kIo, "{}: cannot be kept", path);
  return kept;
}

}  // namespace dossier::sources
