#include "inspect/describe/csv_footer.h"

#include <gtest/gtest.h>

#include "base/text/text.h"

namespace dossier::inspect {
namespace {

TableFooter Find(std::string_view text, std::uint32_t columns) {
  return FindFooter(text, {.delimiter = ';', .header = true, .columns = columns});
}

TEST(CsvFooterTest, StructureTellsWhatIsBehindTheRows) {  // INS-147
  struct Case {
    std::string_view text;
    std::uint32_t columns;
    std::size_t rows;
    bool sums_last = false;
  };
  constexpr Case kCases[] = {
      {"a;b;n\nx;p;1\ny;q;2\n;;3\n", 3, 1},
      {"a;b;n\nx;p;1\ny;q;2\nall;;3\n", 3, 1},
      {"a;b;n\nx;p;1\ny;q;2\n;;\n;;3\nnote\n", 3, 3},
      {"a;b;n\nx;p;1,5\ny;q;2,5\n;;4\n", 3, 1},
      {"a;b;n\nx;p;0,333\ny;q;0,333\nz;q;0,333\n;;1,0\n", 3, 1},  // rounded
      {"a;b;n\nx;p;1\ny;q;3\n;mean;2\n", 3, 0},                   // no sum among the numbers
      {"d;n\n2024-01-01;1\n2024-01-02;2\nall;3\n", 2, 1},
      {"a;n\nx;1\ny;2\nz;4\nall;7\n", 2, 0, true},
      {"a;n\nx;1\ny;2\nz;4\nall;8\n", 2, 0},
      {"a;b;n\nx;p;1\ny;q;2\n;;4\n", 3, 0},  // sums nothing
      {"a;b;n\nx;;1\ny;q;2\nz;;3\n", 3, 0},  // others lack it, too
      {"a;n\nAnn;1\nBo;2\nCy;\n", 2, 0},     // a record without its number
      {"a;b;n\nx;p;1\n;;1\n", 3, 0},         // one row has no sum
      {"a;n\nx;1\nnote\n", 2, 0},            // too few rows above it
      {"a;b;n\n;;3\nx;p;1\ny;q;2\n", 3, 0},  // a total in front
      {"a\n1\n2\n3\n", 1, 0},
      {"a;n\nx;1\ny;2\nz;4\nall;7\nnote\n", 2, 1, true},  // a total above a footer
      {"a;n\nx;1\ny;2\nFrom: here;\n", 2, 1},             // filled up as a row
      {"a;n\nx: 1;1\ny: 2;2\nz: 3;\n", 2, 0},
  };
  for (const Case& c : kCases) {
    const TableFooter footer = Find(c.text, c.columns);
    EXPECT_EQ(footer.rows.size(), c.rows) << c.text;
    EXPECT_EQ(footer.sums_last, c.sums_last) << c.text;
  }
}

TEST(CsvFooterTest, ALongTableIsReadOnlyIfItsLastRowDiffersOrIsLarge) {  // INS-147
  std::string text = "a;b;n\n";
  for (int i = 1; i <= 3000; ++i) text += fmt::format("x{};y;{}\n", i, i);
  EXPECT_TRUE(Find(text, 3).rows.empty());
  EXPECT_TRUE(Find(text + "z;y;4501500\n", 3).sums_last);
  EXPECT_FALSE(Find(text + "z;y;4501501\n", 3).sums_last);
  const TableFooter footer = Find(text + ";;4501500\n", 3);
  ASSERT_EQ(footer.rows.size(), 1u);
  EXPECT_EQ(footer.rows[0].offset, text.size());
  EXPECT_EQ(footer.rows[0].why, "sums of the rows above");
}

}  // namespace
}  // namespace dossier::inspect
