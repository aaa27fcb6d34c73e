// Any bytes: no crash, and an image that decodes has its pixels and is written so that it decodes
// to the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "research/files/png.h"

using namespace dossier::research;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = DecodePng(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!image) return 0;
  if (image->rgba.size() != std::size_t{image->width} * image->height * 4) std::abort();
  if (image->rgba.size() > 1 << 20) return 0;
  const auto again = DecodePng(EncodePng(*image));
  if (!again || again->rgba != image->rgba) std::abort();
  const Image small = ScaledDown(*image, 7);
  if (small.width > 7 || small.height > 7) std::abort();
  return 0;
}
