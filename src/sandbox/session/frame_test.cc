#include "sandbox/session/frame.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;

std::string Encoded(const FrameHeader& header, std::string_view payload) {
  const auto bytes = EncodeHeader(header);
  return std::string(bytes.data(), bytes.size()) + std::string(payload);
}

FrameHeader Header(std::uint8_t type, std::uint64_t id, std::size_t payload) {
  return {.payload_bytes = static_cast<std::uint32_t>(payload), .type = type, .id = id};
}

TEST(FrameTest, TheHeaderHasTheLayoutOfTheSpecification) {  // SBX section 5
  const auto bytes = EncodeHeader({.payload_bytes = 0x01020304,
                                   .type = 11,
                                   .flags = kFlagMore,
                                   .id = 0x1122334455667788,
                                   .block = 3,
                                   .json_bytes = 9});
  const unsigned char expected[] = {4,    3,    2,    1,    1, 11, 1, 0, 0x88, 0x77, 0x66, 0x55,
                                    0x44, 0x33, 0x22, 0x11, 3, 0,  0, 0, 9,    0,    0,    0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(static_cast<unsigned char>(bytes[i]), expected[i]) << "byte " << i;
  }
}

TEST(FrameTest, AStreamSplitAtEveryByteGivesTheSameFrames) {  // SBX-92, SBX-A7
  const std::string stream = Encoded(Header(6, 2, 5), "hello") + Encoded(Header(16, 0, 0), "") +
                             Encoded(Header(12, 7, 3), "\xff\n\x01");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameDecoder decoder;
    std::string seen;
    for (const std::string_view piece :
         {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      decoder.Feed(piece);
      while (true) {
        auto frame = decoder.Next();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        seen += fmt::format("{}:{};", (*frame)->header.type, (*frame)->payload.size());
      }
    }
    ASSERT_EQ(seen, "6:5;16:0;12:3;") << "cut at " << cut;
    EXPECT_TRUE(decoder.at_boundary());
  }
}

TEST(FrameTest, EachBrokenHeaderIsRefusedForEver) {  // SBX-92
  struct Case {
    std::size_t byte;
    char value;
    std::string_view message;
  };
  constexpr Case kCases[] = {{4, 2, "version 2"},      {5, 0, "frame type 0"},
                             {5, 25, "frame type 25"}, {6, 4, "flags 0x4"},
                             {7, 1, "flags 0x100"},    {2, 0x11, "the limit is 1048576"}};
  for (const Case& c : kCases) {
    std::string bytes = Encoded(Header(6, 2, 0), "");
    bytes[c.byte] = c.value;
    FrameDecoder decoder;
    decoder.Feed(bytes);
    EXPECT_THAT(decoder.Next(), FailsWith(ErrorCode::kProtocol, std::string(c.message)));
    decoder.Feed(Encoded(Header(6, 4, 0), ""));
    EXPECT_THAT(decoder.Next(), FailsWith(ErrorCode::kProtocol, std::string(c.message)));
  }
}

TEST(FrameTest, AnyBytesEndInFramesOrAnErrorWithinBounds) {  // SBX-A7
  Random random(/*seed=*/11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = Encoded(Header(11, 1, 40), random.Bytes(40)) + random.Bytes(60);
    bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    FrameDecoder decoder;
    std::size_t payload = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t step = std::min<std::size_t>(random.Below(30) + 1, bytes.size() - at);
      decoder.Feed(std::string_view(bytes).substr(at, step));
      at += step;
      while (true) {
        auto frame = decoder.Next();
        if (!frame || !*frame) break;
        payload += (*frame)->payload.size();
      }
    }
    EXPECT_LE(payload, bytes.size());
  }
}

}  // namespace
}  // namespace dossier::sandbox
