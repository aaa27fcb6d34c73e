#include "research/files/png.h"

#include <spng.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/process/shared_library.h"

namespace dossier::research {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kEnd = "\0\0\0\0IEND\xAE\x42\x60\x82"sv;  // the last part of a file

// The functions used, named without "spng_".
struct SpngApi {
  decltype(&spng_ctx_new) ctx_new;
  decltype(&spng_ctx_free) ctx_free;
  decltype(&spng_set_png_buffer) set_png_buffer;
  decltype(&spng_get_ihdr) get_ihdr;
  decltype(&spng_decode_image) decode_image;
  decltype(&spng_get_row_info) get_row_info;
  decltype(&spng_decode_row) decode_row;
  decltype(&spng_decode_chunks) decode_chunks;
  decltype(&spng_strerror) strerror;
  decltype(&spng_set_option) set_option;
  decltype(&spng_set_ihdr) set_ihdr;
  decltype(&spng_encode_image) encode_image;
  decltype(&spng_get_png_buffer) get_png_buffer;
};

Result<SpngApi> LoadSpng() {
  DOSSIER_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Load("libspng.so.0", "libspng0"));
  SpngApi api{};
  library.Find("spng_ctx_new", api.ctx_new);
  library.Find("spng_ctx_free", api.ctx_free);
  library.Find("spng_set_png_buffer", api.set_png_buffer);
  library.Find("spng_get_ihdr", api.get_ihdr);
  library.Find("spng_decode_image", api.decode_image);
  library.Find("spng_get_row_info", api.get_row_info);
  library.Find("spng_decode_row", api.decode_row);
  library.Find("spng_decode_chunks", api.decode_chunks);
  library.Find("spng_strerror", api.strerror);
  library.Find("spng_set_option", api.set_option);
  library.Find("spng_set_ihdr", api.set_ihdr);
  library.Find("spng_encode_image", api.encode_image);
  library.Find("spng_get_png_buffer", api.get_png_buffer);
  DOSSIER_RETURN_IF_ERROR(library.Check("version 0.7 is needed (package libspng0)"));
  return api;
}

Result<const SpngApi*> Spng() {
  static const Result<SpngApi> api = LoadSpng();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

using SpngContext = std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)>;

std::uint8_t Byte(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint8_t>(bytes[offset]);
}

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "no PNG image: {}", what);
}

}  // namespace

Result<Image> DecodePng(std::string_view bytes) {
  if (!bytes.starts_with(kSignature)) return Damaged("it does not begin as one");
  DOSSIER_ASSIGN_OR_RETURN(const SpngApi* spng, Spng());
  const SpngContext context(spng->ctx_new(0), spng->ctx_free);
  spng_ihdr header{};
  int error = spng->set_png_buffer(context.get(), bytes.data(), bytes.size());
  if (error == 0) error = spng->get_ihdr(context.get(), &header);
  if (error != 0) return Damaged(spng->strerror(error));
  if (std::uint64_t{header.width} * header.height > kMaxPngPixels) {
    return MakeError(ErrorCode::kTooLong, "the image has {} x {} pixels; the limit is {} in all",
                     header.width, header.height, kMaxPngPixels);
  }
  const bool palette = header.color_type == SPNG_COLOR_TYPE_INDEXED;
  error = spng->decode_image(context.get(), nullptr, 0, SPNG_FMT_RGBA8,
                             SPNG_DECODE_PROGRESSIVE | (palette ? SPNG_DECODE_TRNS : 0));
  Image image{.width = header.width, .height = header.height};
  const std::size_t line = std::size_t{header.width} * 4;
  // Memory grows with the rows: a few bytes may claim any size.
  while (error == 0) {
    spng_row_info row{};
    error = spng->get_row_info(context.get(), &row);
    if (error != 0) break;
    const std::size_t begin = row.row_num * line;
    if (image.rgba.size() < begin + line) image.rgba.resize(begin + line);
    error = spng->decode_row(context.get(), image.rgba.data() + begin, line);
  }
  if (error == SPNG_EOI) error = spng->decode_chunks(context.get());
  if (error != 0)
    return Damaged(fmt::format("its pixels do not unpack ({})", spng->strerror(error)));
  // libspng accepts a file that ends after its pixels.
  if (bytes.rfind(kEnd) == bytes.npos) return Damaged("it is cut off");
  return image;
}

Result<std::string> EncodePng(const Image& image) {
  DOSSIER_ASSIGN_OR_RETURN(const SpngApi* spng, Spng());
  const SpngContext context(spng->ctx_new(SPNG_CTX_ENCODER), spng->ctx_free);
  spng_ihdr header{.width = image.width,
                   .height = image.height,
                   .bit_depth = 8,
                   .color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
  int error = spng->set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  if (error == 0) error = spng->set_ihdr(context.get(), &header);
  if (error == 0) {
    error = spng->encode_image(context.get(), image.rgba.data(), image.rgba.size(), SPNG_FMT_PNG,
                               SPNG_ENCODE_FINALIZE);
  }
  std::size_t size = 0;
  const std::unique_ptr<void, decltype(&std::free)> png(
      error == 0 ? spng->get_png_buffer(context.get(), &size, &error) : nullptr, std::free);
  if (error == 0 && png) return std::string(static_cast<const char*>(png.get()), size);
  return MakeError(ErrorCode::kInternal, "the image cannot be written: {}", spng->strerror(error));
}

Image ScaledDown(Image image, std::uint32_t max_side) {
  const std::uint64_t longest = std::max(image.width, image.height);
  if (longest <= max_side) return image;
  const auto scaled = [&](std::uint64_t side) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, side * max_side / longest));
  };
  Image small{.width = scaled(image.width), .height = scaled(image.height)};
  small.rgba.resize(std::size_t{small.width} * small.height * 4);
  for (std::uint64_t y = 0; y < small.height; ++y) {
    const std::uint64_t top = y * image.height / small.height;
    const std::uint64_t bottom = (y + 1) * image.height / small.height;
    for (std::uint64_t x = 0; x < small.width; ++x) {
      const std::uint64_t left = x * image.width / small.width;
      const std::uint64_t right = (x + 1) * image.width / small.width;
      // Colours are weighted by alpha, so that transparent pixels add no colour.
      std::array<std::uint64_t, 4> sum{};
      for (std::uint64_t v = top; v < bottom; ++v) {
        for (std::uint64_t u = left; u < right; ++u) {
          const std::size_t at = (v * image.width + u) * 4;
          const std::uint64_t alpha = Byte(image.rgba, at + 3);
          for (std::size_t i = 0; i < 3; ++i) sum[i] += Byte(image.rgba, at + i) * alpha;
          sum[3] += alpha;
        }
      }
      const std::uint64_t pixels = (bottom - top) * (right - left);
      char* rgba = small.rgba.data() + (y * small.width + x) * 4;
      for (std::size_t i = 0; i < 3; ++i) {
        rgba[i] = static_cast<char>(sum[3] == 0 ? 0 : sum[i] / sum[3]);
      }
      rgba[3] = static_cast<char>(sum[3] / pixels);
    }
  }
  return small;
}

Result<std::string> FitPng(std::string_view bytes, std::uint32_t max_side) {
  DOSSIER_ASSIGN_OR_RETURN(Image image, DecodePng(bytes));
  if (image.width <= max_side && image.height <= max_side) return std::string(bytes);
  return EncodePng(ScaledDown(std::move(image), max_side));
}

}  // namespace dossier::research
