#include "ask/policy/counted_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dossier::ask {
namespace {

TEST(CountedTextTest, ACountOfMentionsIsSeen) {  // FLT-36
  const std::vector<std::string_view> texts = {"The mules came. Mules drink; two mules rest.",
                                               "No donkeys, but mules."};
  EXPECT_TRUE(IsCountOf("3", "mules", texts));
  EXPECT_TRUE(IsCountOf("There were 4 of them.", "mules", texts));  // regardless of case
  EXPECT_FALSE(IsCountOf("16", "mules", texts));
  EXPECT_FALSE(IsCountOf("3.5", "mules", texts));
  EXPECT_FALSE(IsCountOf("0", "horses", texts));
  EXPECT_FALSE(IsCountOf("3", "", texts));
}

TEST(CountedTextTest, ACountOfTextsIsNoneOfMentions) {  // FLT-36
  const std::vector<std::string_view> receipts = {"Bread 3.10, paid by card", "Milk 1.20, in cash",
                                                  "Paper 4.90, paid by card"};
  EXPECT_FALSE(IsCountOf("2", "card", receipts));
  EXPECT_TRUE(IsCountOf("2", "mules", std::vector<std::string_view>{"mules and two mules"}));
}

TEST(CountedTextTest, WhatBeginsEachLineIsAThingAndNoMention) {
  const std::vector<std::string_view> book = {"# Chapter 1\nText.\n  Chapter 2\nMore."};
  EXPECT_FALSE(IsCountOf("2", "Chapter", book));
}

TEST(CountedTextTest, RowsOfATableAreNoProse) {
  EXPECT_TRUE(
      IsRows("| game | white |\n|---|---|\n| 1 | Eklund |\n| 2 | Abasov |\n| 3 | Farkas |"));
  EXPECT_TRUE(IsRows("a;b;c\n1;2;3\n4;5;6\n7;8;9\n1;1;1\n"));
  EXPECT_FALSE(IsRows("One line, with, commas."));
  EXPECT_FALSE(
      IsRows("He came, he saw.\nShe left, late, alone, tired.\nIt rained.\nSo, well, "
             "no.\nThe end."));
}

}  // namespace
}  // namespace dossier::ask
