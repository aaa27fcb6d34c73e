#include "ask/documents/document_service.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using inspect::Format;

constexpr std::string_view kLog =
    "2024-11-02 15:30:00 INFO gate 1 closed\n"
    "2024-11-02 15:30:01 ERROR é timeout\n"
    "  at f()\n"
    "2024-11-02 15:30:02 ERROR timeout after timeout\n";
constexpr std::string_view kPlain = "naïve café\r\n\r\nsecond é line\rthird";

TextDocument Document(std::string_view text, Format format, std::string name) {
  TextDocument document{.name = name, .text = text, .description = {}};
  document.description.name = std::move(name);
  document.description.format = format;
  if (format == Format::kLog) document.description.log_shape = "timestamp-level";
  return document;
}

std::vector<TextDocument> Documents() {
  return {Document(kLog, Format::kLog, "app.log"),
          Document("{\"id\":1}\n{\"id\":2}\n\n{\"id\":3}\n", Format::kNdjson, "b.ndjson"),
          Document(kPlain, Format::kPlainText, "c.txt")};
}

class DocumentServiceTest : public ::testing::Test {
 protected:
  Result<Json> Ask(std::string_view method, std::string_view args) {
    return service_.Handle(method, ParseJson(args)->get_object(), &raw_, {});
  }
  std::string Answer(std::string_view method, std::string_view args) {
    const auto value = Ask(method, args);
    return value ? ToJson(*value) : value.error().message;
  }

  DocumentService service_{Documents()};
  std::string raw_ = "left over";
};

TEST_F(DocumentServiceTest, EveryMethodAnswers) {  // SBX-31
  struct Case {
    std::string_view method, args, answer;
  };
  constexpr Case kCases[] = {
      {"info", R"({"ctx":2})", R"({"name":"c.txt","bytes":36,"chars":33,"lines":4})"},
      {"grep", R"({"pattern":"ERROR.*timeout$"})",
       R"({"matches":[{"at":59,"len":16,"line":2,"line_at":39,"line_len":36},)"
       R"({"at":105,"len":27,"line":4,"line_at":85,"line_len":47}],"total":2,"cut":false})"},
      {"grep", R"({"ctx":0,"pattern":"TIMEOUT","ignore_case":true,"max":1,"context":1})",
       R"({"matches":[{"at":68,"len":7,"line":2,"line_at":39,"line_len":36,)"
       R"("context_at":0,"context_len":84}],"total":2,"cut":true})"},
      {"grep", R"({"pattern":"timeout","each":"match","max":0})",
       R"({"matches":[],"total":3,"cut":true})"},
      {"count", R"({"text":"timeout"})", R"({"count":3})"},
      {"count", R"({"ctx":2,"text":""})", R"({"count":34})"},
      {"find", R"({"text":"timeout"})", R"({"at":68})"},
      {"find", R"({"text":"timeout","from_byte":69})", R"({"at":111})"},
      {"find", R"({"text":"timeout","from_byte":69,"to_byte":117})", R"({"at":-1})"},
      {"find", R"({"text":"","from_byte":5})", R"({"at":5})"},
      {"find", R"({"text":"x","from_byte":9999})", R"({"at":-1})"},
      {"lines", R"({"ctx":2,"from":1,"to":3})", R"({"at":14,"len":17})"},
      {"lines", R"({"ctx":2,"from":3,"to":99})", R"({"at":31,"len":5})"},
      {"lines", R"({"ctx":2,"from":3,"to":1})", R"({"at":31,"len":0})"},
      {"lines", R"({"ctx":2,"from":98,"to":99})", R"({"at":36,"len":0})"},
      {"line_count", R"({"ctx":0})", R"({"count":4})"},
      {"records_info", R"({"ctx":1})", R"({"count":3,"format":"ndjson","fields":[]})"},
      {"records_info", R"({"ctx":2})",
       R"({"count":null,"format":"plain-text","fields":[],"label":"Plain text"})"},
      {"record_span", R"({"ctx":1,"from":1,"to":3})", R"({"at":9,"len":18})"},
      {"record_span", R"({"ctx":1,"from":3,"to":3})", R"({"at":28,"len":0})"},
      {"locate", R"({"ctx":2,"byte":5})", R"({"char":4,"line":0})"},
      {"locate", R"({"ctx":2,"byte":36})", R"({"char":33,"line":3})"},
      {"char_to_byte", R"({"ctx":2,"chars":[0,2,3,33]})", R"({"bytes":[0,2,4,36]})"},
      {"byte_to_char", R"({"ctx":2,"bytes":[0,2,3,4,36]})", R"({"chars":[0,2,2,3,33]})"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Answer(c.method, c.args), c.answer) << c.method << " " << c.args;
    EXPECT_EQ(raw_, "");
    EXPECT_TRUE(DocumentService::Knows(c.method));
  }
}

TEST_F(DocumentServiceTest, RowsGoIntoTheRawPart) {  // REC-19, INS-144
  EXPECT_EQ(Answer("records", R"({"ctx":1,"from":1,"max_records":5,"max_bytes":100})"),
            R"({"rows":{"blob":[0,19]},"first":1,"next":3,"count":3})");
  EXPECT_EQ(raw_, R"([{"id":2},{"id":3}])");
  EXPECT_EQ(Answer("records", R"({"ctx":1,"from":3})"),
            R"({"rows":{"blob":[0,2]},"first":3,"next":3,"count":3})");
  EXPECT_EQ(raw_, "[]");
  EXPECT_EQ(Answer("records", R"({"ctx":0,"from":1,"max_records":1})"),
            R"({"rows":{"blob":[0,81]},"first":1,"next":2,"count":3})");
  EXPECT_EQ(raw_, R"x([{"time":"2024-11-02 15:30:01","level":"ERROR",)x"
                  R"x("message":"é timeout\n  at f()"}])x");
}

TEST_F(DocumentServiceTest, ATextWithoutRecordsSaysWhatToUse) {
  EXPECT_THAT(Ask("records", R"({"ctx":2})"),
              FailsWith(ErrorCode::kInvalidArgument,
                        "c.txt has no records: it is plain-text; use context.splitlines() or "
                        "doc.lines(a, b) instead"));
  EXPECT_THAT(Ask("record_span", R"({"ctx":2,"from":0,"to":0})"),
              FailsWith(ErrorCode::kInvalidArgument, "doc.lines(a, b)"));
}

TEST_F(DocumentServiceTest, EveryBadArgumentIsRefusedByName) {  // SBX-93
  struct Case {
    std::string_view method, args, message;
  };
  constexpr Case kCases[] = {
      {"grep", R"({})", "grep: pattern is missing"},
      {"grep", R"({"pattern":7})", "grep: pattern must be a text"},
      {"grep", R"({"pattern":"a","max":-1})", "grep: max is -1; it must not be negative"},
      {"grep", R"({"pattern":"a","max":1.5})", "grep: max must be a whole number"},
      {"grep", R"({"pattern":"a","max":true})", "grep: max must be a whole number"},
      {"grep", R"({"pattern":"a","ignore_case":1})", "grep: ignore_case must be true or false"},
      {"grep", R"({"pattern":"a","context":101})", "grep: context is 101; it must be at most 100"},
      {"grep", R"({"pattern":"a","each":"byte"})", "grep: each must be one of line, match"},
      {"grep", R"({"pattern":"a(b"})", "pattern \"a(b\" is not a regular expression"},
      {"grep", R"x({"pattern":"(?=x)"})x", "look-around"},
      {"grep", R"({"pattern":"a","flags":"i"})", "grep: there is no argument flags; there are ctx"},
      {"grep", R"({"pattern":"a","ctx":3})", "grep: ctx is 3; there are 3 documents"},
      {"grep", R"({"pattern":"a","ctx":"0"})", "grep: ctx must be a whole number"},
      {"count", R"({"text":null})", "count: text is missing"},
      {"find", R"({"text":"a","from_byte":-5})", "find: from_byte is -5"},
      {"lines", R"({"from":0})", "lines: to is missing"},
      {"records", R"({"ctx":1,"from":4})", "records: from is 4; there are 3 records"},
      {"records", R"({"ctx":1,"max_bytes":"1"})", "records: max_bytes must be a whole number"},
      {"record_span", R"({"ctx":1,"from":2,"to":1})", "record_span: from 2 and to 1"},
      {"record_span", R"({"ctx":1,"from":2,"to":4})", "at most 3"},
      {"locate", R"({"ctx":2,"byte":37})", "locate: byte is 37; it must be at most 36"},
      {"char_to_byte", R"({"ctx":2,"chars":[34]})", "char_to_byte: chars is 34"},
      {"char_to_byte", R"({"ctx":2,"chars":7})", "chars must be a list of whole numbers"},
      {"byte_to_char", R"({"ctx":2,"bytes":[0,"1"]})", "bytes must be a whole number"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(Ask(c.method, c.args),
                FailsWith(ErrorCode::kInvalidArgument, std::string(c.message)))
        << c.method << " " << c.args;
  }
  EXPECT_THAT(Ask("open", "{}"), FailsWith(ErrorCode::kNotFound, "there is no method open"));
  EXPECT_FALSE(DocumentService::Knows("open"));
  const std::string long_pattern(70'000, 'a');
  EXPECT_THAT(service_.Handle("grep", {{"pattern", long_pattern}}, &raw_, {}),
              FailsWith(ErrorCode::kInvalidArgument, "pattern has 70000 bytes"));
  EXPECT_THAT(service_.Handle("char_to_byte", {{"chars", JsonArray(100'001, 0)}}, &raw_, {}),
              FailsWith(ErrorCode::kInvalidArgument, "chars has 100,001 items"));
}

TEST_F(DocumentServiceTest, HugeLimitsAreClamped) {  // SBX-93
  EXPECT_EQ(Answer("records", R"({"ctx":1,"max_records":18446744073709551615,)"
                              R"("max_bytes":18446744073709551615})"),
            R"({"rows":{"blob":[0,28]},"first":0,"next":3,"count":3})");
  EXPECT_EQ(Ask("grep", R"({"pattern":"o","max":18446744073709551615})")->at("total"), Json(3));
  const auto hits = Ask("search", R"({"query":"timeout","k":18446744073709551615})");
  EXPECT_EQ(hits->at("hits").as_array().size(), 2u);
}

TEST_F(DocumentServiceTest, SearchRanksByRareWords) {
  const auto found = Ask("search", R"({"query":"which Gates closed?","k":3})");
  ASSERT_TRUE(found);
  const JsonArray& hits = found->at("hits").as_array();
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].at("at"), Json(0));
  EXPECT_GT(hits[0].at("score").as_double(), 0);
  EXPECT_EQ(Answer("search", R"({"query":""})"), R"({"hits":[]})");
  EXPECT_EQ(Answer("search", R"({"query":"timeout","k":0})"), R"({"hits":[]})");
}

TEST(DocumentServiceWindowTest, ATextAcrossTwoWindowsIsFound) {  // SBX-31
  constexpr std::size_t kWindow = 64 << 20;
  for (const std::size_t before : {kWindow - 5, kWindow, kWindow + 1}) {
    std::string text(before, 'a');
    text += "needle" + std::string(10, 'b');
    DocumentService service({Document(text, Format::kPlainText, "big.txt")});
    std::string raw;
    const auto at = service.Handle("find", {{"text", "needle"}}, &raw, {});
    EXPECT_EQ(at->at("at"), Json(before));
    EXPECT_EQ(service.Handle("count", {{"text", "needle"}}, &raw, {})->at("count"), Json(1));
  }
}

TEST_F(DocumentServiceTest, WorkStopsWhenItIsCancelled) {
  CancelSource source;
  source.Cancel("deadline");
  for (const std::string_view method : {"grep", "count", "find", "search", "records"}) {
    const JsonObject args = method == "grep"      ? JsonObject{{"pattern", "x"}}
                            : method == "search"  ? JsonObject{{"query", "timeout"}}
                            : method == "records" ? JsonObject{}
                                                  : JsonObject{{"text", "x"}};
    EXPECT_THAT(service_.Handle(method, args, &raw_, source.token()),
                FailsWith(ErrorCode::kCancelled, "stopped"))
        << method;
  }
  EXPECT_EQ(Answer("records_info", R"({"ctx":0})"), R"({"count":3,"format":"log","fields":[]})");
}

TEST_F(DocumentServiceTest, ARequestIsQuickOnceItsIndexIsThere) {
  const JsonObject first = {{"ctx", 0}};
  for (const std::string_view method : {"records_info", "line_count", "byte_to_char"}) {
    EXPECT_FALSE(service_.IsQuick(method, first)) << method;
  }
  Answer("records_info", "{}");
  EXPECT_TRUE(service_.IsQuick("records", first));
  EXPECT_FALSE(service_.IsQuick("records", {{"ctx", 1}}));
  EXPECT_FALSE(service_.IsQuick("info", first));
  Answer("info", "{}");
  for (const std::string_view method : {"info", "locate", "lines", "char_to_byte"}) {
    EXPECT_TRUE(service_.IsQuick(method, first)) << method;
  }
  EXPECT_FALSE(service_.IsQuick("grep", first));
  // A refusal is immediate.
  EXPECT_TRUE(service_.IsQuick("open", first));
  EXPECT_TRUE(service_.IsQuick("grep", {{"ctx", 7}}));
}

TEST_F(DocumentServiceTest, ManyThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::string raw;
        const auto rows = service_.Handle("records", {{"ctx", 1}}, &raw, {});
        wrong += rows && raw == R"([{"id":1},{"id":2},{"id":3}])" ? 0 : 1;
        wrong += service_.Handle("info", {{"ctx", 2}}, &raw, {}) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(DocumentServiceFuzzTest, NoRequestBreaksTheService) {  // SBX-93
  Random random(/*seed=*/93);
  std::vector<std::string> texts;
  for (int i = 0; i < 4; ++i) texts.push_back(random.Utf8(3000));
  std::vector<TextDocument> documents;
  for (const Format format : {Format::kNdjson, Format::kCsv, Format::kDeb822, Format::kPlainText}) {
    documents.push_back(Document(texts[documents.size()], format, "x"));
  }
  DocumentService service(std::move(documents));
  constexpr std::string_view kMethods[] = {
      "info",   "grep",         "search",      "count",        "find",
      "lines",  "line_count",   "records",     "records_info", "record_span",
      "locate", "char_to_byte", "byte_to_char"};
  constexpr std::string_view kNames[] = {"ctx",  "pattern", "max",   "query",      "k",
                                         "text", "from",    "to",    "from_byte",  "to_byte",
                                         "byte", "chars",   "bytes", "max_records"};
  const Json values[] = {0,
                         1,
                         2,
                         -1,
                         3000,
                         1.5,
                         "a",
                         "",
                         "[a-",
                         "(.|\n)*",
                         nullptr,
                         true,
                         JsonArray{0, 5, 10},
                         std::numeric_limits<std::uint64_t>::max()};
  for (int round = 0; round < 5000; ++round) {
    JsonObject args;
    for (std::uint64_t i = random.Below(5); i > 0; --i) {
      args[kNames[random.Below(std::size(kNames))]] = values[random.Below(std::size(values))];
    }
    std::string raw;
    const auto answer = service.Handle(kMethods[random.Below(std::size(kMethods))], args, &raw, {});
    if (!answer) {
      EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument) << answer.error().message;
    }
  }
}

}  // namespace
}  // namespace dossier::ask
