#include "inspect/text_sniff.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kLines = 100;

// The first lines without their ends.
std::vector<std::string_view> FirstLines(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kLines) {
    const std::size_t end = head.find_first_of("\r\n");
    lines.push_back(head.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool crlf = head.substr(end, 2) == "\r\n";
    head.remove_prefix(end + (crlf ? 2 : 1));
  }
  return lines;
}

bool StartsWithNoCase(std::string_view text, std::string_view lower) {
  return ToLowerAscii(text.substr(0, lower.size())) == lower;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// The length of a run of name bytes; quotes around it are taken too.
std::size_t NameLength(std::string_view text) {
  if (text.starts_with('"')) {
    const std::size_t close = text.find('"', 1);
    return close == std::string_view::npos ? 0 : close + 1;
  }
  std::size_t length = 0;
  while (length < text.size() && IsNameByte(text[length])) ++length;
  return length;
}

bool IsSection(std::string_view line) {
  line = TrimSpace(line);
  return line.size() > 2 && line.front() == '[' && line.back() == ']' &&
         line.find_first_of(",{}\"") == std::string_view::npos;
}

bool IsAssignment(std::string_view line) {
  const std::size_t name = NameLength(line);
  return name > 0 && TrimSpace(line.substr(name)).starts_with('=');
}

bool IsYamlPair(std::string_view line) {
  std::string_view text = TrimSpace(line);
  if (text.starts_with("- ")) text = TrimSpace(text.substr(2));
  const std::size_t name = NameLength(text);
  if (name == 0 || name >= text.size() || text[name] != ':') return false;
  return name + 1 == text.size() || text[name + 1] == ' ';
}

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view kind;
};

using namespace std::string_view_literals;
constexpr Magic kMagics[] = {
    {0, "\x89PNG\r\n\x1A\n"sv, "png"},
    {0, "\xFF\xD8\xFF"sv, "jpeg"},
    {0, "GIF87a"sv, "gif"},
    {0, "GIF89a"sv, "gif"},
    {8, "WEBP"sv, "webp"},
    {8, "WAVE"sv, "wav"},
    {0, "II*\0"sv, "tiff"},
    {0, "MM\0*"sv, "tiff"},
    {0, "PK\3\4"sv, "zip"},
    {0, "PK\5\6"sv, "zip"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "7z"},
    {257, "ustar"sv, "tar"},
    {0, "\x1F\x8B"sv, "gzip"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd"},
    {0, "BZh"sv, "bzip2"},
    {0, "\xFD"
        "7zXZ\0"sv, "xz"},
    {0, "\x04\x22\x4D\x18"sv, "lz4"},
    {0, "PAR1"sv, "parquet"},
    {0, "ARROW1"sv, "arrow file"},
    {0, "FEA1"sv, "feather 1"},
    {0, "ORC"sv, "orc"},
    {0, "Obj\x01"sv, "avro"},
    {0, "SQLite format 3\0"sv, "sqlite"},
    {0, "%PDF-"sv, "pdf"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "ole2"},
    {0, "\x89HDF\r\n\x1A\n"sv, "hdf5"},
    {0, "\x93NUMPY"sv, "npy"},
    {0, "GGUF"sv, "gguf"},
    {0, "\0asm"sv, "wasm"},
    {0, "\x7F"
        "ELF"sv, "elf"},
    {0, "fLaC"sv, "flac"},
    {0, "OggS"sv, "ogg"},
    {4, "ftyp"sv, "mp4"},
    {0, "ID3"sv, "mp3"},
};

}  // namespace

std::optional<Format> LooksLikeMarkup(std::string_view head) {
  const std::string_view text = TrimSpace(head.substr(0, 4096));
  if (text.starts_with("<?xml")) return Format::kXml;
  if (StartsWithNoCase(text, "<!doctype html") || StartsWithNoCase(text, "<html")) {
    return Format::kHtml;
  }
  return std::nullopt;
}

bool LooksLikeMail(std::string_view head) {
  constexpr std::array<std::string_view, 6> kHeaders = {"from:",       "to:",      "subject:",
                                                        "date:",       "message-id:", "received:"};
  if (head.starts_with("From ") && head.substr(0, head.find('\n')).find('@') != std::string_view::npos) {
    return true;
  }
  std::array<bool, kHeaders.size()> seen{};
  for (const std::string_view line : FirstLines(head)) {
    if (line.empty()) break;
    for (std::size_t i = 0; i < kHeaders.size(); ++i) {
      if (StartsWithNoCase(line, kHeaders[i])) seen[i] = true;
    }
    const bool continued = line.front() == ' ' || line.front() == '\t';
    const std::size_t colon = line.find(':');
    if (!continued && (colon == std::string_view::npos || NameLength(line) != colon)) return false;
  }
  return std::count(seen.begin(), seen.end(), true) >= 2;
}

bool LooksLikeDiff(std::string_view head) {
  const std::vector<std::string_view> lines = FirstLines(head);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("diff --git ")) return true;
    if (i + 2 < lines.size() && lines[i].starts_with("--- ") && lines[i + 1].starts_with("+++ ") &&
        lines[i + 2].starts_with("@@ ")) {
      return true;
    }
  }
  return false;
}

std::optional<Format> LooksLikeSettings(std::string_view head) {
  std::size_t sections = 0, assignments = 0, others = 0;
  bool toml = false;
  for (const std::string_view line : FirstLines(head)) {
    const std::string_view text = TrimSpace(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') continue;
    if (IsSection(line)) {
      ++sections;
      toml = toml || text.starts_with("[[");
    } else if (IsAssignment(text)) {
      ++assignments;
      const std::string_view value = TrimSpace(text.substr(text.find('=') + 1));
      toml = toml || value.starts_with('"') || value.starts_with('[') || value.starts_with('{');
    } else {
      ++others;
    }
  }
  if (sections == 0 || assignments == 0 || others > sections + assignments) return std::nullopt;
  return toml ? Format::kToml : Format::kIni;
}

bool LooksLikeYaml(std::string_view head) {
  std::size_t pairs = 0, lines = 0;
  bool first = true;
  for (const std::string_view line : FirstLines(head)) {
    const std::string_view text = TrimSpace(line);
    if (text.empty() || text.front() == '#') continue;
    if (first && text == "---") return true;
    first = false;
    ++lines;
    pairs += IsYamlPair(line) ? 1 : 0;
  }
  return lines >= 2 && pairs * 10 >= lines * 6;
}

bool LooksLikeMarkdown(std::string_view head) {
  std::size_t fences = 0;
  bool first = true;
  for (const std::string_view line : FirstLines(head)) {
    if (TrimSpace(line).empty()) continue;
    const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    if (first && hashes >= 1 && hashes <= 6 && line.substr(hashes).starts_with(' ')) return true;
    first = false;
    fences += line.starts_with("```") ? 1 : 0;
  }
  return fences >= 2;
}

std::string_view BinaryKind(std::string_view head) {
  for (const Magic& magic : kMagics) {
    if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes)) {
      return magic.kind;
    }
  }
  return "";
}

}  // namespace dossier::inspect
