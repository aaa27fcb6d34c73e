#include "inspect/text/text_counter.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8_kernels.h"

namespace dossier::inspect {
namespace {

TEST(TextCounterTest, TheExampleInTheHeaderWorks) {
  const TextCount count = CountText("naïve\ncafé\n");
  EXPECT_EQ(count.utf8.code_points, 11u);
  EXPECT_EQ(count.lines.lines(), 2u);
}

// Texts that reach every path: line ends of all kinds, blank lines, NULs, code points of every
// length, whole and cut off.
std::string MakeCountedText(Random& random, std::size_t bytes) {
  static constexpr std::string_view kPieces[] = {
      "a",
      "b",
      " ",
      "\t",
      "\n",
      "\r",
      "\r\n",
      "\n\n",
      " \n",
      "é",
      "東",
      "🙂",
      "plain words that fill a good part of a round of the kernel",
      "\xE6\x9D",
      "\xFF",
      "\x80"};
  constexpr std::size_t kCommon = 13;  // the pieces in front of the broken ones
  // A subset, so that some texts have no CR, some no line end, some nothing wide.
  const std::uint64_t chosen = random.Next() | 1;
  std::string text;
  while (text.size() < bytes) {
    const std::size_t piece = random.Below(random.Below(200) == 0 ? std::size(kPieces) : kCommon);
    if ((chosen >> piece & 1) != 0 || piece >= kCommon) text += kPieces[piece];
    if (random.Below(400) == 0) text += '\0';
  }
  text.resize(bytes);
  return text;
}

TEST(TextCounterTest, TheFastKernelEqualsTheScalarOneAtEveryAlignmentAndLength) {  // INS-12
  if (!utf8::internal::HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  Random random(23);
  for (int base = 0; base < 40; ++base) {
    const std::string text = MakeCountedText(random, 1200);
    for (std::size_t length = 0; length <= 1100; ++length) {
      const std::size_t start = (base * 7 + length) % 64;
      const std::string_view part = std::string_view(text).substr(start, length);
      ASSERT_EQ(internal::CountTextAvx2(part), internal::CountTextScalar(part))
          << ::testing::PrintToString(part);
    }
  }
}

TEST(TextCounterTest, TheFastKernelEqualsTheScalarOneAcrossItsParts) {  // INS-6, INS-12
  if (!utf8::internal::HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  Random random(37);
  constexpr std::size_t kPart = 127 * 64;
  for (int round = 0; round < 200; ++round) {
    std::string text = MakeCountedText(random, 2 * kPart + random.Below(200));
    // The text across the border between two parts matters most.
    constexpr std::string_view kBorders[] = {"\r\n", " \n", "\n\n", "\n \n",
                                             "🙂",   "\r",  "é\n",  "\t\t\n"};
    const std::string_view border = kBorders[random.Below(std::size(kBorders))];
    text.replace(kPart - random.Below(border.size() + 1), border.size(), border);
    ASSERT_EQ(internal::CountTextAvx2(text), internal::CountTextScalar(text)) << round;
  }
}

TEST(TextCounterTest, TextsCutAtAnyCodePointCountAlike) {  // INS-6, INS-12
  Random random(41);
  for (int round = 0; round < 60; ++round) {
    const std::string text = MakeCountedText(random, 300);
    const TextCount whole = CountText(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      if (utf8::FloorBoundary(text, cut) != cut) continue;
      TextCount joined = CountText(std::string_view(text).substr(0, cut));
      joined.Append(CountText(std::string_view(text).substr(cut)));
      ASSERT_EQ(joined, whole) << cut << " in " << ::testing::PrintToString(text);
    }
  }
}

}  // namespace
}  // namespace dossier::inspect
