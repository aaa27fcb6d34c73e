#include "inspect/formats/pipe_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::inspect {
namespace {

using ::testing::ElementsAre;

TEST(PipeTablesTest, RowsEndWithTheTableAndNameTheirs) {  // INS-148
  const std::string text =
      "# One\n| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| 2 | |\ntext\n| no | row |\n\n"
      "## Two\n\nc\td | e\n--+--\n7 | 8\n\n```\n| f |\n|---|\n| 9 |\n```\n";
  const std::vector<PipeTable> tables = FindPipeTables(text);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].title, "One");
  EXPECT_THAT(tables[0].names, ElementsAre("a", "b"));
  ASSERT_EQ(tables[0].rows.size(), 2u);
  const ByteRange row = tables[0].rows[0];
  EXPECT_THAT(ReadPipeRow(tables, Slice(text, row), row.begin),
              ElementsAre(std::pair("_table", "One"), std::pair("a", "1"), std::pair("b", "x|y")));
  EXPECT_EQ(tables[1].title, "Two");
  EXPECT_THAT(tables[1].names, ElementsAre("c\td", "e"));
  EXPECT_EQ(Slice(text, tables[1].rows[0]), "7 | 8");
}

TEST(PipeTablesTest, TotalsAreNoRows) {  // INS-147
  const auto of = [](std::string_view end) {
    return FindPipeTables(fmt::format(
        "| a | b | n |\n|---|---|---|\n| x | p | 1 |\n| y | q | 2 |\n| z | r | 4 |\n{}", end))[0];
  };
  EXPECT_EQ(of("| **all** | | **7** |\n").rows.size(), 3u);
  EXPECT_EQ(of("| **all** | | **7** |\n").footer.rows.size(), 1u);
  EXPECT_EQ(of("| all | s | 7 |\n").rows.size(), 4u);
  EXPECT_TRUE(of("| all | s | 7 |\n").footer.sums_last);
  EXPECT_EQ(of("| all | | 8 |\n").rows.size(), 4u);
}

TEST(PipeTablesTest, ALongHeadingIsNotHeldWithEachTable) {  // FLT-90
  std::string text = "# " + std::string(100'000, 'H') + "\n\n";
  for (int i = 0; i < 100; ++i) text += "|a|b|\n|--|--|\n|1|2|\n\n";
  std::size_t held = 0;
  for (const PipeTable& table : FindPipeTables(text)) held += table.title.size();
  EXPECT_LT(held, 100'000);
}

TEST(PipeTablesTest, OtherLinesMakeNoTable) {  // INS-148
  for (const std::string_view text :
       {"", "|---|", "a | b\n", "a | b\n---\nc | d\n", "| a | b |\n|---|\n| 1 | 2 |\n",
        "a\n--\nb\n", "| a |\n|---|\n", "x | y\n--flag | z\n"}) {
    EXPECT_TRUE(FindPipeTables(text).empty()) << text;
  }
}

}  // namespace
}  // namespace dossier::inspect
