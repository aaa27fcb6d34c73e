#include "inspect/description/hint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>

#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/describe/describe.h"
#include "inspect/description/clean.h"

namespace dossier::inspect {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The feed of section 4.9: 11,001 records, hashtags in 62 % of them.
std::string Feed() {
  std::string out;
  for (int i = 0; i < 11001; ++i) {
    const std::string tags = i % 100 < 62 ? ",\"hashtags\":[\"arsenal\"]" : "";
    out += fmt::format(
        "{{\"author\":\"did:plc:abc\",\"text\":\"Arsenal win 3-0\",\"createdAt\":"
        "\"2024-11-02T15:30:00Z\",\"authorProfile\":{{\"displayName\":\"Gooner {0}\"}}{1},"
        "\"embed\":{{\"external\":{{\"uri\":\"https://example.com/{0}\",\"title\":\"{2}\"}}}}}}\n",
        i, tags, std::string(50, 'x'));
  }
  return out;
}

TEST(HintTest, TheExampleOfTheSpecComesOutOfItsFeed) {  // INS-100, INS-T2
  const std::string feed = Feed();
  const Description d = DescribeText(feed, "arsenal-feed.ndjson", {});
  EXPECT_EQ(RenderHint(d, {}),
            fmt::format("[Context available in context]\n"
                        "  Source: arsenal-feed.ndjson\n"
                        "  Format: NDJSON (newline-delimited JSON)\n"
                        "  Size: {} chars, 11,001 lines\n"
                        "  Records: 11,001\n"
                        "  Fields: author, text, createdAt, authorProfile.displayName, "
                        "hashtags (62 %), embed.external{{…}}\n"
                        "  Sample: {{\"author\":\"did:plc:abc\",\"text\":\"Arsenal win 3-0\","
                        "\"createdAt\":\"2024-11-02T15:30:00Z\",\"authorProfile\":"
                        "{{\"displayName\":\"Gooner 0\"}},\"hashtags\":[\"arsenal\"],\"embed\":"
                        "{{\"external\":{{\"uri\":\"https://example.com/0\"… (of {} chars)",
                        GroupDigits(feed.size()), feed.find('\n')));
}

TEST(HintTest, TextFilesShowOnlySourceFormatAndSize) {  // INS-101, INS-105
  EXPECT_EQ(RenderHint(DescribeText("naïve\n", "a.txt", {}), {}),
            "[Context available in context]\n  Source: a.txt\n  Format: Plain text\n"
            "  Size: 6 chars (7 bytes), 1 line");
}

TEST(HintTest, APartHasItsPlaceAndTheFormatAndFieldsOfTheWhole) {  // INS-122, INS-T16
  const Description whole = DescribeText("{\"a\":1}\n{\"a\":2}\n", "feed.ndjson", {});
  Description half = DescribeText("{\"a\":2}\n", "feed.ndjson", {});
  half.part = TextExcerpt{.of = "feed.ndjson",
                          .index = 2,
                          .count = 2,
                          .start = 8,
                          .end = 16,
                          .total = 16,
                          .cut = TextExcerpt::Cut::kAtRecords,
                          .format = FormatLabel(whole),
                          .fields = whole.fields,
                          .fields_total = whole.fields_total};
  EXPECT_EQ(RenderHint(half, {}),
            "[Context available in context: part 2 of 2 of feed.ndjson]\n"
            "  Format: NDJSON (newline-delimited JSON)\n"
            "  Size: 8 chars, 1 line (chars 8 to 16 of 16)\n  Records: 1\n  Fields: a");
  EXPECT_EQ(dossier::ToJson(ContextMeta(half, Runtime::kPython).at("part")),
            R"({"index":2,"count":2,"start":8,"end":16})");
  half.part->cut = TextExcerpt::Cut::kAnywhere;
  half.part->index = half.part->count = 0;
  EXPECT_EQ(RenderHint(half, {}),
            "[Context available in context: a part of feed.ndjson]\n"
            "  Format: NDJSON (newline-delimited JSON)\n"
            "  Size: 8 chars, 1 line (chars 8 to 16 of 16)\n  Fields: a");
  EXPECT_EQ(dossier::ToJson(ContextMeta(half, Runtime::kJavascript).at("part")),
            R"({"index":null,"count":null,"start":8,"end":16})");
}

TEST(HintTest, UnnamedContentGetsOneLineAndRecordsOnlyIfCertain) {  // INS-102, INS-103, INS-104
  const Description ndjson = DescribeText("{\"a\":1}\n{\"a\":2}\n", "", {});
  EXPECT_EQ(RenderHint(ndjson, {.variable = "ctx"}),
            "[Context available in ctx (16 chars, 2 lines, detected: NDJSON)]\n"
            "  Records: 2\n  Fields: a\n  Sample: {\"a\":1}");
  EXPECT_EQ(RenderHint(DescribeText("plain words", "", {}), {}),
            "[Context available in context (11 chars, 1 line, detected: Plain text)]");
  EXPECT_EQ(RenderHint(ndjson, {.detail = HintDetail::kSizeOnly}),
            "[Context available in context (16 chars)]");
  const std::string ended = RenderHint(ndjson, {.tense = HintTense::kWasAvailable});
  EXPECT_THAT(ended, StartsWith("[Context was available in context (16 chars"));
  const std::string open = RenderHint(ndjson, {});
  EXPECT_EQ(ended.substr(ended.find('\n')), open.substr(open.find('\n')));
}

TEST(HintTest, BoundsAndMalformedRecordsAreShown) {  // INS-106
  Description d = DescribeText("{\"a\":1}\n{\"a\":2}\nx\n", "a.ndjson", {});
  EXPECT_THAT(RenderHint(d, {}), HasSubstr("\n  Records: 2 (1 malformed)\n"));
  d.records->exactness = d.counts.exactness = Exactness::kBound;
  EXPECT_THAT(RenderHint(d, {}), HasSubstr("\n  Size: ≥ 18 chars, ≥ 3 lines\n  Records: ≥ 2 ("));
}

TEST(HintTest, StaysWithinItsLengthByDroppingFieldsThenSample) {  // INS-107, INS-T18
  std::string record = "{";
  for (int i = 0; i < 300; ++i) {
    record += fmt::format("{}\"{}{}\":{}", i > 0 ? "," : "", std::string(30, 'f'), i, i);
  }
  record += "}\n";
  const Description d = DescribeText(record + record, "a.ndjson", {.fields = 300});
  EXPECT_EQ(d.fields_total, 300u);
  for (const std::size_t limit : {4096, 1000, 400}) {
    const std::string hint = RenderHint(d, {.max_chars = limit});
    EXPECT_LE(utf8::CodePoints(hint), limit);
    EXPECT_GT(utf8::CodePoints(hint), limit - 60);
    EXPECT_THAT(hint, HasSubstr(" more\n  Sample: {"));
  }
  EXPECT_THAT(RenderHint(DescribeText(record, "a.ndjson", {}), {}),
              HasSubstr(", … and 260 more\n"));
}

TEST(HintTest, DependsOnBytesAndBaseNameOnly) {  // INS-23, INS-108, INS-T1, INS-T21
  const std::string text = "id,name\n1,Ada\n2,Bob\n";
  auto a = TempFolder::Make(), b = TempFolder::Make();
  std::string hints[2];
  int index = 0;
  for (const auto* folder : {&*a, &*b}) {
    const std::string path = folder->path() + "/t.csv";
    ASSERT_TRUE(WriteFileAtomic(path, text));
    if (index == 1) std::setlocale(LC_ALL, "de_DE.UTF-8");
    const auto source = OpenFileSource(path);
    ASSERT_TRUE(source);
    hints[index] = RenderHint(*Describe(**source, {.threads = 1 + 7 * index}, {}), {});
    ++index;
  }
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(hints[0], hints[1]);
  EXPECT_THAT(hints[0], Not(HasSubstr(a->path())));
}

TEST(HintTest, SeveralDocumentsGetALineEachUpTo50) {  // INS-110
  std::vector<Description> documents;
  documents.push_back(DescribeText("a,b\n1,2\n3,4\n", "a.csv", {}));
  documents.push_back(DescribeText("text", "", {}));
  EXPECT_EQ(RenderHint(documents, {}),
            "[Context available in context: 2 documents, 16 chars]\n"
            "  0: a.csv (CSV, 12 chars, 2 records)\n"
            "    Fields: a, b\n"
            "  1: unnamed (Plain text, 4 chars)");
  while (documents.size() < 62) documents.push_back(documents[1]);
  EXPECT_THAT(RenderHint(documents, {}), EndsWith("\n  … and 12 more"));
  EXPECT_EQ(RenderHint(std::span<const Description>(documents).first(1), {}),
            RenderHint(documents[0], {}));
}

TEST(HintTest, SeveralDocumentsShowTheFieldsOfEach) {  // FLT-21
  std::vector<Description> documents;
  documents.push_back(DescribeText("a,b\n1,2\n3,4\n", "a.csv", {}));
  documents.push_back(DescribeText("{\"n\":1}\n{\"n\":NaN}\n", "b.ndjson", {}));
  documents.push_back(DescribeText("a,b\n5,6\n7,8\n", "c.csv", {}));
  EXPECT_EQ(RenderHint(documents, {.profile = HintProfile::kSmall}),
            "[Context available in context: 3 documents, 42 chars]\n"
            "  0: a.csv (CSV, 12 chars, 2 records)\n"
            "    Fields:\n    a: integer, seen: 1 to 3\n    b: integer, seen: 2 to 4\n"
            "  1: b.ndjson (NDJSON, 18 chars, 2 records (1 number is NaN or Infinity))\n"
            "    Fields:\n    n: integer or number, e.g. 1\n"
            "  2: c.csv (CSV, 12 chars, 2 records)\n"
            "    Fields: as in 0");
  std::string header, row;
  for (int i = 0; i < 300; ++i) {
    header += fmt::format("column_{},", i);
    row += fmt::format("{},", i);
  }
  for (int i = 0; i < 30; ++i) {
    documents.push_back(DescribeText(fmt::format("x{},{}\n1,{}\n2,{}\n", i, header, row, row),
                                     fmt::format("wide{}.csv", i), {}));
  }
  const std::string hint = RenderHint(documents, {});
  EXPECT_LE(hint.size(), 4200u) << "a few bytes more than characters";
  EXPECT_THAT(hint, HasSubstr("wide29.csv"));
  EXPECT_THAT(hint, HasSubstr("Fields: x0, column_0"));
  EXPECT_THAT(hint, HasSubstr(" more\n  4: "));
}

TEST(HintTest, SmallModelsGetALineForEachField) {  // INS-111
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("{{\"level\":\"{}\",\"ms\":{},\"who\":\"user {}\"{}}}\n",
                        i % 2 ? "INFO" : "WARN", i, i, i % 2 ? ",\"tags\":[\"arsenal\"]" : "");
  }
  EXPECT_THAT(RenderHint(DescribeText(text, "a.ndjson", {}), {.profile = HintProfile::kSmall}),
              HasSubstr("\n  Fields:\n"
                        "    level: string, seen: WARN, INFO\n"
                        "    ms: integer, seen: 0 to 19\n"
                        "    who: string, e.g. user 0\n"
                        "    tags (50 %): array, e.g. [\"arsenal\"]\n"));
}

TEST(HintTest, NoTextOfTheFileCanForgeALine) {  // INS-24, INS-76, INS-T18
  const Description d =
      DescribeText("id,te\"xt\n1,\"a\n  Source: evil\"\n", "a\n\"b\\\u202E.csv", {});
  const std::string hint = RenderHint(d, {});
  EXPECT_THAT(hint, HasSubstr("  Source: a\\n\\\"b\\\\\\u{202E}.csv\n"));
  EXPECT_THAT(hint, Not(HasSubstr("\n  Source: evil")));
  EXPECT_THAT(hint, HasSubstr("\\n  Source: evil"));
}

TEST(CleanTest, NamesAreEscapedAndCutInTheMiddle) {  // INS-24
  EXPECT_EQ(CleanName("a\nb.csv"), "a\\nb.csv");
  const std::string longest(120, 'x');
  EXPECT_EQ(CleanName(longest), longest);
  EXPECT_EQ(CleanName(std::string(100, 'a') + std::string(100, 'b')),
            std::string(80, 'a') + "…" + std::string(39, 'b'));
}

TEST(CleanTest, ControlsBecomeEscapes) {  // INS-76
  EXPECT_EQ(CleanText("a\nb\tc\rd\x01\u200B\u061C\uFEFF\u0085 é"),
            "a\\nb\\tc\\rd\\u{1}\\u{200B}\\u{61C}\\u{FEFF}\\u{85} é");
}

TEST(CleanTest, ASampleIsCutAtAGoodPlaceAndNeverInsideACluster) {  // INS-75, INS-T9
  EXPECT_FALSE(CutText(std::string(200, 'x'), 200).cut);
  EXPECT_EQ(CutText(std::string(201, 'x'), 200).text, std::string(200, 'x'));
  EXPECT_EQ(CutText(std::string(190, 'x') + ", " + std::string(50, 'y'), 200).text,
            std::string(190, 'x') + ", ");
  EXPECT_EQ(CutText(std::string(100, 'x') + "," + std::string(150, 'y'), 200).text.size(), 200u);
  EXPECT_EQ(CutText(std::string(199, 'x') + "e\u0301" + "zzz", 200).text, std::string(199, 'x'));
  EXPECT_EQ(CutText(std::string(199, 'x') + "👍🏽" + "zzz", 200).text, std::string(199, 'x'));
  EXPECT_EQ(CutText(std::string(195, 'x') + "\\u{202E}zz", 200).text, std::string(195, 'x'));
  EXPECT_EQ(CutText(std::string(199, 'x') + "😀😀", 200).text, std::string(199, 'x') + "😀");
}

TEST(CleanTest, ASecretAcrossTheCutIsGoneBeforeIt) {  // INS-77, INS-T9
  const std::string key = std::string("sk-aax8Kq2LwZ9vT") + "n4RbY7cMd1eQ5";
  const std::string record = fmt::format("{{\"t\":\"{}\",\"k\":\"{}\",\"n\":\"{}\"}}\n",
                                         std::string(170, 'x'), key, std::string(50, 'y'));
  const Description d = DescribeText(record + record, "a.ndjson", {});
  EXPECT_THAT(d.sample, Not(HasSubstr("sk-aa")));
  for (const Field& field : d.fields) EXPECT_THAT(field.example, Not(HasSubstr("sk-aa")));
  EXPECT_THAT(DescribeText(record, "a.ndjson", {.sample_chars = 400}).sample,
              HasSubstr("\"k\":\"[redacted:openai_key]\""));
  EXPECT_EQ(DescribeText(record, "a.ndjson", {.sample_chars = 0}).sample, "");
}

TEST(FieldTest, NamesThatCouldBeMisreadAreQuoted) {  // INS-72
  struct Case {
    std::string name, shown;  // the name as JSON text
  };
  const Case cases[] = {
      {R"("plain")", "plain"},  {R"("a.b")", R"("a.b")"},   {R"("a,b")", R"("a,b")"},
      {R"("a{b")", R"("a{b")"}, {R"("a(b")", R"("a(b")"},   {R"("a\"b")", R"("a\"b")"},
      {R"("a'b")", R"("a'b")"}, {R"("a\nb")", R"("a\nb")"}, {R"(" a")", R"(" a")"},
      {R"("a ")", R"("a ")"},   {R"("")", R"("")"},         {R"("a b")", "a b"},
      {R"("größe")", "größe"},
  };
  for (const Case& c : cases) {
    const Description d = DescribeText("{" + c.name + ":1}\n{" + c.name + ":2}\n", "a.ndjson", {});
    ASSERT_EQ(d.fields.size(), 1u) << c.name;
    EXPECT_EQ(d.fields[0].shown, c.shown) << c.name;
  }
  // Numbers as names keep their place (a map of a script language would move them to the front).
  const Description numbers = DescribeText("{\"b\":1,\"10\":2,\"9\":3}\n{}\n", "a.ndjson", {});
  EXPECT_THAT(RenderHint(numbers, {}), HasSubstr("Fields: b (50 %), 10 (50 %), 9 (50 %)\n"));
}

TEST(FieldTest, AfterFortyFieldsTheRestIsCounted) {  // INS-73
  std::string record = "{";
  for (int i = 0; i < 52; ++i) record += fmt::format("{}\"f{}\":{}", i > 0 ? "," : "", i, i);
  record += "}\n";
  const std::string hint = RenderHint(DescribeText(record + record, "a.ndjson", {}), {});
  EXPECT_THAT(hint, HasSubstr(", f39, … and 12 more\n"));
  EXPECT_THAT(hint, Not(HasSubstr("f40,")));
  const Description few = DescribeText(record + record, "a.ndjson", {.fields = 3});
  EXPECT_THAT(RenderHint(few, {}), HasSubstr("Fields: f0, f1, f2, … and 49 more\n"));

  const std::string exact(80, 'n'), longer(81, 'n');
  const auto shown = [](const std::string& name) {
    return DescribeText(fmt::format("{{\"{0}\":1}}\n{{\"{0}\":2}}\n", name), "a.ndjson", {})
        .fields[0]
        .shown;
  };
  EXPECT_EQ(shown(exact), exact);
  EXPECT_EQ(shown(longer), exact + "…");
}

// INS-70, INS-71, INS-72, INS-145
TEST(FieldTest, NamesAreUnitedInFirstSeenOrderWithPresence) {
  struct Case {
    std::string text;
    int depth;
    std::string fields;
  };
  const Case cases[] = {
      {"{\"a\":1}\n{\"b\":2,\"a\":3}\n{\"c\":1}\n", 1, "a (66 %), b (33 %), c (33 %)"},
      {"{\"e\":{\"x\":{\"u\":1}},\"l\":[1]}\n{\"e\":{\"x\":{\"u\":1}},\"l\":[]}\n", 0, "e{…}, l"},
      {"{\"e\":{\"x\":{\"u\":1}},\"l\":[1]}\n{\"e\":{\"x\":{\"u\":1}},\"l\":[]}\n", 1, "e.x{…}, l"},
      {"{\"e\":{\"x\":{\"u\":1}},\"l\":[1]}\n{\"e\":{\"x\":{\"u\":1}},\"l\":[]}\n", 2, "e.x.u, l"},
      {"{\"e\":{}}\n{\"e\":{}}\n", 1, "e{…}"},
      {"{\"a.b\":1,\" c\":2,\"\":3,\"d,e\":4,\"f\\\"\":5,\"10\":6,\"9\":7}\n{}\n", 1,
       "\"a.b\" (50 %), \" c\" (50 %), \"\" (50 %), \"d,e\" (50 %), \"f\\\"\" (50 %), 10 (50 %), "
       "9 (50 %)"},
  };
  for (const Case& c : cases) {
    const std::string hint = RenderHint(DescribeText(c.text, "a.ndjson", {.depth = c.depth}), {});
    EXPECT_THAT(hint, HasSubstr("\n  Fields: " + c.fields + "\n")) << c.text;
  }
  const Description d = DescribeText("{\"a\":\"\"}\n{\"a\":\"b\\nc\"}\n", "a.ndjson", {});
  EXPECT_EQ(d.fields[0].example, "b\\nc");
}

TEST(FieldTest, TheMainTextFieldHasTheBestNameAndLength) {  // INS-78, INS-79, INS-T10
  const std::string text(60, 'x'), longer(120, 'x'), less(49, 'x');
  struct Case {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string main;
  };
  const Case cases[] = {
      {{{"url", longer}, {"body_markdown", text}}, "body_markdown"},
      {{{"description", longer}, {"text", text}}, "text"},
      {{{"one", text}, {"two", text}}, "one"},
      {{{"text", less}}, ""},
      {{{"identity", text}}, "identity"},
      {{{"linkedText", text}, {"imageUrl", longer}}, "linkedText"},
      {{{"user_id", longer}, {"avatarURL", longer}, {"file-path", longer}}, ""},
  };
  for (const Case& c : cases) {
    std::string json = "{", header, row;
    for (const auto& [name, value] : c.fields) {
      json += fmt::format("{}\"{}\":\"{}\"", json.size() > 1 ? "," : "", name, value);
      header += (header.empty() ? "" : ",") + name;
      row += (row.empty() ? "" : ",") + value;
    }
    json += "}\n";
    EXPECT_EQ(DescribeText(json + json, "a.ndjson", {}).main_text_field, c.main) << json;
    EXPECT_EQ(DescribeText(header + "\n" + row + "y\n" + row + "\n", "a.csv", {}).main_text_field,
              c.main);
  }
}

TEST(ContextMetaTest, HasTheKeysOfTheSpecAndTheLengthOfTheRuntime) {  // INS-120, INS-121
  const Description d = DescribeText("{\"text\":\"\U0001F600\"}\n{\"n\":1}\n", "feed.ndjson", {});
  const std::string python = dossier::ToJson(ContextMeta(d, Runtime::kPython));
  EXPECT_EQ(python,
            "{\"schema\":\"dossier.contextMeta/1\",\"fileName\":\"feed.ndjson\",\"format\":"
            "\"ndjson\",\"bytes\":24,\"chars\":21,\"length\":21,\"lengthUnit\":\"code points\","
            "\"lines\":2,\"recordCount\":2,\"malformed\":0,\"exact\":true,\"fields\":[\"text\","
            "\"n\"],\"fieldInfo\":[{\"path\":[\"text\"],\"types\":[\"string\"],\"presence\":0.5,"
            "\"example\":\"\U0001F600\"},{\"path\":[\"n\"],\"types\":[\"integer\"],\"presence\":"
            "0.5,\"example\":\"1\"}],\"delimiter\":null,\"hasHeader\":null,\"encoding\":\"utf-8\","
            "\"primaryTextField\":null,\"sampleRecord\":\"{\\\"text\\\":\\\"\U0001F600\\\"}\","
            "\"part\":null}");
  const Json javascript = ContextMeta(d, Runtime::kJavascript);
  EXPECT_EQ(FindInt(javascript, "length"), 22);
  EXPECT_EQ(FindInt(javascript, "chars"), 21);
  EXPECT_EQ(FindString(javascript, "lengthUnit"), "utf-16 units");
  const Json unnamed = ContextMeta(DescribeText("a,b\n1,2\n3,4\n", "", {}), Runtime::kPython);
  EXPECT_TRUE(unnamed.at("fileName").is_null());
  EXPECT_EQ(FindString(unnamed, "delimiter"), ",");
  EXPECT_EQ(FindBool(unnamed, "hasHeader"), true);
}

}  // namespace
}  // namespace dossier::inspect
