#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/files/file.h"
#include "server/mcp/http_server.h"
#include "server/mcp/progress_gate.h"
#include "testing/result_matchers.h"

namespace dossier::mcp {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

struct Told {
  std::vector<double> values;
  ProgressGate gate{Json("t"), [this](const std::string& text) {
                      const auto message = ParseJson(text);
                      values.push_back(*FindNumber(*Find(*message, "params"), "progress"));
                    }};
};

TEST(ProgressGate, TellsAtMostFourASecondAndAtLeastOneInTen) {  // SRV-7
  Told told;
  const Clock::Steady start{};
  for (int i = 0; i < 100; ++i) told.gate.Offer({.done = i * 1.0}, start + Millis(i * 5));
  EXPECT_EQ(told.values.size(), 4u);
  told.gate.Tick(start + Millis(1001));
  EXPECT_EQ(told.values.back(), 99.0) << "the newest is told, not each";
  told.gate.Tick(start + Millis(9000));
  EXPECT_EQ(told.values.size(), 5u);
  told.gate.Tick(start + Millis(11'500));
  ASSERT_EQ(told.values.size(), 6u);
  EXPECT_GT(told.values[5], told.values[4]) << "it rises, also where nothing has changed";
}

TEST(ProgressGate, NeverFallsAndIsSilentOnceClosed) {  // SRV-7
  Told told;
  told.gate.Offer({.done = 5});
  told.gate.Offer({.done = 3});
  EXPECT_EQ(told.values, std::vector<double>{5});
  told.gate.Close();
  told.gate.Offer({.done = 9});
  told.gate.Tick(Clock::Steady::max());
  EXPECT_EQ(told.values.size(), 1u);
}

// One tool that waits until it is let go.
class WaitingCatalog final : public ServerOffer {
 public:
  JsonArray Tools() const override { return {}; }
  RpcResult CallTool(std::string_view, const Json&, const CallContext& call) override {
    while (!let_go && WaitUnlessCancelled(Millis(5), call.cancel)) {
    }
    stopped = call.cancel.cancelled();
    return JsonObject{{"content", JsonArray()}};
  }
  std::atomic<bool> let_go{false}, stopped{false};
};

// A connection to a server of this machine, with what it sends.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void Post(std::string_view headers, std::string_view body) {
    EXPECT_TRUE(WriteAll(
        fd_.get(), fmt::format("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                               "application/json\r\nAccept: application/json, text/event-stream\r\n"
                               "{}Content-Length: {}\r\n\r\n{}",
                               headers, body.size(), body)));
  }
  // Until `text` has come.
  std::string ReadTo(std::string_view text) {
    char block[4096];
    while (got_.find(text) == got_.npos) {
      const ssize_t count = read(fd_.get(), block, sizeof block);
      if (count <= 0) break;
      got_.append(block, static_cast<std::size_t>(count));
    }
    EXPECT_THAT(got_, HasSubstr(std::string(text)));
    return got_;
  }

 private:
  UniqueFd fd_;
  std::string got_;
};

constexpr std::string_view kModernHeaders =
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\n";
constexpr std::string_view kModernCall =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

TEST(HttpServer, ASlowAnswerBecomesAStreamThatShowsThatItLives) {  // SRV-3
  WaitingCatalog catalog;
  auto server =
      HttpServer::Start(catalog, {.stream_after = Millis(60), .comment_every = Millis(60)});
  ASSERT_TRUE(server.has_value());
  RawClient client((*server)->port());
  client.Post(kModernHeaders, kModernCall);
  const std::string head = client.ReadTo(": still here");
  EXPECT_THAT(head, HasSubstr("text/event-stream"));
  EXPECT_THAT(head, Not(HasSubstr("data: ")));
  catalog.let_go = true;
  EXPECT_THAT(client.ReadTo("\r\n0\r\n"),
              HasSubstr("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
}

TEST(HttpServer, WhoLeavesAModernAnswerStopsItsWork) {  // SRV-8
  WaitingCatalog catalog;
  auto server = HttpServer::Start(catalog, {.stream_after = Millis(20)});
  ASSERT_TRUE(server.has_value());
  {
    RawClient client((*server)->port());
    client.Post(kModernHeaders, kModernCall);
    client.ReadTo("text/event-stream");
  }
  while (!catalog.stopped) std::this_thread::yield();
}

std::string ModernRequest(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{}"_meta":{{)"
                     R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                     R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
                     method, params);
}

TEST(HttpServer, ARequestListensToAtMostAThousandResources) {
  WaitingCatalog catalog;
  auto server = HttpServer::Start(catalog, {});
  ASSERT_TRUE(server.has_value());
  std::string uris = "\"u0\"";
  for (int i = 1; i <= 1000; ++i) uris += fmt::format(",\"u{}\"", i);
  RawClient client((*server)->port());
  client.Post(
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
      ModernRequest("subscriptions/listen",
                    fmt::format(R"("notifications":{{"resourceSubscriptions":[{}]}},)", uris)));
  EXPECT_THAT(client.ReadTo("\r\n\r\n"), HasSubstr(" 400 "));
}

TEST(HttpServer, IdleSessionsEnd) {  // SRV-4
  WaitingCatalog catalog;
  auto server = HttpServer::Start(catalog, {.session_idle = Millis(1)});
  ASSERT_TRUE(server.has_value());
  RawClient client((*server)->port());
  client.Post(
      "",
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
  const std::string head = client.ReadTo("\"serverInfo\"");
  const std::size_t at = head.find("Mcp-Session-Id: ");
  ASSERT_NE(at, head.npos);
  const std::string session = head.substr(at, head.find("\r\n", at) - at);
  for (std::string got; got.find(" 404 ") == got.npos;) {
    RawClient later((*server)->port());
    later.Post(session + "\r\nConnection: close\r\n",
               R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    got = later.ReadTo("\r\n\r\n");
  }
}

TEST(HttpServer, AnAddressThatOthersReachNeedsKeys) {  // SRV-5
  WaitingCatalog catalog;
  EXPECT_THAT(HttpServer::Start(catalog, {.address = {.host = "0.0.0.0"}}),
              FailsWith(ErrorCode::kRefused, "--keys"));
  EXPECT_EQ(ParseListenAddress("--http", "[::1]:80")->host, "::1");
  EXPECT_EQ(ParseListenAddress("--http", "8790")->port, 8790);
  for (const char* wrong : {"", "host", "127.0.0.1:x", "127.0.0.1:70000"}) {
    EXPECT_THAT(ParseListenAddress("--http", wrong), FailsWith(ErrorCode::kUsage, "HOST:PORT"))
        << wrong;
  }
}

}  // namespace
}  // namespace dossier::mcp
