// Descriptions from the content alone, whatever the name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/utf8.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "inspect/description/labels.h"
#include "inspect/records/record_reader.h"
#include "inspect/text/encoding.h"
#include "testing/describe_for_test.h"

namespace dossier::inspect {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kStanzas =
    "Package: a\nInstalled-Size: 12\nDescription: x\n y\n\nPackage: b\nInstalled-Size: 7\n";

std::string FirstRow(std::string_view text, const Description& description) {
  auto reader = RecordReader::Open(text, description);
  if (!reader) return reader.error().message;
  std::uint64_t next = 0;
  return reader->ReadJson(0, 1, 1000, &next).value_or("");
}

TEST(DescribeContentTest, NamesThatPromiseNothingLeaveItToTheContent) {  // FLT-24
  struct Case {
    std::string_view text;
    Format format;
    std::uint64_t records;
  };
  const Case cases[] = {
      {kStanzas, Format::kDeb822, 2},
      {"id,name\n1,Ada\n2,Bob\n", Format::kCsv, 2},
      {"id\tname\n1\tAda\n2\tBob\n", Format::kTsv, 2},
      {"2024-11-02 15:30:00 INFO a\n2024-11-02 15:30:01 ERROR b\n", Format::kLog, 2},
      {"2024-11-02 15:30:00,123 INFO a, b\n2024-11-02 15:30:01,456 WARN c, d\n", Format::kLog, 2},
      {"{\"a\":1}\n{\"a\":2}\n", Format::kNdjson, 2},
      {"[{\"a\":1},{\"a\":2}]", Format::kJsonArray, 2},
  };
  for (const Case& c : cases) {
    for (const std::string_view name :
         {"a", "a.txt", "a.text", "a.log", "a.out", "a.dat", "a.data", "a.xyz"}) {
      const Description d = DescribeText(c.text, name, {});
      EXPECT_EQ(d.format, c.format) << name << ": " << c.text;
      ASSERT_TRUE(d.records) << name << ": " << c.text;
      EXPECT_EQ(d.records->records, c.records) << name << ": " << c.text;
      const Description bare = DescribeText(c.text, "a", {});
      EXPECT_EQ(FirstRow(c.text, d), FirstRow(c.text, bare));
      EXPECT_EQ(Shown(d), Shown(bare));
    }
  }
  EXPECT_EQ(FormatLabel(DescribeText(kStanzas, "status.txt", {})),
            "Field: value records (deb822) (named .txt)");
  EXPECT_EQ(FormatLabel(DescribeText("<a>\n <b x=\"1\"/>\n <b/>\n</a>\n", "a.txt", {})),
            "XML (named .txt)");
}

TEST(DescribeContentTest, NamesThatTheContentContradictsYield) {  // FLT-24
  EXPECT_EQ(DescribeText(kStanzas, "status.csv", {}).format, Format::kDeb822);
  EXPECT_EQ(DescribeText(kStanzas, "status.json", {}).format, Format::kDeb822);
  EXPECT_EQ(NoteCodes(DescribeText("<html><p>x</html>", "a.json", {})), "");
  EXPECT_EQ(DescribeText("id,name\n1,Ada\n2,Bob\n", "a.xml", {}).format, Format::kCsv);
  EXPECT_EQ(DescribeText("Ann: a\nBob: b\n\nAnn: c\nBob: d\n", "a.md", {}).format,
            Format::kMarkdown);
}

TEST(DescribeContentTest, ProseVersesCodeAndTalkStayPlain) {  // FLT-24
  constexpr std::string_view kTexts[] = {
      "Call me Ishmael. Some years ago, never mind how long,\nI thought I would sail about\n"
      "a little, and see the watery part\nof the world.\n",
      "Tyger Tyger, burning bright,\nIn forests deep, of night,\nWhat immortal hand, or eye,\n"
      "Could frame thy, fearful frame,\nIn what distant, deeps or skies,\n",
      "Ann: Hello there!\nBob: Hi, Ann.\nAnn: How are you?\nBob: Fine, thanks.\n",
      "Ann: Hello there!\n\nBob: Hi, Ann.\n\nAnn: How are you?\n\nBob: Fine, thanks.\n",
      "import os\n\ndef main(args):\n    for a in args:\n        print(a)\n\nmain([])\n",
      "int main() {\n  int a;\n  int b;\n  a = f(b);\n  return a;\n}\n",
      "Smith, Ann\nJones, Bob\nBrown, Cyd\nGreen, Dee\nWhite, Eve\n",
      "- milk\n- eggs\n- bread\n",
      "Title\n=====\n\n- milk\n- eggs\n",
      "from .a import A\n\nx = {\n    \"a\": A.b,\n    \"b\": A.c,\n    \"c\": A.d,\n}\n",
      "def f(a,\n      b=None, c=False,\n      d=None, e=True,\n      g=None):\n    pass\n",
      "Use it so:\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n\nand then say\nwhat you did.\n",
      "# x.cc\n\nauto f = [this](int x) { return a[x](y.z); };\n",
  };
  for (const std::string_view text : kTexts) {
    const Description d = DescribeText(text, "a.txt", {});
    EXPECT_EQ(FormatLabel(d), "Plain text") << text;
  }
}

TEST(DescribeContentTest, MarkdownNeedsTwoKindsOfEvidence) {  // FLT-25
  struct Case {
    std::string_view text;
    Format format;
  };
  const Case cases[] = {
      {"# Title\n\nText.\n\n## Part\n\n- one\n- two\n", Format::kMarkdown},
      {"# Title\n\nSee [there](http://a.b).\n", Format::kMarkdown},
      {"Text with `code` in it.\n\n```\nx = 1\n```\n", Format::kMarkdown},
      {"# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", Format::kMarkdown},
      {"# Title\n\nSome words of prose, and no more of it than that.\n", Format::kPlainText},
      {"# This file sets\n# two things.\nPort 22\nUsePAM yes\n", Format::kConfig},
      {"# comment\n\nkey = value\n\n# more\n\nother = 1\n", Format::kConfig},
      {"# only comments\n# and nothing else\n", Format::kConfig},
      {"# /etc/hosts\n127.0.0.1 localhost\n::1 localhost ip6-localhost\n", Format::kConfig},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DescribeText(c.text, "a", {}).format, c.format) << c.text;
    EXPECT_EQ(DescribeText(c.text, "a.md", {}).format, Format::kMarkdown) << c.text;
  }
}

TEST(DescribeContentTest, TitlesInFrontOfATableAreNoHeader) {  // FLT-23
  struct Case {
    std::string_view text;
    std::vector<std::string> fields;
    std::uint64_t records, titles;
  };
  const Case cases[] = {
      {"Report of 2026-01-01\nfor the board\n\nid,status,ms\n1,ok,5\n2,bad,6\n3,ok,7\n",
       {"id", "status", "ms"},
       3,
       3},
      {"Quarterly report,,\n,,\nid,status,ms\n1,ok,5\n2,bad,6\n", {"id", "status", "ms"}, 2, 2},
      {"Totals\nname,city\nAda,Rome\nBob,Oslo\nCid,Rome\n", {"name", "city"}, 3, 1},
      // A header that is too short, and rows that are, stay what they are.
      {"id,status\n1,ok,5\n2,bad,6\n3,ok,7\n", {"id", "status"}, 3, 0},
      {"name\nAda,Rome\nBob,Oslo\nAda,Oslo\n", {"name"}, 3, 0},
      {"1\n2,3\n4,5\n6,7\n", {}, 4, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.text));
    const Description about = DescribeText(c.text, "t.csv", {});
    ASSERT_TRUE(about.records);
    EXPECT_EQ(about.records->records, c.records);
    EXPECT_EQ(about.records->comments, c.titles);
    if (c.fields.empty()) continue;
    ASSERT_GE(about.fields.size(), c.fields.size());
    for (std::size_t i = 0; i < c.fields.size(); ++i) {
      EXPECT_EQ(about.fields[i].path.back(), c.fields[i]);
    }
  }
}

TEST(DescribeContentTest, CommentLinesOfTablesAreNoRows) {  // FLT-23
  struct Case {
    std::string_view name, text;
    std::uint64_t records, comments;
    std::string_view fields, first;
  };
  const std::string many_rows =
      "# x\nid,name\n" + Repeat("1,Ada\n", 200) + "#2,Bob\n# the end\n#3,\"Cy\"\n";
  const Case cases[] = {
      {"a.csv", "# made by x\n# on Monday, at noon\n#\nid,name\n1,Ada\n2,Bob\n", 2, 3, "id, name",
       R"([{"id":1,"name":"Ada"}])"},
      {"a.tsv", "# x\nid\tname\n1\tAda\n# \"y\n2\tBob\n", 2, 2, "id, name",
       R"([{"id":1,"name":"Ada"}])"},
      {"a.txt", "% x\n% y\nid;name\n1;Ada\n2;Bob\n", 2, 2, "id, name",
       R"([{"id":1,"name":"Ada"}])"},
      {"a.csv", "// x\nid,name\n1,Ada\n", 1, 1, "id, name", R"([{"id":1,"name":"Ada"}])"},
      {"a.csv", "; x\nid,name\n1,Ada\n", 1, 1, "id, name", R"([{"id":1,"name":"Ada"}])"},
      {"a.vcf", "##v=4\n##w=5\n#CHROM\tPOS\n1\t100\n2\t200\n", 2, 2, "#CHROM, POS",
       R"([{"#CHROM":1,"POS":100}])"},
      // After the header, a line with the cells of a row is a row, also after the first 100 rows.
      {"a.csv", "# x\nid,name\n#1,Ada\n#2,\"B,\"\"b\"\n# y\n3,Cy\n", 3, 2, "id, name",
       R"([{"id":"#1","name":"Ada"}])"},
      {"a.csv", many_rows, 202, 2, "id, name", R"([{"id":1,"name":"Ada"}])"},
      // No comments: a column of numbers, names that begin with the mark.
      {"a.csv", "#,name\n1,Ada\n2,Bob\n", 2, 0, "#, name", R"([{"#":1,"name":"Ada"}])"},
      {"a.csv", "tag,n\n#a,1\n#b,2\n#c,3\n", 3, 0, "tag, n", R"([{"tag":"#a","n":1}])"},
  };
  for (const Case& c : cases) {
    for (const std::size_t block : {1, 7, 262144}) {
      const Description d =
          DescribeBytes(std::string(c.text), std::string(c.name), {.block_bytes = block});
      ASSERT_TRUE(d.records) << c.text;
      EXPECT_EQ(d.records->records, c.records) << c.text;
      EXPECT_EQ(d.records->comments, c.comments) << c.text;
      EXPECT_EQ(d.records->ragged, 0u) << c.text;
      EXPECT_EQ(Shown(d), c.fields) << c.text;
      EXPECT_EQ(FirstRow(c.text, d), c.first) << c.text;
      EXPECT_EQ(RecordReader::Open(c.text, d)->count(), c.records) << c.text;
    }
  }
  const Description told = DescribeText(cases[0].text, "a.csv", {});
  EXPECT_THAT(RenderHint(told, {}), HasSubstr("Records: 2 (3 comment lines skipped)"));
}

TEST(DescribeContentTest, TheLastCommentIsTheHeaderOfTextsToo) {  // FLT-23
  struct Case {
    std::string_view text;
    std::uint64_t records, comments;
    std::string_view fields, first;
  };
  const Case cases[] = {
      {"# about\n#\n#code\tname\nAD\tAndorra\nAE\tEmirates\n", 2, 2, "#code, name",
       R"([{"#code":"AD","name":"Andorra"}])"},
      {"# about\n#\n#code\tname\tnote\nAD\tAndorra\nAE\tEmirates\nAF\tx\tn\n", 3, 2,
       "#code, name, note", R"([{"#code":"AD","name":"Andorra"}])"},
      {"# about\n#code\tname\t\t\tnote\nAD\tAndorra\nAE\tEmirates\nAF\tx\tn\n#@AD\tEurope\n", 3, 2,
       "#code, name, note", R"([{"#code":"AD","name":"Andorra"}])"},
      // A sentence, and comments of which several have the cells of a row, are no header.
      {"# about names\tand cities\t or so\nname\tcity\nAda\tRome\nBob\tOslo\n", 2, 1, "name, city",
       R"([{"name":"Ada","city":"Rome"}])"},
      {"# x\n#from\tcrm\n#by\tAda\nname\tcity\nAda\tRome\nBob\tOslo\n", 2, 3, "name, city",
       R"([{"name":"Ada","city":"Rome"}])"},
  };
  for (const Case& c : cases) {
    const Description d = DescribeText(c.text, "a.tsv", {});
    ASSERT_TRUE(d.records) << c.text;
    EXPECT_EQ(d.records->records, c.records) << c.text;
    EXPECT_EQ(d.records->comments, c.comments) << c.text;
    EXPECT_EQ(Shown(d), c.fields) << c.text;
    EXPECT_EQ(FirstRow(c.text, d), c.first) << c.text;
    EXPECT_EQ(RecordReader::Open(c.text, d)->count(), c.records) << c.text;
  }
}

TEST(DescribeContentTest, ARowInTheFormOfAllOthersIsNoHeader) {  // INS-64
  struct Case {
    std::string_view text;
    std::uint64_t records;
  };
  const Case cases[] = {
      {"a@x.org\nbob@y.org\nc.d@z.org\n", 3},
      {" 0   0\n 1  10\n 2   4\n", 3},
      {"0023 20E3;F985;\n00A9;F9D6;F7EE\n2002;;F7AA\n203C;F9A9;\n", 4},
      {"name,mail\nAda,a@x.org\nBob,b@y.org\nCid,c@z.org\n", 3},
      {"Q1,Q2\nA1,B2\nC1,B3\n", 2},
      {"item1,item2\na1,b2\nc1,d3\n", 2},
  };
  for (const Case& c : cases) {
    const Description d = DescribeText(c.text, "a.csv", {});
    ASSERT_TRUE(d.records) << c.text;
    EXPECT_EQ(d.records->records, c.records) << c.text;
  }
}

TEST(DescribeContentTest, CommentsCanBeForcedAndForbidden) {  // FLT-23
  constexpr std::string_view kText = "# x\nid,name\n1,Ada\n!y\n2,Bob\n";
  const Description none = DescribeText(kText, "a.csv", {.comment = ""});
  EXPECT_EQ(none.records->comments, 0u);
  EXPECT_EQ(none.records->records + (none.table->header ? 1 : 0), 5u);
  EXPECT_EQ(DescribeText("!x\nid,name\n1,Ada\n!y,z\n", "a.csv", {.comment = "!"}).records->comments,
            2u);
}

TEST(DescribeContentTest, LogsOfProgramsHaveFields) {  // FLT-26
  struct Case {
    std::string_view text, shape, fields;
    std::uint64_t records;
    std::string_view first;
  };
  const Case cases[] = {
      {"2026-11-23 05:31:00 startup archives unpack\n"
       "2026-11-23 05:31:01 install libc6:amd64 <none> 2.36\n",
       "timed", "time, message", 2,
       R"([{"time":"2026-11-23 05:31:00","message":"startup archives unpack"}])"},
      {"Log file created at: 2024/11/02 15:30:00\nRunning on machine: mars\n"
       "Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\n"
       "I1102 15:30:00.123456    1234 server.go:81] started\n"
       "W1102 15:30:01.123456    1234 server.go:90] slow\n"
       "E1102 15:30:02.123456    1235 server.go:99] failed: x\n",
       "glog", "time, level, thread, source, message", 3,
       R"([{"time":"1102 15:30:00.123456","level":"I","thread":1234,"source":"server.go:81",)"
       R"("message":"started"}])"},
      {"[2024-11-02 15:30:00] production.ERROR: No route {\"exception\":\"[object] (X\n"
       "[stacktrace]\n#0 /srv/a.php(81): f()\n#1 {main}\n\"} \n"
       "[2024-11-02 15:30:05] production.INFO: Done [] []\n",
       "channel-level", "time, channel, level, message", 2,
       R"([{"time":"2024-11-02 15:30:00","channel":"production","level":"ERROR",)"
       R"("message":"No route {\"exception\":\"[object] (X\n[stacktrace]\n#0 /srv/a.php(81): )"
       R"(f()\n#1 {main}\n\"} "}])"},
      {"2024-11-02T15:30:00.123456789Z stdout F hello INFO world\n"
       "2024-11-02T15:30:00.223456789+02:00 stderr P half\n",
       "container", "time, stream, tag, message", 2,
       R"([{"time":"2024-11-02T15:30:00.123456789Z","stream":"stdout","tag":"F",)"
       R"("message":"hello INFO world"}])"},
      {"2024-11-02 15:30:00.123 CET [1234] ann@shop ERROR:  no table \"x\"\n"
       "2024-11-02 15:30:00.123 CET [1234] ann@shop STATEMENT:  SELECT *\n\tFROM x\n"
       "2024-11-02 15:30:09.000 CET [1] LOG:  checkpoint\n",
       "postgresql", "time, pid, session, level, message", 3,
       R"([{"time":"2024-11-02 15:30:00.123 CET","pid":1234,"session":"ann@shop",)"
       R"("level":"ERROR","message":"no table \"x\""}])"},
      {"[    0.000000] Linux version 6.1\n[   12.345678] usb 1-1: new device\n", "timed",
       "time, message", 2, R"([{"time":0.000000,"message":"Linux version 6.1"}])"},
  };
  for (const Case& c : cases) {
    for (const std::string_view name : {"x.log", "x.txt", "x"}) {
      const Description d = DescribeText(c.text, name, {});
      EXPECT_EQ(d.log_shape, c.shape) << c.text;
      ASSERT_TRUE(d.records) << c.text;
      EXPECT_EQ(d.records->records, c.records) << c.text;
      EXPECT_EQ(Shown(d), c.fields) << c.text;
      EXPECT_EQ(FirstRow(c.text, d), c.first);
    }
  }
}

TEST(DescribeContentTest, TimesInTablesAndInNotesMakeNoLog) {  // FLT-26
  EXPECT_EQ(
      DescribeText("time,value\n2024-11-02 15:30:00,3\n2024-11-02 15:30:01,4\n", "a", {}).format,
      Format::kCsv);
  EXPECT_EQ(DescribeText("2024-11-02 15:30:00\tx\t3\n2024-11-02 15:30:01\ty\t4\n", "a", {}).format,
            Format::kTsv);
  EXPECT_EQ(
      DescribeText("2024-11-02 15:30:00 I woke up.\nThe sun shone.\nI slept.\n", "a", {}).format,
      Format::kPlainText);
}

TEST(DescribeContentTest, OtherEncodingsAreGuessedAndForced) {  // FLT-26
  struct Case {
    EncodingKind kind;
    std::string_view bytes, utf8;
    bool guessed;
  };
  constexpr Case kCases[] = {
      {EncodingKind::kWindows1252,
       "The caf\xE9 \x93Zur M\xFChle\x94 costs 5 \x80 a day, they say.\n",
       "The café “Zur Mühle” costs 5 € a day, they say.\n", true},
      {EncodingKind::kShiftJis, "\x82\xB1\x82\xEA\x82\xCD\x93\xFA\x96\x7B\x8C\xEA\n",
       "これは日本語\n", true},
      {EncodingKind::kEucJp, "\xA4\xB3\xA4\xEC\xA4\xCF\xC6\xFC\xCB\xDC\xB8\xEC\n", "これは日本語\n",
       true},
      {EncodingKind::kGbk, "\xD5\xE2\xCA\xC7\xD6\xD0\xCE\xC4\xCE\xC4\xBC\xFE\n", "这是中文文件\n",
       true},
      {EncodingKind::kEucKr, "\xC7\xD1\xB1\xB9\xBE\xEE \xB9\xAE\xBC\xAD\n", "한국어 문서\n", true},
      {EncodingKind::kKoi8R, "\xF0\xD2\xC9\xD7\xC5\xD4\n", "Привет\n", false},
      {EncodingKind::kWindows1251, "\xCF\xF0\xE8\xE2\xE5\xF2\n", "Привет\n", false},
  };
  for (const Case& c : kCases) {
    const Description guess = DescribeBytes(std::string(c.bytes), "a.txt");
    EXPECT_EQ(guess.encoding.kind, c.guessed ? c.kind : EncodingKind::kUnknown8Bit) << c.utf8;
    EXPECT_EQ(guess.encoding.guessed, c.guessed) << c.utf8;
    EXPECT_EQ(FormatLabel(guess).ends_with("(a guess)"), c.guessed) << c.utf8;
    for (const std::size_t block : {1, 9, 262144}) {
      const Description forced =
          DescribeBytes(std::string(c.bytes), "a.txt", {.encoding = c.kind, .block_bytes = block});
      EXPECT_FALSE(forced.encoding.guessed);
      EXPECT_EQ(forced.counts.chars, utf8::CodePoints(c.utf8));
      EXPECT_EQ(forced.encoding.invalid, 0u) << c.utf8;
    }
    std::string text;
    Decode(c.kind, c.bytes, LastBytes::kYes, &text);
    EXPECT_EQ(text, c.utf8);
    EXPECT_EQ(StoredLength(c.kind, c.bytes, text.size()), c.bytes.size());
  }
  // A stray lead byte takes no line end with it.
  EXPECT_EQ(DescribeBytes("a\x82\nb\n", "a", {.encoding = EncodingKind::kShiftJis}).counts.lines,
            2u);
}

}  // namespace
}  // namespace dossier::inspect
