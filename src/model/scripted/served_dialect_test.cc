// Tests each client against the server that stands in for its provider (MOD-50, MOD-A1).

#include "model/scripted/served_dialect.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/net/http_get.h"
#include "base/text/text.h"
#include "model/providers/provider_client.h"
#include "model/scripted/serve_script.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

struct Case {
  const char* dialect;
  Streaming stream;
};
constexpr Case kCases[] = {
    {"openai", Streaming::kYes},   {"openai", Streaming::kNo},  {"anthropic", Streaming::kYes},
    {"anthropic", Streaming::kNo}, {"gemini", Streaming::kYes}, {"gemini", Streaming::kNo},
};

std::string NameOf(const Case& c) {
  return fmt::format("{}, {}", c.dialect, c.stream == Streaming::kYes ? "streamed" : "whole");
}

std::unique_ptr<HttpListener> Serve(std::string_view yaml, const ServeScriptOptions& options = {}) {
  auto script = Script::Parse(yaml, "replies.yaml");
  EXPECT_TRUE(script) << script.error().message;
  auto server = ServeScript(*script, options);
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

std::shared_ptr<Client> ClientOf(const Case& c, const HttpListener& server) {
  Entry entry;
  entry.tools = entry.thinking = true;
  const bool v1 = std::string_view(c.dialect) == "openai";
  auto client = MakeProviderClient(
      {.base_url = fmt::format("http://127.0.0.1:{}{}", server.port(), v1 ? "/v1" : ""),
       .key = "hush",
       .provider = c.dialect,
       .dialect = c.dialect,
       .entry = entry,
       .stream = c.stream});
  EXPECT_TRUE(client) << client.error().message;
  return *client;
}

std::shared_ptr<RecordingSink> Submit(Client& client, Request request) {
  if (request.model.empty()) request.model = "some-model";
  auto sink = std::make_shared<RecordingSink>();
  client.Submit(std::make_shared<const Request>(std::move(request)), {}, sink);
  return sink;
}

TEST(ServedDialectTest, TextThinkingUsageAndFinishArrive) {  // MOD-50, MOD-10 to 12, MOD-A1
  for (const Case& c : kCases) {
    auto server = Serve(R"(
- reply: "naïve café 😀 and some more text"
  thinking: "let me look at it closely"
  usage: {input: 1000, output: 50, cached: 400, cache_write: 100, reasoning: 30}
- {reply: "0123", finish: length}
)");
    auto client = ClientOf(c, *server);
    auto sink = Submit(*client, UserRequest("x"));
    const auto reply = sink->Wait();
    ASSERT_TRUE(reply) << NameOf(c) << ": " << reply.error().message;
    EXPECT_EQ(reply->text, "naïve café 😀 and some more text") << NameOf(c);
    EXPECT_EQ(reply->thinking, "let me look at it closely") << NameOf(c);
    EXPECT_EQ(reply->finish, Finish::kStop) << NameOf(c);
    EXPECT_EQ(reply->resolved_model, "some-model") << NameOf(c);
    EXPECT_EQ(sink->deltas.size() > 1, c.stream == Streaming::kYes) << NameOf(c);
    EXPECT_FALSE(reply->usage.estimated) << NameOf(c);
    EXPECT_EQ(reply->usage.input, 1000) << NameOf(c);
    EXPECT_EQ(reply->usage.output, 50) << NameOf(c);
    EXPECT_EQ(reply->usage.cached, 400) << NameOf(c);
    EXPECT_EQ(reply->usage.reasoning, 30) << NameOf(c);           // CON-48, CON-A13
    const bool writes = std::string_view(c.dialect) != "gemini";  // which writes by itself
    EXPECT_EQ(reply->usage.cache_write, writes ? 100 : 0) << NameOf(c);
    EXPECT_EQ(Submit(*client, UserRequest("x"))->Wait()->finish, Finish::kLength) << NameOf(c);
  }
}

TEST(ServedDialectTest, ToolCallsGoThereAndBack) {  // MOD-50, MOD-A1
  for (const Case& c : kCases) {
    auto server = Serve(R"(
- {reply: "I look.", thinking: "where?", tool_calls: [{id: c1, name: look, arguments: {at: 3}}, {id: c2, name: look}]}
- {when: "seen 2", reply: "done"}
)");
    auto client = ClientOf(c, *server);
    Request request = UserRequest("x");
    request.messages.tools = {{.name = "look", .description = "looks", .parameters = JsonObject()}};
    const auto reply = Submit(*client, request)->Wait();
    ASSERT_TRUE(reply) << NameOf(c) << ": " << reply.error().message;
    EXPECT_EQ(reply->finish, Finish::kToolCalls) << NameOf(c);
    ASSERT_EQ(reply->tool_calls.size(), 2u) << NameOf(c);
    EXPECT_EQ(ToJson(reply->tool_calls[0].arguments), R"({"at":3})") << NameOf(c);
    request.messages.turns.push_back(AssistantTurn(*reply));
    assembly::Turn results{Role::kTool, {}};
    int number = 0;
    for (const ToolCall& call : reply->tool_calls) {
      results.blocks.push_back({.type = Block::Type::kToolResult,
                                .text = fmt::format("seen {}", ++number),
                                .call_id = call.id,
                                .tool_name = call.name});
    }
    request.messages.turns.push_back(std::move(results));
    const auto end = Submit(*client, request)->Wait();
    ASSERT_TRUE(end) << NameOf(c) << ": " << end.error().message;
    EXPECT_EQ(end->text, "done") << NameOf(c);
  }
}

TEST(ServedDialectTest, FailuresCutsAndExhaustionHaveTheProvidersForm) {  // MOD-50, MOD-14
  for (const Case& c : kCases) {
    auto server = Serve(R"(
- {fail: {status: 429, headers: {Retry-After: "7"}}}
- {fail: {status: 401}}
- {reply: "0123456789", fail: {cut_after: 4}}
)");
    auto client = ClientOf(c, *server);
    auto limited = Submit(*client, UserRequest("x"));
    EXPECT_THAT(limited->Wait(), FailsWith(ErrorCode::kRateLimited, "retry-after: 7"));
    EXPECT_EQ(limited->failure.retry_after, Millis(7000)) << NameOf(c);
    EXPECT_THAT(Submit(*client, UserRequest("x"))->Wait(), FailsWith(ErrorCode::kAuth, "401"));
    const auto cut = Submit(*client, UserRequest("x"))->Wait();
    if (c.stream == Streaming::kYes) {
      ASSERT_TRUE(cut) << NameOf(c) << ": " << cut.error().message;
      EXPECT_EQ(cut->text, "0123") << NameOf(c);
      EXPECT_EQ(cut->finish, Finish::kCut) << NameOf(c);
    } else {
      EXPECT_THAT(cut, FailsWith(ErrorCode::kNetwork, c.dialect));
    }
    EXPECT_THAT(Submit(*client, UserRequest("last words"))->Wait(),
                FailsWith(ErrorCode::kFailed, "no rule is left"));
  }
}

// Requests that our clients never send.
HttpAnswer Post(const HttpListener& server, std::string_view target, std::string body,
                std::vector<std::string> headers = {"anthropic-version: 2023-06-01"}) {
  static const auto loop = *HttpLoop::Make();
  headers.emplace_back("Content-Type: application/json");
  const auto answer = AskHttp(*loop,
                              {.url = fmt::format("http://127.0.0.1:{}{}", server.port(), target),
                               .headers = std::move(headers),
                               .body = std::move(body)},
                              1 << 20, {});
  return answer ? *answer : HttpAnswer{.body = answer.error().message};
}

TEST(ServedDialectTest, WhatTheProviderWouldRefuseIsRefusedAndUsesUpNoRule) {  // MOD-50, ASM-80
  struct Wrong {
    const char* target;
    const char* body;
    const char* why;
  };
  constexpr const char* kMessages = "/v1/messages";
  constexpr const char* kGemini = "/v1beta/models/m:generateContent";
  const Wrong cases[] = {
      {kMessages, R"({"model":"m","messages":[{"role":"user","content":"a"}]})",
       R"("type":"invalid_request_error","message":"max_tokens: field required")"},
      {kMessages, R"({"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"a"}]})",
       "the user is not first"},
      {kMessages, R"({"model":"m","max_tokens":9,"messages":[{"role":"system","content":"a"},
        {"role":"user","content":"a"}]})",
       "the unknown role"},
      {kMessages, R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},
        {"role":"assistant","content":"b"}]})",
       "the assistant is last"},
      {kGemini, R"({"contents":[]})", R"("status":"INVALID_ARGUMENT")"},
      {kGemini, R"({"contents":[{"role":"model","parts":[{"text":"a"}]}]})",
       "the user is not first"},
      {"/v1/chat/completions", R"({"messages":[{"role":"tool","tool_call_id":"1","content":"a"}]})",
       "a result without its call"},
      {"/v1/chat/completions", R"({"messages":7})", "messages: a list is wanted"},
      {"/v1/chat/completions", R"({"messages":)", "error"},
  };
  auto server = Serve("- still here\n");
  for (const Wrong& wrong : cases) {
    const HttpAnswer answer = Post(*server, wrong.target, wrong.body);
    EXPECT_EQ(answer.status, 400) << wrong.body;
    EXPECT_THAT(answer.body, HasSubstr(wrong.why)) << wrong.body;
  }
  const char* good = R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]})";
  EXPECT_THAT(Post(*server, kMessages, good, {}).body, HasSubstr("anthropic-version: header"));
  EXPECT_EQ(Post(*server, "/v1/nonsense", good).status, 404);
  EXPECT_THAT(Post(*server, kMessages, good).body, HasSubstr("still here"));
}

TEST(ServedDialectTest, StricterRulesMayBeAskedFor) {  // MOD-50
  const char* two = R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})";
  auto lenient = Serve("- fine\n");
  EXPECT_EQ(Post(*lenient, "/v1/chat/completions", two).status, 200);
  auto strict = Serve("- fine\n", {.rules = *FindRoleRules("alternating")});
  EXPECT_THAT(Post(*strict, "/v1/chat/completions", two).body, HasSubstr("two of role user"));
  EXPECT_EQ(FindRoleRules("nobody"), nullptr);
  for (const std::string& name : RoleRulesNames()) EXPECT_NE(FindRoleRules(name), nullptr);
}

TEST(ServedDialectTest, AKeyIsSeenAndNeverRecorded) {  // MOD-A6, MOD-50
  for (const Case& c : kCases) {
    const auto folder = TempFolder::Make();
    const std::string record = folder->path() + "/requests.jsonl";
    auto server = Serve("- fine\n", {.record_path = record});
    ASSERT_TRUE(Submit(*ClientOf(c, *server), UserRequest("x"))->Wait()) << NameOf(c);
    const std::string line = *ReadFile(record);
    EXPECT_EQ(FindBool(*ParseJson(TrimSpace(line)), "authorized"), true) << NameOf(c);
    EXPECT_EQ(line.find("hush"), std::string::npos) << NameOf(c);
  }
}

TEST(ServedDialectTest, PiecesJoinToTheTextAndNeverSplitACharacter) {
  for (const std::string text : {"", "a", "0123456789abcdef", "0123456789abcde😀x", "ééééééééé"}) {
    std::string joined;
    for (const std::string_view piece : PiecesOf(text)) {
      EXPECT_LE(piece.size(), 16u);
      EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xC0, 0x80) << text;
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace dossier::model
