// What reading and writing PNG share; internal to png.cc and png_encode.cc.

#ifndef DOSSIER_RESEARCH_FILES_PNG_BYTES_H_
#define DOSSIER_RESEARCH_FILES_PNG_BYTES_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace dossier::research {

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

#endif  // DOSSIER_RESEARCH_FILES_PNG_BYTES_H_
