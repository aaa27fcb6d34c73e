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
  const int ports[] = {closed,         (*good)->port(), silent->port(),
                       locked->port(), website->port(), hostile->port()};
  const auto found = ProbeLocalServers(ports, Millis(500));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].port, (*good)->port());
  EXPECT_EQ(found[0].models, std::vector<std::string>{"scripted"});
  EXPECT_EQ(found[1].port, locked->port());
  EXPECT_TRUE(found[1].needs_key);
  EXPECT_EQ(found[2].port, hostile->port());
  ASSERT_EQ(found[2].models.size(), 1u);
  EXPECT_EQ(found[2].models[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace dossier::model
