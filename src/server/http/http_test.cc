// The parts of `serve` that need no network: requests read, keys, the queue, forms, numbers.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "server/day_budget.h"
#include "server/http/event_stream.h"
#include "server/http/file_store.h"
#include "server/http/metrics.h"
#include "server/http/openai_reply.h"
#include "server/http/openai_request.h"
#include "server/http/response_book.h"
#include "server/http/work_queue.h"
#include "server/key_ring.h"
#include "testing/result_matchers.h"

namespace dossier::server {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

RequestReading Reading(std::int64_t move_above = 100) {
  return {.move_above = move_above,
          .count = [](std::string_view text) { return static_cast<std::int64_t>(text.size() / 4); },
          .file = [](std::string_view id) -> Result<RequestDocument> {
            if (id == "file-1")
              return RequestDocument{.name = "f.txt", .text = "stored", .path = {}};
            return MakeError(ErrorCode::kNotFound, "no file {}", id);
          },
          .context = [](std::string_view) { return Status(); },
          .path = [](std::string_view path) -> Result<std::string> { return std::string(path); }};
}

Result<ChatRequest> ReadChat(std::string_view messages, std::string_view more = "") {
  const auto body =
      ParseJson(fmt::format(R"({{"model":"dossier","messages":{}{}}})", messages, more));
  EXPECT_TRUE(body) << body.error().message;
  return ReadChatRequest(*body, Reading());
}

// SRV-51: what openai-python and llm send: null for what nobody set, and for the text of a turn
// that only calls a tool.
TEST(OpenAiRequestTest, WhatIsNullCountsAsAbsent) {
  const auto request = ReadChat(
      R"([{"role":"user","content":"Weather?","name":null},
          {"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c1",
            "type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]},
          {"role":"tool","tool_call_id":"c1","content":"sunny"},
          {"role":"assistant","content":"Sun.","tool_calls":null}])",
      R"(,"max_tokens":null,"max_completion_tokens":null,"temperature":null,"top_p":null,"seed":null,
          "stream":null,"stream_options":null,"stop":null,"tools":null,"tool_choice":null,
          "response_format":null,"reasoning_effort":null,"n":null,"logprobs":null,"audio":null,
          "modalities":null,"metadata":null,"user":null,
          "dossier":{"mode":null,"max_calls":null,"contexts":null,"paths":null})");
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->messages.turns.size(), 4U);
  const assembly::Turn& called = request->messages.turns[1];
  ASSERT_EQ(called.blocks.size(), 1U);
  EXPECT_EQ(called.blocks[0].tool_name, "weather");
  EXPECT_THAT(request->ignored, IsEmpty());
  EXPECT_TRUE(request->messages.tools.empty());
  EXPECT_FALSE(request->streamed || request->sampling.max_output || request->schema);
}

// SRV-51
TEST(OpenAiRequestTest, WhatARunDoesNotKeepToIsNamed) {
  const std::string_view fields =
      R"(,"max_tokens":5,"stop":["x"],"top_p":0.5,"temperature":0,"seed":1)";
  const std::string_view messages = R"([{"role":"user","content":"Why?"}])";
  const auto plain = ReadChat(messages, fields);
  const auto run = ReadChat(messages, std::string(fields) + R"(,"dossier":{"mode":"recursive"})");
  ASSERT_TRUE(plain && run);
  EXPECT_THAT(plain->ignored, IsEmpty());
  EXPECT_THAT(run->ignored, ElementsAre("max_tokens", "stop", "top_p"));
}

// SRV-51
TEST(OpenAiRequestTest, LongPartsFilesAndPathsBecomeDocuments) {
  const std::string half(300, 'a'), end(300, 'z');
  const auto request = ReadChat(
      fmt::format(R"([{{"role":"system","content":"{0}"}},
        {{"role":"user","content":[{{"type":"text","text":"Why?"}},{{"type":"text","text":"{0} {1}"}},
          {{"type":"file","file":{{"file_id":"file-1"}}}},{{"type":"file","file":{{"file_id":"file-1"}}}}]}}])",
                  half, end),
      R"(,"dossier":{"paths":["/data/a"],"contexts":["c0123456789ab"],"mode":"recursive"})");
  ASSERT_TRUE(request) << request.error().message;
  std::vector<std::string> names;
  for (const RequestDocument& document : request->documents) {
    names.push_back(document.name.empty() ? document.path : document.name);
  }
  // System text stays, whatever its length. A file is one document, however often it is named.
  EXPECT_THAT(names, ElementsAre("message-2-2.txt", "f.txt", "/data/a"));
  EXPECT_THAT(request->contexts, ElementsAre("c0123456789ab"));
  EXPECT_THAT(request->question, StartsWith(half));
  EXPECT_THAT(request->question,
              HasSubstr("Why?\n\n[message-2-2.txt: 601 characters, in context]"));
  // A part of its own is a document: what it says is no word of the person's.
  EXPECT_THAT(request->question, Not(HasSubstr(end)));
  EXPECT_EQ(request->mode, ask::Mode::kRecursive);
}

// SRV-51: a question that was moved itself shows its ends, also beside tools.
TEST(OpenAiRequestTest, AQuestionWithinOneLongTextIsShown) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("line {}\\n", i);
  const std::string messages =
      fmt::format(R"([{{"role":"user","content":"{}How many? Call notify."}}])", text);
  for (const char* tools : {"", R"(,"tools":[{"type":"function","function":{"name":"notify"}}])"}) {
    const auto request = ReadChat(messages, tools);
    ASSERT_TRUE(request) << request.error().message;
    ASSERT_EQ(request->documents.size(), 1u);
    for (const std::string& shown : {request->question, TextsOf(request->messages).back()}) {
      EXPECT_THAT(shown, StartsWith("[message-1.txt: 2,612 characters, in context]\n\nline 0\n"));
      EXPECT_THAT(shown, HasSubstr("line 299\nHow many? Call notify."));
      EXPECT_THAT(shown, Not(HasSubstr("line 150\n")));
    }
  }
}

// SRV-51: a model of this machine would fetch what the client cannot see.
TEST(OpenAiRequestTest, AnImageOfThisMachineOrItsNetworkIsNotHandedOn) {
  const auto read = [](std::string_view url) {
    return ReadChat(fmt::format(
        R"([{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"{}"}}}}]}}])",
        url));
  };
  for (const char* url :
       {"http://127.0.0.1/a.png", "http://localhost:80/a", "http://127.1/a", "http://2130706433/a",
        "http://0x7f.1/", "http://10.1.2.3/a", "http://172.31.0.1/", "http://192.168.0.7/",
        "http://169.254.169.254/latest", "http://[::1]/", "http://[fd00::1]/", "http://[fe80::1]/",
        "http://[::ffff:10.0.0.1]/", "http://intranet/a.png", "http://a.localhost./a",
        // What others may read otherwise than we do, and addresses within addresses.
        "http://127%2e0.0.1:8795/", "http://%31%32%37.0.0.1:8795/",
        "http://127.0.0.1\\\\.example.com/", "http://１２７.0.0.1/", "http://127。0。0。1/",
        "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::808:808]/", "http://[::127.0.0.1]/",
        "http://[::ffff:0:10.0.0.1]/", "http://[2002:7f00:1::1]/", "http://[fec0::1]/",
        "http://[ff02::1]/", "http://224.0.0.1/"}) {
    const auto refused = read(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_THAT(refused.error().message, HasSubstr("data URL"));
  }
  for (const char* url :
       {"https://example.org/a.png", "http://172.32.0.1/", "http://[2001:db8::1]/",
        "https://10.example.org/", "http://[64:ff9b::808:808]/", "http://[2002:808:808::1]/",
        "https://xn--bcher-kva.example/"}) {
    EXPECT_TRUE(read(url)) << url;
  }
}

// SRV-40: money is counted in billionths, which 64 bits must hold.
TEST(OpenAiRequestTest, ALimitThatNoCounterHoldsIsRefused) {
  constexpr std::string_view kAsked = R"([{"role":"user","content":"x"}])";
  for (const char* field : {"max_usd", "max_time_s", "max_calls"}) {
    const auto with = [&](std::string_view value) {
      return ReadChat(kAsked, fmt::format(R"(,"dossier":{{"{}":{}}})", field, value));
    };
    for (const char* value : {"0", "1000000001", "9000000000000000000"}) {
      const auto refused = with(value);
      ASSERT_FALSE(refused) << field << value;
      EXPECT_THAT(refused.error().message, HasSubstr("at most 1,000,000,000"));
    }
    EXPECT_TRUE(with("1000000000"));
  }
}

// SRV-51
TEST(OpenAiRequestTest, NothingIsMovedWhereTheModelIsToReadItAll) {
  const auto request =
      ReadChat(fmt::format(R"([{{"role":"user","content":"{}"}}])", std::string(4'000, 'a')),
               R"(,"dossier":{"mode":"direct"})");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->documents.empty());
}

// SRV-51
TEST(OpenAiRequestTest, EarlierTurnsAreADocumentAndTheLastTwoStandInTheQuestion) {
  const auto request =
      ReadChat(R"([{"role":"user","content":"one"},{"role":"assistant","content":"two"},
    {"role":"user","content":"three"},{"role":"assistant","content":"four"},{"role":"user","content":"five"}])",
               R"(,"dossier":{"mode":"recursive"})");
  ASSERT_TRUE(request);
  ASSERT_EQ(request->documents.size(), 1u);
  EXPECT_EQ(request->documents[0].name, "conversation.jsonl");
  EXPECT_THAT(request->documents[0].text,
              StartsWith("{\"turn\":1,\"role\":\"user\",\"content\":\"one\"}\n"));
  EXPECT_THAT(request->question, HasSubstr("user: three\nassistant: four\n\nfive"));
  EXPECT_EQ(request->question.find("one"), std::string::npos);
}

TEST(OpenAiRequestTest, EndsAreCutAtLinesAndBetweenCharacters) {
  EXPECT_EQ(EndsOf("short"), "short");
  std::string text;
  for (int i = 0; i < 500; ++i) text += fmt::format("line {} äöü\n", i);
  const std::string ends = EndsOf(text);
  EXPECT_THAT(ends, StartsWith("line 0 äöü\nline 1 äöü\n"));
  EXPECT_THAT(ends, HasSubstr("\n[…]\nline "));
  EXPECT_LT(ends.size(), 2'600u);
  std::string wide;
  for (int i = 0; i < 3'000; ++i) wide += "漢";
  EXPECT_EQ(EndsOf(wide).size(), 2 * 3'000u + std::string("\n[…]\n").size());
}

TEST(OpenAiRequestTest, Base64) {
  EXPECT_EQ(DecodeBase64("aGk="), "hi");
  EXPECT_EQ(DecodeBase64("aGk"), "hi");
  EXPECT_EQ(DecodeBase64("data:text/plain;base64,aGkh"), "hi!");
  for (const char* wrong : {"a", "aG k", "aGk*", "data:text/plain,hi"}) {
    EXPECT_FALSE(DecodeBase64(wrong)) << wrong;
  }
}

// Whatever is sent, an error names a place, and nothing crashes (SRV-41, SRV-43).
TEST(OpenAiRequestTest, NoRequestCrashesIt) {
  constexpr std::string_view kPieces[] = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "\"messages\"",
                                          "\"role\"",
                                          "\"user\"",
                                          "\"content\"",
                                          "\"type\"",
                                          "\"text\"",
                                          "\"file\"",
                                          "\"image_url\"",
                                          "\"url\"",
                                          "\"data:x;base64,\"",
                                          "null",
                                          "1",
                                          "-1",
                                          "true",
                                          "\"model\"",
                                          "\"tools\"",
                                          "\"function\"",
                                          "\"dossier\"",
                                          "\"stop\"",
                                          "\"response_format\"",
                                          "\"\""};
  Random random(7);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = R"({"model":"m","messages":[{"role":"user","content":)";
    for (std::uint64_t n = random.Below(12); n > 0; --n)
      text += kPieces[random.Below(std::size(kPieces))];
    text += random.Below(2) == 0 ? "}]}" : "}],\"n\":1}";
    const auto body = ParseJson(text);
    if (!body) continue;
    ++read;
    const auto request = ReadChatRequest(*body, Reading());
    if (!request) {
      EXPECT_NE(request.error().message.find(": "), std::string::npos);
    }
    (void)ChatOfResponses(*body, {}).has_value();
  }
  EXPECT_GT(read, 50);
}

// SRV-43
TEST(OpenAiReplyTest, EachExitCodeHasItsStatus) {
  const std::pair<ErrorCode, int> rows[] = {{ErrorCode::kUsage, 400},
                                            {ErrorCode::kConfig, 400},
                                            {ErrorCode::kTooLong, 400},
                                            {ErrorCode::kNotFound, 404},
                                            {ErrorCode::kRateLimited, 429},
                                            {ErrorCode::kSchema, 422},
                                            {ErrorCode::kRefused, 403},
                                            {ErrorCode::kTimeout, 504},
                                            {ErrorCode::kNetwork, 502},
                                            {ErrorCode::kAuth, 502},
                                            {ErrorCode::kInternal, 500},
                                            {ErrorCode::kLimit, 402},
                                            // Whose fault it is counts more than the exit code.
                                            {ErrorCode::kIo, 500},
                                            {ErrorCode::kUnavailable, 503}};
  for (const auto& [code, status] : rows) EXPECT_EQ(HttpStatusOf(code), status) << ErrorName(code);
  EXPECT_EQ(FindString(*Find(ErrorJson(Error{ErrorCode::kTooLong, "x"}), "error"), "code"),
            "context_length_exceeded");
}

// SRV-43: clients try 429 and 5xx again.
TEST(OpenAiReplyTest, WhatFailsForGoodIsNotTriedAgain) {
  EXPECT_THAT(AgainHeaders(ErrorCode::kAuth),
              ElementsAre(std::pair<std::string, std::string>("X-Should-Retry", "false")));
  EXPECT_THAT(AgainHeaders(ErrorCode::kFailed), Not(IsEmpty()));
  EXPECT_THAT(AgainHeaders(ErrorCode::kNetwork), IsEmpty());
  EXPECT_THAT(AgainHeaders(ErrorCode::kUsage), IsEmpty());
  EXPECT_THAT(AgainHeaders(ErrorCode::kIo), IsEmpty());
  EXPECT_EQ(AgainHeaders(ErrorCode::kRateLimited)[0].first, "Retry-After");
  for (const ErrorCode code : {ErrorCode::kSchema, ErrorCode::kInternal, ErrorCode::kFailed}) {
    EXPECT_EQ(NamedError(ErrorName(code)), code);
  }
}

TEST(OpenAiReplyTest, WhereTheServerKeepsItsFilesIsForAnAdmin) {
  const Error error{ErrorCode::kIo, "/home/ann/data: No space left on device"};
  EXPECT_EQ(ErrorFor({.scopes = {true, true, true}}, error).message, error.message);
  EXPECT_THAT(ErrorFor({.scopes = {true, true, false}}, error).message, Not(HasSubstr("/home")));
}

// SRV-40
TEST(DayBudgetTest, SaysWhetherASumIsSpentOrHeld) {
  const auto folder = TempFolder::Make();
  DayBudget budget(folder->path(), 1.0, SystemClock());
  const auto held = budget.Hold(std::nullopt, {});
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(**budget.Hold(0.1, {}), 0.0);
  EXPECT_THAT(budget.NothingLeft("this day"), HasSubstr("held for requests at work ($1.0000)"));
  budget.Settle(*held, 1.0);
  EXPECT_EQ(budget.NothingLeft("this day"), "the sum of this day ($1.00) is used up");
}

class SetClock final : public Clock {
 public:
  Steady Now() const override { return {}; }
  Wall WallNow() const override { return now; }
  Wall now = Wall(std::chrono::seconds(1'800'000'000));
};

// SRV-40: midnight comes while a request is at work.
TEST(DayBudgetTest, WhatWasHeldYesterdayIsNotGivenBackToday) {
  const auto folder = TempFolder::Make();
  const auto clock = std::make_shared<SetClock>();
  DayBudget budget(folder->path(), 10.0, clock);
  const auto late = *budget.Hold(6.0, {});
  clock->now += std::chrono::hours(24);
  const auto today = *budget.Hold(9.0, {});
  budget.Settle(today, 9.0);
  budget.Settle(late, 0.1);
  EXPECT_NEAR(**budget.Left(), 0.9, 1e-9);
  const auto last = *budget.Hold(std::nullopt, {});
  budget.Settle(last, 0);
  EXPECT_NEAR(**budget.Left(), 0.9, 1e-9);
}

class KeyRingTest : public ::testing::Test {
 protected:
  KeyRingTest() : folder_(TempFolder::Make()) {}
  std::string path() const { return folder_->path() + "/keys"; }
  Result<TempFolder> folder_;
};

// SRV-40
TEST_F(KeyRingTest, SecretsAreShownOnceAndKnownByTheirHash) {
  const auto secret =
      AddKey(path(), {.name = "ann", .scopes = "read", .per_minute = 9}, *SystemClock());
  ASSERT_TRUE(secret) << secret.error().message;
  EXPECT_EQ(secret->size(), 56u);
  EXPECT_THAT(*ReadFile(path()), Not(HasSubstr(*secret)));
  auto ring = KeyRing::Load(path());
  ASSERT_TRUE(ring);
  const auto key = ring->Find("Bearer " + *secret);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->name, "ann");
  EXPECT_TRUE(key->Has(Scope::kRead) && !key->Has(Scope::kRun));
  EXPECT_EQ(key->per_minute, 9);
  EXPECT_FALSE(key->usd_day);
  for (const std::string& wrong :
       {*secret, "Bearer " + *secret + "a", std::string("Bearer "), std::string()}) {
    EXPECT_FALSE(ring->Find(wrong)) << wrong;
  }
  ASSERT_TRUE(RevokeKey(path(), "ann"));
  EXPECT_FALSE(ring->Find("Bearer " + *secret));  // at once, without a restart
  EXPECT_THAT(RevokeKey(path(), "bob"), FailsWith(ErrorCode::kNotFound, "bob"));
}

// SRV-40: processes that change the file at once.
TEST_F(KeyRingTest, NoKeyIsLostAndNoneComesBack) {
  constexpr int kAtOnce = 8;
  const auto at_once = [](const std::function<void(int)>& change) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kAtOnce; ++i) threads.emplace_back(change, i);
    for (std::thread& thread : threads) thread.join();
  };
  at_once([&](int i) {
    EXPECT_TRUE(AddKey(path(), {.name = fmt::format("old{}", i)}, *SystemClock()));
  });
  EXPECT_EQ(ReadKeys(path())->size(), 8u);
  at_once([&](int i) {
    EXPECT_TRUE(RevokeKey(path(), fmt::format("old{}", i)));
    EXPECT_TRUE(AddKey(path(), {.name = fmt::format("new{}", i)}, *SystemClock()));
  });
  const auto keys = *ReadKeys(path());
  EXPECT_EQ(keys.size(), 8u);
  for (const ServerKey& key : keys) EXPECT_THAT(key.name, StartsWith("new"));
}

TEST_F(KeyRingTest, FilesThatOthersMayReadOrThatAreDamagedAreRefused) {
  ASSERT_TRUE(AddKey(path(), {.name = "ann"}, *SystemClock()));
  EXPECT_THAT(AddKey(path(), {.name = "ann"}, *SystemClock()), FailsWith(ErrorCode::kUsage, "ann"));
  EXPECT_THAT(AddKey(path(), {.name = "a b"}, *SystemClock()),
              FailsWith(ErrorCode::kUsage, "letters"));
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  EXPECT_THAT(ReadKeys(path()), FailsWith(ErrorCode::kRefused, "0640"));
  for (const char* text : {"ann", "ann short read 2026", "ann x read 2026 - -1"}) {
    ASSERT_TRUE(WriteFileAtomic(path(), std::string("# ok\n") + text + "\n", 0600));
    ASSERT_EQ(chmod(path().c_str(), 0600), 0);
    EXPECT_THAT(ReadKeys(path()), FailsWith(ErrorCode::kConfig, "keys:2")) << text;
  }
}

TEST(MinuteLimitTest, CountsOverOneMinute) {
  MinuteLimit limit;
  const Clock::Steady start{};
  EXPECT_TRUE(limit.Take("a", 2, start));
  EXPECT_TRUE(limit.Take("a", 2, start + Millis(1)));
  EXPECT_FALSE(limit.Take("a", 2, start + Millis(59'000)));
  EXPECT_TRUE(limit.Take("b", 2, start));
  EXPECT_TRUE(limit.Take("a", 2, start + Millis(60'001)));
}

// SRV-42
TEST(WorkQueueTest, TakesSoMuchAndNoMore) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::atomic<int> done{0};
  WorkQueue queue({.running = 2, .waiting = 3});
  int taken = 0;
  for (int i = 0; i < 9; ++i) {
    taken += queue.Submit([&, gone] {
      gone.wait();
      ++done;
    });
  }
  EXPECT_EQ(taken, 5);
  EXPECT_FALSE(queue.Drain(Millis(1)));
  EXPECT_FALSE(queue.Submit([] {}));
  go.set_value();
  EXPECT_TRUE(queue.Drain(Millis(60'000)));
  EXPECT_EQ(done, 5);
}

// SRV-57
TEST(FileFormTest, PartsOfAForm) {
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"file\"; "
      "filename=\"a.txt\"\r\n\r\n--bo\r\n\r\nx\r\n--b--\r\n";
  const auto form = ReadForm(body, "multipart/form-data; boundary=\"b\"");
  ASSERT_TRUE(form) << form.error().message;
  ASSERT_EQ(form->size(), 2u);
  EXPECT_EQ((*form)[0].value, "user_data");
  EXPECT_EQ((*form)[1].filename, "a.txt");
  for (std::size_t cut = 0; cut + 6 < body.size(); ++cut) {
    (void)ReadForm(std::string_view(body).substr(0, cut), "multipart/form-data; boundary=b")
        .has_value();
  }
  EXPECT_FALSE(ReadForm(body, "multipart/form-data; boundary=c"));
  EXPECT_FALSE(ReadForm(body, "text/plain; boundary=b"));
}

// SRV-57: the bytes go with the last file that has them.
TEST(FileStoreTest, BytesThatNoFileHasAreRemoved) {
  const auto folder = TempFolder::Make();
  const auto content = store::ContentStore::Open(folder->path() + "/bodies");
  ASSERT_TRUE(content);
  FileStore files(folder->path() + "/files", **content, SystemClock());
  const auto add = [&](std::string_view owner, std::string_view text) {
    const auto file = files.Add(owner, {{.name = "purpose", .filename = "", .value = "user_data"},
                                        {.name = "file", .filename = "a.txt", .value = text}});
    EXPECT_TRUE(file) << file.error().message;
    return *file;
  };
  const StoredFile ann = add("ann", "same"), bob = add("bob", "same"), old = add("ann", "old");
  ASSERT_TRUE(files.Remove("ann", ann.id));
  EXPECT_TRUE((*content)->Has(bob.sha256)) << "another file has them";
  ASSERT_TRUE(files.Remove("bob", bob.id));
  EXPECT_FALSE((*content)->Has(bob.sha256));
  EXPECT_TRUE((*content)->Has(old.sha256));
  // What a server left that was killed between both, and a file whose time is over.
  const auto orphan = (*content)->Put("orphan");
  const std::string record = folder->path() + "/files/ann/" + old.id + ".json";
  const auto text = ReadFile(record);
  ASSERT_TRUE(text);
  const std::string expires = fmt::format("\"expires_at\":{}", old.expires);
  ASSERT_THAT(*text, HasSubstr(expires));
  ASSERT_TRUE(WriteFileAtomic(record, ReplaceAll(*text, expires, "\"expires_at\":1"), 0600));
  files.Sweep();
  EXPECT_FALSE((*content)->Has(*orphan));
  EXPECT_FALSE((*content)->Has(old.sha256));
  EXPECT_NE(access(record.c_str(), F_OK), 0);
}

// What a client does that reads when it is let.
class SlowExchange final : public HttpExchange {
 public:
  const HttpRequest& request() const override { return request_; }
  void Reply(HttpResponse) override {}
  void SendHead(int, HttpHeaders) override {}
  Status SendChunk(std::string_view) override {
    if (!std::exchange(asked_, true)) sends.set_value();
    reads_.wait();
    return {};
  }
  void Finish() override {}
  void Abort() override {}
  bool client_gone() const override { return false; }

  std::promise<void> sends, reads;

 private:
  const HttpRequest request_;
  bool asked_ = false;
  const std::shared_future<void> reads_ = reads.get_future().share();
};

// SRV-60: a run of any length may be followed by a client that reads nothing.
TEST(EventStreamTest, WhoeverPushesCanWaitForTheReader) {
  const auto exchange = std::make_shared<SlowExchange>();
  EventStream stream(exchange, {});
  stream.Open({});
  stream.Push("first");
  exchange->sends.get_future().wait();
  stream.Push("second");
  stream.WaitForRoom();  // there is some
  stream.Push(std::string(2u << 20, 'x'));
  auto waits = std::async(std::launch::async, [&] { stream.WaitForRoom(); });
  EXPECT_EQ(waits.wait_for(Millis(50)), std::future_status::timeout);
  exchange->reads.set_value();
  waits.get();
  stream.Close();
}

// SRV-45
TEST(MetricsTest, TextAsPrometheusReadsIt) {
  Metrics metrics;
  metrics.Add("runs_total", {{"status", "a\"b\n"}}, 2);
  metrics.Set("queue_depth", {}, 3);
  metrics.Observe("request_seconds", 0.3);
  const std::string text = metrics.Text();
  EXPECT_THAT(
      text,
      HasSubstr("# TYPE dossier_runs_total counter\ndossier_runs_total{status=\"a\\\"b\\n\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("dossier_queue_depth 3\n"));
  EXPECT_THAT(text,
              HasSubstr("_bucket{le=\"0.1\"} 0\ndossier_request_seconds_bucket{le=\"0.5\"} 1\n"));
  for (int i = 0; i < 150; ++i) metrics.Add("tokens", {{"model", std::to_string(i)}});
  EXPECT_THAT(metrics.Text(), HasSubstr("dossier_tokens{model=\"other\"} 50\n"));
}

// SRV-56
TEST(ResponseBookTest, LargeResponsesThatEndedLieOnDiskAlone) {
  const auto folder = TempFolder::Make();
  ResponseBook book(folder->path());
  const std::string first = "resp_" + RandomHex(32);
  std::weak_ptr<StoredResponse> in_memory;
  const std::string text(9 << 20, 'x');
  for (const std::string& id : {first, "resp_" + RandomHex(32), "resp_" + RandomHex(32)}) {
    const auto stored = book.Begin(id, "ann", {JsonObject{{"role", "user"}, {"content", text}}},
                                   StoredResponse::Kept::kOnDisk);
    ASSERT_TRUE(stored);
    (*stored)->Finish({{"status", "completed"}}, "hello");
    if (id == first) in_memory = *stored;
  }
  EXPECT_TRUE(in_memory.expired());
  ASSERT_TRUE(book.Find(first, "ann"));
  EXPECT_EQ((*book.Find(first, "ann"))->Messages().size(), 2u);
}

// SRV-56
TEST(ResponseBookTest, EventsAreThereAfterARestartAndForTheirOwnerAlone) {
  const auto folder = TempFolder::Make();
  const std::string id = "resp_" + RandomHex(32);
  {
    ResponseBook book(folder->path());
    const auto stored = book.Begin(id, "ann", {JsonObject{{"role", "user"}, {"content", "hi"}}},
                                   StoredResponse::Kept::kOnDisk);
    ASSERT_TRUE(stored);
    (*stored)->Add("response.created", {{"response", JsonObject{{"status", "queued"}}}});
    (*stored)->Add("response.completed", {{"response", JsonObject{{"status", "completed"}}}});
    (*stored)->Finish({{"status", "completed"}}, "hello");
  }
  ResponseBook book(folder->path());
  EXPECT_THAT(book.Find(id, "eve"), FailsWith(ErrorCode::kNotFound, id));
  const auto stored = book.Find(id, "ann");
  ASSERT_TRUE(stored);
  EXPECT_EQ((*stored)->Messages().size(), 2u);
  std::vector<std::string> seen;
  (*stored)->Read(0, [&](std::string text) { seen.push_back(std::move(text)); }, {});
  EXPECT_THAT(seen,
              ElementsAre(StartsWith("event: response.completed\ndata: "
                                     "{\"type\":\"response.completed\",\"sequence_number\":1,")));
  ASSERT_TRUE(book.Remove(id, "ann"));
  EXPECT_FALSE(book.Find(id, "ann"));
}

}  // namespace
}  // namespace dossier::server
