// What assembly arranges and a dialect writes down, each provider accepts (assembly.md 4.8).

#include "model/dialects/role_rules.h"

#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "base/net/http_listener.h"
#include "model/dialects/dialect.h"
#include "model/providers/provider_client.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;
using ::dossier::testing::FailsWith;

struct Row {
  const char* provider;
  const char* model;
  RoleRules rules;
};

const Row kRows[] = {
    {"openai", "gpt-5-mini", kOpenAiRoles},
    {"anthropic", "claude-sonnet-5", kAnthropicRoles},
    {"anthropic", "claude-opus-5", kAnthropicRoles},
    {"anthropic", "claude-haiku-4-5", kAnthropicPrefillRoles},
    {"gemini", "gemini-2.5-flash", kGeminiRoles},
    {"openrouter", "mistralai/mistral-large", kMistralRoles},
    {"mistral", "mistral-large-latest", kMistralRoles},
    {"mistral", "magistral-medium-latest", kMistralRoles},
    {"openrouter", "google/gemma-3-27b-it", kAlternatingRoles},
    {"openrouter", "perplexity/sonar", kAlternatingRoles},
};

Entry EntryOf(const Row& row) {
  const auto catalog = Catalog::Load({});
  EXPECT_TRUE(catalog) << catalog.error().message;
  for (const Entry& entry : catalog->entries()) {
    if (entry.provider == row.provider && entry.name == row.model) return entry;
  }
  ADD_FAILURE() << row.model << " is not in the data";
  return {};
}

const WireDialect& DialectOf(const Row& row) {
  const WireDialect* dialect = FindDialect(row.provider);
  return dialect ? *dialect : *FindDialect("openai");
}

// The `code`-th of all sequences of five turns; a tool turn is two calls and their results.
std::vector<Turn> Sequence(int code, int kinds) {
  std::vector<Turn> turns;
  for (int i = 0; i < 5; ++i, code /= kinds) {
    const std::string id = std::to_string(i);
    if (code % kinds == 0) turns.push_back({Role::kUser, {{.text = "u" + id}}});
    if (code % kinds == 1) turns.push_back({Role::kAssistant, {{.text = "a" + id}}});
    if (code % kinds != 2) continue;
    Turn calls{Role::kAssistant, {}}, results{Role::kTool, {}};
    for (const std::string& call : {id + "x", id + "y"}) {
      calls.blocks.push_back({.type = Block::Type::kToolCall,
                              .call_id = call,
                              .tool_name = "look",
                              .arguments = JsonObject{}});
      results.blocks.push_back(
          {.type = Block::Type::kToolResult, .text = "seen", .call_id = call, .tool_name = "look"});
    }
    turns.push_back(std::move(calls));
    turns.push_back(std::move(results));
  }
  return turns;
}

Result<Request> Assembled(const Entry& entry, std::vector<Turn> turns, const std::string& ask) {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout layout, assembly::ParseLayout(R"(sections:
  - {name: rules, zone: system, text: Rules}
  - {name: history, zone: history, source: history}
  - {name: ask, zone: request, source: var, with: {var: ask}, when: ask, optional: true}
)",
                                                                                "test.yaml"));
  const std::vector<assembly::Section> sections = {{.name = "history", .turns = std::move(turns)}};
  DOSSIER_ASSIGN_OR_RETURN(
      assembly::Assembled prompt,
      assembly::Assemble(layout, sections, {}, entry.capability, *tokens::MakeCharCounter(),
                         {.variables = {{"ask", ask}}, .boundary = assembly::MakeBoundary(1)}));
  return Request{.model = entry.name, .messages = std::move(prompt.messages)};
}

TEST(RoleRulesTest, EverySequenceOfFiveTurnsIsAcceptedByEveryProvider) {  // ASM-T7, ASM-80 to 86
  for (const Row& row : kRows) {
    const Entry entry = EntryOf(row);
    const int kinds = entry.tools ? 3 : 2;
    int all = 1;
    for (int i = 0; i < 5; ++i) all *= kinds;
    for (int code = 0; code < all; ++code) {
      for (const char* ask : {"", "Go"}) {
        auto request = Assembled(entry, Sequence(code, kinds), ask);
        if (!request && request.error().code == ErrorCode::kUsage) continue;  // no user text: R-6
        ASSERT_TRUE(request) << request.error().message;
        const WireRequest wire = DialectOf(row).build(*request, {.entry = entry});
        ASSERT_EQ(RefusalOf(row.rules, *ParseJson(wire.body)), "")
            << row.model << " sequence " << code << " \"" << ask << "\": " << wire.body;
      }
    }
  }
}

TEST(RoleRulesTest, AStandInRefusesWhatItsProviderWould) {  // the checker's own test
  struct Case {
    RoleRules rules;
    const char* body;
    const char* why;
  };
  const Case cases[] = {
      {kAnthropicRoles, R"({"messages":[{"role":"assistant","content":[{"type":"text",
        "text":"a"}]}]})",
       "the user is not first"},
      {kAnthropicRoles, R"({"messages":[{"role":"user","content":[{"type":"text",
        "text":" "}]}]})",
       "messages[0]: empty"},
      {kAnthropicRoles, R"({"messages":[{"role":"user","content":[{"type":"text",
        "text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]}]})",
       "the assistant is last"},
      {kAnthropicRoles, R"({"messages":[{"role":"user","content":[{"type":"text",
        "text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},
        {"role":"user","content":[{"type":"text","text":"b"}]}]})",
       "messages[2]: calls without results before it"},
      {kGeminiRoles, R"({"contents":[{"role":"user","parts":[{"text":"a"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]})",
       "messages[2]: fewer results than calls"},
      {kOpenAiRoles, R"({"messages":[{"role":"tool","tool_call_id":"1","content":"a"}]})",
       "messages[0]: a result without its call: 1"},
      {kMistralRoles, R"({"messages":[{"role":"user","content":"a"},{"role":"user",
        "content":"b"}]})",
       "messages[1]: two of role user"},
      {kMistralRoles, R"({"messages":[{"role":"user","content":"a"},{"role":"assistant",
        "content":"b"}]})",
       "no prefix"},
      {kAlternatingRoles, R"({"messages":[{"role":"user","content":"a"},{"role":"system",
        "content":"b"}]})",
       "messages[1]: late system"},
  };
  for (const Case& c : cases) EXPECT_EQ(RefusalOf(c.rules, *ParseJson(c.body)), c.why);
}

TEST(RoleRulesTest, AServerWithTheRulesOfItsProviderAcceptsWhatTheClientSends) {  // ASM-T7, MOD-A1
  for (const Row& row : kRows) {
    auto server = HttpListener::Start({}, [&](const auto& exchange) {
      const auto body = ParseJson(exchange->request().body);
      const std::string why = body ? RefusalOf(row.rules, *body) : "no JSON";
      const char* kReply =
          R"({"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","candidates":)"
          R"([{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}],"choices":)"
          R"([{"message":{"content":"ok"},"finish_reason":"stop"}]})";
      exchange->Reply({.status = why.empty() ? 200 : 400,
                       .headers = {{"Content-Type", "application/json"}},
                       .body = why.empty() ? kReply : why});
    });
    ASSERT_TRUE(server) << server.error().message;
    const Entry entry = EntryOf(row);
    auto client =
        MakeProviderClient({.base_url = fmt::format("http://127.0.0.1:{}/v1", (*server)->port()),
                            .dialect = std::string(DialectOf(row).name),
                            .entry = entry});
    for (const int code : {0, 1, 7, 31}) {
      auto request = Assembled(entry, Sequence(code, entry.tools ? 3 : 2), "Go");
      ASSERT_TRUE(request);
      auto sink = std::make_shared<RecordingSink>();
      (*client)->Submit(std::make_shared<const Request>(*request), {}, sink);
      const auto reply = sink->Wait();
      ASSERT_TRUE(reply) << row.model << ": " << reply.error().message;
      EXPECT_EQ(reply->text, "ok");
    }
    Request wrong;
    auto sink = std::make_shared<RecordingSink>();
    (*client)->Submit(std::make_shared<const Request>(wrong), {}, sink);
    EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kFailed, "nothing but system text"));
  }
}

}  // namespace
}  // namespace dossier::model
