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
  return NamedValues({text}, fields, question).words();
}

std::string LeftOut(std::string_view text, std::string_view question, const std::string& code,
                    const std::vector<std::string>& seen = {}) {
  return NamedValues({text}, {}, question).LeftOut({{code}}, seen);
}

std::string CellLeftOut(std::string_view text, std::string_view question, const std::string& code,
                        const std::vector<std::string>& seen = {}) {
  return NamedValues({text}, {}, question).LeftOut({{code}}, seen, NamedValues::Look::kCells);
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

TEST(NamedValuesTest, ACellKeepsItsPlaceBehindFreeText) {  // FLT-36
  const std::string rows = Repeated({"the printer on floor three jams,billing,open",
                                     "no sound,search,open", "it is slow again today,billing,done"},
                                    20);
  EXPECT_THAT(ValuesOf(rows, "How many tickets of billing are there?"), ElementsAre("billing"));
}

TEST(NamedValuesTest, ANameWithMarksIsOneValue) {  // FLT-36
  const std::string log = Repeated(
      {"06:00 OVEN-3 burner ok", "06:01 OVEN-4 burner failure", "06:02 OVEN-3 door open"}, 20);
  EXPECT_THAT(ValuesOf(log, "How often did OVEN-3 report a burner failure?"),
              ElementsAre("OVEN-3", "burner", "failure"));
  NamedValues values({log}, {}, "How often did OVEN-3 report a burner failure?");
  EXPECT_EQ(values.LeftOut({{"sum('burner failure' in r['message'] for r in records)"}}, {}),
            "OVEN-3");
  EXPECT_EQ(values.LeftOut({{"'oven-3' in m and 'burner failure' in m"}}, {}), "");
}

TEST(NamedValuesTest, ADocumentIsNamedWholeOrWithoutItsFolders) {  // FLT-36
  EXPECT_TRUE(NamesDocument("What is the port in server/config.go?", "server/config.go"));
  EXPECT_TRUE(NamesDocument("What is the port in config.go?", "server/config.go"));
  EXPECT_TRUE(NamesDocument("What is the port in server/config.go?", "config.go"));
  EXPECT_FALSE(NamesDocument("What is the port in my-config.go?", "server/config.go"));
  EXPECT_FALSE(NamesDocument("What is the port in config.gold?", "config.go"));
  EXPECT_FALSE(NamesDocument("Which notes are old?", "notes"));
}

const std::string& Log() {
  static const std::string log =
      Repeated({"06:00 [warn] billing: timeout after 3 s", "06:01 [warn] search: timeout after 4 s",
                "06:02 [info] search: request served in 40 ms"},
               40);
  return log;
}

TEST(NamedValuesTest, WhatNoConstantOfTheCodeSaysIsLeftOut) {  // FLT-36
  constexpr std::string_view kQuestion = "How often did the service billing run into a timeout?";
  EXPECT_EQ(LeftOut(Log(), kQuestion, "sum('timeout' in r['message'] for r in records)"),
            "billing");
  EXPECT_EQ(LeftOut(Log(), kQuestion, "# billing\nsum('timeout' in r['message'] for r in records)"),
            "billing");
  EXPECT_EQ(LeftOut(Log(), kQuestion, "sum('billing: timeouts' in r['message'] for r in records)"),
            "");
  EXPECT_EQ(LeftOut(Log(), kQuestion, "m = 'timeout'; s = 'bill'; count(m, s)"), "");
}

TEST(NamedValuesTest, AnotherValueOfThePlaceAndWhatFollowsFromConstantsSayIt) {  // FLT-36
  const std::string orders = Repeated({"a,north,shipped", "b,south,open", "c,east,shipped"}, 20);
  EXPECT_EQ(LeftOut(orders, "How many orders were not shipped?", "sum(r['state'] == 'open')"), "");
  EXPECT_EQ(LeftOut(orders, "How many orders were not shipped?", "len(records)"), "shipped");
  EXPECT_EQ(LeftOut(Log(), "What is the longest time in which a request was served?",
                    "max(int(re.search(r'in (\\d+) ms', r['message'])[1]) for r in records)"),
            "");
  EXPECT_EQ(LeftOut(orders, "Which has more orders, north or south?", "Counter(r['region'])",
                    {"north 20\nsouth 20"}),
            "");
}

TEST(NamedValuesTest, AnotherValueOfThePlaceAloneDoesNotSayIt) {  // FLT-36
  const std::string rows = Repeated({R"({"id": 1, "city": "Oslo"})", R"({"id": 2, "city": "Rome"})",
                                     R"({"id": 3, "city": "Kyiv"})"},
                                    20);
  constexpr std::string_view kQuestion = "How many customers are from Oslo?";
  EXPECT_EQ(CellLeftOut(rows, kQuestion, "sum(r['city'] == 'Rome' for r in records)"), "Oslo");
  EXPECT_EQ(CellLeftOut(rows, kQuestion, "len(records)"), "Oslo");
  for (const char* code :
       {"sum(r['city'] == 'Oslo' for r in records)", "sql(\"… where city = 'oslo'\")",
        "sum(r['city'] not in ('Rome', 'Kyiv') for r in records)",
        "sum(r['city'].startswith('Osl') for r in records)",
        "c = 'OSLO'; sum(r['city'].upper() == c for r in records)"}) {
    EXPECT_EQ(CellLeftOut(rows, kQuestion, code), "") << code;
  }
  EXPECT_EQ(CellLeftOut(rows, kQuestion, "Counter(r['city'] for r in records)", {"Oslo 20, Rome 20"}),
            "");
  EXPECT_EQ(CellLeftOut(rows, "How many customers are there?", "len(records)"), "");
}

TEST(NamedValuesTest, OfLargeModelsOnlyWholeCellsAreAskedFor) {  // FLT-36
  const auto left_out = [](std::string_view text, std::string_view question) {
    return NamedValues({text}, {}, question)
        .LeftOut({{std::string("len(records)")}}, {}, NamedValues::Look::kCells);
  };
  EXPECT_EQ(left_out("id,state\n" + Repeated({"1,open", "2,shipped", "3,lost"}, 20),
                     "How many orders are open?"),
            "open");
  EXPECT_EQ(left_out(Repeated({"id,text", "17,some words that stand in a row"}, 40),
                     "How many rows have an id above 9?"),
            "");
  EXPECT_EQ(left_out(Log(), "How often did a request run into a timeout?"), "");
}

TEST(NamedValuesTest, AValueOfAnotherDocumentIsNotThatOfTheNamedOne) {  // FLT-36
  const std::vector<TextDocument> files = {
      {"a_conf.py", "# service a\nTIMEOUT = 31\nNAME = 'alpha host'\nPORT = 8080\n", {}},
      {"b_conf.py", "# service b\nRETRIES = 4\nfrom a_conf import PORT\nSIZE = 12 * 1024\n", {}}};
  const auto why = [&](std::string_view answer, std::string_view question) {
    return FromOtherDocument(answer, question, files, [](const auto&, auto) { return true; });
  };
  EXPECT_EQ(FromOtherDocument("31", "What is TIMEOUT in b_conf.py?", files,
                              [](const auto&, std::string_view line) { return line != "TIMEOUT = 31"; }),
            "");  // computed: nobody has seen that line
  EXPECT_EQ(why("31", "What is TIMEOUT in b_conf.py?"),
            "The question names b_conf.py, where this does not stand; it stands in a_conf.py: "
            "TIMEOUT = 31");
  EXPECT_NE(why("The timeout is 31 seconds.", "What is the timeout of b_conf.py?"), "");
  EXPECT_NE(why("alpha host", "Which NAME does b_conf.py give?"), "");
  for (const auto& [answer, question] :
       {std::pair{"31", "What is TIMEOUT in a_conf.py?"}, std::pair{"31", "What is TIMEOUT?"},
        std::pair{"4", "How many RETRIES has b_conf.py?"},
        std::pair{"8080", "Which PORT does b_conf.py use?"},  // it takes that from the other file
        std::pair{"12288", "What is SIZE in b_conf.py?"},
        std::pair{"b_conf.py defines no TIMEOUT", "What is TIMEOUT in b_conf.py?"},
        std::pair{"none", "What is TIMEOUT in b_conf.py?"},
        std::pair{"4", "How many lines has b_conf.py?"},
        std::pair{"31 and 4", "What are TIMEOUT in a_conf.py and RETRIES in b_conf.py?"}}) {
    EXPECT_EQ(why(answer, question), "") << answer << " / " << question;
  }
}

}  // namespace
}  // namespace dossier::ask
