#include "ask/policy/coverage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace dossier::ask {
namespace {

TEST(CoverageTest, OverlappingSlicesCountOnce) {  // REC-39
  const std::string text(1000, 'x');
  Coverage coverage({text});
  coverage.AddSlice(0, 100, 200);
  coverage.AddSlice(0, 200, 200);
  coverage.AddSlice(0, 900, 500);  // extends past the end
  EXPECT_DOUBLE_EQ(coverage.Read().by_models, 0.4);
  EXPECT_DOUBLE_EQ(coverage.Read().by_code, 0);
  coverage.AddReadByCode(0, 350, 150);  // 50 bytes of it were not read before
  EXPECT_DOUBLE_EQ(coverage.Read().by_any, 0.5);
}

TEST(CoverageTest, ATextInsideAPromptIsFoundWhereItStands) {  // FLT-12
  const std::string text = "first line of the letter\nthe second line says more\nthird and last\n";
  struct Row {
    std::string prompt, read;
  };
  const Row kRows[] = {
      {"classify: the second line says more", "the second line says more"},
      {"Judge:\nthe second line says", "the second line says"},       // a cut-off line
      {"say more: second line says more!", "second line says more"},  // in a sentence
      {"the\nsecond\nline\tsays more", "the second line says more"},  // wrapped otherwise
      {"FIRST LINE OF THE LETTER", ""},                               // not the same bytes
      {"third and", ""},                                              // may occur anywhere
  };
  for (const Row& row : kRows) {
    Coverage coverage({text});
    coverage.AddText(row.prompt);
    // White space and punctuation around it may belong to the match.
    EXPECT_NEAR(coverage.Read().by_models * static_cast<double>(text.size()),
                static_cast<double>(row.read.size()), 2)
        << row.prompt;
  }
}

TEST(CoverageTest, AFieldTakenOutOfAJsonRecordIsFound) {  // FLT-12
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("{{\"id\": {}, \"text\": \"Parcel {} came late and was broken\"}}\n", i, i);
  }
  Coverage coverage({text});
  coverage.AddText("complaint or praise? Parcel 42 came late and was broken");
  const double shown = coverage.Read().by_models * static_cast<double>(text.size());
  EXPECT_GE(shown, 30);
  EXPECT_LE(shown, 40) << "the same words of other records do not count";
  for (int i = 0; i < 100; ++i) {
    coverage.AddText(fmt::format("Parcel {} came late and was broken", i));
  }
  EXPECT_GE(coverage.Read().by_models, 0.55);
}

TEST(CoverageTest, EqualPlacesCountAll) {  // REC-54
  const std::string text = "again and again the same\nagain and again the same\n";
  Coverage coverage({text});
  coverage.AddText("again and again the same");
  EXPECT_GE(coverage.Read().by_models, 0.9);
}

TEST(CoverageTest, WhatCodeReadIsToldApart) {  // FLT-12
  const std::string text(1000, 'x'), other(1000, 'y');
  Coverage coverage({text, other});
  coverage.AddReadByCode(0, 0, 1000);
  coverage.AddReadByCode(0, 500, 100'000);
  coverage.AddReadByCode(7, 0, 10);  // no such document
  EXPECT_DOUBLE_EQ(coverage.Read().by_code, 0.5);
  EXPECT_DOUBLE_EQ(coverage.Read().by_models, 0);
}

TEST(CoverageTest, AnySliceOfALongTextIsTracedWhole) {  // FLT-12
  Random random(5);
  std::string text;
  while (text.size() < 200'000) text += fmt::format("w{} ", random.Below(5000));
  for (int round = 0; round < 100; ++round) {
    const std::size_t at = random.Below(text.size() - 1000), length = 200 + random.Below(700);
    Coverage coverage({text});
    coverage.AddText("Read this: " + text.substr(at, length) + " What does it say?");
    EXPECT_NEAR(coverage.Read().by_models * static_cast<double>(text.size()),
                static_cast<double>(length), 20)
        << at;
  }
}

// The words right after a match are examined like any others.
TEST(CoverageTest, EverySliceOfAPromptIsTraced) {  // FLT-12
  Random random(6);
  std::string text;
  while (text.size() < 100'000)
    text += fmt::format("w{}", random.Below(5000)) + (random.Below(9) == 0 ? "\n" : " ");
  for (int round = 0; round < 100; ++round) {
    std::string prompt = "Compare: ";
    double shown = 0;
    constexpr std::size_t kParts = 8, kPart = 12'000;  // each slice from a different part
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t at = part * kPart + random.Below(kPart - 1000);
      const std::size_t length = 40 + random.Below(40);
      prompt += text.substr(at, length) + (random.Below(2) == 0 ? " and " : "\n");
      shown += static_cast<double>(length);
    }
    Coverage coverage({text});
    coverage.AddText(prompt);
    EXPECT_NEAR(coverage.Read().by_models * static_cast<double>(text.size()), shown, 80) << prompt;
  }
}

TEST(CoverageTest, APlaceIsThatOfItsOwnDocument) {  // FLT-12
  const std::string one = "the first text says something", none,
                    two = "another text says nothing new";
  Coverage coverage({one, none, two});
  coverage.AddText("Judge: another text says nothing new");
  EXPECT_FALSE(coverage.Touched(0));
  EXPECT_FALSE(coverage.Touched(1));
  EXPECT_TRUE(coverage.Touched(2));
}

// REC-67: the same text may be at another place in another question of a session.
TEST(CoverageTest, WhatOthersReadOfTheSameTextIsRead) {
  const std::string one = "the first text says something", same = one,
                    two = "another text says nothing new";
  Coverage before({two, same}), now({one});
  before.AddReadByCode(0, 0, 10);
  now.AddSame(before);
  EXPECT_FALSE(now.Touched(0));
  before.AddReadByCode(1, 0, 10);
  before.AddText("Judge: the first text says something");
  now.AddSame(before);
  EXPECT_DOUBLE_EQ(now.Read().by_code, 10.0 / static_cast<double>(one.size()));
  EXPECT_DOUBLE_EQ(now.Read().by_models, 1.0);
}

TEST(CoverageTest, AnyOrderOfSlicesGivesTheShareOfAPlainBitmap) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    const std::string text(200, 'x');
    Coverage coverage({text});
    std::vector<bool> shown(text.size());
    for (int i = 0; i < 12; ++i) {
      const auto at = random.Below(200), length = random.Below(60);
      coverage.AddSlice(0, at, length);
      for (auto k = at; k < std::min<std::uint64_t>(at + length, 200); ++k) shown[k] = true;
    }
    const auto count = std::count(shown.begin(), shown.end(), true);
    EXPECT_DOUBLE_EQ(coverage.Read().by_models, static_cast<double>(count) / 200.0);
  }
}

}  // namespace
}  // namespace dossier::ask
