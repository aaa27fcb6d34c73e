#include "research/files/png.h"

#include <algorithm>
#include <array>
#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <cstdlib>
#include <span>

namespace dossier::research {
namespace {

namespace zlib = boost::beast::zlib;

// No byte of deflate stands for more: https://www.zlib.net/zlib_tech.html
constexpr std::size_t kMostDeflated = 1032;

enum ColourType : std::uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

std::uint32_t ReadBig(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | Byte(bytes, offset + i);
  return value;
}

struct Header {
  std::uint32_t width = 0, height = 0;
  std::uint8_t depth = 0, colour = 0;
  enum class Interlace : std::uint8_t { kNone, kAdam7 } interlace = Interlace::kNone;

  unsigned channels() const {
    return colour == kRgb ? 3 : colour == kRgba ? 4 : colour == kGrayAlpha ? 2 : 1;
  }
  unsigned bits_per_pixel() const { return channels() * depth; }
  std::size_t LineBytes(std::uint64_t pixels) const { return (pixels * bits_per_pixel() + 7) / 8; }
  // What a line's filter looks back on.
  std::size_t step() const { return std::max(1U, bits_per_pixel() / 8); }
};

struct Chunks {
  Header header;
  std::string palette, palette_alpha, data;
};

// Pixels of an image that are sent together: all of them, or one of the seven passes of Adam7.
struct Pass {
  std::uint32_t x = 0, y = 0, dx = 1, dy = 1;

  std::uint64_t Columns(const Header& header) const {
    return header.width <= x ? 0 : (header.width - x + dx - 1) / dx;
  }
  std::uint64_t Lines(const Header& header) const {
    return header.height <= y ? 0 : (header.height - y + dy - 1) / dy;
  }
};
constexpr Pass kWhole[] = {{}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

std::span<const Pass> PassesOf(const Header& header) {
  if (header.interlace == Header::Interlace::kAdam7) return kAdam7;
  return kWhole;
}

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "no PNG image: {}", what);
}

bool IsDepthOf(std::uint8_t depth, std::uint8_t colour) {
  if (colour == kGray) return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
  if (colour == kPalette) return depth == 1 || depth == 2 || depth == 4 || depth == 8;
  return (colour == kRgb || colour == kGrayAlpha || colour == kRgba) && (depth == 8 || depth == 16);
}

Result<Header> ReadHeader(std::string_view body) {
  if (body.size() != 13) return Damaged("its header has not 13 bytes");
  Header header{.width = ReadBig(body, 0),
                .height = ReadBig(body, 4),
                .depth = Byte(body, 8),
                .colour = Byte(body, 9)};
  if (header.width == 0 || header.height == 0) return Damaged("a side of 0 pixels");
  if (!IsDepthOf(header.depth, header.colour)) return Damaged("an unknown colour type or depth");
  if (body[10] != 0 || body[11] != 0 || Byte(body, 12) > 1) return Damaged("an unknown method");
  if (body[12] != 0) header.interlace = Header::Interlace::kAdam7;
  if (std::uint64_t{header.width} * header.height > kMaxPngPixels) {
    return MakeError(ErrorCode::kTooLong, "the image has {} x {} pixels; the limit is {} in all",
                     header.width, header.height, kMaxPngPixels);
  }
  return header;
}

Status TakeChunk(std::string_view type, std::string_view body, Chunks* chunks) {
  if (type == "PLTE") {
    if (body.empty() || body.size() % 3 != 0 || body.size() > 768) {
      return Damaged("a palette of a wrong length");
    }
    chunks->palette = body;
  } else if (type == "tRNS") {
    chunks->palette_alpha = body;
  } else if (type == "IDAT") {
    chunks->data += body;
  } else if ((type[0] & 0x20) == 0 && type != "IEND") {  // a capital: may not be passed over
    return Damaged("an unknown part that must be understood");
  }
  return {};
}

Result<Chunks> ReadChunks(std::string_view bytes) {
  if (!bytes.starts_with(kPngSignature)) return Damaged("it does not begin as one");
  std::string_view rest = bytes.substr(kPngSignature.size());
  Chunks chunks;
  bool first = true;
  while (true) {
    if (rest.size() < 12) return Damaged("it is cut off");
    const std::uint32_t length = ReadBig(rest, 0);
    if (length > rest.size() - 12) return Damaged("it is cut off");
    const std::string_view type = rest.substr(4, 4);
    const std::string_view body = rest.substr(8, length);
    if (PngCrc(rest.substr(4, length + 4)) != ReadBig(rest, 8 + length)) {
      return Damaged("a checksum is wrong");
    }
    if (first != (type == "IHDR")) return Damaged("its header is not where it belongs");
    if (first) {
      DOSSIER_ASSIGN_OR_RETURN(chunks.header, ReadHeader(body));
    } else {
      DOSSIER_RETURN_IF_ERROR(TakeChunk(type, body, &chunks));
    }
    if (type == "IEND") break;
    first = false;
    rest.remove_prefix(length + 12);
  }
  if (chunks.header.colour == kPalette && chunks.palette.empty()) return Damaged("no palette");
  return chunks;
}

// The filtered lines of all passes.
Result<std::string> Inflate(const Chunks& chunks) {
  std::size_t size = 0;
  for (const Pass& pass : PassesOf(chunks.header)) {
    const std::uint64_t columns = pass.Columns(chunks.header);
    if (columns > 0) size += pass.Lines(chunks.header) * (1 + chunks.header.LineBytes(columns));
  }
  if (chunks.data.size() < 6 || (Byte(chunks.data, 0) & 15) != 8) return Damaged("no pixels");
  // Before room is made for them: a few bytes may claim any size.
  if (size / kMostDeflated > chunks.data.size()) return Damaged("its pixels do not unpack");
  std::string lines(size, '\0');
  zlib::inflate_stream stream;
  zlib::z_params params;
  params.next_in = chunks.data.data() + 2;  // behind the header of RFC 1950
  params.avail_in = chunks.data.size() - 2;
  params.next_out = lines.data();
  params.avail_out = lines.size();
  boost::beast::error_code error;
  while (params.avail_out > 0 && !error) stream.write(params, zlib::Flush::sync, error);
  if (params.avail_out > 0) return Damaged("its pixels do not unpack");
  return lines;
}

std::uint8_t Paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int to_left = std::abs(guess - left);
  const int to_up = std::abs(guess - up);
  const int to_corner = std::abs(guess - corner);
  if (to_left <= to_up && to_left <= to_corner) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_up <= to_corner ? up : corner);
}

// Undoes the filter of one line in its place; `above` is empty for the first one.
Status Unfilter(std::uint8_t filter, std::string_view above, std::size_t step,
                std::span<char> line) {
  if (filter > 4) return Damaged("an unknown filter");
  for (std::size_t i = 0; i < line.size(); ++i) {
    const int left = i >= step ? static_cast<unsigned char>(line[i - step]) : 0;
    const int up = above.empty() ? 0 : Byte(above, i);
    const int corner = i >= step && !above.empty() ? Byte(above, i - step) : 0;
    const int more = filter == 1   ? left
                     : filter == 2 ? up
                     : filter == 3 ? (left + up) / 2
                     : filter == 4 ? Paeth(left, up, corner)
                                   : 0;
    line[i] = static_cast<char>(static_cast<unsigned char>(line[i]) + more);
  }
  return {};
}

// One sample, of 8 bits; of a palette: its number.
std::uint8_t Sample(std::string_view line, const Header& header, std::uint64_t index) {
  if (header.depth == 8) return Byte(line, index);
  if (header.depth == 16) return Byte(line, 2 * index);
  const std::uint64_t bit = index * header.depth;
  const unsigned mask = (1U << header.depth) - 1;
  const unsigned value = Byte(line, bit / 8) >> (8 - header.depth - bit % 8) & mask;
  return static_cast<std::uint8_t>(header.colour == kPalette ? value : value * 255 / mask);
}

Status PutPixel(const Chunks& chunks, std::string_view line, std::uint64_t column, char* rgba) {
  const Header& header = chunks.header;
  const auto sample = [&](unsigned channel) {
    return static_cast<char>(Sample(line, header, column * header.channels() + channel));
  };
  rgba[3] = '\xFF';
  if (header.colour == kPalette) {
    const auto entry = static_cast<std::uint8_t>(sample(0));
    if (entry * 3U + 3 > chunks.palette.size()) return Damaged("a pixel outside its palette");
    for (unsigned i = 0; i < 3; ++i) rgba[i] = chunks.palette[entry * 3 + i];
    if (entry < chunks.palette_alpha.size()) rgba[3] = chunks.palette_alpha[entry];
    return {};
  }
  const bool colours = header.colour == kRgb || header.colour == kRgba;
  for (unsigned i = 0; i < 3; ++i) rgba[i] = sample(colours ? i : 0);
  if (header.colour == kRgba || header.colour == kGrayAlpha) rgba[3] = sample(colours ? 3 : 1);
  return {};
}

}  // namespace

Result<Image> DecodePng(std::string_view bytes) {
  DOSSIER_ASSIGN_OR_RETURN(const Chunks chunks, ReadChunks(bytes));
  DOSSIER_ASSIGN_OR_RETURN(std::string lines, Inflate(chunks));
  const Header& header = chunks.header;
  Image image{.width = header.width, .height = header.height};
  image.rgba.resize(std::size_t{header.width} * header.height * 4);
  std::size_t offset = 0;
  for (const Pass& pass : PassesOf(header)) {
    const std::uint64_t columns = pass.Columns(header);
    if (columns == 0) continue;
    const std::size_t line_bytes = header.LineBytes(columns);
    std::string_view above;
    for (std::uint64_t row = 0; row < pass.Lines(header); ++row) {
      const std::span<char> line(lines.data() + offset + 1, line_bytes);
      DOSSIER_RETURN_IF_ERROR(Unfilter(Byte(lines, offset), above, header.step(), line));
      above = std::string_view(line.data(), line.size());
      for (std::uint64_t column = 0; column < columns; ++column) {
        const std::size_t y = pass.y + row * pass.dy;
        const std::size_t x = pass.x + column * pass.dx;
        char* rgba = image.rgba.data() + (y * header.width + x) * 4;
        DOSSIER_RETURN_IF_ERROR(PutPixel(chunks, above, column, rgba));
      }
      offset += 1 + line_bytes;
    }
  }
  return image;
}

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
