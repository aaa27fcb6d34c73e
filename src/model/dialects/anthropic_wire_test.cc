#include <gtest/gtest.h>

#include "model/dialects/dialect.h"
#include "testing/dialect_streams_for_test.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Entry Claude() {
  Entry entry;
  entry.json_schema = true;
  entry.capability.max_output = 4096;
  entry.capability.cache = {
      .mode = assembly::CacheRules::Mode::kExplicit, .breakpoints = 2, .ttl = {"5m", "1h"}};
  return entry;
}

Json AnthropicBodyOf(const Request& request, const Entry& entry = Claude()) {
  return *ParseJson(
      kAnthropicDialect.build(request, {.entry = entry, .stream = Streaming::kNo}).body);
}

// A tool conversation with thinking, as it goes back to the API.
Request ToolRequest() {
  Request request;
  request.model = "m";
  request.messages.system = {{.text = "Be brief.", .cache = "1h"}};
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  request.messages.turns = {
      {Role::kUser, {{.text = "Where?", .cache = "5m"}}},
      {Role::kAssistant,
       {{.type = Block::Type::kThinking,
         .text = "hm",
         .provider_data =
             *ParseJson(R"({"anthropic":{"type":"thinking","thinking":"hm","signature":"s1"}})")},
        {.type = Block::Type::kThinking, .text = "of another", .provider_data = JsonObject{}},
        {.type = Block::Type::kToolCall,
         .call_id = "call.1",
         .tool_name = "look",
         .arguments = JsonObject{{"at", 3}}}}},
      {Role::kTool, {{.type = Block::Type::kToolResult, .text = "here", .call_id = "call.1"}}},
      {Role::kUser, {{.text = " \n"}, {.text = "And then?", .cache = "5m"}}},
  };
  return request;
}

TEST(AnthropicRequestTest,
     SystemToolsThinkingAndBreakpointsStandWhereTheApiWantsThem) {  // MOD-11, ASM-72, ASM-77
  EXPECT_EQ(
      ToJson(AnthropicBodyOf(ToolRequest())),
      R"({"model":"m","max_tokens":4096,"tools":[{"name":"look","description":"Looks.",)"
      R"("input_schema":{"type":"object"}}],"system":[{"type":"text","text":"Be brief.",)"
      R"("cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":[)"
      R"({"type":"text","text":"Where?","cache_control":{"type":"ephemeral"}}]},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},)"
      R"({"type":"tool_use","id":"call_1","name":"look","input":{"at":3}}]},{"role":"user",)"
      R"("content":[{"type":"tool_result","tool_use_id":"call_1","content":"here"},)"
      R"({"type":"text","text":"And then?"}]}]})")
      << "the third breakpoint is over the entry's two";
}

TEST(AnthropicRequestTest, WithoutExplicitCachingNoCacheFieldIsSent) {  // ASM-77
  Entry entry = Claude();
  entry.capability.cache.mode = assembly::CacheRules::Mode::kAutomatic;
  EXPECT_EQ(ToJson(AnthropicBodyOf(ToolRequest(), entry)).find("cache"), std::string::npos);
}

TEST(AnthropicRequestTest, WhatTheApiWouldRefuseIsNotSent) {  // MOD-11, MOD-10
  Request request = UserRequest("x");
  request.model = "m";
  request.messages.turns.push_back({Role::kAssistant, {{.text = "{ \n"}}});
  request.sampling = {.temperature = 0.5,
                      .max_output = 9,
                      .seed = 1,
                      .stop = {"\n", "END"},
                      .extra = {{"thinking", "on"}, {"system", "evil"}}};
  Entry entry = Claude();
  entry.sampling = {"stop"};
  WireRequest wire = kAnthropicDialect.build(request, {.entry = entry});
  const Json body = *ParseJson(wire.body);
  EXPECT_EQ(body.at_pointer("/messages/1/content/0/text"), "{")
      << "no white space behind a prefill";
  EXPECT_EQ(ToJson(*Find(body, "stop_sequences")), R"(["END"])");
  EXPECT_EQ(FindInt(body, "max_tokens"), 9);
  EXPECT_EQ(FindBool(body, "stream"), true);
  EXPECT_EQ(FindString(body, "thinking"), "on");
  for (const char* absent : {"temperature", "seed", "system"}) EXPECT_FALSE(Find(body, absent));
  EXPECT_THAT(wire.warnings,
              ElementsAre(HasSubstr("temperature"), HasSubstr("seed"), HasSubstr("white space")));
}

TEST(AnthropicRequestTest, ASchemaIsAskedForInTheFieldOrInWords) {  // MOD-10
  Request request = UserRequest("x");
  request.schema = Json(JsonObject{{"type", "object"}});
  EXPECT_EQ(AnthropicBodyOf(request).at_pointer("/output_config/format/type"), "json_schema");
  Entry entry = Claude();
  entry.json_schema = false;
  EXPECT_THAT(ToJson(AnthropicBodyOf(request, entry)), HasSubstr("matches this JSON Schema"));
}

TEST(AnthropicReplyTest, UnknownEndsCutAndCountsThatCannotBeTrueAreEstimated) {  // FLT-2, FLT-9
  const auto read = [](const std::string& reason, const std::string& usage) {
    const auto reply = kAnthropicDialect.parse(R"({"content":[{"type":"text","text":"47"}],)"
                                               R"("stop_reason":")" +
                                               reason + R"(","usage":)" + usage + "}");
    EXPECT_TRUE(reply);
    return *reply;
  };
  constexpr char kGood[] = R"({"input_tokens":3,"output_tokens":2})";
  EXPECT_EQ(read("error", kGood).finish, Finish::kCut);
  EXPECT_EQ(read("END_TURN", kGood).finish, Finish::kStop);
  EXPECT_FALSE(read("end_turn", kGood).usage.estimated);
  EXPECT_FALSE(read("end_turn", R"({"input_tokens":0,"cache_read_input_tokens":9,)"
                                R"("output_tokens":2})")
                   .usage.estimated);
  for (const char* usage :
       {R"({"input_tokens":0,"output_tokens":0})", R"({"input_tokens":3})",
        R"({"input_tokens":3,"output_tokens":-100})",
        R"({"input_tokens":1000000000000000000,"output_tokens":1000000000000000000})"}) {
    EXPECT_TRUE(read("end_turn", usage).usage.estimated) << usage;
  }
}

TEST(AnthropicReplyTest, BlocksUsageAndFinishStreamedAndNot) {  // MOD-11, MOD-A1, MOD-A2
  const auto check = [](const Reply& reply) {
    EXPECT_EQ(reply.text, "I look: naïve 😀.");
    EXPECT_EQ(reply.thinking, "Let me see");
    ASSERT_EQ(reply.tool_calls.size(), 1u);
    EXPECT_EQ(reply.tool_calls[0].id, "toolu_1");
    EXPECT_EQ(ToJson(reply.tool_calls[0].arguments), R"({"at":[1,2]})");
    EXPECT_EQ(reply.finish, Finish::kToolCalls);
    EXPECT_EQ(reply.resolved_model, "claude-x-2026");
    EXPECT_FALSE(reply.usage.estimated);
    EXPECT_EQ(reply.usage.input, 10 + 200 + 1000);
    EXPECT_EQ(reply.usage.cached, 1000);
    EXPECT_EQ(reply.usage.cache_write, 200);
    EXPECT_EQ(reply.usage.cache_write_long, 150);
    EXPECT_EQ(reply.usage.output, 33);
    // What goes back is what came, in its order.
    Request next;
    next.messages.turns = {{Role::kUser, {{.text = "x"}}}, AssistantTurn(reply)};
    EXPECT_EQ(ToJson(AnthropicBodyOf(next).at_pointer("/messages/1/content")),
              R"([{"type":"thinking","thinking":"Let me see","signature":"sig=="},)"
              R"({"type":"redacted_thinking","data":"opaque"},)"
              R"({"type":"text","text":"I look: naïve 😀."},)"
              R"({"type":"tool_use","id":"toolu_1","name":"look","input":{"at":[1,2]}}])");
  };
  auto whole = kAnthropicDialect.parse(kAnthropicReply);
  ASSERT_TRUE(whole) << whole.error().message;
  check(*whole);
  for (std::size_t split = 0; split <= kAnthropicEvents.size(); ++split) {
    const Streamed streamed = ReadStream("anthropic", kAnthropicEvents, split);
    ASSERT_TRUE(streamed.finished) << split;
    EXPECT_EQ(streamed.text, "I look: naïve 😀.");
    check(streamed.reply);
    if (HasFailure()) break;
  }
}

TEST(AnthropicReplyTest, AStreamCutAnywhereKeepsWhatCame) {  // MOD-13
  for (std::size_t end = 0; end < kAnthropicEvents.size(); ++end) {
    const Streamed streamed = ReadStream("anthropic", kAnthropicEvents.substr(0, end), end);
    EXPECT_EQ(streamed.reply.text, streamed.text);
    EXPECT_EQ(streamed.reply.finish == Finish::kCut, !streamed.finished);
    // Thinking without its signature never goes back.
    Request next;
    next.messages.turns = {AssistantTurn(streamed.reply)};
    EXPECT_EQ(ToJson(AnthropicBodyOf(next)).find(R"("signature":"")"), std::string::npos) << end;
    if (HasFailure()) break;
  }
}

TEST(AnthropicReplyTest, ErrorsAndWrongTypesAreNamed) {  // MOD-14, MOD-A11
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       "reports: Overloaded"},
      {R"({"content":"x"})", "it has no content"},
      {"[]", "it has no content"},
      {"{", "malformed reply"},
  };
  for (const auto& [body, message] : cases) {
    EXPECT_THAT(kAnthropicDialect.parse(body), FailsWith(ErrorCode::kNetwork, message));
  }
  for (const char* data : {"7", R"({"type":"content_block_delta","index":-1})",
                           R"({"type":"content_block_delta","index":99999999,"delta":{}})",
                           R"({"type":"content_block_start","index":0})",
                           R"({"type":"content_block_delta","index":0,"delta":7})"}) {
    const auto stream_owner = kAnthropicDialect.stream();
    ReplyStream& stream = *stream_owner;
    EXPECT_THAT(stream.Add(data), FailsWith(ErrorCode::kNetwork, "malformed reply")) << data;
    EXPECT_FALSE(stream.retry()) << "the provider reports no error";
  }
  const auto overloaded_owner = kAnthropicDialect.stream();
  ReplyStream& overloaded = *overloaded_owner;
  EXPECT_FALSE(overloaded.Add(cases[0].first));
  EXPECT_EQ(overloaded.retry(), Failure::Retry::kYes);
  auto refused = kAnthropicDialect.parse(R"({"content":[],"stop_reason":"refusal"})");
  EXPECT_EQ(refused->finish, Finish::kRefused);
  EXPECT_THAT(refused->warnings, ElementsAre(HasSubstr("refusal")));
  EXPECT_TRUE(refused->usage.estimated);
}

TEST(AnthropicReplyTest, NoBytesCrashTheReaders) {  // MOD-A11
  MutateStream("anthropic", kAnthropicEvents, kAnthropicReply);
}

TEST(AnthropicRequestTest, WhetherToolsMustBeCalledIsSaid) {  // MOD-10, RSP 4.2
  Request request = ToolRequest();
  request.tool_use = Request::ToolUse::kRequired;
  EXPECT_EQ(ToJson(*Find(AnthropicBodyOf(request), "tool_choice")), R"({"type":"any"})");
  request.tool_use = Request::ToolUse::kNone;
  EXPECT_EQ(ToJson(*Find(AnthropicBodyOf(request), "tool_choice")), R"({"type":"none"})");
}

}  // namespace
}  // namespace dossier::model
