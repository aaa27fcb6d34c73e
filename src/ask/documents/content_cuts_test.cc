#include "ask/documents/content_cuts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;

std::string Prose(std::size_t bytes, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  while (text.size() < bytes) {
    text.append(1 + random.Below(9), static_cast<char>('a' + random.Below(26)));
    text += random.Below(12) == 0 ? "\n" : random.Below(20) == 0 ? " é" : " ";
  }
  return text;
}

std::vector<std::string> Pieces(std::string_view text, std::uint64_t size) {
  std::vector<std::string> pieces;
  std::size_t at = 0;
  const auto ends = ContentCuts(text, {.size = size});
  for (const std::uint64_t end : *ends) {
    pieces.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

// Pieces of `text` that are not in `before`, and those of them that overlap the bytes [from, to).
struct Changed {
  std::size_t fresh = 0, touched = 0;
};
Changed Compare(std::string_view before, std::string_view text, std::size_t from, std::size_t to) {
  const auto old = Pieces(before, 2000);
  const std::set<std::string> known(old.begin(), old.end());
  Changed changed;
  std::size_t at = 0;
  for (const std::string& piece : Pieces(text, 2000)) {
    changed.fresh += known.count(piece) == 0 ? 1 : 0;
    changed.touched += at < to && from < at + piece.size() ? 1 : 0;
    at += piece.size();
  }
  return changed;
}

TEST(ContentCutsTest, PiecesCoverTheTextInTheSizesPromised) {  // REC-81
  const std::string text = Prose(2'000'000, 1);
  const auto pieces = Pieces(text, 2000);
  std::string whole;
  for (const std::string& piece : pieces) {
    whole += piece;
    EXPECT_LE(piece.size(), 4 * 2000u + 500);
    EXPECT_TRUE(utf8::IsValid(piece));
    if (&piece != &pieces.back()) {
      EXPECT_GE(piece.size(), 2000u / 16);
      EXPECT_EQ(piece.back(), '\n');  // lines are short here
    }
  }
  EXPECT_EQ(whole, text);
  EXPECT_NEAR(static_cast<double>(pieces.size()), 1000, 150);
}

TEST(ContentCutsTest, TheCutsOfATextAreFixed) {  // REC-81: the documented hash, for good
  const std::string text = Prose(20'000, 7);
  EXPECT_EQ(*ContentCuts(text, {.size = 2000}), *ContentCuts(text, {.size = 2000}));
  std::uint64_t hash = 0, first = 0;
  std::uint64_t gear[256];
  Random outputs(0);
  for (std::uint64_t& value : gear) value = outputs.Next();
  for (std::size_t i = 0; i < text.size() && first == 0; ++i) {
    hash = (hash << 1) + gear[static_cast<unsigned char>(text[i])];
    if (hash < UINT64_MAX / 2000 && i > 125) first = text.find('\n', i) + 1;
  }
  EXPECT_EQ(ContentCuts(text, {.size = 2000})->front(), first);
}

TEST(ContentCutsTest, AnEditChangesThePiecesThatItTouches) {  // REC-81, REC-A34
  const std::string text = Prose(1'000'000, 2);
  Random random(3);
  std::size_t beyond = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t at = random.Below(text.size() - 20'000);
    const std::string fresh = Prose(1 + random.Below(10'000), 100 + round);
    // Replaced, inserted, and moved from the end to here.
    const std::string edited = std::string(text).replace(at, fresh.size(), fresh);
    const std::string inserted = std::string(text).insert(at, fresh);
    const std::string tail = text.substr(text.size() - 10'000);
    const std::string moved = text.substr(0, text.size() - 10'000).insert(at, tail);
    for (const std::string* now : {&edited, &inserted, &moved}) {
      const std::size_t length = now == &moved ? tail.size() : fresh.size();
      const Changed changed = Compare(text, *now, at, at + length);
      EXPECT_LE(changed.fresh, changed.touched + 2) << round;
      beyond += changed.fresh > changed.touched ? 1 : 0;
    }
  }
  EXPECT_LE(beyond, 40u);  // of 180
}

TEST(ContentCutsTest, TextsWithoutAnyPatternAreCutTooAndNoCharacterIs) {  // REC-81
  for (const std::string& unit : {std::string("a"), std::string("é"), std::string("\n")}) {
    std::string text;
    while (text.size() < 100'000) text += unit;
    const auto pieces = Pieces(text, 1000);
    EXPECT_GE(pieces.size(), 100'000u / 4001);
    EXPECT_LE(pieces.size(), 100'000u / 62 + 1);
    for (const std::string& piece : pieces) {
      EXPECT_TRUE(utf8::IsValid(piece));
      EXPECT_LE(piece.size(), 4000u);
    }
  }
  EXPECT_TRUE(ContentCuts("", {})->empty());
  EXPECT_EQ(*ContentCuts("short", {}), std::vector<std::uint64_t>{5});
}

TEST(ContentCutsTest, TooSmallAndTooManyAreSaid) {
  EXPECT_THAT(ContentCuts("text", {.size = 63}),
              FailsWith(ErrorCode::kInvalidArgument, "have 64 bytes or more, and this size is 63"));
  EXPECT_THAT(ContentCuts(Prose(100'000, 4), {.size = 64, .most = 10}),
              FailsWith(ErrorCode::kTooLong, "more than 10: use larger ones"));
}

}  // namespace
}  // namespace dossier::ask
