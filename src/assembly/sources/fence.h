// Frames the body of a section; makes the boundary that keeps untrusted text inside.
//
//   std::string id = FreeBoundary(text, boundary, seed);
//   std::string framed = Framed({FenceKind::kData, "Notes", "notes", id, 0}, text);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_SOURCES_FENCE_H_
#define DOSSIER_ASSEMBLY_SOURCES_FENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assembly/layout/layout.h"

namespace dossier::assembly {

// One frame. It is chosen from the whole body, so that a cut never changes it.
struct FenceFrame {
  FenceKind fence = FenceKind::kNone;
  std::string title;
  std::string name;
  std::string boundary;       // of kData
  std::size_t backticks = 3;  // of kGrowing
};

// Makes a name that is safe inside a context marker: control characters and runs of white space
// become one space, three or more dashes become two, and it has at most 120 code points.
std::string MarkerName(std::string_view name);

// Adds one more space before each line of `body` that looks like a context marker, so that none can
// be forged. A line begins at the start, after LF or after CR.
std::string EscapeMarkers(std::string_view body);
std::string UnescapeMarkers(std::string_view body);

// Returns `body` inside its frame.
std::string Framed(const FenceFrame& frame, std::string_view body);

// Returns `text` without the line ends at its end.
std::string_view TrimLineEnds(std::string_view text);

// Backticks for a growing fence around `body`: one more than its longest run, at least 3.
std::size_t GrowingFenceLength(std::string_view body);

// Returns the first draw of `boundary` that does not occur in `text`.
std::string FreeBoundary(std::string_view text, std::string_view boundary,
                         std::optional<std::uint64_t> seed);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_SOURCES_FENCE_H_
