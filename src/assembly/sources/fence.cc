#include "assembly/sources/fence.h"

#include "assembly/assemble.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::assembly {

namespace {

constexpr std::size_t kBoundaryDigits = 32;
constexpr std::uint64_t kMaxMarkerName = 120;  // code points

// Applies `edit` to every line of `body` that is a context marker, ignoring leading spaces.
template <typename Edit>
std::string EditMarkerLines(std::string_view body, const Edit& edit) {
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find_first_of("\r\n", at), body.size());
    const std::string_view line = body.substr(at, end - at);
    const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    const bool marker = text.starts_with("--- Context: ") ||
                        text.starts_with("--- Context Error: ") ||
                        text.starts_with("--- End Context ---");
    out += marker ? edit(line) : std::string(line);
    if (end < body.size()) out += body[end];
    at = end + 1;
  }
  return out;
}

}  // namespace

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

std::string MarkerName(std::string_view name) {
  std::string clean;
  for (std::size_t at = 0; at < name.size();) {
    const char32_t c = utf8::Next(name, &at);
    const bool blank = c <= U' ' || (c >= 0x7f && c <= 0xa0);
    if (!blank) {
      utf8::Append(c, &clean);
    } else if (!clean.empty() && clean.back() != ' ') {
      clean += ' ';
    }
  }
  clean = std::string(TrimSpace(clean));
  for (std::size_t at = 0; (at = clean.find("---", at)) != std::string::npos; at += 2) {
    clean.replace(at, std::min(clean.find_first_not_of('-', at), clean.size()) - at, "--");
  }
  return std::string(TrimSpace(utf8::Prefix(clean, kMaxMarkerName)));
}

std::string EscapeMarkers(std::string_view body) {
  return EditMarkerLines(body, [](std::string_view line) { return " " + std::string(line); });
}

std::string UnescapeMarkers(std::string_view body) {
  return EditMarkerLines(body, [](std::string_view line) {
    return std::string(line.substr(line.starts_with(' ') ? 1 : 0));
  });
}

std::string Framed(const FenceFrame& frame, std::string_view body) {
  switch (frame.fence) {
    case FenceKind::kTag:
      return fmt::format("<{}>\n{}\n</{}>", frame.name, body, frame.name);
    case FenceKind::kHeading:
      return fmt::format("## {}\n\n{}", frame.title, body);
    case FenceKind::kGrowing: {
      const std::string ticks(frame.backticks, '`');
      return fmt::format("{}\n{}\n{}", ticks, body, ticks);
    }
    case FenceKind::kData:
      return fmt::format("{}:\n<<<DATA {}\n{}\nDATA {}>>>", frame.title, frame.boundary, body,
                         frame.boundary);
    case FenceKind::kMarkers:
      return fmt::format("--- Context: {} ---\n{}\n--- End Context ---", MarkerName(frame.title),
                         body.empty() ? "(no output)" : body);
    case FenceKind::kDefault:
    case FenceKind::kNone:
      break;
  }
  return std::string(body);
}

std::string FenceData(std::string_view title, std::string_view text, std::string_view boundary) {
  const std::string_view body = TrimLineEnds(text);
  return Framed({.fence = FenceKind::kData,
                 .title = std::string(title),
                 .boundary = FreeBoundary(body, boundary, std::nullopt)},
                body);
}

}  // namespace dossier::assembly
