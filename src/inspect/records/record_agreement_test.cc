// Records as they were written, as Describe counts them, and as RecordReader gives them: the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "base/random.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/records/record_reader.h"

namespace dossier::inspect {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Every row as one JSON array, read in small pieces.
JsonArray ReadRows(const RecordReader& reader, Random& random) {
  JsonArray all;
  for (std::uint64_t next = 0; next < reader.count();) {
    const auto part = reader.ReadJson(next, 1 + random.Below(50), 1 + random.Below(5000), &next);
    EXPECT_TRUE(part);
    const auto rows = ParseJson(part.value_or("[]"));
    EXPECT_TRUE(rows) << part.value_or("");
    for (const Json& row : rows->as_array()) all.push_back(row);
  }
  return all;
}

std::string QuotedCell(std::string_view cell, Random& random) {
  const bool must = cell.find_first_of("\",\r\n") != std::string_view::npos;
  if (!must && random.Below(4) != 0) return std::string(cell);
  return "\"" + ReplaceAll(cell, "\"", "\"\"") + "\"";
}

Rows RandomTable(Random& random) {
  const std::size_t columns = 2 + random.Below(4);
  Rows rows(random.Below(200));
  for (auto& row : rows) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::string cell = random.Below(3) ? random.Utf8(12) : "a \"b\",\r\nc";
      row.push_back(ReplaceAll(cell, std::string_view("\0", 1), ""));
    }
    row[0] = "x" + row[0];  // no row is blank
  }
  return rows;
}

TEST(RecordAgreementTest, CellsAreThoseThatWereWritten) {  // INS-60, INS-144
  Random random(/*seed=*/60);
  for (int round = 0; round < 40; ++round) {
    const Rows rows = RandomTable(random);
    std::string text;
    for (const auto& row : rows) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        text += (column > 0 ? "," : "") + QuotedCell(row[column], random);
      }
      text += random.Below(2) ? "\n" : "\r\n";
    }
    Description description;
    description.format = Format::kCsv;
    description.table = TableShape{.delimiter = ',', .header = false};
    for (int column = 1; column <= 6; ++column) {
      Field field;
      field.path = {fmt::format("column {}", column)};
      field.types = {FieldType::kString};
      description.fields.push_back(std::move(field));
    }
    auto reader = RecordReader::Open(text, description);
    ASSERT_TRUE(reader);
    ASSERT_EQ(reader->count(), rows.size()) << text;
    const JsonArray read = ReadRows(*reader, random);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(read[i].as_object().size(), rows[i].size());
      for (std::size_t column = 0; column < rows[i].size(); ++column) {
        const std::string name = fmt::format("column {}", column + 1);
        EXPECT_EQ(FindString(read[i], name), std::string_view(rows[i][column])) << text;
      }
    }
  }
}

TEST(RecordAgreementTest, StanzaValuesAreThoseThatWereWritten) {  // INS-140, INS-144
  Random random(/*seed=*/140);
  constexpr std::string_view kValues[] = {"one", "two words", "a: b", "1.2.3-4", "# no comment"};
  std::string text;
  Rows rows(2500);
  for (auto& row : rows) {
    row = {fmt::format("p{}", random.Below(1000)), std::string(kValues[random.Below(5)])};
    text += fmt::format("Package: {}\n", row[0]);
    text += "# comment\n";
    text += fmt::format("Description: {}\n", row[1]);
    for (std::uint64_t more = random.Below(3); more > 0; --more) {
      const std::string_view value = kValues[random.Below(5)];
      text += fmt::format(" {}\n", value);
      row[1] += fmt::format("\n{}", value);
    }
    text += random.Below(2) ? "\n" : " \n\n";
  }
  const Description description = DescribeText(text, "status", {});
  ASSERT_EQ(description.format, Format::kDeb822);
  auto reader = RecordReader::Open(text, description);
  ASSERT_TRUE(reader);
  const JsonArray read = ReadRows(*reader, random);
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(FindString(read[i], "Package"), std::string_view(rows[i][0]));
    EXPECT_EQ(FindString(read[i], "Description"), std::string_view(rows[i][1]));
  }
}

TEST(RecordAgreementTest, WhatIsDescribedIsWhatIsRead) {  // INS-144, INS-T20
  struct Case {
    std::string_view name, text, first_row;
  };
  constexpr Case kCases[] = {
      {"status", "Package: a\nInstalled-Size: 12\n\nPackage: b\nInstalled-Size: 7\nNote: x\n y\n",
       R"({"Package":"a","Installed-Size":12})"},
      {"app.log",
       "2024-11-02 15:30:00 ERROR x\n2024-11-02 15:30:01 INFO y\n2024-11-02 15:30:01 INFO z\n"
       "2024-11-02 15:30:02 WARN slow\n  at f()\n",
       R"({"time":"2024-11-02 15:30:00","level":"ERROR","message":"x"})"},
      {"", "ts=1 level=info n=5\nts=2 level=warn n=6\n", R"({"ts":1,"level":"info","n":5})"},
      {"a.csv", "name,age,member\nAnn,31,true\nBo,,false\n",
       R"({"name":"Ann","age":31,"member":true})"},
      {"a.tsv", "id\tcode\n1\t007\n2\t010\n", R"({"id":1,"code":"007"})"},
      {"a.ndjson", "{\"a\": 1}\n\n{\"a\":2}\n", R"({"a": 1})"},
      {"a.json", "[{\"a\":1},{\"a\":2}]", R"({"a":1})"},
      {"a.json", "[5,{\"a\":2}]", R"({"value":5})"},  // FLT-19
      {"a.json", "[[1, 2],null]", R"({"value":[1, 2]})"},
      {"a.ndjson", "null\n{\"a\":2}\n\"x\"\n", R"({"value":null})"},
      {"a.json", "[{\"a\":NaN},{\"a\":-Infinity},{}]", R"({"a":NaN})"},  // FLT-20
      {"a.geojson", R"({"type":"FeatureCollection","features":[{"type":"Feature"}]})",
       R"({"type":"Feature"})"},
      {"a.ipynb", R"({"nbformat":4,"cells":[{"cell_type":"code"}]})", R"({"cell_type":"code"})"},
      // INS-146 to INS-150
      {"a.csv", "n;w\na;1.234,50\nb;7\n", R"({"n":"a","w":1234.50})"},
      {"a.csv", "n;o;w\na;x;2\nb;y;3\n;;5\n", R"({"n":"a","o":"x","w":2})"},
      {"a.csv", "\xEF\xBB\xBFn;o;w\r\na;x;2\r\nb;y;3\r\n;;5\r\n", R"({"n":"a","o":"x","w":2})"},
      {"a.csv", "t,v\n(s),(V)\n0,1\n1,2\n", R"({"t":0,"v":1})"},
      {"a.md", "# P\n|a|b|\n|-|-|\n|1|x|\n\n# Q\n|c|\n|---|\n|7|\n",
       R"({"_table":"P","a":1,"b":"x"})"},
      {"", "=== A ===\nx: 1\ny: b\n\n=== B ===\nx: 2\ny: c\n", R"({"_title":"A","x":1,"y":"b"})"},
      {"", "x: 1\ny: b\n---\nx: 2\n\ny: c\n", R"({"x":1,"y":"b"})"},
      {"", "First name: Ada\nAge: 36\n\nFirst name: Bo\nAge: 41\n",
       R"({"First name":"Ada","Age":36})"},
      {"a.json", R"({"p":{"n":1},"q":{"n":2}})", R"({"_key":"p","n":1})"},
      {"a.json", R"({"v":2,"all":{"p":{"n":0},"q":{"n":2},"r":{"n":3,"_key":4},"s":{"n":1}}})",
       R"({"__key":"p","n":0})"},
  };
  for (const Case& c : kCases) {
    const Description description = DescribeText(c.text, c.name, {});
    ASSERT_TRUE(description.records) << c.name;
    auto reader = RecordReader::Open(c.text, description);
    ASSERT_TRUE(reader) << c.name;
    EXPECT_EQ(reader->count(), description.records->records) << c.name;
    std::uint64_t next = 0;
    EXPECT_EQ(reader->ReadJson(0, 1, 1000, &next).value(), fmt::format("[{}]", c.first_row));
  }
}

TEST(RecordAgreementTest, ABrokenArrayGivesTheRecordsThatItIsSaidToHold) {  // FLT-20
  for (const std::string_view text :
       {"[{\"a\":1},{\"a\":2},{\"a\":undefined},{\"a\":4}]", "[{\"a\":1},2", "[{\"a\":1},\"x",
        "[{\"a\":1},tru", "[{\"a\":1} {\"a\":2}]", "[{\"a\":1},{\"a\":2}", "[{\"a\":1},[1,[2]",
        "[{\"a\":1},NaM]", "[{\"a\":1},-Infinite]", "[[1],undefined]"}) {
    for (const std::size_t block : {std::size_t{1}, std::size_t{262144}}) {
      const Description description = DescribeText(text, "a.json", {.block_bytes = block});
      ASSERT_TRUE(description.records) << text;
      EXPECT_EQ(description.records->exactness, Exactness::kBound);
      auto reader = RecordReader::Open(text, description);
      ASSERT_TRUE(reader);
      EXPECT_EQ(reader->count(), description.records->records) << text;
    }
  }
}

TEST(RecordAgreementTest, CountsAreThoseOfTheDescriptionWhateverTheText) {  // INS-144
  constexpr std::string_view kParts[] = {"{\"a\":1}",   "\n",
                                         "\r",          "\r\n",
                                         "[1,2]",       ",",
                                         "a,b",         "NaN",
                                         "\"x\n\"",     "\"",
                                         "1,2\n",       "x,y\n",
                                         "A: 1\n",      "B: 2\n",
                                         "\n\n",        " c\n",
                                         "k=v l=2\n",   "  at f\n",
                                         "[",           "]",
                                         ";",           "15:30:00 INFO x\n",
                                         "# c\n",       "#",
                                         "|a|b|\n",     "|-|-|\n",
                                         "---\n",       "=== t ===\n",
                                         "1.234,5;7\n", "{\"k\":{\"a\":1},\"l\":{\"a\":2}}"};
  constexpr std::string_view kNames[] = {"",      "a.csv", "a.ndjson", "a.json",
                                         "a.log", "a.txt", "a.md"};
  Random random(/*seed=*/145);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t favourite = random.Below(std::size(kParts));
    std::string text;
    for (std::uint64_t i = random.Below(14); i > 0; --i) {
      text += kParts[random.Below(2) ? favourite : random.Below(std::size(kParts))];
    }
    const Description description = DescribeText(text, kNames[random.Below(7)], {});
    if (!description.records || description.records->exactness == Exactness::kBound) continue;
    auto reader = RecordReader::Open(text, description);
    ASSERT_TRUE(reader) << text;
    EXPECT_EQ(reader->count(), description.records->records)
        << FormatName(description.format) << ": " << text;
  }
}

}  // namespace
}  // namespace dossier::inspect
