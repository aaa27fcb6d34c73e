// PNG images, read and written, so that a plot is known to decode before a model is shown it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string small, FitPng(bytes, kMaxImageSide));
//
// Reads every form of the standard (ISO/IEC 15948:2004): 1 to 16 bits, gray, colours, palette,
// alpha, interlaced. A transparent colour that is no palette entry is shown as it is.
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_PNG_H_
#define DOSSIER_RESEARCH_FILES_PNG_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::research {

inline constexpr std::uint32_t kMaxImageSide = 2048;      // pixels, of what a model gets
inline constexpr std::uint64_t kMaxPngPixels = 64 << 20;  // above it an image is refused

struct Image {
  std::uint32_t width = 0, height = 0;
  std::string rgba;  // four bytes a pixel, line by line
};

// Errors: kDamaged naming what is wrong; kTooLong (kMaxPngPixels).
Result<Image> DecodePng(std::string_view bytes);
std::string EncodePng(const Image& image);
// The mean of the pixels that fall on each; as it is if no side is longer. `max_side` > 0.
Image ScaledDown(Image image, std::uint32_t max_side);

// `bytes` as they are if they decode and no side is longer, else a smaller image. Errors: as
// DecodePng.
Result<std::string> FitPng(std::string_view bytes, std::uint32_t max_side);

// What reading and writing PNG share; internal to png.cc and png_encode.cc.

inline constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

inline std::uint8_t Byte(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint8_t>(bytes[offset]);
}

constexpr std::array<std::uint32_t, 256> PngCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
    }
    table[i] = value;
  }
  return table;
}

// CRC-32 of ISO/IEC 15948, annex D.
inline std::uint32_t PngCrc(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = PngCrcTable();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  }
  return crc ^ 0xFFFFFFFFU;
}

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_PNG_H_
