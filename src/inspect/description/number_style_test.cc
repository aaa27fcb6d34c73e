#include "inspect/description/number_style.h"

#include <gtest/gtest.h>

#include <vector>

namespace dossier::inspect {
namespace {

TEST(NumberStyleTest, ACellIsReadByEitherMark) {  // INS-146
  struct Case {
    std::string_view cell, dot, comma;
  };
  constexpr Case kCases[] = {
      {"12", "12", "12"},
      {"1.5", "1.5", ""},
      {"1,5", "", "1.5"},
      {"1.234", "1.234", "1234"},
      {"1,234", "1234", "1.234"},
      {"0.123", "0.123", ""},  // no group begins with a zero
      {"1.234,50", "", "1234.50"},
      {"1,234.50", "1234.50", ""},
      {"1.234.567", "", "1234567"},
      {"12.34.567", "", ""},
      {"1'234.50", "1234.50", ""},
      {"1\u2019234", "1234", "1234"},
      {"1\u00A0234,5", "", "1234.5"},
      {"1\u202F234", "1234", "1234"},
      {"$1,234.50", "1234.50", ""},
      {"-$5", "-5", "-5"},
      {"5,00 \u20AC", "", "5.00"},
      {"12 %", "12", "12"},
      {"(3.5)", "-3.5", ""},
      {"7-", "-7", "-7"},
      {"\u22127", "-7", "-7"},
      {"1e5", "1e5", "1e5"},
      {"--7", "", ""},
      {"$5%", "", ""},
      {"1.", "", ""},
      {"10.0.0.1", "", ""},
      {"02.11.2024", "", ""},
      {"a1", "", ""},
      {"", "", ""},
      {"-", "", ""},
      {"()", "", ""},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(PlainNumber(c.cell, DecimalMark::kDot), c.dot) << c.cell;
    EXPECT_EQ(PlainNumber(c.cell, DecimalMark::kComma), c.comma) << c.cell;
    EXPECT_EQ(IsNumeral(c.cell), !c.dot.empty() || !c.comma.empty()) << c.cell;
    const std::string sure = c.dot == c.comma || c.comma.empty() ? std::string(c.dot)
                             : c.dot.empty()                     ? std::string(c.comma)
                                                                 : "";
    EXPECT_EQ(PlainNumber(c.cell, DecimalMark::kUnknown), sure) << c.cell;
  }
}

struct Column {
  std::vector<std::string_view> cells;
  DecimalMark mark;
  bool numbers;
};

TEST(NumberStyleTest, AColumnHasOneWayOfWritingOrNone) {  // INS-146
  const Column kColumns[] = {
      {{"1.234", "2.500,75"}, DecimalMark::kComma, true},
      {{"1.234", "2.5"}, DecimalMark::kDot, true},
      {{"1.234", "5.678"}, DecimalMark::kUnknown, false},
      {{"1.234,5", "1,234.5"}, DecimalMark::kUnknown, false},
      {{"12", "7"}, DecimalMark::kUnknown, true},
      {{"007,5", "1,5"}, DecimalMark::kComma, false},
      {{"1.9", "1.10"}, DecimalMark::kDot, false},
      {{"1,9", "1,10"}, DecimalMark::kComma, true},
      {{"601 234 567", "602 345 678"}, DecimalMark::kUnknown, false},
      {{"1 234", "12 345"}, DecimalMark::kUnknown, true},
      {{"5 \u20AC", "$ 7"}, DecimalMark::kUnknown, false},
      {{"$ 7", "5"}, DecimalMark::kUnknown, true},
      {{"7 %", "0"}, DecimalMark::kUnknown, false},
      {{"+49 171", "+49 30 123"}, DecimalMark::kUnknown, false},
      {{"+5,25", "-1,50"}, DecimalMark::kComma, true},
      {{"(1)", "(2)"}, DecimalMark::kUnknown, false},
      {{"(1)", "2"}, DecimalMark::kUnknown, true},
  };
  for (const Column& column : kColumns) {
    NumeralForms forms;
    for (const std::string_view cell : column.cells) forms.Add(cell);
    EXPECT_EQ(forms.mark(), column.mark) << column.cells[0];
    EXPECT_EQ(forms.AreNumbers(column.mark), column.numbers) << column.cells[0];
  }
}

TEST(NumberStyleTest, OtherColumnsDecideWhatOneLeavesOpen) {  // INS-146
  NumeralForms open;
  for (const std::string_view cell : {"1.234", "5.678"}) open.Add(cell);
  EXPECT_TRUE(open.Style(DecimalMark::kUnknown, LoneDots::kUndecided)->undecided);
  EXPECT_FALSE(open.Style(DecimalMark::kUnknown, LoneDots::kDecimal));
  EXPECT_FALSE(open.Style(DecimalMark::kDot, LoneDots::kUndecided));
  const auto comma = open.Style(DecimalMark::kComma, LoneDots::kDecimal);
  ASSERT_TRUE(comma);
  EXPECT_EQ(comma->mark, DecimalMark::kComma);
  EXPECT_EQ(comma->written, "1.234");
}

}  // namespace
}  // namespace dossier::inspect
