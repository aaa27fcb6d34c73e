#include "model/providers/probe.h"

#include <gtest/gtest.h>

#include "base/net/http_listener.h"
#include "model/scripted/scripted.h"
#include "model/scripted/serve_script.h"

namespace dossier::model {
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
