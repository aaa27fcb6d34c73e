#include "model/providers/provider_client.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>

#include "base/files/file.h"
#include "base/net/http_listener.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "model/client/gate.h"
#include "model/client/http_failure.h"
#include "model/scripted/serve_script.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Stream = Streaming;

constexpr char kKey[] = "key-that-nobody-may-see-4711";
constexpr Stream kBoth[] = {Stream::kYes, Stream::kNo};

std::string Address(const HttpListener& server) {
  return fmt::format("http://127.0.0.1:{}/v1", server.port());
}

std::unique_ptr<HttpListener> Serve(HttpListener::Handler handler) {
  auto server = HttpListener::Start({}, std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

std::unique_ptr<HttpListener> Serve(std::string_view yaml, const std::string& record = {}) {
  auto script = Script::Parse(yaml, "replies.yaml");
  EXPECT_TRUE(script) << script.error().message;
  auto server = ServeScript(*script, {.record_path = record});
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

// The first request that a client with these headers of a configuration sends.
struct Sent {
  HttpHeaders headers;
  Result<Reply> reply;
};
Sent SendWith(std::map<std::string, std::string> headers, const std::string& answer,
              int status = 200) {
  HttpHeaders seen;
  auto server = Serve([&](const std::shared_ptr<HttpExchange>& exchange) {
    seen = exchange->request().headers;
    exchange->Reply(
        {.status = status, .headers = {{"content-type", "application/json"}}, .body = answer});
  });
  auto client = MakeProviderClient(
      {.base_url = Address(*server), .key = kKey, .headers = std::move(headers)});
  if (!client) return {{}, tl::unexpected(client.error())};
  auto sink = std::make_shared<RecordingSink>();
  (*client)->Submit(std::make_shared<const Request>(UserRequest("x")), {}, sink);
  Result<Reply> reply = sink->Wait();
  return {seen, std::move(reply)};
}

std::string ValueOf(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(ProviderHeadersTest, HeadersOfTheConfigurationAreSentBesideTheKey) {  // CON-14
  const Sent sent =
      SendWith({{"X-Team", "compilers"}}, R"({"choices":[{"message":{"content":"hi"}}]})");
  ASSERT_TRUE(sent.reply) << sent.reply.error().message;
  EXPECT_EQ(ValueOf(sent.headers, "x-team"), "compilers");
  EXPECT_EQ(ValueOf(sent.headers, "authorization"), std::string("Bearer ") + kKey);
}

TEST(ProviderHeadersTest, NeitherTheKeyNorTheFormOfARequestIsForThemToSet) {  // CON-14, CON-15
  for (const char* name : {"Authorization", "x-API-key", "X-Goog-Api-Key", "Host", "content-type",
                           "Content-Length", "Transfer-Encoding", "Accept"}) {
    EXPECT_THAT(SendWith({{name, "v"}}, "").reply, FailsWith(ErrorCode::kConfig, name)) << name;
  }
  const std::pair<const char*, const char*> broken[] = {{"X-A", "b\r\nAuthorization: Bearer evil"},
                                                        {"X-A", "b\nc"},
                                                        {"X-A", "\x7f"},
                                                        {"X A", "b"},
                                                        {"X:A", "b"},
                                                        {"", "b"}};
  for (const auto& [name, value] : broken) {
    EXPECT_THAT(SendWith({{name, value}}, "").reply,
                FailsWith(ErrorCode::kConfig, "no header of one line"));
  }
}

TEST(ProviderHeadersTest, WhatAServerEchoesOfThemIsRedacted) {  // CON-49
  const Sent sent = SendWith({{"X-Gateway", "gateway-secret-0815"}},
                             R"({"error":{"message":"no gateway-secret-0815 here"}})", 400);
  ASSERT_FALSE(sent.reply);
  EXPECT_THAT(sent.reply.error().message,
              AllOf(HasSubstr("(status 400): no [redacted:header] here"),
                    Not(HasSubstr("gateway-secret"))));
}

TEST(ProviderErrorsTest, AShortKeyIsTakenOutWhereItIsAWord) {  // FLT-45
  EXPECT_EQ(WithoutKey("unknown key: k (k)", "k"), "unknown key: [redacted:key] ([redacted:key])");
  EXPECT_EQ(WithoutKey("so long-a-key.", "long-a-key"), "so [redacted:key].");
  EXPECT_EQ(WithoutKey("as it is", ""), "as it is");
}

Entry PricedEntry() {
  Entry entry;
  entry.json_schema = true;
  entry.price_input = 250;
  entry.price_cached = 25;
  entry.price_output = 2000;
  return entry;
}

std::shared_ptr<Client> MakeClient(const std::string& address, Stream stream = Stream::kYes) {
  auto client = MakeProviderClient({.base_url = address,
                                    .key = kKey,
                                    .key_source = "TEST_KEY",
                                    .provider = "openai",
                                    .models = {"gpt-5", "gpt-5-mini"},
                                    .entry = PricedEntry(),
                                    .stream = stream});
  EXPECT_TRUE(client) << client.error().message;
  return *client;
}

std::shared_ptr<RecordingSink> Submit(Client& client, Request request,
                                      const CancelToken& cancel = {}) {
  auto sink = std::make_shared<RecordingSink>();
  client.Submit(std::make_shared<const Request>(std::move(request)), cancel, sink);
  return sink;
}

Result<Reply> AskProvider(Client& client, Request request = UserRequest("x")) {
  return Submit(client, std::move(request))->Wait();
}

TEST(ProviderClientTest, TextToolsUsageAndCostArriveStreamedAndNot) {  // MOD-10, MOD-A1, MOD-A10
  for (const Stream stream : kBoth) {
    auto server = Serve(R"(
- {reply: "naïve café 😀 and some more text", usage: {input: 1000, output: 50, cached: 400}}
- {reply: "", tool_calls: [{id: c1, name: look, arguments: {at: 3}}]}
- {reply: "0123", finish: length}
)");
    auto client = MakeClient(Address(*server), stream);
    auto sink = Submit(*client, UserRequest("x"));
    auto reply = sink->Wait();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text, "naïve café 😀 and some more text");
    std::string streamed;
    for (const std::string& delta : sink->deltas) streamed += delta;
    EXPECT_EQ(streamed, reply->text);
    EXPECT_EQ(sink->deltas.size() > 1, stream == Stream::kYes);
    EXPECT_EQ(reply->usage.cached, 400);
    EXPECT_FALSE(reply->usage.estimated);
    EXPECT_EQ(reply->usage.cost_nano_usd, 260'000) << "600 x 250 + 400 x 25 + 50 x 2000";
    Request request = UserRequest("x");
    request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
    reply = AskProvider(*client, request);
    ASSERT_EQ(reply->tool_calls.size(), 1u);
    EXPECT_EQ(reply->finish, Finish::kToolCalls);
    EXPECT_EQ(ToJson(reply->tool_calls[0].arguments), R"({"at":3})");
    EXPECT_EQ(AskProvider(*client)->finish, Finish::kLength);
  }
}

TEST(ProviderClientTest, WhatIsSentIsWhatWasAskedFor) {  // MOD-10, MOD-A1
  for (const Stream stream : kBoth) {
    auto folder = TempFolder::Make();
    const std::string record = folder->path() + "/requests.jsonl";
    auto server = Serve("- {reply: a, times: always}", record);
    Request request = UserRequest("question");
    request.model = "some-model";
    request.sampling.temperature = 0.5;
    request.sampling.stop = {"END"};
    request.sampling.extra = {{"reasoning_effort", "low"}, {"logprobs", true}};
    request.schema = Json(JsonObject{{"type", "string"}});
    ASSERT_TRUE(AskProvider(*MakeClient(Address(*server), stream), request));
    auto line = ParseJson(TrimSpace(*ReadFile(record)));
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(FindString(*line, "target"), "/v1/chat/completions");
    EXPECT_EQ(FindBool(*line, "authorized"), true);
    const Json& body = line->at("body");
    EXPECT_EQ(FindString(body, "model"), "some-model");
    EXPECT_EQ(FindString(body, "reasoning_effort"), "low");
    EXPECT_EQ(FindBool(body, "stream").value_or(false), stream == Stream::kYes);
    EXPECT_EQ(body.at_pointer("/messages/0/content"), "question");
    EXPECT_EQ(body.at_pointer("/response_format/type"), "json_schema");
    EXPECT_EQ(body.at_pointer("/stop/0"), "END");
  }
}

TEST(ProviderClientTest, StatusesBecomeOurErrors) {  // MOD-14, MOD-21, section 6
  struct Case {
    int status;
    const char* body;
    ErrorCode code;
    const char* message;
    Failure::Retry retry;
  };
  constexpr auto kNo = Failure::Retry::kNo, kYes = Failure::Retry::kYes;
  const Case cases[] = {
      {400, "bad parameter", ErrorCode::kFailed, "bad parameter", kNo},
      {400, "maximum context length is 4096", ErrorCode::kTooLong, "window 32768", kNo},
      {400,
       "The input token count (1113042) exceeds the maximum number of tokens allowed (1048576).",
       ErrorCode::kTooLong, "window 32768", kNo},
      {400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
       ErrorCode::kTooLong, "window 32768", kNo},
      {400, "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
       ErrorCode::kTooLong, "window 32768", kNo},
      {401, "no", ErrorCode::kAuth, "key from TEST_KEY (status 401)", kNo},
      {403, "no", ErrorCode::kAuth, "(status 403)", kNo},
      {404, "no", ErrorCode::kConfig, "nearest known names are gpt-5", kNo},
      {408, "", ErrorCode::kTimeout, "status 408", kYes},
      {413, "", ErrorCode::kTooLong, "about 77 tokens", kNo},
      {422, "", ErrorCode::kFailed, "status 422", kNo},
      {429, "", ErrorCode::kRateLimited, "retry-after: 7", kYes},
      {500, "oops", ErrorCode::kNetwork, "status 500: oops", kYes},
      {503, "", ErrorCode::kNetwork, "status 503", kYes},
      {529, "", ErrorCode::kNetwork, "status 529", kYes},
  };
  for (const Stream stream : kBoth) {
    for (const Case& c : cases) {
      auto server = Serve([&](const auto& exchange) {
        exchange->Reply({.status = c.status,
                         .headers = {{"Retry-After", "7"}},
                         .body = std::string(c.body) + " " + kKey});
      });
      Request request = UserRequest("x");
      request.model = "gpt-5-min";
      request.estimated_tokens = 77;
      auto client = MakeClient(Address(*server), stream);
      auto sink = Submit(*client, request);
      auto reply = sink->Wait();
      EXPECT_THAT(reply, FailsWith(c.code, c.message));
      EXPECT_THAT(reply.error().message, Not(HasSubstr(kKey)));  // MOD-A6
      EXPECT_EQ(sink->failure.retry, c.retry) << c.status;
      EXPECT_EQ(sink->failure.status, c.status);
      EXPECT_EQ(sink->failure.retry_after,
                c.retry == kYes ? std::optional(Millis(7000)) : std::nullopt);
    }
  }
}

// Answers every request with these bytes as a stream of events, then does as told.
enum class Then { kFinish, kAbort, kNothing };
struct Kept {
  std::mutex mutex;
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
};
HttpListener::Handler Events(const std::string& bytes, Then then, Kept* kept = nullptr) {
  return [=](std::shared_ptr<HttpExchange> exchange) {
    exchange->SendHead(200, {{"Content-Type", "text/event-stream; charset=utf-8"}});
    (void)exchange->SendChunk(bytes).has_value();
    if (then == Then::kFinish) exchange->Finish();
    if (then == Then::kAbort) exchange->Abort();
    if (then != Then::kNothing) return;
    std::lock_guard lock(kept->mutex);
    kept->exchanges.push_back(std::move(exchange));
  };
}

constexpr char kHello[] = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";

TEST(ProviderClientTest, AStreamThatOnlySaysThatItIsDoneIsWhole) {  // FLT-138
  auto server = Serve(Events(std::string(kHello) + "data: [DONE]\n\n", Then::kFinish));
  auto reply = AskProvider(*MakeClient(Address(*server)));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->finish, Finish::kStop);
  EXPECT_TRUE(reply->warnings.empty());
}

TEST(ProviderClientTest, ATypeOfContentIsReadInAnyCase) {
  auto server = Serve([](const auto& exchange) {
    exchange->Reply({.headers = {{"Content-Type", "Text/Event-Stream; charset=UTF-8"}},
                     .body = std::string(kHello) + "data: [DONE]\n\n"});
  });
  auto reply = AskProvider(*MakeClient(Address(*server)));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello");
}

TEST(ProviderClientTest, AnErrorThatPassesIsTriedAgainAlsoWithinAStream) {
  struct Case {
    const char* error;
    Failure::Retry retry;
  };
  constexpr auto kNo = Failure::Retry::kNo, kYes = Failure::Retry::kYes;
  const Case cases[] = {
      {R"({"message":"x","type":"server_error"})", kYes},
      {R"({"message":"x","type":"tokens","code":"rate_limit_exceeded"})", kYes},
      {R"({"message":"x","code":"overloaded"})", kYes},
      {R"({"message":"x","type":"invalid_request_error","code":"model_not_found"})", kNo},
  };
  for (const Case& c : cases) {
    auto server = Serve(Events(fmt::format("data: {{\"error\":{}}}\n\n", c.error), Then::kFinish));
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, UserRequest("x"));
    EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kNetwork, "the provider reports: x"));
    EXPECT_EQ(sink->failure.retry, c.retry) << c.error;
  }
}

TEST(ProviderClientTest, WhatKeepsTheConnectionOpenBehindTheEndHoldsNothingUp) {  // FLT-138
  Kept kept;
  auto server = Serve(
      Events(std::string(kHello) + "data: [DONE]\n\n: still here\n\n", Then::kNothing, &kept));
  auto client = MakeClient(Address(*server));
  auto sink = Submit(*client, UserRequest("x"));
  auto reply = sink->Wait();  // the server never ends the transfer
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->finish, Finish::kStop);
}

TEST(ProviderClientTest, ThinkingPastTheLimitIsStopped) {  // FLT-10
  std::string events;
  for (int i = 0; i < 4; ++i) {
    events += "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"" + std::string(1000, 'x') +
              "\"}}]}\n\n";
  }
  Kept kept;
  auto server = Serve(Events(events, Then::kNothing, &kept));
  auto client = MakeClient(Address(*server));
  Request request = UserRequest("x");
  request.sampling.max_output = 10;
  auto reply = Submit(*client, request)->Wait();  // the server never ends the transfer
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->finish, Finish::kCut);
  ASSERT_FALSE(reply->warnings.empty());
  EXPECT_THAT(reply->warnings.back(), HasSubstr("limit of 10 tokens"));
}

std::string JoinedDeltas(const RecordingSink& sink) {
  std::string joined;
  for (const std::string& delta : sink.deltas) joined += delta;
  return joined;
}

TEST(ProviderClientTest, TheKeyIsTakenOutOfWhatAServerSays) {  // CON-49
  const std::string said = std::string("You sent ") + kKey + " and key-that-nobody-may-see";
  for (const Stream stream : kBoth) {
    auto server = Serve(fmt::format(
        "- {{reply: \"{0}\", thinking: \"Hm: {1}\"}}\n"
        "- {{reply: \"\", tool_calls: [{{id: c1, name: look, arguments: {{at: \"{1}\"}}}}]}}\n"
        "- {{reply: \"{0}\"}}\n",
        said, kKey));
    auto client = MakeClient(Address(*server), stream);
    auto sink = Submit(*client, UserRequest("x"));
    auto reply = sink->Wait();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text, "You sent [redacted:key] and key-that-nobody-may-see");
    EXPECT_EQ(JoinedDeltas(*sink), reply->text);
    EXPECT_EQ(reply->thinking, "Hm: [redacted:key]");
    Request request = UserRequest("x");
    request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
    reply = AskProvider(*client, request);
    ASSERT_EQ(reply->tool_calls.size(), 1u);
    EXPECT_EQ(ToJson(reply->tool_calls[0].arguments), R"({"at":"[redacted:key]"})");
    request = UserRequest("x");
    request.raw = Request::Raw::kKept;
    reply = AskProvider(*client, request);
    EXPECT_THAT(reply->raw, AllOf(HasSubstr("[redacted:key]"), Not(HasSubstr(kKey))));
  }
}

TEST(ProviderClientTest, TheKeyIsTakenOutWhereverAStreamCutsIt) {  // CON-49
  const std::string said = std::string("a key-key-") + kKey + kKey + " b key-";
  for (std::size_t at = 0; at <= said.size(); ++at) {
    std::string events;
    for (const std::string& piece : {said.substr(0, at), said.substr(at, 1),
                                     said.size() > at ? said.substr(at + 1) : std::string()}) {
      events +=
          "data: " + ToJson(JsonObject{{"choices", {{{"delta", {{"content", piece}}}}}}}) + "\n\n";
    }
    auto server = Serve(Events(events + "data: [DONE]\n\n", Then::kFinish));
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, UserRequest("x"));
    auto reply = sink->Wait();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text, "a key-key-[redacted:key][redacted:key] b key-") << at;
    EXPECT_EQ(JoinedDeltas(*sink), reply->text) << at;
  }
}

TEST(ProviderClientTest, AShortKeyIsLeftAlone) {  // CON-49
  auto server = Serve("- {reply: \"an abc of things\"}\n");
  auto client = MakeProviderClient(
      {.base_url = Address(*server), .key = "abc", .provider = "openai", .stream = Stream::kYes});
  ASSERT_TRUE(client);
  EXPECT_EQ(AskProvider(**client)->text, "an abc of things");
}

TEST(ProviderClientTest, AStreamThatBreaksKeepsItsText) {  // MOD-13, MOD-A3
  struct Case {
    std::string bytes;
    Then then;
    const char* warning;
  };
  const Case cases[] = {
      {kHello, Then::kFinish, "ended without a finish"},
      {kHello, Then::kAbort, "the reply was cut: "},
      {std::string(kHello) + "data: {nonsense\n\n", Then::kFinish, "malformed reply"},
      {std::string(kHello) + "data: {\"error\":{\"message\":\"gpu lost\"}}\n\n", Then::kFinish,
       "gpu lost"},
  };
  for (const Case& c : cases) {
    auto server = Serve(Events(c.bytes, c.then));
    auto reply = AskProvider(*MakeClient(Address(*server)));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text, "Hello");
    EXPECT_EQ(reply->finish, Finish::kCut);
    EXPECT_TRUE(reply->usage.estimated);
    ASSERT_FALSE(reply->warnings.empty());
    EXPECT_THAT(reply->warnings.back(), HasSubstr(c.warning));
  }
}

TEST(ProviderClientTest, ABrokenConnectionBeforeAnyTextMayBeTriedAgain) {  // MOD-21
  for (const Then then : {Then::kFinish, Then::kAbort}) {
    auto server = Serve(Events(": hello\n\n", then));
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, UserRequest("x"));
    EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kNetwork, "openai"));
    EXPECT_EQ(sink->failure.retry, Failure::Retry::kYes);
  }
  auto server = Serve([](const auto& exchange) { exchange->Abort(); });
  auto client = MakeClient(Address(*server));
  auto sink = Submit(*client, UserRequest("x"));
  EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kNetwork, "127.0.0.1:"));
  EXPECT_EQ(sink->failure.retry, Failure::Retry::kYes);
}

TEST(ProviderClientTest, LyingServersGiveClearErrors) {  // MOD-14, MOD-A11
  struct Case {
    const char* type;
    std::string body;
    const char* message;
  };
  const Case cases[] = {
      {"application/json", "{\"choices\": 7}", "status 200: malformed reply: it has no choices"},
      {"text/html", "<h1>login</h1>", "<h1>login</h1>"},
      {"application/json", "", "malformed reply"},
      {"text/event-stream", "data: 7\n\n", "an event that is no object"},
      {"text/event-stream", "data: {\"error\":\"quota " + std::string(kKey) + "\"}\n\n", "quota"},
  };
  for (const Case& c : cases) {
    auto server = Serve([&](const auto& exchange) {
      exchange->Reply({.headers = {{"Content-Type", c.type}}, .body = c.body});
    });
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, UserRequest("x"));
    auto reply = sink->Wait();
    EXPECT_THAT(reply, FailsWith(ErrorCode::kNetwork, c.message)) << c.body;
    EXPECT_THAT(reply.error().message, AllOf(HasSubstr("openai"), Not(HasSubstr(kKey))));
    EXPECT_EQ(sink->failure.retry, Failure::Retry::kNo);
  }
}

TEST(ProviderClientTest, AnEndlessReplyEndsAt64MiB) {  // MOD-14
  auto server = Serve([](const auto& exchange) {
    exchange->SendHead(200, {{"Content-Type", "application/json"}});
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 100 && exchange->SendChunk(block); ++i) {
    }
    exchange->Abort();
  });
  EXPECT_THAT(AskProvider(*MakeClient(Address(*server), Stream::kNo)),
              FailsWith(ErrorCode::kNetwork, "larger than 64 MiB"));
}

TEST(ProviderClientTest, SilenceAndDeadlineEndARequest) {  // section 6
  Kept kept;
  auto server = Serve(Events("", Then::kNothing, &kept));
  auto client = MakeClient(Address(*server));
  Request request = UserRequest("x");
  request.idle_limit = Millis(50);
  auto sink = Submit(*client, request);
  EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kTimeout, "the limit of silence of 0.1 s"));
  EXPECT_EQ(sink->failure.retry, Failure::Retry::kYes);
  request.idle_limit = Millis(60'000);
  request.deadline = Millis(50);
  EXPECT_THAT(AskProvider(*client, request),
              FailsWith(ErrorCode::kTimeout, "the deadline of 0.1 s"));
  // Whole, it can only be silent until it is there.
  request.idle_limit = Millis(1);
  EXPECT_THAT(AskProvider(*MakeClient(Address(*server), Stream::kNo), request),
              FailsWith(ErrorCode::kTimeout, "the deadline of 0.1 s"));
  auto started = Serve(Events(kHello, Then::kNothing, &kept));
  request.idle_limit = Millis(50);
  request.deadline = Millis(60'000);
  auto reply = AskProvider(*MakeClient(Address(*started)), request);
  ASSERT_TRUE(reply) << "text that came is kept";
  EXPECT_EQ(reply->finish, Finish::kCut);
  EXPECT_THAT(reply->warnings.back(), HasSubstr("silence"));
}

TEST(ProviderClientTest, WhatWasSentAndNotAnsweredMayHaveCostSomething) {  // FLT-5, FLT-9
  Kept kept;
  Request request = UserRequest("x");
  request.idle_limit = Millis(50);
  const auto failure_of = [&](HttpListener::Handler handler) {
    auto server = Serve(std::move(handler));
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, request);
    EXPECT_FALSE(sink->Wait());
    return sink->failure;
  };
  const auto status = [](int status, const std::string& body) {
    return [=](const auto& exchange) {
      exchange->Reply(
          {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body});
    };
  };
  EXPECT_EQ(failure_of([&](auto exchange) {
              std::lock_guard lock(kept.mutex);
              kept.exchanges.push_back(std::move(exchange));
            }).sent,
            Failure::Sent::kYes);
  EXPECT_EQ(failure_of([](auto exchange) { exchange->Abort(); }).sent, Failure::Sent::kYes);
  EXPECT_EQ(failure_of(Events("", Then::kNothing, &kept)).sent, Failure::Sent::kYes);
  EXPECT_EQ(failure_of(status(200, "{}")).sent, Failure::Sent::kYes);
  EXPECT_EQ(failure_of(status(504, "")).sent, Failure::Sent::kYes);
  for (const int refused : {400, 401, 429}) {
    const Failure failure = failure_of(status(refused, R"({"error":"no"})"));
    EXPECT_EQ(failure.sent, Failure::Sent::kNo) << refused;
    EXPECT_FALSE(failure.usage) << refused;
  }
  EXPECT_EQ(failure_of(status(200, R"({"error":{"code":429}})")).sent, Failure::Sent::kNo);
  int port = 0;
  {
    port = Serve([](const auto&) {})->port();
  }
  auto client = MakeClient(fmt::format("http://127.0.0.1:{}/v1", port));
  auto nobody = Submit(*client, request);
  EXPECT_FALSE(nobody->Wait());
  EXPECT_EQ(nobody->failure.sent, Failure::Sent::kNo);
}

TEST(ProviderClientTest, TheUsageOfAFailedRequestCounts) {  // FLT-9
  const std::string usage = R"("usage":{"prompt_tokens":1000,"completion_tokens":50}})";
  for (const bool streamed : {false, true}) {
    auto server = Serve([&](const auto& exchange) {
      const std::string body = R"({"error":{"message":"late"},)" + usage;
      exchange->Reply(
          {.status = streamed ? 200 : 500,
           .headers = {{"Content-Type", streamed ? "text/event-stream" : "application/json"}},
           .body = streamed ? "data: " + body + "\n\n" : body});
    });
    auto client = MakeClient(Address(*server));
    auto sink = Submit(*client, UserRequest("x"));
    EXPECT_FALSE(sink->Wait());
    ASSERT_TRUE(sink->failure.usage) << streamed;
    EXPECT_EQ(sink->failure.usage->input, 1000);
    EXPECT_EQ(sink->failure.usage->output, 50);
    EXPECT_EQ(sink->failure.usage->cost_nano_usd, 350'000);
  }
}

TEST(ProviderClientTest, ACallOfAToolThatWasNotOfferedIsNoEnd) {  // FLT-2
  for (const Stream stream : kBoth) {
    auto server = Serve("- {reply: half a, finish: tool_calls, times: always}");
    auto client = MakeClient(Address(*server), stream);
    auto reply = AskProvider(*client);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->finish, Finish::kCut);
    ASSERT_FALSE(reply->warnings.empty());
    EXPECT_THAT(reply->warnings.back(), HasSubstr("none was offered"));
    Request request = UserRequest("x");
    request.messages.tools = {{"look", "Looks.", JsonObject{{"type", "object"}}}};
    EXPECT_EQ(AskProvider(*client, request)->finish, Finish::kToolCalls);
    request.tool_use = Request::ToolUse::kNone;
    EXPECT_EQ(AskProvider(*client, request)->finish, Finish::kCut);
  }
}

TEST(ProviderClientTest, CancellingClosesTheConnections) {  // MOD-23, MOD-A5
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<HttpExchange>> kept;
  auto server = Serve([&](auto exchange) {
    exchange->SendHead(200, {{"Content-Type", "text/event-stream"}});
    (void)exchange->SendChunk(kHello).has_value();
    std::lock_guard lock(mutex);
    kept.push_back(std::move(exchange));
    changed.notify_all();
  });
  auto client = MakeClient(Address(*server));
  auto gate = Gate::Make(client, {.concurrency = 100}, SystemClock());
  Ledger ledger({.tokens = 1'000'000}, SystemClock());
  CancelSource source;
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  Request request = UserRequest("x");
  request.estimated_tokens = 10;
  for (int i = 0; i < 100; ++i) {
    sinks.push_back(std::make_shared<RecordingSink>());
    gate->Submit(std::make_shared<const Request>(request), ledger, Stage::kNormal, source.token(),
                 sinks.back());
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return kept.size() == 100; });
  }
  source.Cancel("enough");
  for (const auto& sink : sinks) {
    EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kCancelled, "enough"));
  }
  gate.reset();
  for (const auto& exchange : kept) {
    while (!exchange->client_gone()) std::this_thread::yield();
  }
  const LedgerUse use = ledger.use();
  EXPECT_EQ(use.spent.total.input, 1000) << "what was sent is settled by estimate";
  EXPECT_TRUE(use.spent.total.estimated);
  EXPECT_TRUE(use.spent.total.cost_nano_usd) << "at the entry's price";
  EXPECT_EQ(*ledger.tokens_left(), 1'000'000 - use.spent.tokens());
}

TEST(ProviderClientTest, ARedirectIsRefusedAndNoKeyArrivesThere) {  // MOD-3, MOD-A7
  std::atomic<int> arrived{0};
  auto other = Serve([&](const auto& exchange) {
    ++arrived;
    exchange->Reply({});
  });
  auto server = Serve([&](const auto& exchange) {
    exchange->Reply({.status = 307,
                     .headers = {{"Location", fmt::format("http://localhost:{}/v1/chat/completions",
                                                          other->port())}}});
  });
  EXPECT_THAT(AskProvider(*MakeClient(Address(*server))),
              FailsWith(ErrorCode::kNetwork, fmt::format("http://localhost:{}", other->port())));
  EXPECT_EQ(arrived, 0);
}

TEST(ProviderClientTest, NobodyListeningIsNamedWithHostPortAndCause) {  // section 6
  int port = 0;
  {
    port = Serve([](const auto&) {})->port();
  }
  auto client = MakeClient(fmt::format("http://127.0.0.1:{}/v1/", port));
  auto sink = Submit(*client, UserRequest("x"));
  EXPECT_THAT(sink->Wait(),
              FailsWith(ErrorCode::kNetwork, fmt::format("127.0.0.1:{}: no connection", port)));
  EXPECT_EQ(sink->failure.retry, Failure::Retry::kYes);
  EXPECT_THAT(MakeProviderClient({.base_url = "nonsense"}),
              FailsWith(ErrorCode::kConfig, "nonsense"));
}

TEST(ProviderClientTest, ThroughTheGateA429IsWaitedForAndA500TriedAgain) {  // MOD-A3
  auto server = Serve(R"(
- {when: rate, times: 1, fail: {status: 429, headers: {Retry-After: "0.05"}}}
- {when: broken, times: 3, fail: {status: 500}}
- {when: cut, reply: "0123456789012345678901234567890123456789 never", fail: {cut_after: 40}}
- {when: ".", reply: fine}
)");
  auto gate = Gate::Make(MakeClient(Address(*server)), {.first_delay = Millis(2)}, SystemClock());
  Ledger ledger({}, SystemClock());
  EXPECT_EQ(gate->Complete(UserRequest("rate"), ledger, Stage::kNormal, {})->attempts, 2);
  EXPECT_EQ(gate->Complete(UserRequest("broken"), ledger, Stage::kNormal, {})->attempts, 4);
  auto cut = gate->Complete(UserRequest("cut"), ledger, Stage::kNormal, {});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->text.size(), 40u);
  EXPECT_EQ(cut->finish, Finish::kCut);
  EXPECT_EQ(ledger.use().calls, 7);
  EXPECT_EQ(ledger.use().failed_calls, 4);
}

TEST(ProviderClientTest, AWarningAboutRefusedSamplingIsGivenOnce) {  // MOD-10
  auto server = Serve("- {reply: a, times: always}");
  Entry entry;
  entry.sampling = {};
  auto client = MakeProviderClient({.base_url = Address(*server), .entry = entry});
  Request request = UserRequest("x");
  request.sampling.temperature = 1;
  EXPECT_EQ(AskProvider(**client, request)->warnings.size(), 1u);
  EXPECT_EQ(AskProvider(**client, request)->warnings.size(), 0u);
}

TEST(ProviderClientTest, ManyRequestsInFlightAllComeBack) {  // MOD-A4
  std::atomic<int> open{0}, most{0};
  auto server = Serve([&](const auto& exchange) {
    int now = ++open, seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    --open;
    exchange->Reply(
        {.headers = {{"Content-Type", "application/json"}},
         .body = R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})"});
  });
  auto gate = Gate::Make(MakeClient(Address(*server)), {.concurrency = 16}, SystemClock());
  Ledger ledger({}, SystemClock());
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 500; ++i) {
    sinks.push_back(std::make_shared<RecordingSink>());
    gate->Submit(std::make_shared<const Request>(UserRequest("x")), ledger, Stage::kNormal, {},
                 sinks.back());
  }
  for (const auto& sink : sinks) EXPECT_TRUE(sink->Wait());
  EXPECT_LE(most, 16);
}

TEST(ServeScriptTest, RecordsWithoutTheKeyAndSaysWhatHasNoRule) {  // MOD-50, MOD-A6
  auto folder = TempFolder::Make();
  const std::string record = folder->path() + "/requests.jsonl";
  auto server = Serve("- only one", record);
  auto client = MakeClient(Address(*server));
  EXPECT_EQ(AskProvider(*client, UserRequest("first"))->text, "only one");
  EXPECT_THAT(AskProvider(*client, UserRequest("second")),
              FailsWith(ErrorCode::kFailed, "no rule is left for request 2"));
  const std::string lines = *ReadFile(record);
  EXPECT_THAT(lines, AllOf(HasSubstr("\"first\""), HasSubstr("\"second\""), Not(HasSubstr(kKey))));
  struct stat info{};
  ASSERT_EQ(stat(record.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "prompts are private";
}

}  // namespace
}  // namespace dossier::model
