#include "inspect/containers/binary_marks.h"

#include <cstdint>
#include <optional>

#include "base/text/utf8.h"

namespace dossier::inspect {
namespace {

// How much a mark proves. Some marks are letters that may also start a text.
enum class MarkProof : std::uint8_t { kAlone, kUnlessText };

struct BinaryMark {
  std::string_view name;
  MarkProof proof = MarkProof::kAlone;
};

using namespace std::string_view_literals;

// From the specifications of the formats.
struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
  MarkProof proof = MarkProof::kAlone;
};

constexpr MarkProof kUnlessText = MarkProof::kUnlessText;

constexpr Magic kMagics[] = {
    {0, "\x89PNG\r\n\x1A\n"sv, "png"},
    {0, "\xFF\xD8\xFF"sv, "jpeg"},
    {0, "GIF87a"sv, "gif", kUnlessText},
    {0, "GIF89a"sv, "gif", kUnlessText},
    {0, "II*\0"sv, "tiff"},
    {0, "MM\0*"sv, "tiff"},
    {0, "BM"sv, "bmp", kUnlessText},
    {0, "PK\3\4"sv, "zip"},
    {0, "PK\5\6"sv, "zip"},
    {0, "7z\xBC\xAF\x27\x1C"sv, "7z"},
    {257, "ustar"sv, "tar", kUnlessText},
    {0, "\x1F\x8B"sv, "gzip"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd"},
    {0, "BZh"sv, "bzip2", kUnlessText},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     "xz"},
    {0, "\x04\x22\x4D\x18"sv, "lz4"},
    {0, "PAR1"sv, "parquet", kUnlessText},
    {0, "ARROW1"sv, "arrow file", kUnlessText},
    {0, "FEA1"sv, "feather 1", kUnlessText},
    {0, "ORC"sv, "orc", kUnlessText},
    {0, "Obj\x01"sv, "avro"},
    {0, "SQLite format 3\0"sv, "sqlite"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "ole2"},
    {0, "\x89HDF\r\n\x1A\n"sv, "hdf5"},
    {0, "\x93NUMPY"sv, "npy"},
    {0, "GGUF"sv, "gguf", kUnlessText},
    {0, "\0asm"sv, "wasm"},
    {0,
     "\x7F"
     "ELF"sv,
     "elf"},
    {0, "\xFE\xED\xFA\xCE"sv, "mach-o"},
    {0, "\xFE\xED\xFA\xCF"sv, "mach-o"},
    {0, "\xCE\xFA\xED\xFE"sv, "mach-o"},
    {0, "\xCF\xFA\xED\xFE"sv, "mach-o"},
    {0, "MZ"sv, "pe", kUnlessText},
    {0, "fLaC"sv, "flac", kUnlessText},
    {0, "OggS"sv, "ogg", kUnlessText},
    // The brand behind `ftyp` tells photos from videos (ISO/IEC 23008-12 and the AVIF
    // specification).
    {4, "ftypheic"sv, "heif"},
    {4, "ftypheix"sv, "heif"},
    {4, "ftypmif1"sv, "heif"},
    {4, "ftypmsf1"sv, "heif"},
    {4, "ftypavif"sv, "avif"},
    {4, "ftypavis"sv, "avif"},
    {4, "ftyp"sv, "mp4", kUnlessText},
    {0, "ID3"sv, "mp3", kUnlessText},
    {0, "\xFF\xFB"sv, "mp3"},
};

bool HasAt(std::string_view head, std::size_t offset, std::string_view bytes) {
  return head.size() >= offset && head.substr(offset).starts_with(bytes);
}

std::uint64_t LittleEndian(std::string_view head, std::size_t offset, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(head[offset + i - 1]);
  }
  return value;
}

// Archives older than `ustar` have no mark, but the octal sum of the first header's bytes.
bool HasTarChecksum(std::string_view head) {
  constexpr std::size_t kHeader = 512, kSum = 148, kSumEnd = 156;
  if (head.size() < kHeader || head[0] == '\0') return false;
  std::uint64_t sum = 0, written = 0, digits = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    const bool blank = i >= kSum && i < kSumEnd;
    sum += blank ? ' ' : static_cast<unsigned char>(head[i]);
    if (!blank || head[i] < '0' || head[i] > '7') continue;
    written = written * 8 + static_cast<std::uint64_t>(head[i] - '0');
    ++digits;
  }
  return digits >= 4 && written == sum;
}

// RIFF contains several kinds, distinguished by its second word.
std::string_view RiffKind(std::string_view head) {
  if (!head.starts_with("RIFF")) return "";
  if (HasAt(head, 8, "WEBP")) return "webp";
  return HasAt(head, 8, "WAVE") ? "wav" : "";
}

// Files that begin with a length instead of a mark.
std::string_view LengthKind(std::string_view head) {
  constexpr std::uint64_t kMaxHeader = 100 << 20;
  if (head.size() < 16) return "";
  const std::uint64_t first = LittleEndian(head, 0, 8);
  if (first > 2 && first <= kMaxHeader && head[8] == '{') return "safetensors";
  const std::uint64_t flatbuffer = LittleEndian(head, 4, 4);
  const bool stream = head.starts_with("\xFF\xFF\xFF\xFF") && flatbuffer > 0 &&
                      flatbuffer <= kMaxHeader && flatbuffer % 8 == 0;
  return stream ? "arrow stream" : "";
}

// `head`: the first 64 KiB. Returns nullopt if there is no known mark.
std::optional<BinaryMark> FindBinaryMark(std::string_view head) {
  for (const Magic& magic : kMagics) {
    if (HasAt(head, magic.offset, magic.bytes)) return BinaryMark{magic.name, magic.proof};
  }
  if (const auto kind = RiffKind(head); !kind.empty()) return BinaryMark{kind, kUnlessText};
  if (const auto kind = LengthKind(head); !kind.empty()) return BinaryMark{kind};
  if (HasTarChecksum(head)) return BinaryMark{"tar", kUnlessText};
  // Mail servers and printers add lines before it, which Adobe's readers accept up to 1 KiB.
  const std::size_t pdf = head.substr(0, 1024).find("%PDF-");
  if (pdf == std::string_view::npos) return std::nullopt;
  return BinaryMark{"pdf", pdf == 0 ? MarkProof::kAlone : kUnlessText};
}

}  // namespace

std::string_view BinaryKind(std::string_view head) {
  const auto mark = FindBinaryMark(head);
  return mark ? mark->name : std::string_view();
}

bool HasBinaryMark(std::string_view head) {
  const auto mark = FindBinaryMark(head);
  return mark && (mark->proof == MarkProof::kAlone || !utf8::IsValid(head));
}

}  // namespace dossier::inspect
