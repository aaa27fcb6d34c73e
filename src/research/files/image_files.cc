#include "research/files/image_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "research/files/png.h"

namespace dossier::research {
namespace {

constexpr std::size_t kLongestName = 120;  // bytes; longer names keep their end, which differs

std::string SafeName(std::string_view path) {
  path.remove_prefix(path.size() - std::min(path.size(), kLongestName));
  std::string name;
  for (const char c : path) {
    const bool plain = IsAlnum(c) || c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name;
}

// Returns "loss.png" for "working/loss.png", the whole path otherwise.
std::string_view ShortPath(std::string_view path) {
  constexpr std::string_view kWorking = "working/";
  return path.starts_with(kWorking) ? path.substr(kWorking.size()) : path;
}

}  // namespace

Result<FoundImages> FindImages(const std::string& folder) {
  FoundImages found;
  if (!Exists(folder)) return found;
  std::error_code ignored;
  if (std::filesystem::is_symlink(folder, ignored)) {  // a script may have put it there
    found.warnings.push_back(fmt::format("{} is a link; what it leads to was not read", folder));
    return found;
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const WalkResult walked,
      WalkFolder(folder, {.ignore = IgnoreRules::kDisregard, .max_files = 100'000}));
  std::set<std::string> names;
  for (const std::string& path : walked.files) {
    if (!ToLowerAscii(path).ends_with(".png")) continue;
    const std::string_view relative = std::string_view(path).substr(folder.size() + 1);
    if (found.images.size() >= kMaxImageFiles) {
      found.warnings.push_back(
          fmt::format("more than {} images: the others were left out", kMaxImageFiles));
      break;
    }
    Result<std::string> bytes = ReadFile(path, kMaxImageBytes);
    if (!bytes) {
      found.warnings.push_back(fmt::format("{}: {}", relative, bytes.error().message));
      continue;
    }
    if (const auto image = DecodePng(*bytes); !image) {
      found.warnings.push_back(fmt::format("{}: {}", relative, image.error().message));
      continue;
    }
    std::string name = SafeName(ShortPath(relative));
    while (!names.insert(name).second) name.insert(0, "_");
    found.images.push_back({.name = std::move(name), .bytes = *std::move(bytes)});
  }
  std::ranges::sort(found.images, {}, &ImageFile::name);
  return found;
}

Result<std::vector<assembly::Block>> ImageBlocks(std::string_view name, std::string_view png) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string fitted, FitPng(png, kMaxImageSide));
  return std::vector<assembly::Block>{
      {.text = fmt::format("{}:", name)},
      {.type = assembly::Block::Type::kImage, .text = Base64(fitted), .media_type = "image/png"}};
}

}  // namespace dossier::research
