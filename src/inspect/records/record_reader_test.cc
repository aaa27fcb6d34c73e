#include "inspect/records/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::inspect {
namespace {

using ::dossier::testing::FailsWith;

Description Of(Format format) {
  Description description;
  description.name = "x";
  description.format = format;
  if (format == Format::kTsv) description.table = TableShape{.delimiter = '\t'};
  return description;
}

Field Typed(const std::string& name, TypeSet types) {
  Field field;
  field.path = {name};
  field.shown = name;
  field.types = types;
  return field;
}

std::string ReadAll(std::string_view text, const Description& description) {
  auto reader = RecordReader::Open(text, description);
  if (!reader) return reader.error().message;
  std::uint64_t next = 0;
  auto rows = reader->ReadJson(0, reader->count(), 1 << 30, &next);
  EXPECT_EQ(next, reader->count());
  return rows.value_or("?");
}

TEST(RecordReaderTest, TheExampleInTheHeaderWorks) {
  Description description = Of(Format::kCsv);
  description.fields = {Typed("name", {FieldType::kString}),
                        Typed("age", {FieldType::kInteger, FieldType::kEmpty})};
  auto reader = RecordReader::Open("name,age\nAnn,31\nBo,\n", description);
  ASSERT_TRUE(reader);
  std::uint64_t next = 0;
  EXPECT_EQ(reader->ReadJson(0, 2, 1 << 20, &next).value(),
            R"([{"name":"Ann","age":31},{"name":"Bo","age":null}])");
  EXPECT_EQ(next, 2u);
}

TEST(RecordReaderTest, JsonObjectsAreCopiedByteForByte) {  // INS-144, FLT-19
  EXPECT_EQ(ReadAll("\xEF\xBB\xBF{\"a\" : 1.50}\n\n  {\"b\":\"\\u00e9\"}\t\r\nbroken\n[1, 2]\r7",
                    Of(Format::kNdjson)),
            R"([{"a" : 1.50},{"b":"\u00e9"},{"value":[1, 2]},{"value":7}])");
  EXPECT_EQ(ReadAll(" [ {\"a\":1} ,\n 2, \"x,]\" , [] ] ", Of(Format::kJsonArray)),
            R"([{"a":1},{"value":2},{"value":"x,]"},{"value":[]}])");
  EXPECT_EQ(ReadAll("{\"a\":1}{\"b\":2}\n[3]", Of(Format::kJsonConcat)),
            R"([{"a":1},{"b":2},{"value":[3]}])");
  EXPECT_EQ(ReadAll("\x1e{\"a\":1}\n\x1e{\"cut\n\x1e{\"b\":2}\n", Of(Format::kJsonSeq)),
            R"([{"a":1},{"b":2}])");
}

TEST(RecordReaderTest, FeaturesAndCellsAreRecords) {  // INS-49, INS-144
  Description description = Of(Format::kJson);
  description.flavour = "geojson";
  EXPECT_EQ(ReadAll(R"({"bbox":[1,[2]],"features":[{"id":1},{"id":2}],"type":"FeatureCollection"})",
                    description),
            R"([{"id":1},{"id":2}])");
  description.flavour = "notebook";
  EXPECT_EQ(ReadAll(R"({"cells":[{"source":[]}],"nbformat":4})", description),
            R"([{"source":[]}])");
  EXPECT_EQ(ReadAll(R"({"features":{"a":1}})", description), "[]");
}

TEST(RecordReaderTest, AnArrayEndsAtItsFirstFault) {  // INS-43
  for (const std::string_view text : {"[1,2,", "[1,2,]", "[1,2 3]", "[1,2,{\"a\":]}]"}) {
    EXPECT_EQ(ReadAll(text, Of(Format::kJsonArray)), R"([{"value":1},{"value":2}])") << text;
  }
  // The text may end inside the last number.
  EXPECT_EQ(ReadAll("[1,2", Of(Format::kJsonArray)), R"([{"value":1}])");
}

TEST(RecordReaderTest, CellsAreTypedAsTheDescriptionSays) {  // INS-144, INS-69
  Description description = Of(Format::kCsv);
  description.fields = {Typed("i", {FieldType::kInteger}), Typed("n", {FieldType::kNumber}),
                        Typed("b", {FieldType::kBoolean, FieldType::kEmpty}),
                        Typed("s", {FieldType::kString})};
  EXPECT_EQ(ReadAll("i,n,b,s\n"
                    "1,1.5,true,1\n"
                    "0x7, 2 ,FALSE,\n"
                    "12-3,-.5e3,,\"a\"\"b\n,\"\n"
                    ",x,yes,é\n",
                    description),
            R"([{"i":1,"n":1.5,"b":true,"s":"1"},)"
            R"({"i":"0x7","n":2,"b":false,"s":""},)"
            R"({"i":"12-3","n":-0.5e3,"b":null,"s":"a\"b\n,"},)"
            R"({"i":null,"n":"x","b":"yes","s":"é"}])");
}

TEST(RecordReaderTest, NumbersAreRecognised) {
  struct Case {
    std::string_view cell, number;
  };
  constexpr Case kCases[] = {
      {"0", "0"},
      {"-0", "-0"},
      {"12", "12"},
      {"+5", "5"},
      {" 7 ", "7"},
      {"1.50", "1.50"},
      {".5", "0.5"},
      {"1e5", "1e5"},
      {"1E-5", "1e-5"},
      {"0.1", "0.1"},
      {"007", ""},
      {"1.", ""},
      {"", ""},
      {"-", ""},
      {".", ""},
      {"1,5", ""},
      {"1e", ""},
      {"0x10", ""},
      {"NaN", ""},
      {"1e9999", ""},
      {"123456789012345", "123456789012345"},
      {"1234567890123456", ""},
      {"0.30000000000000004", "0.30000000000000004"},
  };
  for (const Case& c : kCases) EXPECT_EQ(NumberText(c.cell), c.number) << c.cell;
}

TEST(RecordReaderTest, NinetyFivePercentDecideWhereTypesAreMixed) {  // INS-144
  Description description = Of(Format::kDeb822);
  description.fields = {Typed("Size", {FieldType::kInteger, FieldType::kString}),
                        Typed("Odd", {FieldType::kInteger, FieldType::kString})};
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("Size: {}\nOdd: {}\nNew: {}\n\n", i == 50 ? "unknown" : "8",
                        i % 10 == 5 ? "a" : "8", i);
  }
  auto reader = RecordReader::Open(text, description);
  ASSERT_TRUE(reader);
  std::uint64_t next = 0;
  EXPECT_EQ(reader->ReadJson(49, 2, 1000, &next).value(),
            R"([{"Size":8,"Odd":"8","New":49},{"Size":"unknown","Odd":"8","New":50}])");
}

TEST(RecordReaderTest, TablesWithoutHeaderRaggedRowsAndRepeatedNames) {  // INS-62, 63, 65, 66
  Description description = Of(Format::kCsv);
  description.table = TableShape{.delimiter = ';', .header = true};
  EXPECT_EQ(ReadAll("sep=;\r\na;a;;b\r\n\r\n1;x;3;4;5\r\n;;;\r\nz\r\n", description),
            R"([{"a":"1","a#2":"x","column 3":3,"b":4,"column 5":5},)"
            R"({"a":"","a#2":"","column 3":null,"b":null},{"a":"z"}])");
  description.table->header = false;
  EXPECT_EQ(ReadAll("x;y\n", description), R"([{"column 1":"x","column 2":"y"}])");
}

TEST(RecordReaderTest, AQuoteThatNeverClosesIsText) {  // INS-67, INS-68
  EXPECT_EQ(ReadAll("a,b\n1\"2,x\n\"open,y\n3,\"z\"\n", Of(Format::kCsv)),
            R"([{"a":"1\"2","b":"x"},{"a":"open,y\n3,z\""}])");
  EXPECT_EQ(ReadAll("a,b\nx,\"y\nz,w\n", Of(Format::kCsv)),
            R"([{"a":"x","b":"\"y"},{"a":"z","b":"w"}])");
}

TEST(RecordReaderTest, LogRecordsWithTheirStackTraces) {  // INS-141, INS-T20
  Description description = Of(Format::kLog);
  description.log_shape = "common-access";
  description.fields = {Typed("client", {FieldType::kString}), Typed("time", {FieldType::kString}),
                        Typed("request", {FieldType::kString}),
                        Typed("status", {FieldType::kInteger}),
                        Typed("size", {FieldType::kInteger})};
  EXPECT_EQ(ReadAll("h - - [10/Oct/2024:13:55:36 -0700] \"GET /\" 200 12\n"
                    "h - - [10/Oct/2024:13:55:36 -0700] \"GET /\" 304 -\n",
                    description),
            R"([{"client":"h","time":"10/Oct/2024:13:55:36 -0700","request":"GET /","status":200,)"
            R"("size":12},{"client":"h","time":"10/Oct/2024:13:55:36 -0700","request":"GET /",)"
            R"("status":304}])");
}

TEST(RecordReaderTest, AReplyKeepsItsSizeButNeverStandsStill) {
  const std::string text = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
  auto reader = RecordReader::Open(text, Of(Format::kNdjson));
  ASSERT_TRUE(reader);
  std::uint64_t next = 0;
  EXPECT_EQ(reader->ReadJson(0, 10, 17, &next).value(), R"([{"a":1},{"a":2}])");
  EXPECT_EQ(next, 2u);
  EXPECT_EQ(reader->ReadJson(1, 10, 1, &next).value(), R"([{"a":2}])");
  EXPECT_EQ(next, 2u);
  EXPECT_EQ(reader->ReadJson(3, 10, 100, &next).value(), "[]");
  EXPECT_THAT(reader->ReadJson(4, 10, 100, &next),
              FailsWith(ErrorCode::kInvalidArgument, "record 4 is not there: there are 3 records"));
}

TEST(RecordReaderTest, ARecordTooLargeForARowIsRefusedByNumber) {
  std::string text = "1\n\"";
  text.append(RecordReader::kMaxRecordBytes, 'x').append("\"\n3\n");
  auto reader = RecordReader::Open(text, Of(Format::kNdjson));
  ASSERT_TRUE(reader);
  std::uint64_t next = 0;
  EXPECT_EQ(reader->ReadJson(0, 3, 1 << 30, &next).value(), R"([{"value":1}])");
  EXPECT_THAT(reader->ReadJson(next, 3, 1 << 30, &next),
              FailsWith(ErrorCode::kTooLong, "record 1 has 67,108,866 bytes"));
}

TEST(RecordReaderTest, PlainTextHasNoRecords) {
  EXPECT_THAT(RecordReader::Open("hello", Of(Format::kPlainText)),
              FailsWith(ErrorCode::kInvalidArgument, "x has no records"));
}

TEST(RecordReaderTest, EveryRowIsValidJsonWhateverTheText) {
  Random random(/*seed=*/144);
  constexpr Format kFormats[] = {Format::kNdjson,     Format::kJsonArray, Format::kJsonSeq,
                                 Format::kJsonConcat, Format::kCsv,       Format::kTsv,
                                 Format::kDeb822,     Format::kLog};
  constexpr std::string_view kParts[] = {
      "\"", ",", "\t",  "\n", "\r",   "{\"a\":",        "}",  "[",
      "]",  "1", "A: ", " ",  "\x1e", "15:30:00 INFO ", "\\", "\xff"};
  for (int round = 0; round < 1000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(20); i > 0; --i) {
      text += random.Below(8) == 0 ? random.Utf8(6)
                                   : std::string(kParts[random.Below(std::size(kParts))]);
    }
    for (const Format format : kFormats) {
      Description description = Of(format);
      description.log_shape = "timestamp-level";
      const std::string rows = ReadAll(text, description);
      const auto parsed = ParseJson(rows, 1100);
      ASSERT_TRUE(parsed && parsed->is_array()) << text << "\n" << rows;
      EXPECT_EQ(parsed->get_array().size(), RecordReader::Open(text, description)->count());
    }
  }
}

}  // namespace
}  // namespace dossier::inspect
