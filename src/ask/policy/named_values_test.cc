#include "ask/policy/named_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Fields = std::set<std::string, std::less<>>;

std::string Repeated(const std::vector<std::string>& lines, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    for (const std::string& line : lines) text += line + "\n";
  }
  return text;
}

std::vector<std::string> ValuesOf(std::string_view text, std::string_view question,
                                  const Fields& fields = {}) {
  return NamedValues({{text}}, fields, question);
}

TEST(NamedValuesTest, AWordAtTheSamePlaceOfItsRowsIsAValue) {  // FLT-36
  const std::string log =
      Repeated({"06:00 [warn] billing: timeout after 3 s", "06:01 [warn] search: timeout after 4 s",
                "06:02 [info] search: request served in 40 ms"},
               40);
  EXPECT_THAT(ValuesOf(log, "How often did the service Billing run into a timeout?"),
              ElementsAre("Billing", "timeout"));
}

TEST(NamedValuesTest, WordsOfFreeTextStandAnywhere) {  // FLT-36
  const std::string reviews = Repeated(
      {"1,The coffee about which they talked was cold",
       "2,We talked long about nothing and drank coffee", "3,It is about time that they closed"},
      40);
  EXPECT_THAT(ValuesOf(reviews, "How many reviews are about cold coffee?"), ElementsAre("cold"));
  EXPECT_THAT(ValuesOf(reviews, "What do people say about the coffee?"), IsEmpty());
}

TEST(NamedValuesTest, NamesOfFieldsAndWordsOfEveryRowAreNone) {
  const std::string rows = Repeated(
      {R"({"branch": "Riverside", "kind": "loan"})", R"({"branch": "Hill", "kind": "loan"})"}, 20);
  EXPECT_THAT(ValuesOf(rows, "How many loans has the branch Riverside?", {"branch", "kind"}),
              ElementsAre("Riverside"));
}

TEST(NamedValuesTest, TwoLinesAreTooFew) {
  EXPECT_THAT(ValuesOf("a,Riverside\nb,Riverside\nc,Hill\nd,Hill\ne,Hill\n", "And Riverside?"),
              IsEmpty());
}

TEST(NamedValuesTest, WhatNoCodeSaysIsLeftOut) {  // FLT-36
  const std::vector<std::string> values = {"Billing", "timeout"};
  const std::vector<std::string> ignores = {
      "print(sum('timeout' in r['message'] for r in records))"};
  const std::vector<std::string> uses = {
      "rows = [r for r in records if r['message'].startswith('billing')]",
      "print(sum('timeouts' in r['message'] for r in rows))"};
  EXPECT_EQ(LeftOut(values, ignores), "Billing");
  EXPECT_EQ(LeftOut(values, uses), "");
}

}  // namespace
}  // namespace dossier::ask
