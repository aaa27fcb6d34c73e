#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8.h"
#include "model/dialects/dialect.h"
#include "model/dialects/wire.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

Entry FullEntry() {
  Entry entry;
  entry.json_schema = entry.grammar = entry.tools = true;
  return entry;
}

Json OpenAiBodyOf(const Request& request, const WireOptions& options) {
  auto json = ParseJson(kOpenAiDialect.build(request, options).body);
  EXPECT_TRUE(json) << json.error().message;
  return *json;
}

TEST(OpenAiRequestTest, MessagesKeepTheirRolesAndToolResultsTheirCalls) {  // MOD-10
  Request request;
  request.model = "m";
  request.messages.system = {{.text = "Be brief."}};
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  request.messages.turns = {
      {Role::kUser, {{.text = "a"}, {.text = "b"}}},
      {Role::kAssistant,
       {{.type = Block::Type::kToolCall,
         .call_id = "1",
         .tool_name = "look",
         .arguments = JsonObject{{"at", 3}}}}},
      {Role::kTool, {{.type = Block::Type::kToolResult, .text = "seen", .call_id = "1"}}},
  };
  EXPECT_EQ(ToJson(OpenAiBodyOf(request, {.entry = FullEntry(), .stream = Streaming::kNo})),
            R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":"a\n\nb"},)"
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",)"
            R"("function":{"name":"look","arguments":"{\"at\":3}"}}]},)"
            R"({"role":"tool","tool_call_id":"1","content":"seen"}],)"
            R"("tools":[{"type":"function","function":{"name":"look","description":"Looks.",)"
            R"("parameters":{"type":"object"}}}]})");
}

TEST(OpenAiRequestTest, CapabilitiesDecideNamesAndWhatIsLeftOut) {  // MOD-10
  Request request = UserRequest("x");
  request.model = "m";
  request.messages.system = {{.text = "s"}};
  request.sampling = {.temperature = 0.2,
                      .top_p = 0.9,
                      .max_output = 7,
                      .seed = 5,
                      .stop = {"\n"},
                      .grammar = "root ::= x",
                      .extra = {{"n", 2}, {"messages", "evil"}}};
  Entry entry = FullEntry();
  entry.max_tokens_name = "max_completion_tokens";
  entry.sampling = {};
  entry.capability.system_role = "developer";
  WireRequest wire = kOpenAiDialect.build(request, {.entry = entry, .provider = "openai"});
  Json body = *ParseJson(wire.body);
  EXPECT_EQ(FindInt(body, "max_completion_tokens"), 7);
  EXPECT_EQ(FindInt(body, "n"), 2);
  EXPECT_EQ(FindBool(body, "stream"), true);
  EXPECT_EQ(body.at_pointer("/stream_options/include_usage"), true);
  EXPECT_EQ(body.at_pointer("/messages/0/role"), "developer");
  for (const char* absent : {"temperature", "top_p", "stop", "seed", "grammar", "cache_prompt"}) {
    EXPECT_FALSE(Find(body, absent)) << absent;
  }
  EXPECT_EQ(wire.warnings.size(), 4u);

  entry.sampling = {"top_p", "stop"};
  wire = kOpenAiDialect.build(request, {.entry = entry, .provider = "openai"});
  body = *ParseJson(wire.body);
  EXPECT_EQ(FindNumber(body, "top_p"), 0.9);
  EXPECT_TRUE(Find(body, "stop"));
  EXPECT_FALSE(Find(body, "temperature"));
  EXPECT_FALSE(Find(body, "seed"));
  EXPECT_EQ(wire.warnings.size(), 2u);

  body = OpenAiBodyOf(request, {.entry = FullEntry(), .provider = "local"});
  EXPECT_EQ(FindInt(body, "max_tokens"), 7);
  EXPECT_EQ(FindNumber(body, "temperature"), 0.2);
  EXPECT_EQ(FindString(body, "grammar"), "root ::= x");
  EXPECT_EQ(FindBool(body, "cache_prompt"), true);
  EXPECT_EQ(body.at_pointer("/stop/0"), "\n");
}

TEST(OpenAiRequestTest, CandidatesAreAskedOfModelsThatTellThem) {  // MOD-35
  Request request = UserRequest("x");
  request.sampling.first_tokens = 20;
  EXPECT_FALSE(Find(OpenAiBodyOf(request, {.entry = FullEntry()}), "logprobs"));
  Entry entry = FullEntry();
  entry.logprobs = true;
  const Json body = OpenAiBodyOf(request, {.entry = entry});
  EXPECT_EQ(FindBool(body, "logprobs"), true);
  EXPECT_EQ(FindInt(body, "top_logprobs"), 20);
}

TEST(OpenAiReplyTest, CandidatesForTheFirstTokenAreRead) {  // MOD-12
  constexpr std::string_view kLogprobs =
      R"("logprobs":{"content":[{"token":"spam","top_logprobs":[{"token":"spam","logprob":-0.1},)"
      R"({"token":" no","logprob":-2.5},{"token":"odd"}]},)"
      R"({"token":"!","top_logprobs":[{"token":"!","logprob":-0.2}]}]})";
  const auto expect = [](const std::vector<TokenChance>& tokens) {
    ASSERT_EQ(tokens.size(), 2u);
    EXPECT_EQ(tokens[0].token, "spam");
    EXPECT_EQ(tokens[1].token, " no");
    EXPECT_EQ(tokens[1].logprob, -2.5);
  };
  const auto whole = kOpenAiDialect.parse(
      fmt::format(R"({{"choices":[{{"message":{{"content":"spam!"}},{}}}]}})", kLogprobs));
  ASSERT_TRUE(whole);
  expect(whole->first_tokens);
  const auto stream_owner = kOpenAiDialect.stream();
  ReplyStream& stream = *stream_owner;
  ASSERT_TRUE(
      stream.Add(fmt::format(R"({{"choices":[{{"delta":{{"content":"spam"}},{}}}]}})", kLogprobs)));
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"content":"?"},"logprobs":{"content":[{"token":)"
                         R"("?","top_logprobs":[{"token":"?","logprob":-1}]}]}}]})"));
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{},"finish_reason":"length"}]})"));
  expect(stream.Take().first_tokens);
}

TEST(OpenAiRequestTest, ASchemaGoesTheBestWayTheModelTakes) {  // MOD-10
  Request request = UserRequest("x");
  request.schema = *ParseJson(R"({"type":"object","properties":{"a":{"type":"string"}},)"
                              R"("required":["a"],"additionalProperties":false})");
  Json body = OpenAiBodyOf(request, {.entry = FullEntry()});
  EXPECT_EQ(body.at_pointer("/response_format/json_schema/strict"), true);
  request.schema->as_object().erase("required");
  body = OpenAiBodyOf(request, {.entry = FullEntry()});
  EXPECT_EQ(body.at_pointer("/response_format/json_schema/strict"), false);
  WireRequest wire = kOpenAiDialect.build(request, {});
  EXPECT_THAT(wire.body, HasSubstr("matches this JSON Schema"));
  EXPECT_EQ(wire.body.find("response_format"), std::string::npos);
  EXPECT_EQ(wire.warnings.size(), 1u);
}

TEST(OpenAiRequestTest, InvalidUtf8IsReplacedSoThatTheBodyIsJson) {
  Request request = UserRequest("a\xFF\xC3");
  request.messages.system = {{.text = "\x80"}};
  EXPECT_TRUE(utf8::IsValid(kOpenAiDialect.build(request, {}).body));
}

TEST(OpenAiReplyTest, TextThinkingToolsUsageAndFinish) {  // MOD-10
  auto reply = kOpenAiDialect.parse(
      R"({"id":"c1","model":"m-2026","choices":[{"index":0,"finish_reason":)"
      R"("tool_calls","message":{"content":"hi","reasoning_content":"hm",)"
      R"("tool_calls":[{"id":"1","function":{"name":"f","arguments":)"
      R"("{\"a\":1}"}},{"id":"2","function":{"name":"g","arguments":"no"}}]}}],)"
      R"("usage":{"prompt_tokens":10,"completion_tokens":4,)"
      R"("prompt_tokens_details":{"cached_tokens":8},)"
      R"("completion_tokens_details":{"reasoning_tokens":3}}})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->usage.reasoning, 3);  // CON-48
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->thinking, "hm");
  EXPECT_EQ(reply->finish, Finish::kToolCalls);
  EXPECT_EQ(ToJson(reply->tool_calls[0].arguments), R"({"a":1})");
  EXPECT_EQ(reply->tool_calls[1].arguments, Json("no"));
  EXPECT_EQ(reply->warnings.size(), 1u);
  EXPECT_EQ(reply->usage.input, 10);
  EXPECT_EQ(reply->usage.cached, 8);
  EXPECT_FALSE(reply->usage.estimated);
  EXPECT_EQ(reply->resolved_model, "m-2026");
}

TEST(OpenAiRequestTest, AProvidersOwnFormIsWrittenByItsData) {  // MOD-10
  Request request = UserRequest("x");
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  request.tool_use = Request::ToolUse::kRequired;
  request.sampling.seed = 5;
  const Json usual = OpenAiBodyOf(request, {.entry = FullEntry()});
  EXPECT_FALSE(Find(usual, "prompt_mode"));
  EXPECT_EQ(FindInt(usual, "seed"), 5);
  EXPECT_TRUE(Find(usual, "stream_options"));
  Entry entry = FullEntry();
  entry.form = {.prompt_mode = "reasoning",
                .seed_name = "random_seed",
                .required_tool = "any",
                .stream_options = false};
  const Json body = OpenAiBodyOf(request, {.entry = entry});
  EXPECT_EQ(FindString(body, "prompt_mode"), "reasoning");
  EXPECT_EQ(FindInt(body, "random_seed"), 5);
  EXPECT_EQ(FindString(body, "tool_choice"), "any");
  EXPECT_EQ(FindBool(body, "stream"), true);
  for (const char* absent : {"seed", "stream_options"}) EXPECT_FALSE(Find(body, absent)) << absent;
  request.sampling.extra = {{"prompt_mode", nullptr}};  // --param prompt_mode=null
  EXPECT_TRUE(Find(OpenAiBodyOf(request, {.entry = entry}), "prompt_mode")->is_null());
}

TEST(OpenAiReplyTest, ThinkingAmongThePartsOfTheContentIsNoText) {  // MOD-10
  const auto whole = kOpenAiDialect.parse(
      R"({"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text",)"
      R"("text":"hm, "},{"type":"text","text":"so"}],"closed":true},)"
      R"({"type":"text","text":"four"}]},"finish_reason":"stop"}]})");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->text, "four");
  EXPECT_EQ(whole->thinking, "hm, so");
  const auto stream = kOpenAiDialect.stream();
  std::string text;
  for (
      const char* data :
      {R"({"choices":[{"delta":{"role":"assistant","content":""}}]})",
       R"({"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm, "}]}]}}]})",
       R"({"choices":[{"delta":{"content":[{"type":"thinking","thinking":"so"}]}}]})",
       R"({"choices":[{"delta":{"content":[{"type":"thinking","thinking":7},8]}}]})",
       R"({"choices":[{"delta":{"content":"fo"}}]})",
       R"({"choices":[{"delta":{"content":"ur"},"finish_reason":"stop"}],)"
       R"("usage":{"prompt_tokens":5,"completion_tokens":9}})",
       "[DONE]"}) {
    const auto part = stream->Add(data);
    ASSERT_TRUE(part) << part.error().message;
    text += *part;
  }
  const Reply reply = stream->Take();
  EXPECT_EQ(text, "four");
  EXPECT_EQ(reply.text, "four");
  EXPECT_EQ(reply.thinking, "hm, so");
  EXPECT_FALSE(reply.usage.estimated) << "it comes unasked, with the last piece";
}

TEST(OpenAiReplyTest, ARefusalIsTheTextOfAReplyThatRefuses) {  // FLT-2
  const auto whole = kOpenAiDialect.parse(
      R"({"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]})");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->text, "I will not.");
  EXPECT_EQ(whole->finish, Finish::kRefused);
  const auto stream_owner = kOpenAiDialect.stream();
  ReplyStream& stream = *stream_owner;
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"refusal":"I will "}}]})"));
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"refusal":"not."}}]})"));
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"));
  const Reply streamed = stream.Take();
  EXPECT_EQ(streamed.text, "I will not.");
  EXPECT_EQ(streamed.finish, Finish::kRefused);
}

TEST(OpenAiReplyTest, CachedTokensComeFromTimingsToo) {  // MOD-35
  auto reply = kOpenAiDialect.parse(R"({"choices":[{"message":{"content":"x"}}],)"
                                    R"("timings":{"prompt_n":3,"cache_n":20,"predicted_n":5}})");
  EXPECT_EQ(reply->usage.input, 23);
  EXPECT_EQ(reply->usage.cached, 20);
  EXPECT_EQ(reply->usage.output, 5);
  EXPECT_FALSE(reply->usage.reasoning) << "it does not say";
  EXPECT_TRUE(Find(reply->provider_data, "timings"));
}

TEST(OpenAiReplyTest, WrongTypesAreNamedAndNothingCrashes) {  // MOD-14, MOD-A11
  struct Case {
    std::string body;
    const char* message;
  };
  const Case cases[] = {
      {"", "malformed reply"},
      {"<html>502</html>", "malformed reply"},
      {"[]", "no choices[0].message"},
      {R"({"choices":{}})", "no choices[0].message"},
      {R"({"choices":[]})", "no choices[0].message"},
      {R"({"choices":[{"message":7}]})", "no choices[0].message"},
      {R"({"error":{"message":"overloaded"}})", "the provider reports: overloaded"},
      {R"({"error":"bad"})", "the provider reports: bad"},
      {std::string(100'000, '['), "malformed reply"},
      {R"({"choices":[{"message":{"content":)" + std::string(200, '[') + std::string(200, ']') +
           "}}]}",
       "malformed reply"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(kOpenAiDialect.parse(c.body), FailsWith(ErrorCode::kNetwork, c.message))
        << c.body.substr(0, 80);
  }
  // Wrong types of what may be missing count as missing.
  auto odd = kOpenAiDialect.parse(
      R"({"choices":[{"index":0,"finish_reason":7,"message":{"content":[1,)"
      R"({"text":"a"},{"text":2}],"tool_calls":[1,{"function":null}]}}],)"
      R"("usage":{"prompt_tokens":"many","completion_tokens":-4},"model":null})");
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_EQ(odd->text, "a");
  EXPECT_EQ(odd->finish, Finish::kOther);
  EXPECT_TRUE(odd->usage.estimated);
}

TEST(OpenAiReplyTest, CountsThatCannotBeTrueAreEstimated) {  // FLT-9
  for (const std::string usage :
       {R"({"prompt_tokens":0,"completion_tokens":0})", R"({"prompt_tokens":10})",
        R"({"prompt_tokens":10,"completion_tokens":-100})",
        R"({"prompt_tokens":1000000000000000000,"completion_tokens":1000000000000000000})"}) {
    const auto reply =
        kOpenAiDialect.parse(R"({"choices":[{"finish_reason":"stop","message":{"content":"47"}}],)"
                             R"("usage":)" +
                             usage + "}");
    ASSERT_TRUE(reply) << usage;
    EXPECT_TRUE(reply->usage.estimated) << usage;
  }
}

TEST(ReplyStreamTest, AnEarlyUsageIsNotThatOfTheReply) {  // FLT-9
  constexpr char kEarly[] = R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})";
  const std::string text(4000, 'x');
  for (const bool ends : {false, true}) {
    const auto stream_owner = kOpenAiDialect.stream();
    ReplyStream& stream = *stream_owner;
    ASSERT_TRUE(stream.Add(kEarly));
    ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"content":")" + text + R"("}}]})"));
    if (ends) {
      ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"));
    }
    Reply reply = stream.Take();
    EstimateMissingUsage(UserRequest(text), &reply);
    EXPECT_TRUE(reply.usage.estimated);
    EXPECT_EQ(reply.usage.input, 1000);
    EXPECT_EQ(reply.usage.output, 1000);
  }
}

TEST(ReplyStreamTest, AReplyHasNoFewerTokensThanItsTextCanHave) {  // FLT-9
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{} words ", i);
  const auto read = [&](int said) {
    auto reply = kOpenAiDialect.parse(
        fmt::format(R"({{"choices":[{{"finish_reason":"stop","message":{{"content":"{}"}}}}],)"
                    R"("usage":{{"prompt_tokens":9,"completion_tokens":{}}}}})",
                    text, said));
    EXPECT_TRUE(reply);
    EstimateMissingUsage(UserRequest("a question of some length, as it is"), &*reply);
    return reply->usage;
  };
  EXPECT_TRUE(read(1).estimated);
  EXPECT_GT(read(1).output, 2000);
  EXPECT_EQ(read(1).input, 9);
  EXPECT_FALSE(read(2000).estimated);
}

TEST(ReplyStreamTest, APromptHasNoFewerTokensThanItsTextCanHave) {  // FLT-9
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{:03} dashes ", i);
  const auto read = [](std::int64_t said, const std::string& prompt) {
    Reply reply{.text = "47", .usage = {.input = said, .output = 1}};
    Request request = UserRequest(prompt);
    request.estimated_tokens = 2500;
    EstimateMissingUsage(request, &reply);
    EXPECT_EQ(reply.usage.output, 1) << "what is said of the reply stays";
    return reply.usage;
  };
  EXPECT_EQ(read(1, text).input, 2500);
  EXPECT_TRUE(read(1, text).estimated);
  EXPECT_EQ(read(300, text).input, 300) << "another vocabulary may have far fewer";
  EXPECT_FALSE(read(300, text).estimated);
  EXPECT_EQ(read(1, std::string(10'000, 'x')).input, 2500);
  EXPECT_EQ(read(100, std::string(10'000, ' ')).input, 100);
  EXPECT_FALSE(read(1, "x").estimated) << "what was counted for it may be an image";
  EXPECT_FALSE(read(9000, text).estimated);
  EXPECT_EQ(read(0, "x").input, 2500);
}

TEST(ReplyStreamTest, ASmallImageHasTheTokensThatTheProviderSays) {  // FLT-9
  Request request = UserRequest("What is this?");
  request.messages.turns[0].blocks.push_back({.type = assembly::Block::Type::kImage,
                                              .text = std::string(100'000, 'A'),
                                              .media_type = "image/png"});
  request.estimated_tokens = 6201;
  Reply reply{.text = "A square.", .usage = {.input = 262, .output = 3}};
  EstimateMissingUsage(request, &reply);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_EQ(reply.usage.input, 262);
  EXPECT_EQ(reply.usage.output, 3);
}

TEST(ReplyStreamTest, ALineOfOneCharacterMayHaveFewTokens) {  // FLT-9
  Reply reply{.text = std::string(20'000, '='), .usage = {.input = 10, .output = 320}};
  EstimateMissingUsage(UserRequest("x"), &reply);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_EQ(reply.usage.output, 320);
}

TEST(ReplyStreamTest, TheFirstBadEndingStays) {  // FLT-2, FLT-3
  const auto end = [](std::string_view dialect, std::initializer_list<const char*> reasons) {
    const auto stream = FindDialect(dialect)->stream();
    for (const std::string reason : reasons) {
      const std::string event =
          dialect == "openai"
              ? R"({"choices":[{"delta":{"content":"a"},"finish_reason":")" + reason + R"("}]})"
          : dialect == "anthropic"
              ? R"({"type":"message_delta","delta":{"stop_reason":")" + reason + R"("}})"
              : R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":")" + reason +
                    R"("}]})";
      EXPECT_TRUE(stream->Add(event)) << event;
    }
    return stream->Take().finish;
  };
  for (const std::string_view dialect : kDialectNames) {
    EXPECT_EQ(end(dialect, {"length", "stop"}), Finish::kLength) << dialect;
    EXPECT_EQ(end(dialect, {"max_tokens", "stop", "safety"}), Finish::kLength) << dialect;
    EXPECT_EQ(end(dialect, {"stop", "LENGTH"}), Finish::kLength) << dialect;
    EXPECT_EQ(end(dialect, {"abort", "stop"}), Finish::kCut) << dialect;
    EXPECT_EQ(end(dialect, {"stop"}), Finish::kStop) << dialect;
  }
  EXPECT_EQ(end("openai", {"", "stop"}), Finish::kStop);
  EXPECT_EQ(end("openai", {""}), Finish::kCut) << "an empty one ends nothing";
}

TEST(OpenAiReplyTest, OnlyAKnownNormalEndIsAWholeReply) {  // FLT-2, FLT-4
  const std::pair<const char*, Finish> cases[] = {
      {"stop", Finish::kStop},           {"STOP", Finish::kStop},
      {"eos_token", Finish::kStop},      {"LENGTH", Finish::kLength},
      {"MAX_TOKENS", Finish::kLength},   {"model_length", Finish::kLength},
      {"error", Finish::kCut},           {"abort", Finish::kCut},
      {"cancelled", Finish::kCut},       {"insufficient_system_resource", Finish::kCut},
      {"Tool_Calls", Finish::kToolCalls}};
  for (const auto& [reason, finish] : cases) {
    const auto reply = kOpenAiDialect.parse(std::string(R"({"choices":[{"finish_reason":")") +
                                            reason + R"(","message":{"content":"47"}}]})");
    ASSERT_TRUE(reply) << reason;
    EXPECT_EQ(reply->finish, finish) << reason;
  }
}

TEST(OpenAiReplyTest, BrokenCharactersAreReplacedAndNoted) {  // MOD-14
  auto bytes = kOpenAiDialect.parse("{\"choices\":[{\"message\":{\"content\":\"a\xFFz\"}}]}");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->text, "a\xEF\xBF\xBDz");
  EXPECT_EQ(bytes->warnings.size(), 1u);
  auto half = kOpenAiDialect.parse(
      R"({"choices":[{"message":{"content":"\ud83d!\ud83d\ude00\\ud83d\ude00"}}]})");
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->text, "\xEF\xBF\xBD!😀\\ud83d\xEF\xBF\xBD");
  EXPECT_EQ(half->warnings.size(), 1u);
}

TEST(ReplyStreamTest, AHalfCharacterWaitsForItsOtherHalf) {  // FLT-138
  const auto text = [](const char* first, const char* then, Reply* reply) {
    auto stream = kOpenAiDialect.stream();
    std::string streamed;
    for (const char* part : {first, then}) {
      streamed += *stream->Add(
          fmt::format(R"({{"choices":[{{"index":0,"delta":{{"content":"{}"}}}}]}})", part));
    }
    EXPECT_TRUE(stream->Add("[DONE]"));
    *reply = stream->Take();
    EXPECT_EQ(reply->text, streamed);
    return streamed;
  };
  Reply reply;
  EXPECT_EQ(text(R"(smile \ud83d)", R"(\ude00 end)", &reply), "smile 😀 end");
  EXPECT_TRUE(reply.warnings.empty());
  EXPECT_EQ(text(R"(\ud83d)", R"(\ude00\ud83d\ude01)", &reply), "😀😁");
  EXPECT_TRUE(reply.warnings.empty());
  EXPECT_EQ(text(R"(a\ud83d)", "b", &reply), "ab");
  EXPECT_EQ(reply.warnings.size(), 1u);
  EXPECT_EQ(text("a", R"(\ude00b)", &reply), "a\xEF\xBF\xBD" "b");
  EXPECT_EQ(reply.warnings.size(), 1u);
}

TEST(ReplyStreamTest, ChunksGiveTheSameAsAWholeReply) {  // MOD-10
  const auto stream_owner = kOpenAiDialect.stream();
  ReplyStream& stream = *stream_owner;
  std::string text;
  for (
      const char* data :
      {R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})",
       R"({"choices":[{"index":1,"delta":{"content":"other"}}]})",
       R"({"choices":[{"index":0,"delta":{"reasoning":"hm"}}]})",
       R"({"choices":[{"index":0,"delta":{"content":"one "}}]})",
       R"({"choices":[{"index":0,"delta":{"content":"two"}}]})",
       R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\""}}]}}]})",
       R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"function":{"arguments":":1}"}}]}}]})",
       R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
       R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}})", "[DONE]"}) {
    auto part = stream.Add(data);
    ASSERT_TRUE(part) << part.error().message;
    text += *part;
  }
  EXPECT_TRUE(stream.finished());
  const Reply reply = stream.Take();
  EXPECT_EQ(reply.text, "one two");
  EXPECT_EQ(reply.text, text);
  EXPECT_EQ(reply.thinking, "hm");
  EXPECT_EQ(reply.finish, Finish::kStop);
  ASSERT_EQ(reply.tool_calls.size(), 2u);
  EXPECT_EQ(reply.tool_calls[0].name, "f");
  EXPECT_EQ(ToJson(reply.tool_calls[1].arguments), R"({"x":1})");
  EXPECT_EQ(reply.usage.input, 5);
  EXPECT_FALSE(reply.usage.estimated);
}

// "a f {"x":1}, b g {}": the calls, by id and name, that a stream of these pieces gives.
std::string CallsOf(const std::vector<std::string>& pieces) {
  const auto stream = kOpenAiDialect.stream();
  for (const std::string& piece : pieces) {
    auto added = stream->Add(R"({"choices":[{"delta":{"tool_calls":[)" + piece + "]}}]}");
    EXPECT_TRUE(added) << added.error().message;
  }
  std::string calls;
  for (const ToolCall& call : stream->Take().tool_calls) {
    calls += fmt::format("{}{} {} {}", calls.empty() ? "" : ", ", call.id, call.name,
                         ToJson(call.arguments));
  }
  return calls;
}

TEST(ReplyStreamTest, CallsAreToldApartByTheirIdsWhereTheIndexDoesNot) {  // MOD-10
  const std::string first = R"({"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}})";
  const std::string second = R"({"id":"b","function":{"name":"g","arguments":"{\"y\""}})";
  const std::string rest = R"({"function":{"arguments":":2}"}})";
  const char* both = R"(a f {"x":1}, b g {"y":2})";
  EXPECT_EQ(CallsOf({first, second, rest}), both) << "without an index";
  EXPECT_EQ(CallsOf({first + "," + second, rest}), both);
  const auto at_0 = [](std::string piece) { return piece.insert(1, R"("index":0,)"); };
  EXPECT_EQ(CallsOf({at_0(first), at_0(second), at_0(rest)}), both);
}

TEST(ReplyStreamTest, AnIndexThatBeginsWithOneGivesNoCallMore) {  // MOD-10
  EXPECT_EQ(CallsOf({R"({"index":1,"id":"a","function":{"name":"f","arguments":""}})",
                     R"({"index":1,"function":{"arguments":"{\"x\":1}"}})"}),
            R"(a f {"x":1})");
  EXPECT_EQ(CallsOf({R"({"index":0,"function":{"arguments":""}})",
                     R"({"index":1,"id":"a","function":{"name":"f"}})"}),
            "a f {}");
}

TEST(ReplyStreamTest, ANameThatEveryPieceRepeatsIsOneName) {  // MOD-10
  EXPECT_EQ(CallsOf({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{"}})",
                     R"({"index":0,"id":"a","function":{"name":"f","arguments":"}"}})"}),
            "a f {}");
}

TEST(OpenAiReplyTest, AnErrorThatSaysNothingIsNone) {  // MOD-14
  for (const char* none : {"false", "null", "{}", R"("")"}) {
    const auto reply = kOpenAiDialect.parse(fmt::format(
        R"({{"error":{},"choices":[{{"message":{{"content":"hi"}},"finish_reason":"stop"}}]}})",
        none));
    ASSERT_TRUE(reply) << none;
    EXPECT_EQ(reply->text, "hi");
  }
}

TEST(ReplyStreamTest, AStreamWithoutAFinishIsCutAndItsUsageEstimated) {  // MOD-13
  const auto stream_owner = kOpenAiDialect.stream();
  ReplyStream& stream = *stream_owner;
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"content":"12345678"}}]})"));
  EXPECT_TRUE(stream.started());
  Reply reply = stream.Take();
  EXPECT_EQ(reply.finish, Finish::kCut);
  EstimateMissingUsage(UserRequest("1234"), &reply);
  EXPECT_EQ(reply.usage.input, 1);
  EXPECT_EQ(reply.usage.output, 2);
  EXPECT_TRUE(reply.usage.estimated);
}

TEST(ReplyStreamTest, HostileChunksAreErrorsAndKeepWhatCameBefore) {  // MOD-14
  const auto stream_owner = kOpenAiDialect.stream();
  ReplyStream& stream = *stream_owner;
  ASSERT_TRUE(stream.Add(R"({"choices":[{"delta":{"content":"kept"}}]})"));
  for (const char* data : {"{", "7", R"({"error":{"message":"x"}})",
                           R"({"choices":[{"delta":{"tool_calls":[{"index":4000000000}]}}]})",
                           R"({"choices":[{"delta":{"tool_calls":[{"index":-1}]}}]})"}) {
    EXPECT_FALSE(stream.Add(data)) << data;
  }
  EXPECT_EQ(stream.Take().text, "kept");
}

TEST(OpenAiReplyTest, NoBytesCrashTheReaders) {  // MOD-A11
  Random random(17);
  const std::string base =
      R"({"choices":[{"index":0,"delta":{"content":"a\ud83d\ude00","tool_calls":[{"index":0,"function":)"
      R"({"name":"f","arguments":"{}"}}]},"message":{"content":[{"text":"b"}]},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":1}},"timings":{"cache_n":2}})";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = base;
    for (std::uint64_t i = random.Below(4); i > 0; --i) {
      const std::size_t at = random.Below(text.size());
      switch (random.Below(3)) {
        case 0:
          text[at] = "{}[]\",:0-\\ue\xFF"[random.Below(13)];
          break;
        case 1:
          text.erase(at, random.Below(9));
          break;
        default:
          text.insert(at, base.substr(random.Below(base.size()), random.Below(20)));
      }
    }
    (void)kOpenAiDialect.parse(text).has_value();
    const auto stream_owner = kOpenAiDialect.stream();
    ReplyStream& stream = *stream_owner;
    (void)stream.Add(text).has_value();
    EXPECT_TRUE(utf8::IsValid(stream.Take().text));
  }
}

TEST(OpenAiRequestTest, WhetherToolsMayOrMustBeCalledIsSaid) {  // MOD-10, RSP 4.2
  Request request = UserRequest("a");
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  const Entry entry = FullEntry();
  const WireOptions options{.entry = entry};
  EXPECT_EQ(Find(OpenAiBodyOf(request, options), "tool_choice"), nullptr);
  request.tool_use = Request::ToolUse::kNone;
  EXPECT_EQ(FindString(OpenAiBodyOf(request, options), "tool_choice"), "none");
  request.tool_use = Request::ToolUse::kRequired;
  EXPECT_EQ(FindString(OpenAiBodyOf(request, options), "tool_choice"), "required");
}

}  // namespace
}  // namespace dossier::model
