#include "assembly/fence.h"

#include "assembly/assemble.h"
#include "base/hash.h"

namespace dossier::assembly {

constexpr std::size_t kBoundaryDigits = 32;

std::string MakeBoundary(std::uint64_t seed, int draw) {
  std::string name = fmt::format("dossier-seed:{}", seed);
  if (draw > 0) name += fmt::format("#{}", draw);
  return Sha256Hex(name).substr(0, kBoundaryDigits);
}

std::string FreeBoundary(std::string_view text, std::string_view boundary,
                         std::optional<std::uint64_t> seed) {
  std::string candidate(boundary);
  for (int draw = 1; text.find(candidate) != std::string_view::npos; ++draw) {
    candidate = seed ? MakeBoundary(*seed, draw)
                     : Sha256Hex(fmt::format("{}#{}", boundary, draw)).substr(0, kBoundaryDigits);
  }
  return candidate;
}

std::string_view TrimLineEnds(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::size_t GrowingFenceLength(std::string_view body) {
  std::size_t longest = 2, run = 0;
  for (const char c : body) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest + 1;
}

std::string Framed(const Frame& frame, std::string_view body) {
  switch (frame.fence) {
    case Fence::kTag:
      return fmt::format("<{}>\n{}\n</{}>", frame.name, body, frame.name);
    case Fence::kHeading:
      return fmt::format("## {}\n\n{}", frame.title, body);
    case Fence::kGrowing: {
      const std::string ticks(frame.backticks, '`');
      return fmt::format("{}\n{}\n{}", ticks, body, ticks);
    }
    case Fence::kData:
      return fmt::format("{}:\n<<<DATA {}\n{}\nDATA {}>>>", frame.title, frame.boundary, body,
                         frame.boundary);
    case Fence::kDefault:
    case Fence::kNone:
      break;
  }
  return std::string(body);
}

std::string FenceData(std::string_view title, std::string_view text, std::string_view boundary) {
  const std::string_view body = TrimLineEnds(text);
  return Framed({.fence = Fence::kData,
                 .title = std::string(title),
                 .boundary = FreeBoundary(body, boundary, std::nullopt)},
                body);
}

}  // namespace dossier::assembly
