#include "sources/context_blocks.h"

#include <fmt/format.h>

#include <optional>

#include "base/utf8.h"
#include "sources/template_value.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kStart = "--- Context: ";
constexpr std::string_view kErrorStart = "--- Context Error: ";
constexpr std::string_view kEnd = "--- End Context ---";
constexpr std::string_view kClose = " ---";
constexpr std::size_t kMaxName = 120;  // code points; K2

bool BeginsLikeMarker(std::string_view text) {
  return text.starts_with(kStart) || text.starts_with(kErrorStart) || text.starts_with(kEnd);
}

bool IsControl(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

// Calls visit(line, spaces) for every line; `line` includes its end, `spaces` is how many it begins
// with if a marker follows them.
template <typename Visit>
void ForEachLine(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\n\r");
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    const std::string_view line = text.substr(0, length);
    const std::size_t spaces = line.find_first_not_of(' ');
    const bool marker =
        spaces != std::string_view::npos && BeginsLikeMarker(line.substr(spaces));
    visit(line, marker ? std::optional(spaces) : std::nullopt);
    text.remove_prefix(length);
  }
}

std::string Wrap(std::string_view start, std::string_view name, std::string_view body) {
  return fmt::format("{}{}{}\n{}\n{}", start, CleanBlockName(name), kClose, body, kEnd);
}

struct Header {
  std::string_view name;
  bool error = false;
};

std::optional<Header> ReadHeader(std::string_view line) {
  for (const std::string_view start : {kErrorStart, kStart}) {
    if (!line.starts_with(start) || !line.ends_with(kClose)) continue;
    if (line.size() < start.size() + kClose.size()) continue;
    return Header{line.substr(start.size(), line.size() - start.size() - kClose.size()),
                  start == kErrorStart};
  }
  return std::nullopt;
}

}  // namespace

std::string RenderBlock(std::string_view name, const CommandResult& result) {
  const std::string output = EscapeOutput(result.text);
  if (!result.failed()) return Wrap(kStart, name, output.empty() ? "(no output)" : output);
  std::string body = EscapeOutput(result.error);
  if (!output.empty()) body += "\nPartial output:\n" + output;
  return Wrap(kErrorStart, name, body);
}

std::string RenderUnchangedBlock(std::string_view name, int turn) {
  return Wrap(kStart, name, fmt::format("(unchanged since turn {})", turn));
}

std::string JoinBlocks(std::span<const std::string> blocks) {
  return fmt::format("{}", fmt::join(blocks, "\n\n"));
}

std::string CleanBlockName(std::string_view name) {
  std::string clean;
  std::size_t dashes = 0, length = 0;
  bool space = false;
  for (std::size_t at = 0; at < name.size();) {
    const char32_t code_point = utf8::Next(name, &at);
    if (IsControl(code_point) || IsPythonSpace(code_point)) {
      space = !clean.empty();
      continue;
    }
    dashes = code_point == '-' && !space ? dashes + 1 : code_point == '-' ? 1 : 0;
    if (dashes > 2) continue;
    if (length + (space ? 2 : 1) > kMaxName) break;
    if (space) clean += ' ';
    utf8::Append(code_point, &clean);
    length += space ? 2 : 1;
    space = false;
  }
  return clean;
}

std::string EscapeOutput(std::string_view output, std::uint64_t* escaped_lines) {
  std::string escaped;
  escaped.reserve(output.size());
  ForEachLine(output, [&](std::string_view line, std::optional<std::size_t> marker) {
    if (marker) {
      escaped += ' ';
      if (escaped_lines) ++*escaped_lines;
    }
    escaped += line;
  });
  return escaped;
}

std::string RestoreOutput(std::string_view body) {
  std::string output;
  output.reserve(body.size());
  ForEachLine(body, [&](std::string_view line, std::optional<std::size_t> marker) {
    output += line.substr(marker && *marker > 0 ? 1 : 0);
  });
  return output;
}

std::vector<BlockSpan> FindBlocks(std::string_view text) {
  std::vector<BlockSpan> blocks;
  std::optional<BlockSpan> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, newline - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto header = open ? std::nullopt : ReadHeader(line);
    if (header) {
      open = BlockSpan{.offset = at, .name = std::string(header->name), .error = header->error};
    } else if (open && line == kEnd) {
      open->length = at + line.size() - open->offset;
      blocks.push_back(std::move(*open));
      open.reset();
    }
    at = newline + 1;
  }
  return blocks;
}

}  // namespace dossier::sources
