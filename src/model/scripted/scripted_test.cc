#include "model/scripted/scripted.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/client/gate.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;

Result<Reply> Ask(Client& client, Request request) {
  auto sink = std::make_shared<RecordingSink>();
  client.Submit(std::make_shared<const Request>(std::move(request)), {}, sink);
  return sink->Wait();
}

std::shared_ptr<Client> MakeClient(std::string_view yaml) {
  auto script = Script::Parse(yaml, "replies.yaml");
  EXPECT_TRUE(script) << script.error().message;
  return MakeScriptedClient(*script, SystemClock());
}

TEST(ScriptedTest, RulesAreUsedInOrderAndPlainTextsOnce) {  // MOD-50
  auto client = MakeClient("- when: '^sum'\n  reply: many\n- first\n- second\n");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "first");
  EXPECT_EQ(Ask(*client, UserRequest("sum it"))->text, "many");
  EXPECT_EQ(Ask(*client, UserRequest("sum it"))->text, "many");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "second");
  EXPECT_THAT(Ask(*client, UserRequest("the last one")),
              FailsWith(ErrorCode::kFailed,
                        "request 5 (purpose root, turn 0, path 0), whose last "
                        "message is: the last one"));
}

TEST(ScriptedTest, EveryConditionNarrows) {  // MOD-50
  auto client = MakeClient(R"(
rules:
  - {purpose: [map, subcall], reply: p}
  - {turn: 2, reply: t}
  - {path: "0.3", reply: q}
  - {reply: rest, times: always}
)");
  Request request = UserRequest("x");
  EXPECT_EQ(Ask(*client, request)->text, "rest");
  request.turn = 2;
  EXPECT_EQ(Ask(*client, request)->text, "t");
  request.purpose = Purpose::kMap;
  EXPECT_EQ(Ask(*client, request)->text, "p");
  request.purpose = Purpose::kRoot;
  request.turn = 0;
  request.path = "0.3";
  EXPECT_EQ(Ask(*client, request)->text, "q");
}

TEST(ScriptedTest, CandidatesForTheFirstTokenComeToWhoAsks) {  // MOD-50
  auto client = MakeClient("- {reply: a, times: 2, logprobs: {b: -2, a: -0.5}}\n");
  Request request = UserRequest("x");
  EXPECT_TRUE(Ask(*client, request)->first_tokens.empty());
  request.sampling.first_tokens = 5;
  const auto reply = Ask(*client, request);
  ASSERT_EQ(reply->first_tokens.size(), 2u);
  EXPECT_EQ(reply->first_tokens[0].token, "a");
  EXPECT_EQ(reply->first_tokens[1].logprob, -2);
}

TEST(ScriptedTest, TimesToolCallsUsageAndFinish) {  // MOD-50
  auto client = MakeClient(R"(
- {reply: twice, times: 2, finish: length, usage: {input: 7, output: 3, cached: 5}}
- tool_calls: [{name: look, arguments: {at: 3, deep: true, word: "3"}}]
- {"reply": {"a": [1, "1"]}}
)");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "twice");
  auto reply = Ask(*client, UserRequest("x"));
  EXPECT_EQ(reply->finish, Finish::kLength);
  EXPECT_EQ(reply->usage.cached, 5);
  EXPECT_FALSE(reply->usage.estimated);
  reply = Ask(*client, UserRequest("12345678"));
  ASSERT_EQ(reply->tool_calls.size(), 1u);
  EXPECT_EQ(reply->finish, Finish::kToolCalls);
  EXPECT_EQ(ToJson(reply->tool_calls[0].arguments), R"({"at":3,"deep":true,"word":"3"})");
  EXPECT_TRUE(reply->usage.estimated);
  EXPECT_EQ(reply->usage.input, 2);
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, R"({"a":[1,"1"]})");
}

TEST(ScriptedTest, NoTokensOfATextAreNoCount) {  // FLT-9
  auto client = MakeClient(R"(
- {reply: "12345678", usage: {input: 0, output: 0}}
- {reply: "12345678", usage: {input: 3, output: 0}}
- {reply: "", usage: {input: 3, output: 0}}
)");
  for (int i = 0; i < 2; ++i) {
    const auto reply = Ask(*client, UserRequest("12345678"));
    EXPECT_TRUE(reply->usage.estimated);
    EXPECT_EQ(reply->usage.input, 2);
    EXPECT_EQ(reply->usage.output, 2);
  }
  EXPECT_EQ(Ask(*client, UserRequest("12345678"))->usage.input, 3);
}

TEST(ScriptedTest, FailuresAreThoseOfAProvider) {  // MOD-50, MOD-21
  auto client = MakeClient(R"(
- fail: {status: 429, body: slow down, headers: {Retry-After: 1}}
- {reply: "0123456789", fail: {cut_after: 4}}
- {reply: "0123456789", fail: {cut_after: 0}}
)");
  auto sink = std::make_shared<RecordingSink>();
  client->Submit(std::make_shared<const Request>(UserRequest("x")), {}, sink);
  EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kRateLimited, "slow down"));
  EXPECT_EQ(sink->failure.retry_after, Millis(1000));
  const auto cut = Ask(*client, UserRequest("x"));
  EXPECT_EQ(cut->text, "0123");
  EXPECT_EQ(cut->finish, Finish::kCut);
  EXPECT_THAT(Ask(*client, UserRequest("x")), FailsWith(ErrorCode::kNetwork, "before any text"));
}

TEST(ScriptedTest, ADelayedReplyIsCancelledAtOnce) {  // MOD-23
  auto client = MakeClient("- {reply: late, delay: 1h}");
  CancelSource source;
  auto sink = std::make_shared<RecordingSink>();
  client->Submit(std::make_shared<const Request>(UserRequest("x")), source.token(), sink);
  source.Cancel("enough");
  EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kCancelled, "enough"));
}

TEST(ScriptedTest, ADelayEndsAtTheDeadline) {
  auto client = MakeClient("- {reply: late, delay: 1h}\n- {reply: soon, delay: 2ms}");
  Request request = UserRequest("x");
  request.deadline = Millis(5);
  EXPECT_THAT(Ask(*client, request), FailsWith(ErrorCode::kTimeout, "no answer within"));
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "soon");
}

TEST(ScriptedTest, MistakesInAScriptHaveAPlace) {
  struct Case {
    const char* yaml;
    const char* message;
  };
  const Case cases[] = {
      {"- {when: '(', reply: x}", "replies.yaml:1:10: `when` is no regular expression"},
      {"- reply: x\n  purpos: map\n", "replies.yaml:2:3: unknown key \"purpos\"; did you mean"},
      {"- {times: 3}", "replies.yaml:1:3: a rule needs reply"},
      {"- {reply: x, times: -1}", "times is a number"},
      {"- {reply: x, delay: soon}", "soon"},
      {"- {reply: x, fail: {status: 200}}", "not in 400 to 599"},
      {"just text", "a script is a list"},
      {"- [", "replies.yaml:1:"},
      {"- {reply: x, finish: maybe}", "finish is none of"},
      {"- {reply: x, reply: y}", "replies.yaml:1:14: duplicate key reply"},
      {"- {reply: x, turn: one}", "replies.yaml:1:20: a whole number is wanted"},
      {"- {reply: x, usage: {input: -1}}", "replies.yaml:1:29: input is negative"},
      {"- tool_calls: [look]", "replies.yaml:1:16: a map is wanted here"},
      {"- tool_calls: [{id: a}]", "replies.yaml:1:16: a tool call needs a name"},
      {"- tool_calls: {name: look}", "replies.yaml:1:15: a list is wanted here"},
      {"- fail: {headers: [a]}", "replies.yaml:1:19: a map is wanted here"},
      {"- {reply: x, logprobs: {a: '-1'}}", "replies.yaml:1:28: a log-probability is a number"},
      {R"([{"reply": "x", "purpos": "map"}])",
       "replies.yaml: unknown key \"purpos\"; did you mean \"purpose\"?"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Script::Parse(c.yaml, "replies.yaml"), FailsWith(ErrorCode::kConfig, c.message))
        << c.yaml;
  }
}

TEST(ScriptedTest, JsonIsReadWithItsOwnEscapes) {
  auto client = MakeClient(R"([{"reply": "\ud83d\ude00\u0041", "times": 1}, "b"])");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "😀A");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "b");
}

TEST(ScriptedTest, AnEmptyFieldIsNoMistake) {
  auto client = MakeClient("- {reply: ~, fail: ~, usage: ~, tool_calls: ~, logprobs: ~}\n- '2'\n");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "null");
  EXPECT_EQ(Ask(*client, UserRequest("x"))->text, "2");
}

TEST(ScriptedTest, AliasesExpandUnderALimit) {
  std::string yaml = "- reply: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 7; ++i) {
    yaml += fmt::format("- reply: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(Script::Parse(yaml, "replies.yaml"),
              FailsWith(ErrorCode::kConfig, "aliases expand to more than"));
}

TEST(ScriptedTest, NoTextCrashesTheReader) {
  Random random(11);
  const std::string base = "- {when: a, reply: b, fail: {status: 429, headers: {a: 1}}, turn: [1]}";
  for (int round = 0; round < 2000; ++round) {
    std::string text = base;
    for (int i = 0; i < 3; ++i) {
      text[random.Below(text.size())] = "{}[]-:,'\"\n #&*!x1"[random.Below(17)];
    }
    (void)Script::Parse(text, "fuzz").has_value();
  }
}

TEST(ScriptedTest, WorksBehindAGate) {  // MOD-50
  auto gate = Gate::Make(MakeClient("- {when: x, reply: yes}"), {.concurrency = 4}, SystemClock());
  Ledger ledger({.calls = 300}, SystemClock());
  std::string streamed;
  for (int i = 0; i < 300; ++i) {
    auto reply = gate->Complete(UserRequest("x"), ledger, Stage::kNormal, {},
                                [&](std::string_view text) { streamed += text; });
    ASSERT_EQ(reply->text, "yes");
  }
  EXPECT_EQ(streamed.size(), 900u);
  EXPECT_THAT(gate->Complete(UserRequest("x"), ledger, Stage::kNormal, {}),
              FailsWith(ErrorCode::kLimit, "calls: 300 of 300 used"));
}

}  // namespace
}  // namespace dossier::model
