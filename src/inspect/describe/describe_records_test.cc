#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/description/labels.h"
#include "inspect/formats/csv_scanner.h"
#include "inspect/records/record_reader.h"
#include "testing/describe_for_test.h"

namespace dossier::inspect {
namespace {

using ::testing::HasSubstr;

TEST(DescribeRecordsTest, NdjsonCountsLinesThatAreOneValue) {
  struct Case {
    std::string bytes;
    std::uint64_t records, malformed, non_object, lines;
  };
  const std::string big = "{\"a\":\"" + std::string(70 << 10, 'x') + "\"}\n";
  const Case cases[] = {
      {"{\"a\":1}\n\n{\"a\":2}\n", 2, 0, 0, 3},
      {"{\"a\":1}\r\n \r\n{\"a\":2}\r\n", 2, 0, 0, 3},
      {"{\"a\":1}\r{\"a\":2}", 2, 0, 0, 2},
      {"1\n\"x\"\n{\"a\":1}\n[2]\n", 4, 0, 3, 4},
      {"{\"a\":1}\n{\"a\":2} x\n{\"a\":3}\n", 2, 1, 0, 3},
      {"{\"a\":1}\n{\"a\":2}\n{\"a\":", 2, 1, 0, 3},
      {"{\n{\"a\":1}\n{\"a\":2}\n", 2, 1, 0, 3},
      {big + big, 2, 0, 0, 2},
  };
  for (const Case& c : cases) {
    for (const std::size_t block : {std::size_t{8}, std::size_t{262144}}) {
      const Description d = DescribeBytes(c.bytes, "a.ndjson", {.block_bytes = block});
      ASSERT_TRUE(d.records) << c.bytes.substr(0, 60);
      EXPECT_EQ(d.records->records, c.records) << c.bytes.substr(0, 60);
      EXPECT_EQ(d.records->malformed, c.malformed) << c.bytes.substr(0, 60);
      EXPECT_EQ(d.records->non_object, c.non_object) << c.bytes.substr(0, 60);
      EXPECT_EQ(d.counts.lines, c.lines);
    }
  }
}

TEST(DescribeRecordsTest, TheFirstTenMalformedLinesAreNamed) {  // INS-52
  const Description d = DescribeBytes(
      "{\"a\":1}\n{\"a\" 1}\n" + Repeat("{\"a\":1}\n", 20) + Repeat("x\n", 11), "a.ndjson");
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0].line, 2u);
  EXPECT_EQ(d.notes[0].offset, 8u);
  EXPECT_THAT(d.notes[0].text,
              HasSubstr("12 malformed lines: line 2: a colon is missing; line 23:"));
  EXPECT_THAT(d.notes[0].text, HasSubstr("; and 2 more"));
}

TEST(DescribeRecordsTest, ARecordAboveTheWindowStillGivesItsFieldsAndTheStartOfASample) {  // INS-54
  const std::string record =
      "{\"a\":1,\"b\":\"" + std::string(5 << 20, 'x') + "\",\"c\":{\"d\":2}}\n";
  const Description d = DescribeBytes(record + record, "a.ndjson");
  EXPECT_EQ(d.records->records, 2u);
  EXPECT_EQ(Shown(d), "a, b, c.d");
  EXPECT_EQ(d.sample_full_chars, record.size() - 1);
  EXPECT_TRUE(d.sample_cut);
  EXPECT_EQ(d.sample.substr(0, 15), "{\"a\":1,\"b\":\"xxx");
}

TEST(DescribeRecordsTest, ValuesWithoutNamesHaveTheFieldValue) {  // INS-56, FLT-19
  const Description numbers = DescribeBytes("[1,2,3]", "a.json");
  EXPECT_EQ(RecordsText(numbers), "3 (elements: number)");
  EXPECT_EQ(Shown(numbers), "value");
  EXPECT_EQ(Shown(DescribeBytes("[[1,2],[3]]", "a.json")), "value");
  EXPECT_EQ(Shown(DescribeBytes("[{\"a\":1},null,5]", "a.json")), "a, value");
  const Description lines = DescribeBytes("{\"a\":1}\n[7]\n\"x\"\nnull\n", "a.ndjson");
  EXPECT_EQ(Shown(lines), "a, value");
  EXPECT_EQ(lines.fields.at(1).present, 3u);
  EXPECT_TRUE(DescribeBytes("42", "a.json").fields.empty());
  EXPECT_EQ(RecordsText(DescribeBytes("[1,\"x\"]", "a.json")), "2 (elements: mixed)");
  EXPECT_EQ(RecordsText(DescribeBytes("[]", "a.json")), "0");
}

TEST(DescribeRecordsTest, NumbersThatOnlyPythonWritesAreReadAndTold) {  // FLT-20
  const Description array =
      DescribeBytes(R"([{"a":1},{"a":NaN},{"a":[-Infinity,Infinity]}])", "a.json");
  EXPECT_EQ(RecordsText(array), "3 (3 numbers are NaN or Infinity)");
  EXPECT_EQ(array.records->exactness, Exactness::kExact);
  const Description lines = DescribeBytes("{\"a\":1}\n{\"a\":NaN}\n{\"a\":nan}\n", "a.ndjson");
  EXPECT_EQ(RecordsText(lines), "2 (1 malformed, 1 number is NaN or Infinity)");
  EXPECT_EQ(lines.fields.at(0).types, (TypeSet{FieldType::kInteger, FieldType::kNumber}));
  EXPECT_EQ(lines.fields.at(0).max, 1.0);
}

TEST(DescribeRecordsTest, DuplicateKeysAndDepthAreNoted) {  // INS-57, INS-58
  const Description twice = DescribeBytes("{\"a\":1,\"a\":2}\n{\"a\":3}\n", "a.ndjson");
  EXPECT_EQ(NoteCodes(twice), "duplicate-keys");
  EXPECT_EQ(Shown(twice), "a");
  const Description deep = DescribeBytes("[1," + std::string(5000, '['), "a.json");
  EXPECT_EQ(NoteCodes(deep), "too-deep");
  EXPECT_EQ(deep.records->exactness, Exactness::kBound);
  EXPECT_EQ(deep.notes[0].offset, 3u + 1023);
}

TEST(DescribeRecordsTest, TablesCountRowsNotLines) {  // INS-60 to INS-68, INS-T6
  struct Case {
    std::string bytes, fields;
    std::uint64_t records, ragged;
    std::string codes;
  };
  const Case cases[] = {
      {"a,b\n\"x\ny\",2\n", "a, b", 1, 0, ""},
      {"a,b\n\"x\"\"y\",2\n3,4", "a, b", 2, 0, ""},
      {"sep=;\nname;age\nAda;36\n", "name, age", 1, 0, ""},  // INS-62
      {"a,b\n\n1,2\n,\n\n", "a, b", 2, 0, ""},               // INS-63
      {"a,b\n1,2\n1\n1,2,3\n", "a, b", 3, 2, "ragged"},
      {"1,2\n3,4\n", "column 1, column 2", 2, 0, ""},  // INS-64, INS-65
      {"a,b\n", "a, b", 0, 0, ""},
      {"x,y\nx,z\n", "column 1, column 2", 2, 0, ""},
      {"a,a,\n1,2,3\n", "a, a#2, column 3", 1, 0, "duplicate-names"},  // INS-66
      {"a,a#2,a\n1,2,3\n", "a, a#2, a#3", 1, 0, "duplicate-names"},
      {"a,b\nx\"y,2\n", "a, b", 1, 0, "stray-quote"},          // INS-67
      {"a,b\n1,\"x\n2,y\n3,z\n", "a, b", 3, 0, "open-quote"},  // INS-68
      {"one\ntwo\nthree\n", "one", 2, 0, ""},                  // INS-61
      {"a;b\n1,5;2\n3,5;4\n", "a, b", 2, 0, ""},
      {"name\nDoe, J\nRoe\nPoe\n", "name", 3, 1, "ragged"},  // one column in a .csv: commas part
      {"a|b\n1|2\n", "a, b", 1, 0, ""},
      {"a,b\r\n1,2\r\n3,4\r\n", "a, b", 2, 0, ""},
      {"a,b\r1,2\r", "a, b", 1, 0, ""},
  };
  for (const Case& c : cases) {
    for (const std::size_t block : {std::size_t{8}, std::size_t{262144}}) {
      const Description d = DescribeBytes(c.bytes, "a.csv", {.block_bytes = block});
      ASSERT_TRUE(d.records) << c.bytes;
      EXPECT_EQ(d.records->records, c.records) << c.bytes;
      EXPECT_EQ(d.records->ragged, c.ragged) << c.bytes;
      EXPECT_EQ(Shown(d), c.fields) << c.bytes;
      EXPECT_EQ(NoteCodes(d), c.codes) << c.bytes;
    }
  }
}

TEST(DescribeRecordsTest, OneStrayQuoteDoesNotSwallowATable) {  // INS-68
  const std::string text = "a,b\n1,\"open\n" + Repeat("2,x\n3,plain\n", 5000);
  const Description d = DescribeBytes(text, "a.csv");
  EXPECT_EQ(d.records->records, 10001u);
  EXPECT_EQ(d.notes.at(0).code, "open-quote");
  EXPECT_EQ(d.notes.at(0).line, 2u);
}

TEST(DescribeRecordsTest, ColumnsHaveTheTypesOfTheirCells) {  // INS-69
  const Description d = DescribeBytes(
      "i,n,b,d,t,z,l,e,s\n1,1.5,true,2024-11-02,2024-11-02T15:30:00Z,007,1234567890123456,,x\n"
      "-2,2e3,FALSE,2024-12-31,2024-11-02 15:30,008,1234567890123457,,y\n",
      "a.csv");
  std::string types;
  for (const Field& field : d.fields) {
    for (const FieldType type : field.types.List()) types += std::string(TypeName(type)) + " ";
  }
  EXPECT_EQ(types, "integer number boolean date datetime string string empty string ");
}

// A number would lose what such a text says: the zero of 1.10, of 007, the plus of +49.
TEST(DescribeRecordsTest, NumeralsThatWouldLoseSomethingAreTexts) {
  struct Case {
    std::string_view cells, types, rows;
  };
  constexpr Case kCases[] = {
      {"1.9\n1.10\n1.11\n", "string", R"([{"c":"1.9"},{"c":"1.10"},{"c":"1.11"}])"},
      {"12.50\n7.25\n9\n", "integer number", R"([{"c":12.50},{"c":7.25},{"c":9}])"},
      {"1.0\n2.25\n-3.5\n", "number", R"([{"c":1.0},{"c":2.25},{"c":-3.5}])"},
      {"123\n007\n", "string", R"([{"c":"123"},{"c":"007"}])"},
      {"+4915112\n4930123\n", "string", R"([{"c":"+4915112"},{"c":"4930123"}])"},
      {"1e5\n12\n", "string", R"([{"c":"1e5"},{"c":"12"}])"},
      {"1e5\n1.20e-7\n1.5e3\n", "number", R"([{"c":1e5},{"c":1.20e-7},{"c":1.5e3}])"},
      {"1234567890123456\n12\n", "string", R"([{"c":"1234567890123456"},{"c":"12"}])"},
  };
  for (const Case& c : kCases) {
    const std::string text = "c,d\n" + ReplaceAll(c.cells, "\n", ",\n");
    const Description d = DescribeBytes(text, "a.csv");
    std::string types;
    for (const FieldType type : d.fields.at(0).types.List()) {
      types += (types.empty() ? "" : " ") + std::string(TypeName(type));
    }
    EXPECT_EQ(types, c.types) << c.cells;
    EXPECT_EQ(d.fields.at(0).min.has_value(), types != "string") << c.cells;
    std::uint64_t next = 0;
    const auto rows = RecordReader::Open(text, d)->ReadJson(0, 9, 9999, &next);
    EXPECT_EQ(ReplaceAll(*rows, R"(,"d":"")", ""), c.rows) << c.cells;
  }
  // The rows look further than the description.
  const std::string late = "c\n" + Repeat("1.9\n", 300) + "1.10\n";
  const Description d = DescribeText(late, "a.csv", {.format = Format::kCsv});
  std::uint64_t next = 0;
  EXPECT_EQ(*RecordReader::Open(late, d)->ReadJson(0, 1, 9999, &next), R"([{"c":"1.9"}])");
}

TEST(DescribeRecordsTest, TheOneListOfAnObjectIsItsRecords) {
  struct Case {
    std::string_view text, in, rows;
  };
  constexpr Case kCases[] = {
      {R"({"meta":{"n":2,"tags":["a","b"]},"rows":[{"i":1,"of":[{"x":1},{"x":2}]},{"i":2}]})",
       ".rows", R"([{"i":1,"of":[{"x":1},{"x":2}]},{"i":2}])"},
      {R"({"a b":{"list":[]},"d":{"list":[{"i":1},{"i":2}],"z":[1,2]},"one":[{"i":3}]})", ".d.list",
       R"([{"i":1},{"i":2}])"},
      {R"({"d":{"e":1},"d":{"rows":[{"i":1},{"i":2}]},"rows":{}})", ".d.rows",
       R"([{"i":1},{"i":2}])"},
      // Of several the longest, of equal ones the first; some levels down.
      {R"({"o":[{"z":1}],"a":[{"i":1},{"i":2}],"b":[{"i":3},{"i":4}]})", ".a",
       R"([{"i":1},{"i":2}])"},
      {R"({"a":{"b":[1],"c":{"d":[{"i":1},{"i":2}]}}})", ".a.c.d", R"([{"i":1},{"i":2}])"},
      {R"({"a":{"b":{"c":{"d":{"e":{"f":[{"i":1},{"i":2}]}}}},"x":{}},"y":2})", ".a.b.c.d.e.f",
       R"([{"i":1},{"i":2}])"},
      // Mixed, of one, of scalars, of lists, too deep, in a list, broken.
      {R"({"a":{"a":{"a":{"a":{"a":{"a":{"b":[{"i":1},{"i":2}]}}}}}}})", "", ""},
      {R"({"a":[{"i":1},{"i":2},3]})", "", ""},
      {R"({"a":[{"i":1}]})", "", ""},
      {R"({"a":[1,2,3]})", "", ""},
      {R"({"a":[[{"i":1},{"i":2}],[{"i":1},{"i":2}]]})", "", ""},
      {R"({"a":[{"i":1},{"i":2}],"b":[}})", "", ""},
  };
  for (const Case& c : kCases) {
    for (const std::size_t block : {1, 262144}) {
      const Description d = DescribeBytes(std::string(c.text), "a.json", {.block_bytes = block});
      EXPECT_EQ(d.format, Format::kJson) << c.text;
      std::string in;
      for (const std::string& name : d.records_in) in += "." + name;
      EXPECT_EQ(in, c.in) << c.text;
      EXPECT_EQ(d.records.has_value(), !c.in.empty()) << c.text;
      if (c.in.empty()) continue;
      EXPECT_EQ(d.records->records, 2u);
      EXPECT_EQ(d.fields.at(0).shown, "i");
      EXPECT_THAT(RecordsText(d), ::testing::StartsWith("2 (in " + in));
      EXPECT_EQ(RecordsText(d).ends_with("(in .a, not in them: .b with 2)"), in == ".a");
      std::uint64_t next = 0;
      EXPECT_EQ(*RecordReader::Open(c.text, d)->ReadJson(0, 9, 9999, &next), c.rows) << c.text;
    }
  }
}

TEST(DescribeRecordsTest, ATableThatIsTooWideIsPlainText) {  // INS-61
  const auto row = [](std::size_t cells) { return std::string(cells - 1, ',') + "a\n"; };
  const std::string narrow = "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n";
  for (const std::string& text : {row(kMaxColumns + 1) + "1,2\n", narrow + row(3'000'000),
                                  row(3'000'000), row(kMaxColumns + 1) + row(kMaxColumns + 1)}) {
    const Description d = DescribeBytes(text, "a.csv");
    EXPECT_EQ(d.format, Format::kPlainText) << text.size();
    EXPECT_FALSE(HasRecords(d));
    ASSERT_FALSE(d.notes.empty());
    EXPECT_THAT(d.notes.back().text, ::testing::HasSubstr("more than 65,536 cells"));
  }
  const Description d = DescribeBytes(row(kMaxColumns) + row(kMaxColumns), "a.csv");
  EXPECT_EQ(d.format, Format::kCsv);
}

}  // namespace
}  // namespace dossier::inspect
