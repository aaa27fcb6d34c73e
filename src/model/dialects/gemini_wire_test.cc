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

Json GeminiBodyOf(const Request& request, bool json_schema = true) {
  Entry entry;
  entry.json_schema = json_schema;
  return *ParseJson(kGeminiDialect.build(request, {.entry = entry}).body);
}

TEST(GeminiRequestTest, SystemCallsAndResultsStandWhereTheApiWantsThem) {  // MOD-12
  Request request;
  request.model = "m";
  request.messages.system = {{.text = "Be brief.", .cache = "5m"}};
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  request.messages.turns = {
      {Role::kUser, {{.text = "Where?"}}},
      {Role::kAssistant,
       {{.type = Block::Type::kThinking, .text = "hm"},
        {.type = Block::Type::kToolCall,
         .call_id = "f1",
         .tool_name = "look",
         .arguments = JsonObject{{"at", 3}},
         .provider_data = *ParseJson(R"({"gemini":{"id":true,"thoughtSignature":"s1"}})")},
        {.type = Block::Type::kToolCall, .call_id = "call_1", .tool_name = "look"}}},
      {Role::kTool,
       {{.type = Block::Type::kToolResult, .text = "here", .call_id = "f1"},
        {.type = Block::Type::kToolResult, .text = "there", .call_id = "call_1"}}},
      {Role::kUser, {{.text = "And then?"}}},
  };
  EXPECT_EQ(
      ToJson(GeminiBodyOf(request)),
      R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":)"
      R"([{"text":"Where?"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":)"
      R"({"at":3},"id":"f1"},"thoughtSignature":"s1"},{"functionCall":{"name":"look","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"name":"look","response":{"result":"here"},)"
      R"("id":"f1"}},{"functionResponse":{"name":"look","response":{"result":"there"}}}]},)"
      R"({"role":"user","parts":[{"text":"And then?"}]}],"tools":[{"functionDeclarations":[)"
      R"({"name":"look","description":"Looks.","parametersJsonSchema":{"type":"object"}}]}]})");
}

TEST(GeminiRequestTest, SamplingSchemaAndParametersAreInTheirFields) {  // MOD-12, MOD-10
  Request request = UserRequest("x");
  request.sampling = {.temperature = 0.5,
                      .max_output = 9,
                      .seed = 1,
                      .stop = {"END"},
                      .extra = {{"topK", 3},
                                {"safetySettings", JsonArray{}},
                                {"generationConfig", JsonObject{{"candidateCount", 2}}},
                                {"contents", "evil"}}};
  request.schema = Json(JsonObject{{"type", "object"}});
  const Json body = GeminiBodyOf(request);
  EXPECT_EQ(ToJson(*Find(body, "generationConfig")),
            R"({"temperature":0.5,"maxOutputTokens":9,"seed":1,"stopSequences":["END"],)"
            R"("responseMimeType":"application/json","responseJsonSchema":{"type":"object"},)"
            R"("topK":3,"candidateCount":2})");
  EXPECT_TRUE(Find(body, "safetySettings"));
  EXPECT_TRUE(Find(body, "contents")->is_array());
  EXPECT_THAT(ToJson(GeminiBodyOf(request, /*json_schema=*/false)),
              HasSubstr("matches this JSON Schema"));
}

TEST(GeminiRequestTest, TheAddressNamesModelAndKindOfReply) {
  Request request;
  request.model = "gemini/x 1";
  const WireDialect& gemini = *FindDialect("gemini");
  EXPECT_EQ(AddressOf(gemini, "https://h/", request, Streaming::kYes),
            "https://h/v1beta/models/gemini%2Fx%201:streamGenerateContent?alt=sse");
  EXPECT_EQ(AddressOf(gemini, "https://h/v1", request, Streaming::kNo),
            "https://h/v1/models/gemini%2Fx%201:generateContent");
  EXPECT_EQ(AddressOf(*FindDialect("anthropic"), "https://h", request, Streaming::kNo),
            "https://h/v1/messages");
  EXPECT_EQ(AddressOf(*FindDialect("openai"), "https://h/v1/", request, Streaming::kNo),
            "https://h/v1/chat/completions");
}

TEST(GeminiReplyTest, PartsUsageAndFinishStreamedAndNot) {  // MOD-12, MOD-A1, MOD-A2
  const auto check = [](const Reply& reply) {
    EXPECT_EQ(reply.text, "I look: naïve 😀.");
    EXPECT_EQ(reply.thinking, "Let me see");
    ASSERT_EQ(reply.tool_calls.size(), 1u);
    EXPECT_EQ(ToJson(reply.tool_calls[0].arguments), R"({"at":[1,2]})");
    EXPECT_EQ(reply.finish, Finish::kToolCalls);
    EXPECT_EQ(reply.resolved_model, "gemini-x-2026");
    EXPECT_FALSE(reply.usage.estimated);
    EXPECT_EQ(reply.usage.input, 1210);
    EXPECT_EQ(reply.usage.cached, 1000);
    EXPECT_EQ(reply.usage.output, 33);
    Request next;
    next.messages.turns = {AssistantTurn(reply)};
    EXPECT_EQ(ToJson(GeminiBodyOf(next).at_pointer("/contents/0/parts")),
              R"([{"text":"I look: naïve 😀."},{"functionCall":{"name":"look","args":)"
              R"({"at":[1,2]},"id":"f1"},"thoughtSignature":"sig=="}])");
  };
  auto whole = kGeminiDialect.parse(kGeminiReply);
  ASSERT_TRUE(whole) << whole.error().message;
  check(*whole);
  for (std::size_t split = 0; split <= kGeminiEvents.size(); ++split) {
    const Streamed streamed = ReadStream("gemini", kGeminiEvents, split);
    ASSERT_TRUE(streamed.finished) << split;
    EXPECT_EQ(streamed.text, "I look: naïve 😀.");
    check(streamed.reply);
    if (HasFailure()) break;
  }
}

TEST(GeminiReplyTest, UnknownEndsCutAndCountsThatCannotBeTrueAreEstimated) {  // FLT-2, FLT-9
  const auto read = [](const std::string& reason, const std::string& usage) {
    const auto reply = kGeminiDialect.parse(
        R"({"candidates":[{"content":{"parts":[{"text":"47"}]},"finishReason":")" + reason +
        R"("}],"usageMetadata":)" + usage + "}");
    EXPECT_TRUE(reply);
    return *reply;
  };
  constexpr char kGood[] = R"({"promptTokenCount":3,"candidatesTokenCount":2})";
  EXPECT_EQ(read("OTHER", kGood).finish, Finish::kCut);
  EXPECT_EQ(read("MALFORMED_FUNCTION_CALL", kGood).finish, Finish::kCut);
  EXPECT_EQ(read("stop", kGood).finish, Finish::kStop);
  EXPECT_FALSE(read("STOP", kGood).usage.estimated);
  for (const char* usage :
       {R"({"promptTokenCount":0,"candidatesTokenCount":0})",
        R"({"promptTokenCount":3,"candidatesTokenCount":-100})",
        R"({"promptTokenCount":3,"candidatesTokenCount":1,"thoughtsTokenCount":"x"})",
        R"({"promptTokenCount":1000000000000000000,"candidatesTokenCount":1})"}) {
    EXPECT_TRUE(read("STOP", usage).usage.estimated) << usage;
  }
}

TEST(GeminiReplyTest, ABlockedPromptAndABlockedReplyAreClearErrors) {  // MOD-12
  constexpr char kPrompt[] =
      R"({"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"category":"HARM_A",)"
      R"("probability":"HIGH"},{"category":"HARM_B","probability":"LOW"}]}})";
  EXPECT_THAT(kGeminiDialect.parse(kPrompt),
              FailsWith(ErrorCode::kFailed,
                        "blocked the prompt by its safety rules: SAFETY "
                        "(HARM_A: HIGH)"));
  const auto prompt_owner = kGeminiDialect.stream();
  ReplyStream& prompt = *prompt_owner;
  EXPECT_THAT(prompt.Add(kPrompt), FailsWith(ErrorCode::kFailed, "SAFETY"));

  constexpr char kReply[] = R"({"candidates":[{"finishReason":"SAFETY"}]})";
  const auto empty = kGeminiDialect.parse(kReply);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->finish, Finish::kFilter);
  EXPECT_THAT(empty->warnings, ElementsAre(HasSubstr("safety rules ended the reply: SAFETY")));
  const auto silent_owner = kGeminiDialect.stream();
  ReplyStream& silent = *silent_owner;
  ASSERT_TRUE(
      silent.Add(R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]})"));
  ASSERT_TRUE(silent.Add(kReply));
  EXPECT_EQ(silent.Take().finish, Finish::kFilter);
  const auto spoken_owner = kGeminiDialect.stream();
  ReplyStream& spoken = *spoken_owner;
  ASSERT_TRUE(spoken.Add(R"({"candidates":[{"content":{"parts":[{"text":"So"}]}}]})"));
  ASSERT_TRUE(spoken.Add(kReply));
  const Reply kept = spoken.Take();
  EXPECT_EQ(kept.text, "So");
  EXPECT_EQ(kept.finish, Finish::kFilter);
  EXPECT_THAT(kept.warnings, ElementsAre(HasSubstr("SAFETY")));
}

TEST(GeminiReplyTest, ErrorsAndWrongTypesAreNamed) {  // MOD-14, MOD-A11
  const std::pair<const char*, const char*> cases[] = {
      {R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})",
       "overloaded"},
      {R"({"candidates":[]})", "it has no candidates"},
      {R"({"candidates":[7]})", "it has no candidates"},
      {"{", "malformed reply"},
  };
  for (const auto& [body, message] : cases) {
    EXPECT_THAT(kGeminiDialect.parse(body), FailsWith(ErrorCode::kNetwork, message)) << body;
  }
  const auto stream_owner = kGeminiDialect.stream();
  ReplyStream& stream = *stream_owner;
  EXPECT_FALSE(stream.Add(cases[0].first));
  EXPECT_EQ(stream.retry(), Failure::Retry::kYes);
  EXPECT_THAT(stream.Add("7"), FailsWith(ErrorCode::kNetwork, "no object"));
}

TEST(GeminiReplyTest, NoBytesCrashTheReaders) {  // MOD-A11
  MutateStream("gemini", kGeminiEvents, kGeminiReply);
}

TEST(GeminiRequestTest, WhetherToolsMustBeCalledIsSaid) {  // MOD-10, RSP 4.2
  Request request = UserRequest("a");
  request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
  request.tool_use = Request::ToolUse::kRequired;
  const Entry entry;
  EXPECT_THAT(kGeminiDialect.build(request, {.entry = entry}).body,
              ::testing::HasSubstr(R"({"functionCallingConfig":{"mode":"ANY"}})"));
}

}  // namespace
}  // namespace dossier::model
