#include "research/files/inside.h"

#include <system_error>

namespace dossier::research {

namespace fs = std::filesystem;

bool IsInside(const fs::path& root, const fs::path& path) {
  const fs::path inside = path.lexically_relative(root);
  return !inside.empty() && *inside.begin() != "..";
}

std::optional<fs::path> PlaceInside(const fs::path& root, const fs::path& relative) {
  const fs::path plain = relative.lexically_normal();
  if (plain.empty() || plain == ".") return root;
  std::error_code error;
  fs::path place = fs::weakly_canonical(root / plain, error);
  if (error || !IsInside(root, place)) return std::nullopt;
  return place;
}

}  // namespace dossier::research
