#include "assembly/layout/front_matter.h"

#include <algorithm>

#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

bool IsRule(std::string_view line) { return line == "---" || line == "---\r"; }

}  // namespace

Result<FrontMatter> SplitFrontMatter(std::string_view text, std::string_view file) {
  const auto first_end = text.find('\n');
  if (!IsRule(text.substr(0, first_end))) return FrontMatter{.body = text};
  if (first_end == std::string_view::npos) {
    return tl::unexpected(PlaceError(file, 1, 1, "the front matter has no closing ---"));
  }
  const std::size_t yaml_begin = first_end + 1;
  int line = 1;
  for (std::size_t at = yaml_begin; at < text.size(); ++line) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (IsRule(text.substr(at, end - at))) {
      return FrontMatter{.yaml = text.substr(yaml_begin, at - yaml_begin),
                         .body = text.substr(std::min(end + 1, text.size())),
                         .body_line = line + 1};
    }
    at = end + 1;
  }
  return tl::unexpected(PlaceError(file, 1, 1, "the front matter has no closing ---"));
}

}  // namespace dossier::assembly
