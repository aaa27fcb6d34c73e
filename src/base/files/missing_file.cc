#include "base/files/missing_file.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/files/file.h"
#include "base/text/nearest.h"

namespace dossier {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> NamesIn(const fs::path& folder) {
  constexpr std::size_t kMaxNames = 2000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
    if (names.size() == kMaxNames) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Error ExplainMissing(Error error, const std::string& path) {
  if (error.code != ErrorCode::kNotFound) return error;
  const fs::path parent = fs::path(path).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    error.message = fmt::format("{}: a link that leads nowhere: there is no {}", path,
                                fs::read_symlink(path, ignored).string());
    return error;
  }
  error.message = fs::is_directory(folder, ignored)
                      ? fmt::format("{}: no such file or folder{}", path,
                                    DidYouMean(fs::path(path).filename().string(), NamesIn(folder)))
                      : fmt::format("{}: there is no folder {}", path, folder.string());
  return error;
}

Result<std::string> ReadNamedFile(const std::string& path, std::uint64_t max_bytes) {
  auto text = ReadFile(path, max_bytes);
  if (!text) return tl::unexpected(ExplainMissing(std::move(text.error()), path));
  return text;
}

}  // namespace dossier
