#include "base/net/sse.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

// All events of `parts`, fed one after the other, as "[event|data]".
std::string Parse(const std::vector<std::string>& parts) {
  SseParser parser(1 << 16);
  std::string out;
  const auto add = [&](const SseEvent& event) {
    out += "[" + event.event + "|" + event.data + "]";
  };
  for (const std::string& part : parts) EXPECT_TRUE(parser.Feed(part, add));
  EXPECT_TRUE(parser.Finish(add));
  return out;
}

constexpr std::string_view kStreams[] = {
    "data: a\n\ndata: b\n\ndata: [DONE]\n\n",
    ("\xEF\xBB\xBF"
     "data: a\r\n\r\ndata:b\r\rdata: c\n\n"),
    ": comment\nevent: x\ndata: 1\ndata: 2\r\ndata\ndata:  3\nid: 7\nretry: 9\n\n\n\n",
    "event: only\n\ndata: {\"a\":\"naïve 😀\"}\n\n",
    "data: no empty line at the end",
    "\r\n\r\n\rdata: x\n\r\ndata: y\r\n",
};

TEST(SseTest, FieldsCommentsAndLineEnds) {  // MOD-13
  const char* const expected[] = {
      "[|a][|b][|[DONE]]",           "[|a][|b][|c]", "[x|1\n2\n\n 3]", "[|{\"a\":\"naïve 😀\"}]",
      "[|no empty line at the end]", "[|x][|y]",
  };
  for (std::size_t i = 0; i < std::size(kStreams); ++i) {
    EXPECT_EQ(Parse({std::string(kStreams[i])}), expected[i]) << i;
  }
}

TEST(SseTest, ASplitAtAnyByteGivesTheSame) {  // MOD-13, MOD-A2
  for (const std::string_view stream : kStreams) {
    const std::string text(stream), whole = Parse({text});
    for (std::size_t a = 0; a <= text.size(); ++a) {
      EXPECT_EQ(Parse({text.substr(0, a), text.substr(a)}), whole) << a;
    }
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(Parse(bytes), whole);
  }
}

TEST(SseTest, AnyBytesSplitAnywhereGiveTheSame) {  // MOD-A2
  Random random(13);
  const std::string_view letters = "data:event \r\n\r\nx\xEF\xBB\xBF";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(60); i > 0; --i) {
      text += random.Below(4) ? std::string(1, letters[random.Below(letters.size())]) : "data: ";
    }
    const std::size_t a = random.Below(text.size() + 1);
    const std::size_t b = a + random.Below(text.size() - a + 1);
    EXPECT_EQ(Parse({text.substr(0, a), text.substr(a, b - a), text.substr(b)}), Parse({text}));
  }
}

TEST(SseTest, EndlessLinesAndEventsAreRefused) {  // MOD-14
  SseParser lines(100);
  EXPECT_THAT(lines.Feed(std::string(101, 'x'), [](const SseEvent&) {}),
              FailsWith(ErrorCode::kNetwork, "longer than 100 bytes"));
  SseParser events(100);
  std::string many;
  for (int i = 0; i < 40; ++i) many += "data: xx\n";
  EXPECT_THAT(events.Feed(many, [](const SseEvent&) {}),
              FailsWith(ErrorCode::kNetwork, "event of the stream is longer"));
}

}  // namespace
}  // namespace dossier
