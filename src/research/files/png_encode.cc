#include <algorithm>
#include <array>
#include <boost/beast/zlib/deflate_stream.hpp>

#include "research/files/png.h"
#include "research/files/png_bytes.h"

namespace dossier::research {
namespace {

namespace zlib = boost::beast::zlib;

std::uint32_t Adler(std::string_view bytes) {  // RFC 1950
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

void AddBig(std::uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) *out += static_cast<char>(value >> shift & 255);
}

// A line of `source` before its filter: what it differs by from the line above.
void AddFilteredLine(std::string_view above, std::string_view line, std::string* out) {
  *out += '\2';
  for (std::size_t i = 0; i < line.size(); ++i) {
    *out += static_cast<char>(line[i] - (above.empty() ? 0 : above[i]));
  }
}

void AddChunk(std::string_view type, std::string_view body, std::string* out) {
  AddBig(static_cast<std::uint32_t>(body.size()), out);
  const std::size_t begin = out->size();
  *out += type;
  *out += body;
  AddBig(PngCrc(std::string_view(*out).substr(begin)), out);
}

std::string Deflate(std::string_view bytes) {
  zlib::deflate_stream stream;
  std::string packed("\x78\x9C", 2);
  const std::size_t head = packed.size();
  packed.resize(head + stream.upper_bound(bytes.size()) + 64);
  zlib::z_params params;
  params.next_in = bytes.data();
  params.avail_in = bytes.size();
  params.next_out = packed.data() + head;
  params.avail_out = packed.size() - head;
  boost::beast::error_code error;
  stream.write(params, zlib::Flush::finish, error);
  packed.resize(packed.size() - params.avail_out);
  AddBig(Adler(bytes), &packed);
  return packed;
}

}  // namespace

std::string EncodePng(const Image& image) {
  std::string header;
  AddBig(image.width, &header);
  AddBig(image.height, &header);
  header += std::string("\x08\x06\0\0\0", 5);
  const std::size_t line_bytes = std::size_t{image.width} * 4;
  std::string lines;
  lines.reserve((line_bytes + 1) * image.height);
  std::string_view above;
  for (std::uint32_t row = 0; row < image.height; ++row) {
    const std::string_view line = std::string_view(image.rgba).substr(row * line_bytes, line_bytes);
    AddFilteredLine(above, line, &lines);
    above = line;
  }
  std::string png(kPngSignature);
  AddChunk("IHDR", header, &png);
  AddChunk("IDAT", Deflate(lines), &png);
  AddChunk("IEND", "", &png);
  return png;
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
      // Colours weigh what their alpha says, so that what cannot be seen lends no colour.
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
