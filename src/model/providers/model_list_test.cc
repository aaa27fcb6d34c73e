#include "model/providers/model_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/net/http_listener.h"
#include "base/random.h"
#include "model/scripted/scripted.h"
#include "model/scripted/serve_script.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

std::vector<std::string> NamesIn(std::string_view body) {
  const auto models = ParseModelList(body);
  std::vector<std::string> names;
  if (!models) return {"no list"};
  for (const ListedModel& model : *models) names.push_back(model.name);
  return names;
}

TEST(ModelListTest, EveryFormOfAListIsRead) {  // FLT-44
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesIn(R"({"object":"list","data":[{"id":"gpt-4o"},{"id":"a/b"}]})"),
            (Names{"gpt-4o", "a/b"}));
  EXPECT_EQ(NamesIn(R"({"models":[{"name":"llama3:8b","size":1}]})"), (Names{"llama3:8b"}));
  EXPECT_EQ(NamesIn(R"({"models":[
      {"name":"models/gemini-9","supportedGenerationMethods":["generateContent"]},
      {"name":"models/embed","supportedGenerationMethods":["embedContent"]}]})"),
            (Names{"gemini-9"}));
  EXPECT_EQ(NamesIn(R"({"data":[{"id":"a\u001b[31m"},{"id":7},3,{"id":""},{"id":"two words"}]})"),
            Names{});
  for (const char* none : {"", "<html>", "{}", "[]", R"({"data":3})", "{\"data\":["}) {
    EXPECT_EQ(NamesIn(none), Names{"no list"}) << none;
  }
}

TEST(ModelListTest, WhatAProviderSaysOfAModelIsKept) {  // FLT-44
  const auto models = ParseModelList(R"({"data":[
    {"id":"a","max_model_len":8192},
    {"id":"b","context_length":1000,"top_provider":{"max_completion_tokens":500},
     "pricing":{"prompt":"0.00000015","completion":"0.0000006"}},
    {"id":"c","context_length":-5,"pricing":{"prompt":"free"}}]})");
  ASSERT_TRUE(models);
  EXPECT_EQ((*models)[0].window, 8192);
  EXPECT_EQ((*models)[0].max_output, std::nullopt);
  EXPECT_EQ((*models)[1].window, 1000);
  EXPECT_EQ((*models)[1].max_output, 500);
  EXPECT_DOUBLE_EQ(*(*models)[1].price_input, 0.15);
  EXPECT_DOUBLE_EQ(*(*models)[1].price_output, 0.6);
  EXPECT_EQ((*models)[2].window, std::nullopt);
  EXPECT_EQ((*models)[2].price_input, std::nullopt);
}

TEST(ModelListTest, DamagedListsNeverCrash) {
  Random random(7);
  const std::string base = R"({"data":[{"id":"a","context_length":5,"pricing":{"prompt":"1"}}]})";
  for (int round = 0; round < 2000; ++round) {
    std::string text = base;
    for (int i = 0; i < 3; ++i) text[random.Below(text.size())] = "{}[]:,\"0a"[random.Below(9)];
    (void)ParseModelList(text);
  }
}

class KeptListTest : public ::testing::Test {
 protected:
  Result<Entry> Kept(const Provider& provider, const std::vector<ListedModel>& models,
                     std::string_view name) {
    DOSSIER_ASSIGN_OR_RETURN(const Catalog before, Catalog::Load({}));
    DOSSIER_RETURN_IF_ERROR(KeepModelList(folder_->path(), provider, models, before, "2026-11-25"));
    DOSSIER_ASSIGN_OR_RETURN(const Catalog after, Catalog::Load({ModelListFolder(folder_->path()) +
                                                                 "/" + provider.name + ".yaml"}));
    return after.EntryOf(provider.name, name);
  }

  Result<TempFolder> folder_ = TempFolder::Make();
};

TEST_F(KeptListTest, AListBecomesDatedEntries) {  // FLT-44
  const Provider router{.name = "openrouter", .base_url = "https://openrouter.ai/api/v1"};
  const std::vector<ListedModel> models = {{.name = "new/one",
                                            .window = 9000,
                                            .max_output = 20000,
                                            .price_input = 0.15,
                                            .price_output = 1000.001},
                                           {.name = "odd: {name}, \"x\"#", .window = 77},
                                           {.name = "openai/gpt-4o", .max_output = 100'000}};
  const auto one = Kept(router, models, "new/one");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(one->known);
  EXPECT_EQ(one->capability.window, 9000);
  EXPECT_EQ(one->capability.max_output, 9000) << "no more than the window";
  EXPECT_EQ(one->price_input, 150);
  EXPECT_EQ(one->price_output, 1'000'001);
  EXPECT_EQ(one->as_of, "2026-11-25");
  EXPECT_EQ(one->source, "https://openrouter.ai/api/v1/models");
  EXPECT_EQ(Kept(router, models, "odd: {name}, \"x\"#")->capability.window, 77);
  EXPECT_EQ(Kept(router, models, "openai/gpt-4o")->capability.window, 128'000);
}

TEST_F(KeptListTest, ANewModelHasItsFamilysFactsAndAnOldOneItsOwn) {  // FLT-44
  const Provider openai{.name = "openai", .base_url = "https://api.openai.com/v1"};
  const std::vector<ListedModel> models = {{.name = "gpt-5.9-nano"},
                                           {.name = "gpt-5", .window = 3}};
  const auto fresh = Kept(openai, models, "gpt-5.9-nano");
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(fresh->capability.window, 400'000);
  EXPECT_TRUE(fresh->known);
  EXPECT_EQ(Kept(openai, models, "gpt-5")->capability.window, 400'000);
  EXPECT_TRUE(Kept(openai, {}, "gpt-5")) << "an empty list is a file, too";
}

TEST(FetchModelListTest, AsksWithTheKeyAndFallsBackToOllamasList) {  // FLT-44
  std::string asked, key;
  auto server = HttpListener::Start({}, [&](auto exchange) {
    asked += exchange->request().target + " ";
    key = exchange->request().Header("authorization");
    const bool tags = exchange->request().target == "/api/tags";
    exchange->Reply({.status = tags ? 200 : 404, .body = R"({"models":[{"name":"llama3"}]})"});
  });
  ASSERT_TRUE(server) << server.error().message;
  Provider provider{.name = "ollama",
                    .base_url = fmt::format("http://127.0.0.1:{}/v1", (*server)->port())};
  const auto models = FetchModelList(provider, "", Millis(20'000), {});
  ASSERT_TRUE(models) << models.error().message;
  EXPECT_EQ((*models)[0].name, "llama3");
  EXPECT_EQ(asked, "/v1/models /api/tags ");
  EXPECT_EQ(key, "");
  provider.base_url += "x";
  asked.clear();
  (void)FetchModelList(provider, "secret", Millis(20'000), {});
  EXPECT_THAT(asked, HasSubstr("/v1x/models "));
}

TEST(FetchModelListTest, ARefusedKeyAndNoListAreTold) {  // FLT-44
  int status = 401;
  auto server = HttpListener::Start(
      {}, [&](auto exchange) { exchange->Reply({.status = status, .body = "<html>"}); });
  ASSERT_TRUE(server) << server.error().message;
  const Provider provider{.name = "anthropic",
                          .base_url = fmt::format("http://127.0.0.1:{}", (*server)->port()),
                          .dialect = "anthropic"};
  EXPECT_THAT(
      FetchModelList(provider, "secret", Millis(20'000), {}),
      FailsWith(ErrorCode::kAuth, "/v1/models?limit=1000: the server answered with status 401"));
  status = 200;
  EXPECT_THAT(FetchModelList(provider, "secret", Millis(20'000), {}),
              FailsWith(ErrorCode::kNetwork, "is no list of models"));
}

}  // namespace

namespace {

std::unique_ptr<HttpListener> ServeProbe(HttpListener::Handler handler) {
  auto server = HttpListener::Start({}, std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

TEST(ProbeTest, FindsServersOfThisKindAndNothingElse) {  // MOD-4
  auto good = ServeScript(*Script::Parse("[]", "none"), {});
  ASSERT_TRUE(good);
  auto locked = ServeProbe([](auto exchange) { exchange->Reply({.status = 401}); });
  auto website = ServeProbe([](auto exchange) { exchange->Reply({.body = "<html>"}); });
  auto hostile = ServeProbe([](auto exchange) {
    exchange->Reply({.body = R"({"data":[{"id":"a\u001b[31m"},{"id":7},3]})"});
  });
  std::vector<std::shared_ptr<HttpExchange>> kept;
  auto silent = ServeProbe([&](auto exchange) { kept.push_back(exchange); });
  int closed = 0;
  {
    closed = ServeProbe([](auto) {})->port();
  }
  auto ollama = ServeProbe([](auto exchange) {
    const bool tags = exchange->request().target == "/api/tags";
    exchange->Reply({.status = tags ? 200 : 404,
                     .body = tags ? R"({"models":[{"name":"llama3:8b","size":5}]})" : "no"});
  });
  std::vector<ServerPlace> places;
  for (const int port : {closed, (*good)->port(), silent->port(), locked->port(), website->port(),
                         hostile->port(), ollama->port()}) {
    places.push_back({"some", port});
  }
  const auto found = ProbeLocalServers(places, Millis(500));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].port, (*good)->port());
  EXPECT_EQ(found[0].models, std::vector<std::string>{"scripted"});
  EXPECT_EQ(found[1].port, locked->port());
  EXPECT_TRUE(found[1].needs_key);
  EXPECT_EQ(found[2].port, hostile->port());
  EXPECT_TRUE(found[2].models.empty()) << "a name that acts on a terminal is none";
  EXPECT_EQ(found[3].models, std::vector<std::string>{"llama3:8b"});
  EXPECT_EQ(Describe(found[3]),
            fmt::format("some answers at {} (llama3:8b): -m some/llama3:8b", found[3].base_url));
}

TEST(ProbeTest, TheUsualPlacesAreThoseOfTheDataAndOfTheVariables) {  // FLT-44
  const auto catalog = Catalog::Load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  const auto moved = [](std::string_view name) -> std::optional<std::string> {
    if (name == "OLLAMA_BASE_URL") return "localhost:4711";
    if (name == "VLLM_BASE_URL") return "http://pool:8000/v1";
    return std::nullopt;
  };
  std::vector<std::pair<std::string, int>> places;
  for (const ServerPlace& place : UsualPlaces(*catalog, moved)) {
    places.emplace_back(place.provider, place.port);
  }
  const std::vector<std::pair<std::string, int>> wanted = {
      {"ollama", 4711}, {"llamacpp", 8080}, {"lmstudio", 1234}};
  EXPECT_EQ(places, wanted) << "what is on another machine is not looked for";
}

}  // namespace

}  // namespace dossier::model
