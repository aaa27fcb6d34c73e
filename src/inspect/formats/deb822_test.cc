#include "inspect/formats/deb822.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {
namespace {

constexpr std::string_view kStatus =
    "Package: adduser\n"
    "Installed-Size: 686\n"
    "Description: add and remove users\n"
    " This package includes\n"
    "   'adduser'.\n"
    " .\n"
    " The end.\n"
    "\n"
    "# a comment\n"
    "Package: apt\n"
    "Conffiles:\n"
    " /etc/apt/apt.conf 123\n"
    " /etc/cron.daily/apt 456\n"
    "Installed-Size:  4320 \n";

std::uint64_t CountAll(std::string_view text, std::size_t split, StanzaStyle style) {
  auto counter = MakeStanzaCounter(StanzaStyleName(style), CountFrom::kRecord);
  counter->Feed(text.substr(0, split));
  counter->Feed(text.substr(split));
  return counter->Finish();
}

TEST(Deb822Test, StanzasAreRecordsAndNamesAreFields) {  // INS-140, INS-T20
  const ShapeScan scan = DetectDeb822(kStatus);
  EXPECT_TRUE(scan.fits);
  EXPECT_THAT(scan.field_names,
              ::testing::ElementsAre("Package", "Installed-Size", "Description", "Conffiles"));
  const std::vector<TextRecord> records = ParseDeb822Head(kStatus, "", 100);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0], ::testing::ElementsAre(
                              std::pair("Package", "adduser"), std::pair("Installed-Size", "686"),
                              std::pair("Description",
                                        "add and remove users\nThis package includes\n"
                                        "  'adduser'.\n.\nThe end.")));
  EXPECT_THAT(records[1],
              ::testing::ElementsAre(
                  std::pair("Package", "apt"),
                  std::pair("Conffiles", "/etc/apt/apt.conf 123\n/etc/cron.daily/apt 456"),
                  std::pair("Installed-Size", "4320")));
}

TEST(Deb822Test, StanzasArePartedInFourWays) {  // INS-149
  struct Case {
    std::string_view text, style;
  };
  constexpr Case kCases[] = {
      {"a: 1\nb: 2\n\na: 3\nb: 4\n", ""},
      {"a b: 1\nb: 2\n\na b: 3\nb: 4\n", "loose"},
      {"Größe: 1\nb: 2\n\nGröße: 3\nb: 4\n", "loose"},
      {"a: 1\n\nb: 2\n----\na: 3\nb: 4\n", "ruled"},
      {"=== x ===\na: 1\n\nb: 2\n=== y ===\na: 3\nb: 4\n", "titled"},
  };
  for (const Case& c : kCases) {
    const ShapeScan scan = DetectDeb822(c.text);
    EXPECT_TRUE(scan.fits) << c.text;
    EXPECT_EQ(scan.shape, c.style) << c.text;
    EXPECT_EQ(ParseDeb822Head(c.text, scan.shape, 10).size(), 2u) << c.text;
  }
  for (const std::string_view text :
       {"---\na: 1\nb:\n  c: 2\n---\na: 1\nb:\n  c: 3\n",  // YAML
        "---\ntitle: x\ndate: y\n---\n\n# Head\n\nSome text.\n\nMore of it.\n",
        "Dear all: hello\nthere we are\n\nDear all: bye\nthere we go\n",
        "== A ==\nsome text\n== B ==\nmore text\n"}) {
    EXPECT_FALSE(DetectDeb822(text).fits) << text;
  }
}

TEST(Deb822Test, OtherTextsDoNotFit) {  // INS-140
  constexpr std::string_view kCases[] = {
      "",
      "Package: one\nVersion: 1\n",                                // one stanza
      "Dear Bob,\n\nit rains.\n\nAnn\n",                           // prose
      "Ann: hi\nBob: ho\nAnn: ha\n\nBob: hm\nAnn: hu\nBob: hi\n",  // a conversation
      "a: 1\n\nb: 2\n\nno colon here\nnor here\n",
      "# comment\n\n# comment\n",
      " a: continuation of nothing\n\n b: again\n",
      // FLT-24: what a name must not turn into records.
      "Ann: hi\n\nBob: ho\n\nAnn: ha\n\nBob: hm\n",                          // speeches
      "passwd: files\ngroup: files\n\nhosts: files dns\nnetworks: files\n",  // settings
      "*Form.width: 1\n*Form.height: 2\n\n*Form.width: 3\n*Form.depth: 2\n",
      "DPkg::A { \"x\"; };\nDPkg::B \"y\";\n\nDPkg::A { \"z\"; };\nDPkg::C \"y\";\n",
  };
  for (const std::string_view text : kCases) EXPECT_FALSE(DetectDeb822(text).fits) << text;
}

TEST(Deb822Test, OneLineInTenMayBeOdd) {  // INS-140
  std::string text = "A: 1\nB: 2\n\nA: 3\n";
  for (int i = 0; i < 6; ++i) text += fmt::format("Name{}: value\n", i);
  EXPECT_TRUE(DetectDeb822(text + "no colon\n").fits);
  EXPECT_FALSE(DetectDeb822(text + "no colon\nno colon\n").fits);
}

TEST(Deb822Test, AWindowLeavesOutTheStanzaThatItCuts) {
  std::string text;
  while (text.size() < 40'000) text += "Package: p\nSize: 1\n\n";
  EXPECT_EQ(ParseDeb822Head(text + "Package: cu", "", 1'000'000).size(), text.size() / 20);
  EXPECT_EQ(ParseDeb822Head("Package: p\n\nPackage: q", "", 100).size(), 2u);
  EXPECT_EQ(ParseDeb822Head("Package: p\n\nPackage: q", "", 1).size(), 1u);
}

TEST(Deb822Test, CountsAndRangesAgreeWhateverTheSplit) {  // INS-140
  constexpr std::string_view kPieces[] = {
      "A: 1\n",        "B:x\r\n", "\n",        "\r\n",          "\r",      " \t\n",
      " more\n",       "# c\n",   "odd\n",     ": no\n",        "-x: y\n", "C: 2\r",
      "É: \xC3\xA9\n", "---\n",   "== t ==\n", "Two words: 1\n"};
  Random random(/*seed=*/140);
  for (int round = 0; round < 400; ++round) {
    const auto style = static_cast<StanzaStyle>(round % 4);
    std::string text;
    for (std::uint64_t i = random.Below(30); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    std::uint64_t ranges = 0;
    std::size_t position = 0;
    for (ByteRange range; NextStanza(text, &position, &range, style); ++ranges) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_LE(range.end, text.size());
      EXPECT_FALSE(ParseStanza(Slice(text, range), style).empty()) << text;
      std::size_t again = range.begin;
      ByteRange same;
      ASSERT_TRUE(NextStanza(text, &again, &same, style));
      EXPECT_EQ(same, range);
    }
    for (std::size_t split = 0; split <= text.size(); ++split) {
      ASSERT_EQ(CountAll(text, split, style), ranges) << text << " split at " << split;
    }
  }
}

TEST(Deb822Test, ARepeatedNameKeepsItsLastValue) {
  EXPECT_THAT(ParseStanza("A: 1\nB: 2\nA: 3"),
              ::testing::ElementsAre(std::pair("A", "3"), std::pair("B", "2")));
}

}  // namespace
}  // namespace dossier::inspect
