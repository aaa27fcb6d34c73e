#include "model/scripted/recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKey[] = "key-that-nobody-may-see-4711";

class RecordingTest : public ::testing::Test {
 protected:
  std::string Path() const { return folder_->path() + "/run.jsonl"; }

  // Sends `request` through a recorder whose provider answers with `answer`.
  void Record(Recorder& recorder, Request request, const std::function<void(FakeClient&)>& answer) {
    auto fake = std::make_shared<FakeClient>();
    auto client = recorder.Wrap(fake, kKey);
    auto sink = std::make_shared<model::RecordingSink>();
    client->Submit(std::make_shared<const Request>(std::move(request)), {}, sink);
    answer(*fake);
    EXPECT_EQ(sink->times_done, 1);
  }

  static Result<Reply> Ask(Client& client, Request request,
                           std::shared_ptr<model::RecordingSink> sink = nullptr) {
    if (!sink) sink = std::make_shared<model::RecordingSink>();
    client.Submit(std::make_shared<const Request>(std::move(request)), {}, sink);
    return sink->Wait();
  }

  Result<TempFolder> folder_ = TempFolder::Make();
};

Reply FullReply() {
  Reply reply;
  reply.text = "naïve 😀\n";
  reply.thinking = "hm";
  reply.tool_calls = {{"1", "look", JsonObject{{"at", 3}}, JsonObject{{"gemini", 1}}}};
  reply.blocks = {{.type = assembly::Block::Type::kThinking,
                   .text = "hm",
                   .provider_data = JsonObject{{"anthropic", JsonObject{{"signature", "s"}}}}},
                  {.text = "naïve 😀\n"}};
  reply.finish = Finish::kToolCalls;
  reply.usage = {.input = 7, .output = 5, .cached = 3, .cache_write = 2, .cost_nano_usd = 11};
  reply.resolved_model = "m-1";
  reply.provider_data = JsonObject{{"id", "x"}};
  reply.warnings = {"w"};
  return reply;
}

TEST_F(RecordingTest, ARepliedRecordingGivesEqualReplies) {  // MOD-25, MOD-A9
  {
    auto recorder = Recorder::Create(Path());
    ASSERT_TRUE(recorder) << recorder.error().message;
    Record(**recorder, UserRequest("first"),
           [](FakeClient& fake) { fake.call(0).sink->OnDone(FullReply()); });
    Record(**recorder, UserRequest("second"), [](FakeClient& fake) {
      fake.Fail(0, ErrorCode::kRateLimited,
                {.retry = Failure::Retry::kYes, .status = 429, .retry_after = Millis(70)});
    });
    Record(**recorder, UserRequest("second"), [](FakeClient& fake) { fake.Answer(0, "later"); });
  }
  auto recording = Recording::Load(Path());
  ASSERT_TRUE(recording) << recording.error().message;
  auto client = (*recording)->Client();
  auto failed = std::make_shared<model::RecordingSink>();
  EXPECT_THAT(Ask(*client, UserRequest("second"), failed),
              FailsWith(ErrorCode::kRateLimited, "429"));
  EXPECT_EQ(failed->failure.retry, Failure::Retry::kYes);
  EXPECT_EQ(failed->failure.retry_after, Millis(70));
  EXPECT_EQ(Ask(*client, UserRequest("second"))->text, "later") << "equal requests: in order";
  auto reply = Ask(*client, UserRequest("first"));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(ToJson(ReplyToJson(*reply, "")), ToJson(ReplyToJson(FullReply(), "")));
  EXPECT_THAT(Ask(*client, UserRequest("first")), FailsWith(ErrorCode::kFailed, "not so often"));
}

TEST_F(RecordingTest, AChangedRequestIsToldByItsFirstDifference) {  // MOD-25, MOD-A9
  {
    auto recorder = Recorder::Create(Path());
    for (const char* text : {"How many apples?", "How many oranges are there in all?"}) {
      Record(**recorder, UserRequest(text), [](FakeClient& fake) { fake.Answer(0, "7"); });
    }
  }
  auto client = (*Recording::Load(Path()))->Client();
  EXPECT_THAT(Ask(*client, UserRequest("How many oranges are here?")),
              FailsWith(ErrorCode::kFailed,
                        "request 1 was not recorded; first difference at "
                        "messages.turns[0].blocks[0].text, character 21: recorded \"How many "
                        "oranges are there in all?\", asked \"How many oranges are here?\""));
  Request hot = UserRequest("How many apples?");
  hot.sampling.temperature = 1;
  EXPECT_THAT(Ask(*client, hot), FailsWith(ErrorCode::kFailed, "sampling.temperature is new"));
  hot.sampling.temperature.reset();
  hot.model = "other";
  EXPECT_THAT(Ask(*client, hot), FailsWith(ErrorCode::kFailed, "model, character 0"));
}

TEST_F(RecordingTest, RequestsOfARunAreFoundByTheirPlace) {  // FLT-66
  const auto at = [](std::string_view place, std::string_view text) {
    Request request = UserRequest(std::string(text));
    request.path = place;
    return request;
  };
  {
    auto recorder = Recorder::Create(Path());
    for (const std::string_view place : {"n1/draft/a1/r1", "n2/draft/a1/r1", "n2/review/a1/r1"}) {
      Record(**recorder, at(place, place.substr(3, 6)),
             [place](FakeClient& fake) { fake.Answer(0, std::string(place)); });
    }
  }
  auto client = (*Recording::Load(Path()))->Client();
  // Two equal prompts, asked in another order; then one that tells another run time.
  EXPECT_EQ(Ask(*client, at("n2/draft/a1/r1", "draft/"))->text, "n2/draft/a1/r1");
  const auto first = Ask(*client, at("n1/draft/a1/r1", "draft/"));
  EXPECT_EQ(first->text, "n1/draft/a1/r1");
  EXPECT_TRUE(first->warnings.empty());
  const auto other = Ask(*client, at("n2/review/a1/r1", "it took 2 s"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->text, "n2/review/a1/r1");
  ASSERT_EQ(other->warnings.size(), 1U);
  EXPECT_THAT(other->warnings[0], HasSubstr("n2/review/a1/r1 was asked otherwise when"));
  EXPECT_THAT(Ask(*client, at("n3/draft/a1/r1", "new")),
              FailsWith(ErrorCode::kFailed, "was not recorded"));
}

TEST_F(RecordingTest, IdsOfDataFencesDoNotMatter) {  // ASM-4
  const auto fenced = [](char digit) {
    const std::string id(32, digit);
    return UserRequest("notes:\n<<<DATA " + id + "\nx\nDATA " + id + ">>>");
  };
  {
    auto recorder = Recorder::Create(Path());
    Record(**recorder, fenced('a'), [](FakeClient& fake) { fake.Answer(0, "7"); });
  }
  EXPECT_TRUE(Ask(*(*Recording::Load(Path()))->Client(), fenced('b')));
}

TEST_F(RecordingTest, NeitherKeyNorSecretIsWritten) {  // MOD-25, MOD-A6
  const std::string secret = std::string("sk-proj-") +
                             "x8Kq2LwZ9vT"
                             "n4RbY7cMd1eQ5";
  {
    auto recorder = Recorder::Create(Path());
    Request request = UserRequest("my key is " + secret + " and " + kKey);
    request.sampling.extra = {{"user", kKey}};
    Record(**recorder, request, [&](FakeClient& fake) { fake.Answer(0, "so " + secret + kKey); });
    Record(**recorder, UserRequest("x"), [&](FakeClient& fake) {
      fake.call(0).sink->OnDone(MakeError(ErrorCode::kFailed, "{} {}", secret, kKey));
    });
  }
  EXPECT_THAT(*ReadFile(Path()),
              AllOf(HasSubstr("[redacted:"), Not(HasSubstr(kKey)), Not(HasSubstr(secret))));
  struct stat info{};
  ASSERT_EQ(stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "prompts are private";
}

TEST_F(RecordingTest, OnlyARecordingIsWrittenOver) {
  ASSERT_TRUE(WriteFileAtomic(Path(), "precious\n"));
  EXPECT_THAT(Recorder::Create(Path()), FailsWith(ErrorCode::kUsage, "something else"));
  EXPECT_THAT(Recording::Load(Path()), FailsWith(ErrorCode::kConfig, "run.jsonl:1:"));
  ASSERT_TRUE(RemoveAll(Path()));
  {
    auto recorder = Recorder::Create(Path());
    Record(**recorder, UserRequest("x"), [](FakeClient& fake) { fake.Answer(0, "a"); });
  }
  EXPECT_TRUE(Recorder::Create(Path()));
  EXPECT_EQ(*ReadFile(Path()), "");
  EXPECT_THAT(Recording::Load(folder_->path() + "/none"), FailsWith(ErrorCode::kNotFound, "none"));
}

TEST_F(RecordingTest, AFileThatIsTooLargeToLookAtIsNotWrittenOver) {
  constexpr off_t kSize = 5ll << 30;
  ASSERT_TRUE(WriteFileAtomic(Path(), ""));
  ASSERT_EQ(truncate(Path().c_str(), kSize), 0);  // a hole: it takes no room
  EXPECT_THAT(Recorder::Create(Path()), FailsWith(ErrorCode::kUsage, "larger than"));
  struct stat info{};
  ASSERT_EQ(stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, kSize);
  EXPECT_TRUE(Recorder::Create("/dev/null"));
}

TEST_F(RecordingTest, DamagedLinesNeverCrash) {
  {
    auto recorder = Recorder::Create(Path());
    Record(**recorder, UserRequest("x"),
           [](FakeClient& fake) { fake.call(0).sink->OnDone(FullReply()); });
  }
  const std::string good = *ReadFile(Path());
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    for (int i = 0; i < 4; ++i) text[random.Below(text.size() - 1)] = "{}[]\",:0n"[random.Below(9)];
    ASSERT_TRUE(WriteFileAtomic(Path(), text));
    if (auto recording = Recording::Load(Path())) {
      (void)Ask(*(*recording)->Client(), UserRequest("x")).has_value();
    }
  }
}

}  // namespace
}  // namespace dossier::model
