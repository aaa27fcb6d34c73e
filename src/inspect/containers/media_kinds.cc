// Images, and PDF.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/byte_reader.h"

namespace dossier::inspect {
namespace {

using Size = std::pair<std::uint64_t, std::uint64_t>;  // width and height in pixels

Size PngSize(std::string_view head) {
  ByteReader in(head, 16);
  const std::uint64_t width = in.Big(4);
  return {width, in.Big(4)};
}

Size GifSize(std::string_view head) {
  ByteReader in(head, 6);
  const std::uint64_t width = in.Little(2);
  return {width, in.Little(2)};
}

Size BmpSize(std::string_view head) {
  ByteReader in(head, 14);
  const std::size_t bytes = in.Little(4) == 12 ? 2 : 4;  // 12: the OS/2 header
  const std::uint64_t width = in.Little(bytes), height = in.Little(bytes);
  // Images stored from top to bottom have a negative height.
  const bool from_top = bytes == 4 && height > INT32_MAX;
  return {width, from_top ? (std::uint64_t{1} << 32) - height : height};
}

Size WebpSize(std::string_view head) {
  const std::string_view part = ByteReader(head, 12).Take(4);
  if (part == "VP8 ") {
    ByteReader in(head, 26);
    const std::uint64_t width = in.Little(2) & 0x3FFF;
    return {width, in.Little(2) & 0x3FFF};
  }
  if (part == "VP8L") {
    const std::uint64_t bits = ByteReader(head, 21).Little(4);
    return bits == 0 ? Size() : Size{(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1};
  }
  ByteReader in(head, 24);
  const std::uint64_t width = in.Little(3), height = in.Little(3);
  return part == "VP8X" && in.ok() ? Size{width + 1, height + 1} : Size();
}

// Reads the first directory.
Result<Size> TiffSize(const BinaryFile& file) {
  const bool little = file.head.starts_with('I');
  const auto number = [little](ByteReader* in, std::size_t size) {
    return little ? in->Little(size) : in->Big(size);
  };
  ByteReader header(file.head, 4);
  const std::uint64_t at = number(&header, 4);
  DOSSIER_ASSIGN_OR_RETURN(const std::string count, ReadRange(file.source, at, 2));
  ByteReader counted(count);
  const std::uint64_t entries = number(&counted, 2);
  DOSSIER_ASSIGN_OR_RETURN(const std::string directory,
                           ReadRange(file.source, at + 2, static_cast<std::size_t>(entries * 12)));
  ByteReader in(directory);
  Size size;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t tag = number(&in, 2), type = number(&in, 2);
    in.Take(4);  // number of values
    ByteReader value(in.Take(4));
    constexpr std::uint64_t kShort = 3, kWidth = 256, kHeight = 257;
    const std::uint64_t found = number(&value, type == kShort ? 2 : 4);
    if (tag == kWidth) size.first = found;
    if (tag == kHeight) size.second = found;
  }
  return size;
}

// Walks the segments up to the first one that begins a frame.
Result<Size> JpegSize(const BinaryFile& file) {
  constexpr int kMostSegments = 1'000;
  std::uint64_t at = 2;
  for (int i = 0; i < kMostSegments; ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string segment, ReadRange(file.source, at, 9));
    ByteReader in(segment);
    if (in.Big(1) != 0xFF) break;
    const std::uint64_t marker = in.Big(1);
    if (marker == 0xFF) {  // fill bytes
      ++at;
      continue;
    }
    const std::uint64_t length = in.Big(2);
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) {
      in.Take(1);
      const std::uint64_t height = in.Big(2);
      return Size{in.Big(2), height};
    }
    if (length < 2) break;
    at += 2 + length;
  }
  return Damaged("no size is found in it");
}

Result<Size> SizeOf(const BinaryFile& file) {
  if (file.kind == "png") return PngSize(file.head);
  if (file.kind == "gif") return GifSize(file.head);
  if (file.kind == "bmp") return BmpSize(file.head);
  if (file.kind == "webp") return WebpSize(file.head);
  return file.kind == "tiff" ? TiffSize(file) : JpegSize(file);
}

constexpr std::size_t kPdfWindow = 1 << 20;
constexpr std::size_t kPdfOverlap = 4 << 10;  // bytes; the maximum length of a page dictionary
constexpr std::uint64_t kMostPdf = 64 << 20;
constexpr std::uint64_t kMostPdfNodes = 100'000;

struct PdfFacts {
  std::optional<std::uint64_t> pages;
  bool encrypted = false;
  std::uint64_t nodes = 0;  // nodes of the tree that were examined
};

// Returns the number after a name such as /Count.
std::optional<std::uint64_t> PdfNumber(std::string_view dictionary, std::string_view name) {
  const std::size_t at = dictionary.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = TrimSpace(dictionary.substr(at + name.size(), 20));
  std::uint64_t value = 0;
  std::size_t i = 0;
  for (; i < digits.size() && i < 9 && IsDigit(digits[i]); ++i) {
    value = value * 10 + static_cast<std::uint64_t>(digits[i] - '0');
  }
  return i > 0 ? std::optional(value) : std::nullopt;
}

// Searches for nodes of the page tree; the count of its root is the largest.
void ScanPdf(std::string_view window, PdfFacts* facts) {
  for (std::size_t at = 0; (at = window.find("/Encrypt", at)) != std::string_view::npos; at += 8) {
    const char behind = at + 8 < window.size() ? window[at + 8] : 'x';
    facts->encrypted = facts->encrypted || IsJsonSpace(behind) || behind == '<';
  }
  for (std::size_t at = 0; (at = window.find("/Pages", at)) != std::string_view::npos; at += 6) {
    constexpr std::size_t kBefore = 16, kDictionary = kPdfOverlap / 2;
    const std::string_view before =
        window.substr(at - std::min(at, kBefore), std::min(at, kBefore));
    if (!TrimSpace(before).ends_with("/Type")) continue;
    if (++facts->nodes > kMostPdfNodes) return;
    const std::size_t from = at - std::min(at, kDictionary);
    const std::size_t object = window.substr(from, at - from).rfind(" obj");
    const std::string_view behind =
        window.substr(object == std::string_view::npos ? at : from + object, kPdfOverlap);
    const auto count = PdfNumber(behind.substr(0, behind.find("endobj")), "/Count");
    if (count) facts->pages = std::max(facts->pages.value_or(0), *count);
  }
}

}  // namespace

Status DescribeImage(const BinaryFile& file, Description* out) {
  DOSSIER_ASSIGN_OR_RETURN(const Size size, SizeOf(file));
  if (size.first == 0 || size.second == 0) return Damaged("no size is found in it");
  out->kind_detail = fmt::format("{} × {}", GroupDigits(size.first), GroupDigits(size.second));
  out->details = {{"width", size.first}, {"height", size.second}};
  return {};
}

Status DescribePdf(const BinaryFile& file, Description* out) {
  const std::size_t mark = file.head.find("%PDF-");
  std::string version;
  for (const char c : file.head.substr(std::min(mark + 5, file.head.size()), 4)) {
    if (!IsDigit(c) && c != '.') break;
    version += c;
  }
  PdfFacts facts;
  for (std::uint64_t at = 0; at < std::min(file.size, kMostPdf); at += kPdfWindow - kPdfOverlap) {
    if (file.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    const std::uint64_t left = std::min<std::uint64_t>(file.size - at, kPdfWindow);
    DOSSIER_ASSIGN_OR_RETURN(const std::string window,
                             ReadRange(file.source, at, static_cast<std::size_t>(left)));
    ScanPdf(window, &facts);
  }
  if (file.size > kMostPdf) {  // only its end is read
    DOSSIER_ASSIGN_OR_RETURN(const std::string window,
                             ReadRange(file.source, file.size - kPdfWindow, kPdfWindow));
    ScanPdf(window, &facts);
  }
  out->kind_detail = fmt::format("version {}, {}{}", version.empty() ? "unknown" : version,
                                 facts.encrypted ? "encrypted, " : "",
                                 facts.pages ? fmt::format("{} page{}", GroupDigits(*facts.pages),
                                                           *facts.pages == 1 ? "" : "s")
                                             : "pages unknown");
  out->details = {{"version", version}, {"encrypted", facts.encrypted}};
  if (facts.pages) out->details.push_back({"pages", *facts.pages});
  return {};
}

}  // namespace dossier::inspect
