#include "inspect/records/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/records/record_json.h"
#include "inspect/records/record_table.h"
#include "testing/result_matchers.h"

namespace dossier::inspect {
namespace {

using ::dossier::testing::FailsWith;

// A text with `count` records of one format, and where each lies, found while it was written.
struct Sample {
  std::string text;
  std::vector<ByteRange> records;
  Description description;

  void Add(std::string_view record) {
    records.push_back({text.size(), text.size() + record.size()});
    text += record;
  }
};

std::string RandomValue(Random& random) {
  switch (random.Below(5)) {
    case 0:
      return fmt::format("{{\"id\":{},\"t\":\"a,\\\"]}}\"}}", random.Below(100000));
    case 1:
      return fmt::format("[{},[ ],{{}}]", random.Below(10));
    case 2:
      return "\"line \\n \\u00e9 é\"";
    case 3:
      return "-1.5e+3";
    default:
      return "null";
  }
}

Sample MakeNdjson(Random& random, std::size_t count) {
  Sample sample;
  sample.description.format = Format::kNdjson;
  constexpr std::string_view kBetween[] = {"\n", "\r\n", "\r", "\n\n", "\n{broken\n", "\n \t\n  "};
  for (std::size_t i = 0; i < count; ++i) {
    sample.Add(RandomValue(random));
    sample.text += kBetween[random.Below(std::size(kBetween))];
  }
  return sample;
}

Sample MakeArray(Random& random, std::size_t count) {
  Sample sample;
  sample.description.format = Format::kJsonArray;
  sample.text = "\n[ ";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) sample.text += random.Below(2) ? "," : " ,\n  ";
    sample.Add(RandomValue(random));
  }
  sample.text += " ]\n";
  return sample;
}

std::string RandomCell(Random& random) {
  switch (random.Below(4)) {
    case 0:
      return fmt::format("{}", random.Below(1000));
    case 1:
      return "\"quoted, \"\"twice\"\"\nnext\"";
    case 2:
      return "stray \" quote";
    default:
      return "é";
  }
}

Sample MakeCsv(Random& random, std::size_t count) {
  Sample sample;
  sample.description.format = Format::kCsv;
  sample.description.table = TableShape{.delimiter = ',', .header = true};
  sample.text = "sep=,\nid,\"the\nname\"\n\n";
  for (std::size_t i = 0; i < count; ++i) {
    sample.Add(RandomCell(random) + "," + RandomCell(random));
    sample.text += random.Below(3) ? "\n" : "\r\n\r\n";
  }
  return sample;
}

Sample MakeDeb822(Random& random, std::size_t count) {
  Sample sample;
  sample.description.format = Format::kDeb822;
  sample.text = "# list\n";
  for (std::size_t i = 0; i < count; ++i) {
    sample.Add(random.Below(2) ? "Package: a\n# c\n more" : "Package: b\r\nSize: 1");
    sample.text += random.Below(2) ? "\n\n" : "\r\n \t\r\n\n";
  }
  return sample;
}

Sample MakeLog(Random& random, std::size_t count) {
  Sample sample;
  sample.description.format = Format::kLog;
  sample.description.log_shape = "timestamp-level";
  sample.text = "preamble\n";
  for (std::size_t i = 0; i < count; ++i) {
    sample.Add(random.Below(4) ? "2024-11-02 15:30:00 INFO x"
                               : "2024-11-02 15:30:00 ERROR y\n\n  at f()");
    sample.text += random.Below(2) ? "\n" : "\r\n\n";
  }
  return sample;
}

using Maker = Sample (*)(Random&, std::size_t);
constexpr Maker kMakers[] = {MakeNdjson, MakeArray, MakeCsv, MakeDeb822, MakeLog};

TEST(RecordIndexTest, EveryRecordIsWhereAReaderFromTheStartFindsIt) {  // INS-124, INS-T17
  Random random(/*seed=*/124);
  for (const Maker make : kMakers) {
    for (const std::size_t count : {0, 1, 2, 1023, 1024, 1025, 5000}) {
      const Sample sample = make(random, count);
      auto index = BuildIndex(sample.text, sample.description);
      ASSERT_TRUE(index);
      ASSERT_EQ(index->count(), count) << FormatName(sample.description.format);
      for (std::size_t i = 0; i < count; i += i % 1024 > 2 && i + 17 < count ? 17 : 1) {
        ASSERT_EQ(index->Locate(i).value(), sample.records[i])
            << FormatName(sample.description.format) << " record " << i;
      }
      for (const std::size_t i : std::initializer_list<std::size_t>{0, 1023, 1024, count - 1}) {
        if (i >= count) continue;
        EXPECT_EQ(index->Locate(i).value(), sample.records[i]) << i;
      }
      EXPECT_THAT(index->Locate(count), FailsWith(ErrorCode::kInvalidArgument, "is not there"));
      EXPECT_LE(index->memory_bytes(), 16 * (count / 1024 + 1));
    }
  }
}

TEST(RecordIndexTest, AnOpenQuoteIsLookedForOnce) {  // INS-68
  std::string text = "a,b\nx,\"open\n";
  for (int i = 0; i < 200'000; ++i) text += "1,2\n";
  Description description;
  description.format = Format::kCsv;
  description.table = TableShape{};
  auto index = BuildIndex(text, description);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->count(), 200'001u);
  // 20,000 look-ups that each read the rest of the text would be 16 GB.
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(index->Locate(0)->end, 11u);
}

TEST(RecordIndexTest, StopsWhenAsked) {
  CancelSource source;
  source.Cancel("interrupted");
  Description description;
  description.format = Format::kNdjson;
  EXPECT_THAT(BuildIndex("1\n2\n", description, source.token()),
              FailsWith(ErrorCode::kCancelled, "stopped"));
}

TEST(RecordJsonTest, ValuesAreCheckedByTheLetter) {  // INS-50, INS-52
  for (const std::string_view text :
       {"{}", "[]", " [1,2 ] ", R"({"a":{"b":[{}]}})", R"("\u00E9\n\\\"")", "0", "-0.5E+10", "true",
        "null", R"({"":""})", R"({"a":1,"a":2})", "123456789012345678901234567890", "1e999", "NaN",
        "[-Infinity,Infinity]"}) {
    EXPECT_TRUE(IsJsonValue(text)) << text;
  }
  for (const std::string_view text :
       {"",         " ",           "{",          "}",         "[1,]",      "[,1]", "{\"a\"}",
        "{\"a\":}", "{a:1}",       "{\"a\":1,}", "01",        "1.",        ".5",   "+1",
        "-",        "1e",          "tru",        "truefalse", "nul",       "'a'",  "\"a",
        "\"\\x\"",  "\"\\u12g4\"", "\"\t\"",     "[1}",       "{]",        "1 2",  "[1]]",
        "\"a\\",    "NAN",         "[1 2]",      "{\"a\" 1}", "+Infinity", "-NaN"}) {
    EXPECT_FALSE(IsJsonValue(text)) << text;
  }
}

TEST(RecordJsonTest, TheDeepestAllowedNestingIs1024) {  // INS-58
  EXPECT_TRUE(IsJsonValue(std::string(1024, '[') + std::string(1024, ']')));
  EXPECT_FALSE(IsJsonValue(std::string(1025, '[') + std::string(1025, ']')));
  EXPECT_FALSE(IsJsonValue(std::string(5'000'000, '[')));
}

TEST(RecordTableTest, NamesOfColumnsAreDistinct) {  // INS-66
  EXPECT_THAT(ColumnNames({"a", "a", "", "a#2", " "}),
              ::testing::ElementsAre("a", "a#3", "column 3", "a#2", " "));
  // Linear: the square of this many would not end while anyone waits. FLT-90
  EXPECT_EQ(ColumnNames(std::vector<std::string>(200'000, "a")).back(), "a#200000");
}

TEST(RecordTableTest, CellsLoseTheirQuotes) {  // INS-60, INS-67
  EXPECT_THAT(ParseCells(R"(a,"b ""x"", y",,"c"d,e"f,)", ','),
              ::testing::ElementsAre("a", "b \"x\", y", "", "cd", "e\"f", ""));
  EXPECT_THAT(ParseCells("", ','), ::testing::ElementsAre(""));
}

}  // namespace
}  // namespace dossier::inspect
