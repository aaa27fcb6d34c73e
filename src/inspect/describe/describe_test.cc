#include "inspect/describe/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "inspect/description/hint.h"
#include "inspect/description/labels.h"
#include "testing/describe_for_test.h"

namespace dossier::inspect {
namespace {

using ::testing::HasSubstr;

// INS-20, INS-22, INS-30 to INS-49, INS-T8
TEST(DescribeTest, NamesTheFormatByContentAndExtension) {
  const std::string rows = "name\tage\nAda\t36\nBob\t41\nCyd\t7\nDee\t50\n";
  struct Case {
    std::string name, bytes, label;
  };
  const Case cases[] = {
      {"a.NDJSON", "{\"a\":1}\n{\"a\":2}\n", "NDJSON (newline-delimited JSON)"},
      {"a.jsonl", "[{\"a\":1},{\"a\":2}]", "JSON array (named .jsonl)"},  // INS-38
      {"a.csv", rows, "TSV (named .csv)"},                                // INS-39
      {"fake.png", "This is prose.", "Plain text (named .png)"},          // INS-38
      {"empty.png", "", "Plain text (named .png)"},
      {"empty.gz", "", "Plain text (named .gz)"},
      {"a.txt", Repeat("{\"a\":1}\n", 200), "NDJSON (named .txt)"},  // INS-40
      {"a.json", Repeat("{\"a\":1}\n", 200), "NDJSON (named .json)"},
      {"a.txt", rows, "TSV (named .txt)"},  // INS-35
      {"a.txt", "name;n\nAda;2\nBob;3\nCyd;4\nDee;5\nEve;6\n",
       "CSV (semicolon-separated, header row) (named .txt)"},
      {"a.ndjson", "broken\n{\"a\":1}\n{\"a\":1}\n", "NDJSON (newline-delimited JSON)"},  // INS-41
      {"a.ndjson", "broken\nworse\n{\"a\":1}\n", "Unknown text (named .ndjson)"},         // INS-42
      {"a.json", "[{\"a\":1},\n{\"a\":2},\n{\"a",
       "JSON array, broken at byte 22 (line 3): "
       "unexpected end"},  // INS-43
      {"a.json", "This is prose.", "Unknown text (named .json)"},
      {"a.json", "\"text\"", "JSON string"},  // INS-44
      {"a.json", "42\n", "JSON number"},
      {"a.json", "true", "JSON boolean"},
      {"a.json", "null", "JSON null"},
      {"unnamed", "{\"a\":1}\n", "JSON object"},  // INS-47
      {"unnamed", "1\n2\n", "Plain text"},
      {"unnamed", "Hello world, this is a test", "Plain text"},
      {"unnamed", "Dear Bob, hi\nHow, are you\n", "Plain text"},  // INS-46
      {"unnamed", "[not json", "Plain text"},                     // INS-48
      {"unnamed", Repeat("[not json ", 30000), "Plain text"},
      {"a.geojson", "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\"}]}",
       "JSON object (GeoJSON)"},  // INS-49
      {"a.ipynb", "{\"cells\":[{\"cell_type\":\"code\"}],\"nbformat\":4}",
       "JSON object (notebook)"},
      {"unnamed", "\x1E{\"a\":1}\n\x1E{\"a\":2}\n", "JSON text sequence"},  // INS-33
      {"unnamed", "{\"a\":1} {\"a\":2}\n[3]", "Concatenated JSON"},         // INS-34
      {"a.ndjson", "{\n  \"a\": 1\n}\n", "JSON object (named .ndjson)"},    // INS-55
      {"a.ndjson", "{\"a\": 1}\n", "NDJSON (newline-delimited JSON)"},
      {"a.json", "// c\n{\"a\": [1, 2,],}", "JSON with comments (named .json)"},  // INS-37
      {"a.jsonc", "{\"a\": 1 /* x */}", "JSON with comments"},
      {"unnamed", "\n <?XML is not it", "Plain text"},
      {"a.txt", "  <?xml version=\"1.0\"?><a/>", "XML (named .txt)"},  // INS-36
      {"unnamed", "<!DOCTYPE HTML>\n<p>", "HTML"},
      {"unnamed", "From: a@b\nTo: c@d\nSubject: x\n\nhello", "Mail"},  // INS-45
      {"unnamed", "diff --git a/x b/x\n--- a/x\n", "Diff"},
      {"unnamed", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "Diff"},
      {"unnamed", "Package: a\nVersion: 1\n\nPackage: b\nVersion: 2\n",
       "Field: value records (deb822)"},
      {"unnamed", "id,name\n1,Ada\n2,Bob\n", "CSV (comma-separated, header row)"},
      {"unnamed",
       Repeat("2024-11-02 15:30:00 INFO started\n2024-11-02 15:30:01 ERROR failed\n", 10), "Log"},
      {"unnamed", "#!/usr/bin/env python3\nprint(1)\n", "Source code (Python)"},
      {"unnamed", "[server]\nport = 80\n", "INI"},
      {"unnamed", "[server]\nname = \"x\"\n", "TOML"},
      {"unnamed", "---\na: 1\n", "YAML"},
      {"unnamed", "a: 1\nb:\n  - c: 2\n", "YAML"},
      {"unnamed", "# Title\n\ntext\n", "Plain text"},  // FLT-25: one kind of evidence
      {"unnamed", "# Title\n\n- one\n- two\n", "Markdown"},
      {"a.md", "text", "Markdown"},
      {"a.cc", "int x;", "Source code (C++)"},
      {"x.gitignore", "a", "Plain text"},
      {"a.csv", "1,2\n3,4\n", "CSV (comma-separated, no header)"},
      {"a.png", std::string("\x89PNG\r\n\x1A\n\0\0", 10), "PNG image"},
      {"a.txt", std::string("abcdefgh\0ij", 11), "Binary (named .txt)"},  // INS-11
  };
  for (const Case& c : cases) {
    const Description description = DescribeBytes(c.bytes, c.name);
    EXPECT_EQ(FormatLabel(description), c.label) << c.name << ": " << c.bytes.substr(0, 60);
  }
}

TEST(DescribeTest, CountsAreTheSameFromEveryEncoding) {  // INS-2, INS-4, INS-7, INS-T3
  struct Case {
    std::u32string text;
    std::uint64_t chars, utf16_units, lines;
  };
  const Case cases[] = {
      {U"a\nb", 3, 3, 2},       {U"a\nb\n", 4, 4, 2},
      {U"a\r\nb\r\n", 6, 6, 2}, {U"a\rb", 3, 3, 2},
      {U"\n", 1, 1, 1},         {U"\n\n", 2, 2, 2},
      {U"a\n\r", 3, 3, 2},      {U"\r\n", 2, 2, 1},
      {U"\u00e9", 1, 1, 1},     {U"\U0001F600", 1, 2, 1},
      {U"e\u0301", 2, 2, 1},    {U"a\u0085\u2028\u2029\v\fb", 7, 7, 1},  // INS-3
  };
  const auto unit = [](char32_t value, int bytes, bool big) {
    std::string out;
    for (int i = 0; i < bytes; ++i) {
      out += static_cast<char>(value >> 8 * (big ? bytes - 1 - i : i) & 0xFF);
    }
    return out;
  };
  const auto utf16 = [&](char32_t c, bool big) {
    if (c < 0x10000) return unit(c, 2, big);
    return unit(0xD800 + ((c - 0x10000) >> 10), 2, big) +
           unit(0xDC00 + ((c - 0x10000) & 0x3FF), 2, big);
  };
  for (const Case& c : cases) {
    std::string utf8, le16 = "\xFF\xFE", be16 = "\xFE\xFF", le32("\xFF\xFE\0\0", 4);
    for (const char32_t code_point : c.text) {
      utf8::Append(code_point, &utf8);
      le16 += utf16(code_point, false);
      be16 += utf16(code_point, true);
      le32 += unit(code_point, 4, false);
    }
    for (const std::string& bytes : {utf8, le16, be16, le32, "\xEF\xBB\xBF" + utf8}) {
      for (std::size_t block : {1, 7, 262144}) {
        const Description d = DescribeBytes(bytes, "a.txt", {.block_bytes = block});
        EXPECT_EQ(d.counts.bytes, bytes.size());
        EXPECT_EQ(d.counts.chars, c.chars) << utf8;
        EXPECT_EQ(d.counts.utf16_units, c.utf16_units) << utf8;
        EXPECT_EQ(d.counts.lines, c.lines) << ::testing::PrintToString(utf8);
      }
    }
    const Description text = DescribeText(utf8, "", {});
    EXPECT_EQ(text.counts.chars, c.chars);
    EXPECT_EQ(text.counts.lines, c.lines);
  }
}

// INS-5, INS-7, INS-8, INS-9, INS-10, INS-11
TEST(DescribeTest, TellsEncodingsByMarkThenByNulsThenByValidity) {
  struct Case {
    std::string bytes;
    EncodingKind kind;
    bool bom, ascii;
    std::uint64_t chars, invalid;
    std::string codes;
  };
  const std::string wide_le("a\0b\0c\0\n\0", 8), wide_be("\0a\0b\0c\0\n", 8);
  const Case cases[] = {
      {"abc", EncodingKind::kUtf8, false, true, 3, 0, ""},
      {"\xEF\xBB\xBF"
       "ab",
       EncodingKind::kUtf8, true, true, 2, 0, ""},
      {wide_le, EncodingKind::kUtf16Le, false, false, 4, 0, ""},
      {wide_be, EncodingKind::kUtf16Be, false, false, 4, 0, ""},
      {std::string("a\0\0\0b\0\0\0", 8), EncodingKind::kUtf32Le, false, false, 2, 0, ""},
      {std::string("\0\0\0a\0\0\0b", 8), EncodingKind::kUtf32Be, false, false, 2, 0, ""},
      {"caf\xE9", EncodingKind::kUnknown8Bit, false, false, 4, 0, "invalid-encoding"},
      {Repeat("é", 10) + "\xFF", EncodingKind::kUtf8, false, false, 11, 1, "invalid-encoding"},
      {Repeat("é", 9) + "\xFF", EncodingKind::kUnknown8Bit, false, false, 19, 0,
       "invalid-encoding"},
      {std::string("\xFF\xFE"
                   "a\0\x00\xD8"
                   "b\0",
                   8),
       EncodingKind::kUtf16Le, true, false, 3, 1, "lone-surrogate"},
      {std::string("\xFF\xFE"
                   "a\0b",
                   5),
       EncodingKind::kUtf16Le, true, false, 2, 1, "lone-surrogate"},
      {Repeat("text\n", 14000) + std::string("\0", 1), EncodingKind::kUtf8, false, true, 70001, 0,
       "nul-bytes"},
      {std::string("ab\0c", 4) + std::string(5, 'x'), EncodingKind::kBinary, false, false, 0, 0,
       ""},
      {Repeat("\x01\x02x", 10), EncodingKind::kBinary, false, false, 0, 0, ""},
  };
  for (const Case& c : cases) {
    const Description d = DescribeBytes(c.bytes, "a.txt");
    EXPECT_EQ(d.encoding.kind, c.kind) << ::testing::PrintToString(c.bytes.substr(0, 20));
    EXPECT_EQ(d.encoding.bom, c.bom);
    EXPECT_EQ(d.encoding.ascii, c.ascii);
    EXPECT_EQ(d.counts.chars, c.chars) << ::testing::PrintToString(c.bytes.substr(0, 20));
    EXPECT_EQ(d.encoding.invalid, c.invalid);
    EXPECT_EQ(NoteCodes(d), c.codes) << ::testing::PrintToString(c.bytes.substr(0, 20));
  }
}

// `text` in UTF-16 without a mark.
std::string Utf16(std::u16string_view text, bool big) {
  std::string out;
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    out += big ? std::string{high, low} : std::string{low, high};
  }
  return out;
}

TEST(DescribeTest, NulsTellWideEncodingsWithoutAMark) {  // INS-8
  struct Case {
    std::string bytes;
    EncodingKind kind;
  };
  const auto mixed = [](int ascii, int wide) {  // of 100 code units, so many have a NUL
    return std::u16string(static_cast<std::size_t>(ascii), u'a') +
           std::u16string(static_cast<std::size_t>(wide), u'\u4E2D');
  };
  const std::string late = Repeat("text", 1024) + Utf16(mixed(100, 0), false);
  const Case cases[] = {
      {Utf16(mixed(100, 0), false), EncodingKind::kUtf16Le},
      {Utf16(mixed(100, 0), true), EncodingKind::kUtf16Be},
      {Utf16(mixed(30, 70), false), EncodingKind::kUtf16Le},  // 30 % of the odd bytes
      {Utf16(mixed(30, 70), true), EncodingKind::kUtf16Be},
      {Utf16(mixed(29, 71), false), EncodingKind::kBinary},  // too few: NULs in bytes (INS-11)
      {Utf16(mixed(100, 0) + u'\u0100', false), EncodingKind::kBinary},  // one even byte is NUL
      {Repeat(std::string("a\0\0\0", 4), 9) + std::string("\xB1\x03\0\0", 4),
       EncodingKind::kUtf32Le},
      {Repeat(std::string("\0\0\0a", 4), 9) + std::string("\0\0\x03\xB1", 4),
       EncodingKind::kUtf32Be},
      {late, EncodingKind::kBinary},  // only the first 4,096 bytes are asked
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DescribeBytes(c.bytes, "a.txt").encoding.kind, c.kind)
        << ::testing::PrintToString(c.bytes.substr(0, 12)) << " of " << c.bytes.size();
  }
}

TEST(DescribeTest, WhatIsNoUtf16BecomesOneReplacementCharacterEach) {  // INS-10
  struct Case {
    std::u16string text;
    std::string tail;  // bytes
    std::uint64_t chars, utf16_units, invalid, first;
  };
  const std::u16string high(1, char16_t{0xD83D}), low(1, char16_t{0xDE00});
  const Case cases[] = {
      {u"a" + high + low + u"b", "", 3, 4, 0, 0},
      {u"a" + high + u"b", "", 3, 3, 1, 4},  // the letter behind it survives
      {u"a" + low + u"b", "", 3, 3, 1, 4},
      {u"a" + low + high, "", 3, 3, 2, 4},
      {u"a" + high + high + low, "", 3, 4, 1, 4},  // the second one has its other half
      {u"ab" + high, "", 3, 3, 1, 6},              // cut off by the end
      {u"ab", "c", 3, 3, 1, 6},                    // an odd byte
      {u"ab" + high, "c", 4, 4, 2, 6},
  };
  for (const Case& c : cases) {
    for (const bool big : {false, true}) {
      for (const std::size_t block : {1, 9, 262144}) {
        const std::string bytes = (big ? "\xFE\xFF" : "\xFF\xFE") + Utf16(c.text, big) + c.tail;
        const Description d = DescribeBytes(bytes, "a.txt", {.block_bytes = block});
        const std::string shown = ::testing::PrintToString(bytes);
        EXPECT_EQ(d.counts.chars, c.chars) << shown;
        EXPECT_EQ(d.counts.utf16_units, c.utf16_units) << shown;
        EXPECT_EQ(d.encoding.invalid, c.invalid) << shown;
        EXPECT_EQ(d.encoding.first_invalid_offset, c.first) << shown;
        EXPECT_EQ(NoteCodes(d), c.invalid > 0 ? "lone-surrogate" : "") << shown;
      }
    }
  }
}

TEST(DescribeTest, AMarkOfABinaryKindBeatsEveryName) {  // INS-30
  struct Case {
    std::string_view bytes;
    std::string label;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"\x89PNG\r\n\x1A\nrows,of\n"sv, "PNG image (named .csv)"},
      {"\x1F\x8B\x08plain"sv, "gzip data (named .csv)"},
      {"%PDF-1.7\n1 0 obj\n"sv, "PDF (version 1.7, pages unknown) (named .csv)"},
      {"from the printer\n%PDF-1.7\n\xE2\xE3\xCF\xD3\n"sv,
       "PDF (version 1.7, pages unknown) (named .csv)"},
      {"RIFF\x10\0\0\0WEBPVP8 "sv, "WebP image (named .csv)"},
      {"SQLite format 3\0\x10"sv, "SQLite database (named .csv)"},
      {"BM\xFF\xFF"sv, "BMP image (named .csv)"},
      {"MZ\x90\0\3"sv, "Windows program or library (PE) (named .csv)"},
      {"\xCF\xFA\xED\xFE\7\0"sv, "Mach-O program or library (named .csv)"},
      {"\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\"}}"sv, "Safetensors (named .csv)"},
      {"\xFF\xFF\xFF\xFF\x10\0\0\0\4\0\0\0\4\0\0\0"sv, "Arrow stream (named .csv)"},
      // Words that happen to be marks.
      {"BMW,Opel\n1,2\n3,4\n"sv, "CSV (comma-separated, header row)"},
      {"ORC,elf\n1,2\n3,4\n"sv, "CSV (comma-separated, header row)"},
      {"see,%PDF-\n1,2\n3,4\n"sv, "CSV (comma-separated, header row)"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FormatLabel(DescribeBytes(c.bytes, "a.csv")), c.label)
        << ::testing::PrintToString(c.bytes);
  }
}

TEST(DescribeTest, JsonIsCertainWhenAllOfItIsValidAndNdjsonByItsFirstLines) {  // INS-31, INS-32
  struct Case {
    std::string bytes, label;
  };
  const std::string object = "{\"a\": [1, 2],\n \"b\": \"" + std::string(300000, 'x') + "\"}";
  const auto lines = [](int valid, int broken) {
    return Repeat("{\"a\":1}\n", valid) + Repeat("{broken}\n", broken);
  };
  const Case cases[] = {
      {object, "JSON object (named .txt)"},
      {object + "x", "Plain text"},  // the last of 300,000 bytes decides
      {object.substr(0, object.size() - 1), "Plain text"},
      {"[" + object + "]", "JSON array (named .txt)"},
      {"{\"a\":1}\n\n[2]\n", "NDJSON (named .txt)"},  // two lines are enough
      {"{\"a\":1}\n7\n", "Plain text"},               // the second is no container
      {lines(90, 10), "NDJSON (named .txt)"},
      {lines(89, 11), "Plain text"},
      {lines(100, 0) + Repeat("no\n", 500), "NDJSON (named .txt)"},  // 100 lines decide
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FormatLabel(DescribeBytes(c.bytes, "a.txt")), c.label) << c.bytes.substr(0, 40);
  }
}

TEST(DescribeTest, TheByteOrderMarkIsNoPartOfTheFirstName) {  // INS-5, INS-T6
  EXPECT_EQ(Shown(DescribeBytes("\xEF\xBB\xBFid,name\n1,x\n", "a.csv")), "id, name");
  const Description json = DescribeBytes("\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n", "a.ndjson");
  EXPECT_EQ(json.records->records, 2u);
  EXPECT_EQ(json.sample, "{\"a\":1}");
  std::string wide = "\xFF\xFE";
  for (const char c : std::string_view("a\tb\n1\t2\n")) wide += std::string{c, '\0'};
  const Description tsv = DescribeBytes(wide, "a.csv");
  EXPECT_EQ(FormatLabel(tsv), "TSV (named .csv), UTF-16LE");
  EXPECT_EQ(Shown(tsv), "a, b");
}

TEST(DescribeTest, AnEmptyFileIsPlainTextForEveryRenderer) {  // INS-1
  for (const char* name : {"", "a.csv", "a.json", "a.ndjson", "a"}) {
    const Description d = DescribeBytes("", name);
    EXPECT_EQ(d.format, Format::kPlainText);
    EXPECT_EQ(NoteCodes(d), "empty");
    EXPECT_THAT(RenderHint(d, {}), HasSubstr("0 chars"));
    EXPECT_THAT(RenderReport(d, {}), HasSubstr("0 chars, 0 lines"));
    EXPECT_EQ(*FindInt(ContextMeta(d, Runtime::kPython), "chars"), 0);
    EXPECT_EQ(*FindInt(ToJson(d), "lines"), 0);
  }
}

TEST(DescribeTest, ForcedChoicesWinOverDetection) {  // section 3
  const Description csv =
      DescribeBytes("a b\n1 2\n", "a.txt", {.format = Format::kCsv, .delimiter = ' '});
  EXPECT_EQ(csv.format, Format::kCsv);
  EXPECT_EQ(Shown(csv), "a, b");
  EXPECT_EQ(DescribeBytes("a,b\nc,d\n", "a.csv", {.header = HeaderRow::kNo}).records->records, 2u);
  EXPECT_EQ(DescribeBytes("1,2\n3,4\n", "a.csv", {.header = HeaderRow::kYes}).records->records, 1u);
  const Description png = DescribeBytes("\x89PNG\r\n\x1A\n,\n", "a.png", {.format = Format::kCsv});
  EXPECT_EQ(png.format, Format::kCsv);
  EXPECT_EQ(png.notes.at(0).text, "bytes look like png");
  const Description latin = DescribeBytes("caf\xE9", "a", {.encoding = EncodingKind::kUnknown8Bit});
  EXPECT_EQ(latin.counts.chars, 4u);
  EXPECT_EQ(NoteCodes(latin), "");
}

TEST(DescribeTest, AnyBytesAreDescribedWithoutFault) {
  Random random(61);
  const std::string_view names[] = {"a", "a.json", "a.ndjson", "a.csv", "a.txt", "a.log"};
  constexpr std::string_view kBits[] = {"{",  "}",  "[",  "]", "\"",          ",",
                                        ":",  "\n", "\\", "a", "1",           "\xFF",
                                        "\r", " ",  "//", "é", "{\"a\":1}\n", "x,y\n"};
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(60); i > 0; --i)
      text += kBits[random.Below(std::size(kBits))];
    const std::string name(names[random.Below(std::size(names))]);
    const Description d = DescribeBytes(text, name, {.block_bytes = 1 + random.Below(40)});
    const Description whole = DescribeBytes(text, name);
    ASSERT_EQ(dossier::ToJson(ToJson(d)), dossier::ToJson(ToJson(whole))) << text;
    ASSERT_TRUE(utf8::IsValid(RenderHint(d, {})));
  }
}

}  // namespace
}  // namespace dossier::inspect
