// PNG images, read and written, so that a plot is known to decode before a model is shown it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string small, FitPng(bytes, kMaxImageSide));
//
// libspng reads and writes them; it is loaded when it is first needed. A transparent colour that is
// no palette entry is shown as it is. Errors of all: kUnavailable where libspng cannot be loaded.
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_PNG_H_
#define DOSSIER_RESEARCH_FILES_PNG_H_

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
Result<std::string> EncodePng(const Image& image);
// The mean of the pixels that fall on each; as it is if no side is longer. `max_side` > 0.
Image ScaledDown(Image image, std::uint32_t max_side);

// `bytes` as they are if they decode and no side is longer, else a smaller image. Errors: as
// DecodePng.
Result<std::string> FitPng(std::string_view bytes, std::uint32_t max_side);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_PNG_H_
