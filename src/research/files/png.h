// Reads and writes PNG images, so that a plot is known to decode before it is sent to a model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string small, FitPng(bytes, kMaxImageSide));
//
// Uses libspng, which is loaded at first use. A transparent colour that is not a palette entry is
// shown opaque. Errors of all functions: kUnavailable if libspng cannot be loaded. Thread-safety:
// pure functions.

#ifndef DOSSIER_RESEARCH_FILES_PNG_H_
#define DOSSIER_RESEARCH_FILES_PNG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::research {

inline constexpr std::uint32_t kMaxImageSide = 2048;      // pixels, for images sent to models
inline constexpr std::uint64_t kMaxPngPixels = 64 << 20;  // larger images are refused

struct Image {
  std::uint32_t width = 0, height = 0;
  std::string rgba;  // four bytes per pixel, row by row
};

// Errors: kDamaged with the fault; kTooLong (kMaxPngPixels).
Result<Image> DecodePng(std::string_view bytes);
Result<std::string> EncodePng(const Image& image);
// Averages the pixels that fall on each new one; unchanged if no side is longer. `max_side` > 0.
Image ScaledDown(Image image, std::uint32_t max_side);

// Returns `bytes` unchanged if they decode and no side is longer, else a smaller image. Errors: as
// DecodePng.
Result<std::string> FitPng(std::string_view bytes, std::uint32_t max_side);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_PNG_H_
