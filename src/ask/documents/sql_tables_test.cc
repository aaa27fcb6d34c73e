#include "ask/documents/sql_tables.h"

#include <gtest/gtest.h>

#include "inspect/describe/describe.h"

namespace dossier::ask {
namespace {

ContextDocument Document(std::string name, std::string_view text) {
  return {.name = name, .path = name, .description = inspect::DescribeText(text, name, {})};
}

std::string TablesOf(std::vector<ContextDocument> documents) {
  std::vector<SqlDocument> texts;
  for (const ContextDocument& document : documents) {
    texts.push_back({document.name, &document.description});
  }
  return ToJson(Json(SqlTablesJson(SqlTablesOf(texts))));
}

std::string Text(const std::vector<SqlColumn>& columns) {
  std::string text;
  for (const SqlColumn& column : columns) {
    text += fmt::format("{} of {} {}\n", column.name, column.field, column.type);
  }
  return text;
}

TEST(SqlTablesTest, AColumnForEachFieldAndItsValues) {  // REC-76
  const std::string_view text =
      "{\"id\":1,\"x\":1.5,\"on\":true,\"who\":{\"name\":\"a\"},\"mixed\":1,\"nothing\":null}\n"
      "{\"id\":2,\"ID\":\"b\",\"mixed\":\"c\",\"tags\":[1],\"_index\":9,\"a\\u00e9\":NaN}\n";
  const std::string columns =
      "id of id INTEGER\nx of x REAL\non of on INTEGER\nwho of who TEXT\nmixed of mixed \n"
      "nothing of nothing \nID_2 of ID TEXT\ntags of tags TEXT\n_index_2 of _index INTEGER\n"
      "aé of aé REAL\n";
  const ContextDocument document = Document("a.ndjson", text);
  EXPECT_EQ(
      Text(
          SqlTablesOf(std::vector<SqlDocument>{{document.name, &document.description}})[0].columns),
      columns);
  const auto reader = inspect::RecordReader::Open(text, document.description);
  ASSERT_TRUE(reader);
  EXPECT_EQ(Text(*AllSqlColumns(*reader, document.description, {})), columns);
}

TEST(SqlTablesTest, SeveralAreFoundByNameAndByTheNameWithoutItsEnding) {  // REC-76
  const std::string row = "{\"a\":1}\n{\"a\":2}\n";
  EXPECT_EQ(TablesOf({Document("a.ndjson", row)}), R"([{"ctx":0,"names":["records"]}])");
  EXPECT_EQ(TablesOf({Document("2023/sales.ndjson", row), Document("2024/sales.ndjson", row),
                      Document("notes.txt", "Nothing of note.\n"), Document("people.ndjson", row)}),
            R"([{"ctx":0,"names":["2023/sales.ndjson"]},{"ctx":1,"names":["2024/sales.ndjson"]},)"
            R"({"ctx":3,"names":["people.ndjson","people"]}])");
  EXPECT_EQ(TablesOf({Document("a.ndjson", row), Document("notes.txt", "Nothing of note.\n")}),
            R"([{"ctx":0,"names":["records","a.ndjson"]}])");
  EXPECT_EQ(
      TablesOf({Document("a.ndjson", row), Document("d.ndjson.gz", row)}),
      R"([{"ctx":0,"names":["a.ndjson","a"]},{"ctx":1,"names":["d.ndjson.gz","d.ndjson","d"]}])");
}

TEST(SqlTablesTest, TheHintTellsOfTablesAndOfNothingWhereThereAreNone) {  // REC-76
  EXPECT_EQ(SqlHint({Document("a.csv", "name,size in kB\nx,1\ny,2\n")}),
            "SQL tables for sql(query):\n"
            "  \"records\" (2 rows): _index INTEGER, name TEXT, \"size in kB\" INTEGER");
  EXPECT_EQ(SqlHint({Document("notes.txt", "Nothing of note.\n")}), "");
  ContextDocument file = Document("shop.db", "schema\n");
  file.database = inspect::SqliteFile{
      .tables = {
          {.name = "t\n", .sql = "CREATE TABLE t(\n a)", .rows = 1234},
          {.name = "v", .sql = "CREATE VIEW v AS …", .kind = inspect::SqliteTable::Kind::kView}}};
  EXPECT_EQ(SqlHint({file}),
            "SQL tables for sql(query):\n"
            "  \"t\\n\" of \"shop.db\" (1,234 rows): CREATE TABLE t(\\n a)\n"
            "  \"v\" of \"shop.db\" (a view): CREATE VIEW v AS …");
}

}  // namespace
}  // namespace dossier::ask
