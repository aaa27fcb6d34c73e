#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"
#include "base/text/utf8.h"
#include "memory/render/render.h"

namespace dossier::memory {
namespace {

MemoryMaterial::Part PartOf(std::vector<MemoryItem> items) {
  MemoryMaterial::Part part{.items = std::move(items)};
  part.taking.resize(part.items.size());
  std::iota(part.taking.begin(), part.taking.end(), std::size_t{0});
  return part;
}

MemoryMaterial::Part& In(MemoryMaterial& material, MemorySection section) {
  return material.parts.at(static_cast<std::size_t>(section));
}

RenderBudget Chars(std::int64_t chars) { return {.chars = chars}; }

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(RenderLayoutTest, SectionsStandInOrderAndEmptyOnesAreLeftOut) {  // MEM-32
  MemoryMaterial material;
  EXPECT_EQ(LayOut(material, {}).text, "");
  In(material, MemorySection::kResource) = PartOf({{"#5", "one"}, {"#6", "two"}});
  In(material, MemorySection::kArchival) = PartOf({{"#3", "- text", " {#3}", " (tags: a, b)"}});
  In(material, MemorySection::kCore) = PartOf({{"k", "- k: v"}});
  In(material, MemorySection::kIndex) = PartOf({{"", "index"}});
  EXPECT_EQ(LayOut(material, {}).text,
            "Resource Index:\nindex\n\nCore Memory:\n- k: v\n\n"
            "Archival Memory:\n- text (tags: a, b) {#3}\n\nResource Memory:\none\n\n---\n\ntwo");
}

TEST(RenderLayoutTest, TheStatusLineAndTheHelpStandBehind) {  // MEM-36
  MemoryMaterial material{.status_line = "core 1/2", .help = "help"};
  In(material, MemorySection::kCore) = PartOf({{"k", "- k: v"}});
  EXPECT_EQ(LayOut(material, {}).text, "Core Memory:\n- k: v\n\ncore 1/2\n\nhelp");
  const LaidOut small = LayOut(material, Chars(15));
  EXPECT_EQ(small.text, "core 1/2");
  ASSERT_EQ(small.dropped.size(), 2U);
  EXPECT_EQ(small.dropped[0].section, "Help");
}

TEST(RenderLayoutTest, WhatDoesNotFitIsCutAndCounted) {  // MEM-34
  MemoryMaterial material;
  In(material, MemorySection::kArchival) =
      PartOf({{"#1", "- " + Repeated("a", 50), " {#1}"},
              {"#2", "- " + Repeated("é", 100), " {#2}", " (tags: t)"},
              {"#3", "- third", " {#3}"},
              {"#4", "- fourth", " {#4}"}});
  const LaidOut laid = LayOut(material, Chars(150));
  EXPECT_EQ(laid.text, "Archival Memory:\n- " + Repeated("a", 50) + " {#1}\n- " +
                           Repeated("é", 55) + "… {#2}\n- (+2 more)");
  EXPECT_EQ(utf8::CodePoints(laid.text), 150U);
  EXPECT_EQ(laid.shown[3], 2);
  ASSERT_EQ(laid.dropped.size(), 3U);
  EXPECT_EQ(laid.dropped[0].id + laid.dropped[0].reason, "#2cut");
  EXPECT_EQ(laid.dropped[2].id + laid.dropped[2].reason, "#4budget");
  // Less than 40 code points of an item are useless, so it is only counted.
  EXPECT_EQ(LayOut(material, Chars(125)).text,
            "Archival Memory:\n- " + Repeated("a", 50) + " {#1}\n- (+3 more)");
  EXPECT_EQ(LayOut(material, Chars(30)).text, "Archival Memory:\n- (+4 more)");
  EXPECT_EQ(LayOut(material, Chars(20)).text, "");
  EXPECT_EQ(LayOut(material, Chars(20)).dropped.size(), 4U);
}

TEST(RenderLayoutTest, ItemsAreTakenInTheirOwnOrderAndPrintedInTheOther) {  // MEM-34
  MemoryMaterial material;
  auto& core = In(material, MemorySection::kCore);
  core = PartOf({{"a", "- a: unimportant"}, {"b", "- b: important"}});
  core.taking = {1, 0};
  EXPECT_EQ(LayOut(material, Chars(40)).text, "Core Memory:\n- b: important\n- (+1 more)");
  EXPECT_EQ(LayOut(material, Chars(45)).text, "Core Memory:\n- a: unimportant\n- b: important");
}

TEST(RenderLayoutTest, SectionsShareTheBudgetAndTheRestGoesToThoseStillShort) {  // MEM-34
  MemoryMaterial material;
  const auto many = [](char c) {
    std::vector<MemoryItem> items;
    for (int i = 0; i < 100; ++i)
      items.push_back({fmt::format("{}{}", c, i), "- " + std::string(17, c)});
    return PartOf(std::move(items));
  };
  In(material, MemorySection::kIndex) = PartOf({{"", Repeated("i", 1000)}});
  In(material, MemorySection::kCore) = many('c');
  In(material, MemorySection::kRecall) = many('r');
  In(material, MemorySection::kArchival) = many('a');
  In(material, MemorySection::kResource) = many('s');
  const LaidOut laid = LayOut(material, Chars(1008));
  // Shares of 1,000 minus the blank lines: 150, 300, 250, 200, 100.
  EXPECT_EQ(laid.shown, (std::array<std::int64_t, 5>{1, 13, 11, 8, 2}));
  In(material, MemorySection::kRecall) = PartOf({});
  In(material, MemorySection::kArchival) = PartOf({{"#1", "- short"}});
  // 15, 30, 20, 10 of 75; what archival does not use goes to core.
  const LaidOut again = LayOut(material, Chars(756));
  EXPECT_EQ(again.shown, (std::array<std::int64_t, 5>{1, 22, 0, 1, 2}));
}

// A tokenizer whose count of a text differs from the sum of its parts.
std::int64_t CountOdd(std::string_view text) {
  return static_cast<std::int64_t>(text.size() / 3 +
                                   (text.find("\n- ") != std::string_view::npos ? 5 : 0));
}

TEST(RenderLayoutTest, NeverOverTheBudgetNorHalfACodePoint) {  // MEM-34, MEM-T18
  Random random(/*seed=*/17);
  for (int round = 0; round < 3000; ++round) {
    MemoryMaterial material;
    for (auto& part : material.parts) {
      std::vector<MemoryItem> items;
      for (std::uint64_t i = random.Below(12); i > 0; --i) {
        items.push_back({fmt::format("{}", i), "- " + random.Utf8(random.Below(200)),
                         random.Below(2) == 0 ? "" : " {#7}",
                         random.Below(2) == 0 ? "" : " (tags: ä)"});
      }
      part = PartOf(std::move(items));
    }
    if (random.Below(3) == 0) material.help = random.Utf8(100);
    const auto budget = static_cast<std::int64_t>(random.Below(3001));
    const LaidOut laid = LayOut(material, Chars(budget));
    ASSERT_LE(static_cast<std::int64_t>(utf8::CodePoints(laid.text)), budget);
    ASSERT_TRUE(utf8::IsValid(laid.text));
    const LaidOut tokens =
        LayOut(material, {.chars = 2 * budget, .tokens = budget, .count_tokens = CountOdd});
    ASSERT_LE(CountOdd(tokens.text), budget);
    ASSERT_TRUE(utf8::IsValid(tokens.text));
    ASSERT_EQ(LayOut(material, Chars(budget)).text, laid.text);
  }
}

TEST(RenderLayoutTest, EveryItemIsShownOrReported) {  // MEM-34, MEM-35
  Random random(/*seed=*/23);
  for (int round = 0; round < 500; ++round) {
    MemoryMaterial material;
    std::int64_t all = 0;
    for (auto& part : material.parts) {
      std::vector<MemoryItem> items;
      for (std::uint64_t i = random.Below(9); i > 0; --i)
        items.push_back({"x", "- " + random.Utf8(90)});
      all += std::ssize(items);
      part = PartOf(std::move(items));
    }
    const LaidOut laid = LayOut(material, Chars(static_cast<std::int64_t>(random.Below(3001))));
    std::int64_t counted = 0;
    for (const std::int64_t shown : laid.shown) counted += shown;
    for (const DroppedItem& item : laid.dropped) counted += item.reason == "budget" ? 1 : 0;
    EXPECT_EQ(counted, all);
  }
}

}  // namespace
}  // namespace dossier::memory
