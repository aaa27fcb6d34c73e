// Tests dates, names and units of an answer.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ask/claims/dates.h"
#include "ask/claims/names.h"
#include "ask/claims/units.h"

namespace dossier::ask {
namespace {

TEST(DatesTest, ADateThatWasTurnedIsTold) {  // FLT-36
  struct Case {
    std::string_view answer, printed, turned;
  };
  constexpr Case kCases[] = {
      {"1821-03-11", "born 1821-11-03", "1821-03-11"},
      {"1821-11-03", "born 1821-11-03", ""},
      {"03.11.1821", "born 1821-11-03", ""},
      {"11.03.1821", "born 1821-11-03", "11.03.1821"},
      {"11/03/1821", "born 1821-11-03", ""},
      {"1821-03-11", "1821-11-03, 1821-03-11", ""},
      {"3 November 1821", "1821-11-03", ""},
      {"on the 3rd of November, 1821", "1821-11-03", ""},
      {"November 3, 1821", "1821-11-03", ""},
      {"11 March 1821", "1821-11-03", "11 March 1821"},
      {"am 11. März 1821", "1821-11-03", "11. März 1821"},
      {"1821-03-11", "3 de noviembre de 1821", "1821-03-11"},
      {"2024-05-04", "04/05/2024", ""},
      {"2003-11-21", "2021-11-03", "2003-11-21"},
      {"1821-03-12", "1821-11-03", ""},  // other numbers: not turned
      {"1 November 2024", "1 October 2024", "1 November 2024"},
      {"3 May 1887", "the 3rd of March 1887", "3 May 1887"},
      {"1 November 2024", "1 October 2024, later in November", ""},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(TurnedDate(c.answer, "When?", std::vector{std::string(c.printed)}), c.turned)
        << c.answer << " on " << c.printed;
  }
  EXPECT_EQ(TurnedDate("1821-03-11", "Was it 1821-03-11?", std::vector<std::string>{"1821-11-03"}),
            "");
}

TEST(NamesTest, ANameThatStandsNowhereIsTold) {  // FLT-36
  struct Case {
    std::string_view answer, seen, unseen;
    std::string_view question = "What was the keeper called?";
  };
  constexpr Case kCases[] = {
      {"Morwenna Tregarth", "a tall woman", "Morwenna Tregarth"},
      {"It was Morwenna Penhaligon.", "Morwenna Tregarth", "Morwenna Penhaligon"},
      {"It was Morwenna Tregarth.", "TREGARTH, Morwenna", ""},
      {"José Müller", "jose muller", ""},
      {"They call her Captain Tregarth.", "Tregarth", ""},
      {"It is Anna Holms lamp.", "Anna Holm", ""},
      {"It went to San Marino.", "a ship", "San Marino"},
      {"The text is in English.", "a ship", ""},
      {"In English", "in a ship", ""},
      {"Sold to the United States.", "buyer: US", ""},
      {"It was a Saturday in March.", "2026-03-07", ""},
      {"Final Answer: 12 EUR, as JSON", "12", ""},
      {"Unknown", "a", ""},
      {"Es sind 17 Stück im Lager.", "17", "", "Wie viele Bestellungen stehen im Text?"},
      {"用钥匙打开", "a", ""},
  };
  const auto nowhere = [](std::string_view) { return false; };
  for (const Case& c : kCases) {
    const std::vector<std::string> seen{std::string(c.seen)};
    EXPECT_EQ(UnseenName(c.answer, c.question, seen, nowhere), c.unseen) << c.answer;
  }
  EXPECT_EQ(UnseenName("It was Anna Holm.", "Who?", {},
                       [](std::string_view word) { return word == "holm"; }),
            "")
      << "the data hold it";
}

TEST(UnitsTest, WhatStandsBehindANumber) {
  EXPECT_EQ(ReadSuffix("1.08 billion", 4).scales, (std::vector<double>{1e9, 1e12}));
  EXPECT_TRUE(ReadSuffix("4 billionths", 1).scales.empty());
  EXPECT_TRUE(ReadSuffix("3 miles", 1).scales.empty());
  EXPECT_EQ(ReadSuffix("80 km/h", 2).units[0]->dimension, Dimension::kSpeed);
  EXPECT_EQ(ReadSuffix("5 MB", 1).units.size(), 2u);
  EXPECT_TRUE(ReadSuffix("5 minks", 1).units.empty());
  EXPECT_TRUE(NamesScale("revenue (Mio. EUR)", 1e6));
  EXPECT_TRUE(NamesScale("人口（万）", 1e4));
  EXPECT_FALSE(NamesScale("a vermilion door", 1e6));
}

}  // namespace
}  // namespace dossier::ask
