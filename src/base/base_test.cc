#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/json/exact_json.h"
#include "base/json/json.h"
#include "base/json/json_lexer.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

TEST(ResultTest, EveryCodeHasANameAndAnExitCodeOfTheTable) {
  EXPECT_EQ(ExitCode(ErrorCode::kUsage), 2);
  EXPECT_EQ(ExitCode(ErrorCode::kRefused), 12);
  EXPECT_EQ(ExitCode(ErrorCode::kCancelled), 130);
  EXPECT_EQ(ExitCode(ErrorCode::kPartial), 13);         // CON-4
  EXPECT_EQ(ExitCode(ErrorCode::kContextCommand), 14);  // CON-4, CON-26
  EXPECT_EQ(ErrorName(ErrorCode::kContextCommand), "context_command_failed");
  EXPECT_EQ(ErrorName(ErrorCode::kTooLong), "too_long");
}

TEST(CancelTest, AChildIsCancelledWithItsParentAndCallbacksRunOnce) {
  CancelSource parent;
  CancelSource child(parent.token());
  int calls = 0;
  child.token().OnCancel([&] { ++calls; });
  EXPECT_FALSE(child.token().cancelled());
  parent.Cancel("interrupted");
  parent.Cancel("again");
  EXPECT_TRUE(child.token().cancelled());
  EXPECT_EQ(child.token().reason(), "interrupted");
  EXPECT_EQ(calls, 1);
  child.token().OnCancel([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(CancelTest, AForgottenCallbackDoesNotRun) {
  CancelSource source;
  int calls = 0;
  source.token().Forget(source.token().OnCancel([&] { ++calls; }));
  source.Cancel("x");
  EXPECT_EQ(calls, 0);
}

TEST(CancelTest, ADescriptorTellsAWaitInPoll) {
  CancelSource source;
  const CancelFd before(source.token());
  pollfd entry{before.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0);
  std::thread other([&] { source.Cancel("x"); });
  EXPECT_EQ(poll(&entry, 1, -1), 1);
  other.join();
  const CancelFd after(source.token());
  entry.fd = after.fd();
  EXPECT_EQ(poll(&entry, 1, 0), 1);
  EXPECT_EQ(CancelFd(CancelToken()).fd(), -1);
}

TEST(JsonTest, OneValueAndNothingElse) {
  EXPECT_EQ(ToJson(*ParseJson(R"( {"b":[1,2.5,"x\n"],"a":null} )")),
            R"({"b":[1,2.5,"x\n"],"a":null})");
  EXPECT_THAT(ParseJson("{} {}"), FailsWith(ErrorCode::kInvalidArgument, "byte 3"));
  EXPECT_THAT(ParseJson("[1,"), FailsWith(ErrorCode::kInvalidArgument, "ends early"));
  EXPECT_THAT(ParseJson(std::string(100, '[')), FailsWith(ErrorCode::kInvalidArgument, "byte 64"));
}

TEST(JsonTest, NumbersArePrintedAsPeopleWriteThem) {  // CON-1
  const std::pair<double, std::string_view> kNumbers[] = {
      {0, "0"},
      {-0.5, "-0.5"},
      {0.05, "0.05"},
      {1, "1"},
      {1234567, "1234567"},
      {1e20, "1e+20"},
      {1e-7, "1e-07"},
      {0.1 + 0.2, "0.30000000000000004"},
      {std::nan(""), "null"},
      {std::numeric_limits<double>::infinity(), "null"},
  };
  for (const auto& [number, text] : kNumbers) EXPECT_EQ(ToJson(Json(number)), text);
  EXPECT_EQ(ToPrettyJson(
                JsonObject{{"margin", 0.0}, {"list", JsonArray{0.05, 1}}, {"none", JsonArray()}}),
            "{\n  \"margin\": 0,\n  \"list\": [\n    0.05,\n    1\n  ],\n  \"none\": []\n}");
}

TEST(JsonTest, WhatIsNoUtf8IsWrittenSoThatItIsReadBack) {
  const JsonArray list = {"caf\xe9.txt", JsonObject{{"\xff", "é"}}};
  EXPECT_EQ(ToJson(list), "[\"caf\uFFFD.txt\",{\"\uFFFD\":\"é\"}]");
}

// Boost's own reading is off by a last digit in one of several of them.
TEST(JsonTest, EveryDoubleIsReadBackAsItWas) {
  Random random(/*seed=*/5);
  for (int round = 0; round < 5'000; ++round) {
    const double number = (random.Unit() - 0.5) * std::pow(10, round % 40 - 20);
    const auto list = ParseJson(ToJson(JsonArray{number, 1}));
    const auto alone = ParseJson(ToJson(Json(number)));
    ASSERT_TRUE(list && alone);
    EXPECT_EQ(list->at(0).to_number<double>(), number);
    EXPECT_EQ(alone->to_number<double>(), number);
  }
  EXPECT_EQ(ToJson(*ParseJson("[1.1308248959976481,2.3890000000000002,-7,18446744073709551615]")),
            "[1.1308248959976481,2.3890000000000002,-7,18446744073709551615]");
}

// All but numbers with a fraction is written as Boost does.
// REC-26
TEST(ExactJsonTest, WhatAJsonCannotHoldStaysAsItWasWritten) {
  const struct {
    std::string_view number, nearest, text;  // "" for `text`: it is held
  } kCases[] = {{"0", "0", ""},
                {"-0.0", "-0.0", ""},
                {"1.50", "1.5", ""},
                {"1E+2", "100", ""},
                {"1e30", "1e+30", ""},
                {"0.1234567890123457", "0.1234567890123457", ""},
                {"9223372036854775807", "9223372036854775807", ""},
                {"18446744073709551615", "18446744073709551615", ""},
                {"18446744073709551616", "1.8446744073709552e+19", "18446744073709551616"},
                {"-9223372036854775809", "-9.223372036854776e+18", "-9223372036854775809"},
                {"0.12345678901234567890123", "0.12345678901234568", "0.12345678901234567890123"},
                {"1e999", "null", "1e999"},
                {"-1e-999", "-0.0", "-1e-999"}};
  for (const auto& one : kCases) {
    const std::string json = fmt::format(R"({{"12":["1e999",{}]}})", one.number);
    const auto exact = ExactJson::Parse(json);
    ASSERT_TRUE(exact) << json;
    EXPECT_EQ(exact->has_texts(), !one.text.empty()) << json;
    EXPECT_EQ(ToJson(exact->nearest().at("12").at(1)), one.nearest);
    const Json& held = exact->with_texts().at("12").at(1);
    EXPECT_EQ(held, one.text.empty() ? exact->nearest().at("12").at(1) : Json(one.text)) << json;
    const std::string_view written = one.text.empty() ? one.nearest : one.text;
    EXPECT_EQ(ToJson(*exact), fmt::format(R"({{"12":["1e999",{}]}})", written));
  }
  EXPECT_FALSE(ExactJson::Parse("[1,]"));
}

TEST(JsonTest, AnyTextIsReadBackAsItWas) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 500; ++round) {
    const JsonArray list = {random.Utf8(/*max_bytes=*/60),
                            std::string(1, static_cast<char>(round % 128)),
                            JsonObject{{random.Utf8(/*max_bytes=*/8), round}},
                            INT64_MIN,
                            UINT64_MAX,
                            true};
    EXPECT_EQ(ToJson(list), boost::json::serialize(list));
    EXPECT_EQ(*ParseJson(ToPrettyJson(list)), Json(list));
  }
}

TEST(FileTest, APipeIsWrittenToAndNotReplacedByAFile) {
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const UniqueFd reader(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.valid());
  ASSERT_TRUE(WriteFileAtomic(path, "text"));
  char got[8] = {};
  EXPECT_EQ(read(reader.get(), got, sizeof(got)), 4);
  EXPECT_STREQ(got, "text");
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST(FileTest, AnAtomicWriteReplacesWholeAndKeepsNothingHalfMade) {
  auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/a/b.txt";
  EXPECT_THAT(WriteFileAtomic(path, "x"), FailsWith(ErrorCode::kNotFound, "b.txt"));
  ASSERT_TRUE(MakeFolders(folder->path() + "/a"));
  ASSERT_TRUE(WriteFileAtomic(path, "one"));
  ASSERT_TRUE(WriteFileAtomic(path, "two", 0600));
  EXPECT_EQ(*ReadFile(path), "two");
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(MappedFile::Open(path)->bytes(), "two");
  EXPECT_THAT(ReadFile(path, 2), FailsWith(ErrorCode::kTooLong, "larger than 2 bytes"));
  // A file with holes takes no room on the disk, and none in memory.
  ASSERT_EQ(truncate(path.c_str(), std::int64_t{1} << 42), 0);
  EXPECT_THAT(ReadFile(path, 16 << 20), FailsWith(ErrorCode::kTooLong, "larger than 16777216"));
}

TEST(HashTest, KnownVectors) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("dossier-seed:1").substr(0, 32), "72c8d227357539eddfb5fdecebeb5f0b");
  // As `git hash-object` prints them.
  EXPECT_EQ(GitBlobName("hello\n", GitHash::kSha1), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(GitBlobName("hello\n", GitHash::kSha256),
            "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4");
}

TEST(TextTest, NumbersNamesSizesAndDurations) {
  EXPECT_EQ(GroupDigits(0), "0");
  EXPECT_EQ(GroupDigits(999), "999");
  EXPECT_EQ(GroupDigits(3800000), "3,800,000");
  const std::string names[] = {"coding", "plan", "review"};
  EXPECT_EQ(NearestNames("codign", names), std::vector<std::string>{"coding"});
  EXPECT_TRUE(NearestNames("zzz", names).empty());
  const std::vector<std::string> far = {"tokens"};  // four of eight letters
  EXPECT_TRUE(NearestNames("nonsense", far).empty());
  const std::vector<std::string> swapped = {"task"};  // one slip of the fingers
  EXPECT_EQ(NearestNames("taks", swapped), swapped);
  const std::vector<std::string> long_ones = {"description", "dependencies", "acceptance"};
  EXPECT_EQ(NearestNames("deps", long_ones), std::vector<std::string>{"dependencies"});
  EXPECT_TRUE(NearestNames("de", long_ones).empty());
  EXPECT_EQ(*ParseSize("10M"), 10485760u);
  EXPECT_EQ(ParseDuration("300ms")->count(), 300);
  EXPECT_EQ(ParseDuration("2")->count(), 2000);
  EXPECT_THAT(ParseSize("10X"), FailsWith(ErrorCode::kUsage, "10X"));
  EXPECT_THAT(ParseDuration("-1s"), FailsWith(ErrorCode::kUsage, "-1s"));
  EXPECT_EQ(FormatSize(1536), "1.5 KiB");
}

TEST(ClockTest, TimesAreUtcWithMilliseconds) {
  EXPECT_EQ(FormatTime(Clock::Wall(Millis(1732203403123))), "2024-11-21T15:36:43.123Z");
}

TEST(ClockTest, AFilesTimeIsKeptWithinWhat64BitsHold) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(NanosSinceEpoch({12, 345}), 12'000'000'345);
  EXPECT_EQ(NanosSinceEpoch({-2, 500'000'000}), -1'500'000'000);
  EXPECT_EQ(NanosSinceEpoch({12'000'000'000, 0}), Limits::max());
  EXPECT_EQ(NanosSinceEpoch({-12'000'000'000, 0}), Limits::min());
  EXPECT_EQ(NanosSinceEpoch({9'223'372'036, 999'999'999}), Limits::max());
}

TEST(ParseTimeTest, AYearThatNoClockHoldsIsRefused) {
  EXPECT_EQ(FormatTime(*ParseTime("2260-12-31T23:59:59Z")), "2260-12-31T23:59:59.000Z");
  EXPECT_EQ(FormatTime(*ParseTime("1680-01-01T00:00:00Z")), "1680-01-01T00:00:00.000Z");
  for (const std::string_view text : {"9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"}) {
    EXPECT_THAT(ParseTime(text), FailsWith(ErrorCode::kInvalidArgument, "from 1680 to 2260"));
  }
}

TEST(RandomTest, TheSameSeedGivesTheSameSequence) {
  Random a(7), b(7), c(8);
  EXPECT_EQ(a.Next(), b.Next());
  EXPECT_NE(a.Next(), c.Next());
  EXPECT_LE(a.Utf8(10).size(), 10u);
  EXPECT_EQ(RandomHex(5).size(), 5u);
}

TEST(AssetsTest, AnUnknownPathIsAbsent) { EXPECT_FALSE(BuiltInAsset("layouts/nothing.yaml")); }

TEST(Base64Test, MatchesTheVectorsOfTheStandard) {  // RFC 4648, section 10
  const std::pair<std::string_view, std::string_view> kCases[] = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kCases) EXPECT_EQ(Base64(bytes), text);
}

TEST(AsciiTest, ClassesHoldTheirBytesOnly) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string_view digits = "0123456789", hex = "0123456789abcdefABCDEF";
    EXPECT_EQ(IsDigit(c), byte != 0 && digits.find(c) != std::string_view::npos) << byte;
    EXPECT_EQ(IsHexDigit(c), byte != 0 && hex.find(c) != std::string_view::npos) << byte;
    EXPECT_EQ(IsLetter(c), (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) << byte;
    EXPECT_EQ(IsWordByte(c), IsLetter(c) || IsDigit(c) || byte == '_') << byte;
    EXPECT_EQ(IsJsonSpace(c), byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') << byte;
  }
  EXPECT_EQ(HexValue('7'), 7);
  EXPECT_EQ(HexValue('c'), 12);
  EXPECT_EQ(HexValue('C'), 12);
  EXPECT_EQ(HexValue('g'), -1);
  EXPECT_EQ(ToLower('Q'), 'q');
  EXPECT_EQ(ToLower('['), '[');
}

TEST(TextTest, TheFirstLineIsTheFirstThatSaysSomething) {
  EXPECT_EQ(FirstLine("\n  one \r\ntwo"), "one");
  EXPECT_EQ(FirstLine("one\rtwo"), "one");
  EXPECT_EQ(FirstLine(" \n"), "");
}

TEST(TextTest, CountsBelowZeroAreShownAsZero) {
  EXPECT_EQ(GroupCount(1234567), "1,234,567");
  EXPECT_EQ(GroupCount(-1), "0");
}

TEST(JsonTest, TextsAndListsThatAreNotThereAreEmpty) {
  const auto json = ParseJson(R"({"a": "x", "b": 1, "c": ["p", 2, "q"]})");
  ASSERT_TRUE(json);
  EXPECT_EQ(TextAt(*json, "a"), "x");
  EXPECT_EQ(TextAt(*json, "b"), "");
  EXPECT_EQ(StringsOf(Find(*json, "c")), (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(StringsOf(Find(*json, "a")).empty());
  EXPECT_TRUE(StringsOf(nullptr).empty());
}

TEST(JsonLexerTest, StopsAtTheByteThatIsWrong) {
  using Fault = JsonLexer::Fault;
  struct Case {
    std::string_view text;
    std::size_t at;
    Fault fault;
  };
  const std::string control = std::string(20, 'x').insert(0, 1, '"') + "\n\"";
  const Case kCases[] = {
      {R"("a\"b\u00e9" ,)", 12, Fault::kNone}, {"x", 0, Fault::kQuote},
      {R"("abc)", 4, Fault::kOpenString},      {R"("ab\)", 4, Fault::kOpenEscape},
      {R"("ab\x")", 4, Fault::kEscape},        {R"("\u12g4")", 5, Fault::kHexDigit},
      {R"("\u12)", 5, Fault::kHexDigit},       {control, 21, Fault::kControl},
  };
  for (const Case& c : kCases) {
    JsonLexer lexer(c.text);
    EXPECT_EQ(lexer.String(), c.fault == Fault::kNone) << c.text;
    EXPECT_EQ(lexer.fault(), c.fault) << c.text;
    EXPECT_EQ(lexer.at(), c.at) << c.text;
  }
}

TEST(JsonLexerTest, NumbersEndWhereTheStandardEndsThem) {
  struct Case {
    std::string_view text;
    std::size_t at;
    JsonLexer::Fault fault;
  };
  using Fault = JsonLexer::Fault;
  const Case kCases[] = {{"0", 1, Fault::kNone},   {"-12.5e+3,", 8, Fault::kNone},
                         {"01", 1, Fault::kNone},  {"+1", 0, Fault::kValue},
                         {"-", 1, Fault::kDigit},  {"1.", 2, Fault::kDigit},
                         {"1e", 2, Fault::kDigit}, {".5", 0, Fault::kValue}};
  for (const Case& c : kCases) {
    JsonLexer lexer(c.text);
    EXPECT_EQ(lexer.Number(), c.fault == Fault::kNone) << c.text;
    EXPECT_EQ(lexer.fault(), c.fault) << c.text;
    EXPECT_EQ(lexer.at(), c.at) << c.text;
  }
}

TEST(HashTest, TheKeyedHashMatchesTheVectorsOfTheStandard) {  // RFC 4231, cases 2 and 6
  EXPECT_EQ(HmacSha256Hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HmacSha256Hex(std::string(131, '\xaa'),
                          "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(FileTest, BelowIsAMatterOfWholeNames) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_TRUE(IsBelow("a/b", "a/"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/a", "/a/b"));
  EXPECT_FALSE(IsBelow("/a", ""));
}

TEST(FileTest, APipeIsReadToItsEndOrRefused) {
  for (const std::uint64_t most : {std::uint64_t{5}, std::uint64_t{4}}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const UniqueFd out(ends[0]);
    UniqueFd in(ends[1]);
    ASSERT_TRUE(WriteAll(in.get(), "hello"));
    in.Reset();
    const auto text = ReadAll(out.get(), "a pipe", most);
    if (most == 5) {
      EXPECT_EQ(text.value_or(""), "hello");
    } else {
      ASSERT_FALSE(text);
      EXPECT_EQ(text.error().code, ErrorCode::kTooLong);
    }
  }
}

TEST(FileTest, ALinkToAFolderCountsAsOne) {
  const auto temp = TempFolder::Make();
  ASSERT_TRUE(temp);
  ASSERT_EQ(symlink(".", (temp->path() + "/link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(temp->path() + "/file", ""));
  EXPECT_TRUE(IsFolder(temp->path() + "/link"));
  EXPECT_FALSE(IsFolder(temp->path() + "/file"));
  EXPECT_FALSE(IsFolder(temp->path() + "/none"));
}

TEST(DeadlineTest, TheLargestLimitsDoNotOverflow) {
  EXPECT_EQ(LimitOfSeconds(1.5), Millis(1500));
  for (const double seconds : {1e9, 9.3e9, 1e300}) {
    const Deadline deadline(CancelToken(), LimitOfSeconds(seconds), "time is up");
    EXPECT_FALSE(deadline.passed()) << seconds;
  }
}

}  // namespace
}  // namespace dossier
