#include "research/files/png.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

Image Noise(std::uint32_t width, std::uint32_t height, std::uint64_t seed) {
  Random random(seed);
  Image image{.width = width, .height = height};
  for (std::size_t i = 0; i < std::size_t{width} * height * 4; ++i) {
    image.rgba += static_cast<char>(random.Below(256));
  }
  return image;
}

// CRC-32 of ISO/IEC 15948, annex D.
std::uint32_t PngCrc(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xEDB88320U ^ (crc >> 1) : crc >> 1;
  }
  return crc ^ 0xFFFFFFFFU;
}

TEST(PngTest, WhatIsWrittenIsReadAgain) {  // RSP-38
  for (const auto& [width, height] : {std::pair{1U, 1U}, {3U, 2U}, {200U, 90U}}) {
    const Image image = Noise(width, height, width);
    const auto again = DecodePng(*EncodePng(image));
    ASSERT_THAT(again, Succeeds());
    EXPECT_EQ(again->width, width);
    EXPECT_EQ(again->height, height);
    EXPECT_TRUE(again->rgba == image.rgba);
  }
}

TEST(PngTest, AnImageThatFitsIsLeftAsItIsAndALargerOneGetsSmaller) {  // RSP-38
  const std::string small = *EncodePng(Noise(20, 10, 1));
  EXPECT_EQ(*FitPng(small, 20), small);
  const auto fitted = FitPng(small, 8);
  ASSERT_THAT(fitted, Succeeds());
  const auto image = DecodePng(*fitted);
  ASSERT_THAT(image, Succeeds());
  EXPECT_EQ(image->width, 8U);
  EXPECT_EQ(image->height, 4U);
}

TEST(PngTest, ScalingTakesTheMeanAndKeepsASideOfOnePixel) {
  const Image bar{.width = 4,
                  .height = 1,
                  .rgba = std::string("\x00\x00\x00\xFF\x64\x00\x00\xFF"
                                      "\xFF\xFF\xFF\x00\xFF\xFF\xFF\x00",
                                      16)};
  const Image half = ScaledDown(bar, 2);
  EXPECT_EQ(half.width, 2U);
  EXPECT_EQ(half.height, 1U);
  EXPECT_EQ(half.rgba, std::string("\x32\x00\x00\xFF\x00\x00\x00\x00", 8));
}

TEST(PngTest, EveryDamageIsToldAndNoneIsRead) {
  const std::string good = *EncodePng(Noise(9, 7, 3));
  EXPECT_THAT(DecodePng(""), FailsWith(ErrorCode::kDamaged, "does not begin as one"));
  EXPECT_THAT(DecodePng("GIF89a"), FailsWith(ErrorCode::kDamaged, "does not begin as one"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(DecodePng(std::string_view(good).substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {  // each byte is covered by a checksum
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_FALSE(DecodePng(bad)) << at;
  }
}

TEST(PngTest, AFewBytesThatClaimManyPixelsAreRefusedBeforeThereIsRoomForThem) {
  std::string bytes = *EncodePng({.width = 1, .height = 1, .rgba = std::string(4, 'x')});
  for (const std::size_t side : {std::size_t{16}, std::size_t{20}}) {  // 8192 x 8192 pixels
    bytes.replace(side, 4, std::string("\0\0\x20\0", 4));
  }
  const std::uint32_t crc = PngCrc(std::string_view(bytes).substr(12, 17));
  for (int i = 0; i < 4; ++i) bytes[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  EXPECT_THAT(DecodePng(bytes), FailsWith(ErrorCode::kDamaged, "do not unpack"));
}

TEST(PngTest, AHugeImageIsRefusedBeforeItIsUnpacked) {
  // Claims 16,384 x 4,097 pixels, but contains none.
  const std::string header = "\x89PNG\r\n\x1a\n" +
                             std::string(
                                 "\x00\x00\x00\x0D\x49\x48\x44\x52\x00\x00\x40\x00\x00\x00\x10\x01"
                                 "\x08\x06\x00\x00\x00\x41\x41\x2A\x96",
                                 25) +
                             std::string(12, 'x');
  EXPECT_THAT(DecodePng(header), FailsWith(ErrorCode::kTooLong, "16384 x 4097 pixels"));
}

// Compares with Python's imaging and plotting packages, if they are installed.
TEST(PngTest, ReadsWhatOtherProgramsWrite) {
  auto folder = TempFolder::Make();
  ASSERT_THAT(folder, Succeeds());
  constexpr std::string_view kScript = R"(
import sys
from PIL import Image
folder = sys.argv[1]
base = Image.new("RGBA", (37, 23))
base.putdata([(x * 6 % 256, y * 11 % 256, (x + y) * 5 % 256, 255 - x) for y in range(23) for x in range(37)])
for mode in ("RGBA", "RGB", "L", "LA", "P", "1"):
    image = base.convert(mode)
    image.save(f"{folder}/{mode}.png")
    rgba = image.convert("RGBA")
    open(f"{folder}/{mode}.rgba", "wb").write(rgba.tobytes())
)";
  const auto made =
      RunProcess({.argv = {"/usr/bin/python3", "-c", std::string(kScript), folder->path()}});
  if (!made || made->exit_code != 0) GTEST_FAIL() << "scripts/setup --test installs Python's PIL";
  for (const std::string mode : {"RGBA", "RGB", "L", "LA", "P", "1"}) {
    const auto image = DecodePng(*ReadFile(folder->path() + "/" + mode + ".png"));
    ASSERT_THAT(image, Succeeds()) << mode;
    EXPECT_TRUE(image->rgba == *ReadFile(folder->path() + "/" + mode + ".rgba")) << mode;
  }
}

TEST(PngTest, RandomBytesBehindTheSignatureNeverCrash) {
  Random random(/*seed=*/5);
  const std::string good = *EncodePng(Noise(9, 7, 3));
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) {
      bytes[8 + random.Below(bytes.size() - 8)] = static_cast<char>(random.Below(256));
    }
    static_cast<void>(DecodePng(bytes));
  }
}

}  // namespace
}  // namespace dossier::research
