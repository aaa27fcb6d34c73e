// The files of artefacts: on disk, and as text in prompts.

#include <sys/stat.h>

#include <filesystem>

#include "assembly/sources/fence.h"
#include "base/files/file.h"
#include "research/files/artifacts.h"
#include "research/files/inside.h"
#include "research/files/languages.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileLine = "// File: ";
// Behind a path: the file's last line has no end. Paths hold no control character.
constexpr std::string_view kNoLineEnd = "\t(no line end)";

tl::unexpected<Error> Refuse(std::string_view path, std::string_view reason) {
  return MakeError(ErrorCode::kInvalidArgument, "\"{}\": {}", path, reason);
}

// No component of `path` that exists below `root` may lead out of it or stand in the way.
Status CheckPlace(const fs::path& root, const std::string& path) {
  fs::path at = root;
  const fs::path relative(path);
  for (auto name = relative.begin(); name != relative.end(); ++name) {
    at /= *name;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(at, error);
    if (status.type() == fs::file_type::not_found) return {};
    if (error) return MakeError(ErrorCode::kIo, "{}: {}", at.string(), error.message());
    const bool is_last = std::next(name) == relative.end();
    if (status.type() == fs::file_type::symlink) {
      const fs::path target = fs::canonical(at, error);
      if (error || !IsInside(root, target)) {
        return Refuse(path, "a link leads out of the workspace, or nowhere");
      }
    }
    const bool is_folder = fs::is_directory(at, error);
    if (is_folder == is_last) {
      return Refuse(path, is_last ? "a folder of that name is there" : "a file stands in the way");
    }
  }
  return {};
}

// The line of `text` at `at`, without its end; `at` moves behind it.
std::string_view NextLine(std::string_view text, std::size_t* at) {
  const std::size_t end = std::min(text.find('\n', *at), text.size());
  const std::string_view line = text.substr(*at, end - *at);
  *at = std::min(end + 1, text.size());
  return line;
}

}  // namespace

Status WriteFiles(const Artifacts& artifacts, const std::string& workspace) {
  std::error_code error;
  const fs::path root = fs::canonical(workspace, error);
  if (error) return MakeError(ErrorCode::kIo, "{}: {}", workspace, error.message());
  for (const ArtifactFile& file : artifacts.files) {
    DOSSIER_RETURN_IF_ERROR(CheckPlace(root, file.path));
  }
  for (const ArtifactFile& file : artifacts.files) {
    const fs::path path = root / file.path;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(path.parent_path().string()));
    // What a program left in its place, such as a pipe, is not written to.
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) {
      DOSSIER_RETURN_IF_ERROR(RemoveAll(path.string()));
    }
    const auto mode = static_cast<unsigned>(std::stoul(file.mode, nullptr, 8));
    DOSSIER_RETURN_IF_ERROR(ReplaceFile(path.string(), {file.content},
                                        {.mode = mode, .durability = Durability::kSurvivesCrash}));
  }
  return {};
}

std::string SourcesText(std::span<const ArtifactFile> files) {
  std::string out;
  for (const ArtifactFile& file : files) {
    const std::string fence(assembly::GrowingFenceLength(file.content), '`');
    const bool ends = file.content.empty() || file.content.ends_with('\n');
    out += fmt::format("{}{}{}\n{}{}{}\n{}{}{}\n", out.empty() ? "" : "\n", fence,
                       LanguageOfFile(file.path), kFileLine, file.path, ends ? "" : kNoLineEnd,
                       file.content, ends ? "" : "\n", fence);
  }
  return out;
}

std::vector<ArtifactFile> SplitSources(std::string_view text) {
  std::vector<ArtifactFile> files;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view opening = NextLine(text, &at);
    const std::string_view fence = opening.substr(0, opening.find_first_not_of('`'));
    if (fence.size() < 3 || !text.substr(at).starts_with(kFileLine)) continue;
    std::string_view path = NextLine(text, &at).substr(kFileLine.size());
    const bool ends = !path.ends_with(kNoLineEnd);
    if (!ends) path.remove_suffix(kNoLineEnd.size());
    ArtifactFile file{.path = std::string(path)};
    while (at < text.size()) {
      const std::string_view line = NextLine(text, &at);
      if (line == fence) break;
      file.content += std::string(line) + "\n";
    }
    if (!ends && !file.content.empty()) file.content.pop_back();
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace dossier::research
