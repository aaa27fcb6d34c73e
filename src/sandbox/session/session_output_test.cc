// What blocks print: captured, bounded, valid.

#include <gtest/gtest.h>

#include "base/process/build_info.h"
#include "base/text/utf8.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class SessionOutputTest : public SandboxTest {};

TEST_F(SessionOutputTest, EveryWayOfWritingIsCaptured) {  // SBX-40, SBX-A6
  struct Case {
    std::string_view code, out;
  };
  constexpr Case kCases[] = {
      {"print('x', end='')", "x"},
      {"import sys\nprint('err', file=sys.stderr)", "err\n"},
      {"import os\nn = os.write(1, b'raw')", "raw"},
      {"import os\nn = os.write(2, b'raw2')", "raw2"},
      {"import os\nn = os.write(1, b'\\xff\\xfe')", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"print('a\\0b')", std::string_view("a\0b\n", 4)},
      {"print('\\ud800')", "\\ud800\n"},
  };
  auto session = Open();
  ASSERT_TRUE(session);
  for (const Case& c : kCases) EXPECT_EQ(Output(*session, c.code), c.out) << c.code;
}

TEST_F(SessionOutputTest, AFloodKeepsTheFirstAndTheLastPart) {  // SBX-40, SBX-A6
  SessionSpec spec;
  spec.limits.output = 10'000;
  auto session = Open(spec);
  ASSERT_TRUE(session);
  const BlockResult result = Run(*session, "for i in range(1_000_000): print(f'{i:09}')");
  EXPECT_EQ(result.out_bytes, 10'000'000u);
  EXPECT_EQ(result.out_dropped, 10'000'000u - 10'000u);
  EXPECT_EQ(result.out_chars, 10'000'000u);  // FLT-32
  EXPECT_THAT(result.out, ::testing::StartsWith("000000000\n000000001\n"));
  EXPECT_THAT(result.out, ::testing::EndsWith("000999998\n000999999\n"));
  EXPECT_THAT(result.out, HasSubstr("9,990,000 bytes of output not kept"));
  EXPECT_LT(result.out.size(), 10'200u);
}

TEST_F(SessionOutputTest, AnAnswerThatNoMessageHoldsComesInPieces) {  // REC-26
  auto session = Open();
  ASSERT_TRUE(session);
  const BlockResult result = Run(*session, "kept = 41\nFINAL('x' + 'é' * 40_000_000 + 'end')");
  EXPECT_EQ(result.status, BlockStatus::kFinal);
  ASSERT_TRUE(result.answer);
  EXPECT_EQ(result.answer->text.size(), 80'000'004u);
  EXPECT_TRUE(result.answer->text.starts_with("xé") && result.answer->text.ends_with("éend"));
  EXPECT_EQ(utf8::CodePoints(result.answer->text), 40'000'004u);
  const BlockResult drafted = Run(*session, "answer['content'] = 'x' * 60_000_000\nprint('on')");
  EXPECT_EQ(drafted.out, "on\n");
  EXPECT_FALSE(drafted.draft);
  EXPECT_EQ(Output(*session, "print(kept + 1)"), "42\n");
}

TEST_F(SessionOutputTest, OutputWithinTheLimitIsWhole) {  // SBX-A6
  auto session = Open();
  ASSERT_TRUE(session);
  const BlockResult result = Run(*session, "print('é' * 5_000_000, end='')");
  EXPECT_EQ(result.out_bytes, 10'000'000u);
  EXPECT_EQ(result.out_dropped, 0u);
  EXPECT_EQ(result.out_chars, 5'000'000u);  // FLT-32
  EXPECT_TRUE(utf8::IsValid(result.out));
  EXPECT_EQ(result.out.size(), 10'000'000u);
}

TEST_F(SessionOutputTest, AGigabyteOfOutputCostsNoMemory) {  // SBX-A6
  auto session = Open();
  ASSERT_TRUE(session);
  const BlockResult result =
      Run(*session, "import os\nb = b'x' * (1 << 20)\nfor i in range(300): print('y' * (1 << 20))");
  EXPECT_EQ(result.out_bytes, 300u * ((1u << 20) + 1));
  EXPECT_EQ(result.out_bytes - result.out_dropped, 10u << 20);
  if (kThisBuild == Instrumentation::kNone) {
    EXPECT_LT(result.peak_bytes, 200u << 20);
  }
}

TEST_F(SessionOutputTest, AThreadsLateOutputComesWithTheNextResult) {  // SBX-40, SBX-A6
  auto session = Open();
  ASSERT_TRUE(session);
  Output(*session,
         "import threading, time, os\n"
         "go = threading.Event()\n"
         "def late():\n    time.sleep(0.1)\n    os.write(1, b'late')\n"
         "t = threading.Thread(target=late)\nt.start()");
  while (!session->Get("t", 100)->starts_with("<Thread(Thread-1 (late), stopped")) {
  }
  const BlockResult next = Run(*session, "print('next')");
  EXPECT_EQ(next.out, "next\n");
  EXPECT_THAT(next.notes, Contains("late output of block 1: late"));
}

TEST_F(SessionOutputTest, TextThatLooksLikeAFrameIsOnlyText) {  // SBX-58, SBX-E8
  auto session = Open();
  ASSERT_TRUE(session);
  const BlockResult result =
      Run(*session, "import os\nn = os.write(1, bytes([2,0,0,0,1,8,0,0]) + bytes(16) + b'{}')");
  EXPECT_EQ(result.status, BlockStatus::kOk);
  EXPECT_EQ(result.out_bytes, 26u);
}

}  // namespace
}  // namespace dossier::sandbox
