// Error messages for an unknown name: the known names, and the nearest one.
//
//   DidYouMean("cvs", names)   // "; did you mean csv?", or "" where no name is near
//   OneOf("cvs", names)        // "one of csv, tsv, json; did you mean csv?"
//
// `known` is any range of texts. Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_NEAREST_H_
#define DOSSIER_BASE_TEXT_NEAREST_H_

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text.h"

namespace dossier {

template <typename Names>
std::string DidYouMean(std::string_view given, const Names& known, std::size_t count = 1) {
  const std::vector<std::string> names(std::begin(known), std::end(known));
  const std::vector<std::string> near = NearestNames(given, names, count);
  return near.empty() ? "" : fmt::format("; did you mean {}?", Join(near, ", "));
}

template <typename Names>
std::string OneOf(std::string_view given, const Names& known) {
  const std::vector<std::string> names(std::begin(known), std::end(known));
  return fmt::format("one of {}{}", Join(names, ", "), DidYouMean(given, names));
}

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_NEAREST_H_
