#include "inspect/formats/log_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "inspect/formats/log_time.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

LogFields Parse(LogShape shape, std::string_view line) {
  LogFields fields;
  EXPECT_TRUE(ParseLogLine(shape, line, &fields)) << line;
  return fields;
}

TEST(LogShapeTest, TimeLevelAndTextInTheUsualLayouts) {  // INS-141
  struct Case {
    std::string_view line, time, level, message;
  };
  constexpr Case kCases[] = {
      {"2024-11-02 15:30:00 ERROR disk full", "2024-11-02 15:30:00", "ERROR", "disk full"},
      {"2024-11-02T15:30:00.123Z info started", "2024-11-02T15:30:00.123Z", "info", "started"},
      {"2024-11-02 15:30:00,123 - app.db - WARNING - slow", "2024-11-02 15:30:00,123", "WARNING",
       "app.db - slow"},
      {"[2024-11-02 15:30:00] INFO: up", "[2024-11-02 15:30:00]", "INFO", "up"},
      {"2024-11-02 15:30:00.5  INFO 12 --- [main] c.A : up", "2024-11-02 15:30:00.5", "INFO",
       "12 --- [main] c.A : up"},
      {"15:30:00.123 [main] DEBUG com.a - x", "15:30:00.123", "DEBUG", "[main] com.a - x"},
      {"2024/11/02 15:30:00 [error] 12#0: *1 open() failed", "2024/11/02 15:30:00", "error",
       "12#0: *1 open() failed"},
      {"[Sat Nov 02 15:30:00.12 2024] [core:error] [pid 3] AH00", "[Sat Nov 02 15:30:00.12 2024]",
       "error", "[pid 3] AH00"},
      {"24/11/02 15:30:00 INFO executor.Executor: run", "24/11/02 15:30:00", "INFO",
       "executor.Executor: run"},
      {"[INFO] 2024-11-02 15:30:00 up", "2024-11-02 15:30:00", "INFO", "up"},
      {"2024-11-02T15:30:00+02:00 WARN", "2024-11-02T15:30:00+02:00", "WARN", ""},
  };
  for (const Case& c : kCases) {
    std::string_view time = c.time;
    if (time.starts_with('[')) time = time.substr(1, time.size() - 2);
    EXPECT_THAT(Parse(LogShape::kTimestampLevel, c.line),
                ElementsAre(Pair("time", std::string(time)), Pair("level", std::string(c.level)),
                            Pair("message", std::string(c.message))))
        << c.line;
  }
}

TEST(LogShapeTest, TextWithoutTimeOrLevelDoesNotFit) {  // INS-141
  constexpr std::string_view kLines[] = {
      "",
      "ERROR disk full",
      "2024-11-02 15:30:00 all is well",
      "2024-11-02 15:30:00 the error was ours",
      "2024-11-02 ERROR no time",
      "    at com.example.Main.run(Main.java:12)",
      "2024-11-02 15:30:00ERROR glued",
      "[2024-11-02 15:30:00 ERROR not closed",
  };
  for (const std::string_view line : kLines) {
    EXPECT_FALSE(FitsLogShape(LogShape::kTimestampLevel, line)) << line;
  }
}

TEST(LogShapeTest, SyslogInItsThreeForms) {  // INS-141
  EXPECT_THAT(
      Parse(LogShape::kSyslog, "Jan  2 03:04:05 mars cron[81]: (root) CMD x"),
      ElementsAre(Pair("time", "Jan  2 03:04:05"), Pair("host", "mars"), Pair("program", "cron"),
                  Pair("pid", "81"), Pair("message", "(root) CMD x")));
  EXPECT_THAT(Parse(LogShape::kSyslog, "<30>2024-01-02T03:04:05.1+00:00 mars kernel: [ 0.0] up"),
              ElementsAre(Pair("time", "2024-01-02T03:04:05.1+00:00"), Pair("host", "mars"),
                          Pair("program", "kernel"), Pair("message", "[ 0.0] up")));
  EXPECT_THAT(Parse(LogShape::kSyslog,
                    R"(<34>1 2024-01-02T03:04:05Z mars su 7 ID47 [x@1 a="]\"" b="2"][y@1] failed)"),
              ElementsAre(Pair("time", "2024-01-02T03:04:05Z"), Pair("host", "mars"),
                          Pair("program", "su"), Pair("pid", "7"), Pair("message", "failed")));
  EXPECT_FALSE(FitsLogShape(LogShape::kSyslog, "Jan  2 03:04:05 mars last message repeated"));
  EXPECT_FALSE(FitsLogShape(LogShape::kSyslog, "Jan  2 03:04:05 mars: gone"));
}

TEST(LogShapeTest, AccessLogs) {  // INS-141
  constexpr std::string_view kCommon =
      R"(10.0.0.1 - ann [10/Oct/2024:13:55:36 -0700] "GET /a?q=\"x\" HTTP/1.0" 200 2326)";
  EXPECT_THAT(Parse(LogShape::kCommonAccess, kCommon),
              ElementsAre(Pair("client", "10.0.0.1"), Pair("user", "ann"),
                          Pair("time", "10/Oct/2024:13:55:36 -0700"),
                          Pair("request", R"(GET /a?q=\"x\" HTTP/1.0)"), Pair("status", "200"),
                          Pair("size", "2326")));
  const std::string combined =
      R"(::1 - - [10/Oct/2024:13:55:36 -0700] "-" 408 - "-" "curl/8" "extra")";
  EXPECT_THAT(Parse(LogShape::kCombinedAccess, combined),
              ElementsAre(Pair("client", "::1"), Pair("time", "10/Oct/2024:13:55:36 -0700"),
                          Pair("request", "-"), Pair("status", "408"), Pair("agent", "curl/8"),
                          Pair("more", R"("extra")")));
  EXPECT_THAT(
      Parse(LogShape::kCombinedAccess,
            R"(w.x.y:443 10.0.0.1 - J Doe [10/Oct/2024:13:55:36 -0700] "GET /" 200 5 "-" "a")"),
      ElementsAre(Pair("vhost", "w.x.y:443"), Pair("client", "10.0.0.1"), Pair("user", "J Doe"),
                  Pair("time", "10/Oct/2024:13:55:36 -0700"), Pair("request", "GET /"),
                  Pair("status", "200"), Pair("size", "5"), Pair("agent", "a")));
  EXPECT_FALSE(FitsLogShape(LogShape::kCombinedAccess, kCommon));
  EXPECT_FALSE(FitsLogShape(LogShape::kCommonAccess, combined));
}

TEST(LogShapeTest, LogfmtKeysAreFields) {  // INS-141
  EXPECT_THAT(
      Parse(LogShape::kLogfmt, R"(level=info msg="two \"big\"\nwords" n=3 path=C:\x empty=)"),
      ElementsAre(Pair("level", "info"), Pair("msg", "two \"big\"\nwords"), Pair("n", "3"),
                  Pair("path", R"(C:\x)"), Pair("empty", "")));
  for (const std::string_view line :
       {"a=1", "a=1 b", "a=1 b=\"open", "=1 b=2", "a=\"x\"y b=2", "plain words here"}) {
    EXPECT_FALSE(FitsLogShape(LogShape::kLogfmt, line)) << line;
  }
}

TEST(LogShapeTest, TheShapeThatSaysMostIsFound) {  // INS-141
  struct Case {
    std::string_view line, shape;
  };
  constexpr Case kCases[] = {
      {"2024-11-02 15:30:00 ERROR disk full\n", "timestamp-level"},
      {"Jan  2 03:04:05 mars cron[81]: x\n", "syslog"},
      {"2024-11-02T15:30:00Z INFO worker[1]: up\n", "timestamp-level"},
      {"1.2.3.4 - - [10/Oct/2024:13:55:36 -0700] \"GET / H\" 200 1\n", "common-access"},
      {"1.2.3.4 - - [10/Oct/2024:13:55:36 -0700] \"GET / H\" 200 1 \"-\" \"c\"\n",
       "combined-access"},
      {"ts=2024-11-02T15:30:00Z level=info msg=up\n", "logfmt"},
      {"it rains in Spain\n", ""},
      {"", ""},
  };
  for (const Case& c : kCases) {
    const std::string text = fmt::format("{0}{0}{0}", c.line);
    EXPECT_EQ(DetectLog(text).shape, c.shape) << text;
    EXPECT_EQ(DetectLog(text).fits, !c.shape.empty()) << text;
  }
  EXPECT_THAT(DetectLog("a=1 b=2\nb=3 c=4\n").field_names, ElementsAre("a", "b", "c"));
}

TEST(LogShapeTest, FourLinesInFiveMustFit) {  // INS-141
  const std::string fits = "2024-11-02 15:30:00 ERROR x\n";
  EXPECT_TRUE(DetectLog(fits + fits + fits + fits + "odd\n").fits);
  EXPECT_FALSE(DetectLog(fits + fits + fits + "odd\n").fits);
  // FLT-26: what is indented behind a fitting line is a trace, and does not count.
  EXPECT_TRUE(DetectLog(fits + "X: y\n  at f()\n  at g()\n").fits);
  EXPECT_FALSE(DetectLog("X: y\n  at f()\n" + fits).fits);
}

TEST(LogShapeTest, AStackTraceBelongsToTheRecordAboveIt) {  // INS-141, INS-T20
  constexpr std::string_view kLog =
      "starting up\n"
      "2024-11-02 15:30:00 INFO one\n"
      "2024-11-02 15:30:01 ERROR two\n"
      "java.lang.Exception: x\n"
      "    at a.b(C.java:1)\n"
      "\n"
      "2024-11-02 15:30:02 INFO three\n";
  const std::vector<TextRecord> records = ParseLogHead(kLog, "timestamp-level", 100);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1][2].second, "two\njava.lang.Exception: x\n    at a.b(C.java:1)");
  EXPECT_EQ(records[2][2].second, "three");
  EXPECT_THAT(ParseLogRecord(LogShape::kCommonAccess,
                             "h - - [10/Oct/2024:13:55:36 -0700] \"G\" 200 1\n  more"),
              ::testing::Contains(Pair("continuation", "  more")));
}

TEST(LogShapeTest, CountsAndRangesAgreeWhateverTheSplit) {  // INS-141
  constexpr std::string_view kPieces[] = {"2024-11-02 15:30:00 INFO x\n",
                                          "2024-11-02 15:30:00 WARN y\r\n",
                                          "15:30:00 [DEBUG] z\r",
                                          "  at f()\n",
                                          "\n",
                                          "\r\n",
                                          "Caused by: é\n",
                                          "15:30:00 ERROR open end"};
  Random random(/*seed=*/141);
  for (int round = 0; round < 100; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    std::uint64_t ranges = 0;
    std::size_t position = 0;
    for (ByteRange range; NextLogRecord(LogShape::kTimestampLevel, text, &position, &range);
         ++ranges) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_LE(range.end, text.size());
    }
    for (std::size_t split = 0; split <= text.size(); ++split) {
      auto counter = MakeLogCounter("timestamp-level");
      counter->Feed(std::string_view(text).substr(0, split));
      counter->Feed(std::string_view(text).substr(split));
      ASSERT_EQ(counter->Finish(), ranges) << text << " split at " << split;
    }
  }
}

TEST(LogShapeTest, ALineOfAnyLengthIsJudgedByItsStart) {
  const std::string line = "2024-11-02 15:30:00 INFO " + std::string(300'000, 'x');
  EXPECT_EQ(Parse(LogShape::kTimestampLevel, line)[2].second.size(), 300'000u);
  auto counter = MakeLogCounter("timestamp-level");
  for (const char c : line + "\n" + line) counter->Feed({&c, 1});
  EXPECT_EQ(counter->Finish(), 2u);
}

TEST(LogShapeTest, HostileLinesNeverReadBeyondTheirEnd) {
  constexpr std::string_view kParts[] = {"2024-11-02", "T", " ",     "15:30:00", ".", "+",
                                         "[",          "]", "\"",    "\\",       "=", "<34>1 ",
                                         "Jan",        "-", "ERROR", ":",        "a"};
  Random random(/*seed=*/142);
  for (int round = 0; round < 5000; ++round) {
    std::string line;
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      line += kParts[random.Below(std::size(kParts))];
    }
    for (const LogShape shape : LogShapes()) {
      LogFields fields;
      EXPECT_EQ(ParseLogLine(shape, line, &fields), FitsLogShape(shape, line)) << line;
    }
    EXPECT_LE(TimestampLength(line), line.size());
  }
}

}  // namespace
}  // namespace dossier::inspect
