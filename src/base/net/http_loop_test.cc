#include "base/net/http_loop.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <set>

#include "base/net/http_listener.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"
#include "testing/test_server_for_test.h"

namespace dossier {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Answers POST with the number of its connection and the request's body, in HTTP/1.1 over TLS.
constexpr char kTlsServer[] = R"(
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = b"%d %s" % (self.client_address[1], body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/cert.pem", sys.argv[1] + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_address[1])
server.serve_forever()
)";

// A proxy that leads every CONNECT to port argv[1] of this machine, or refuses it with status
// argv[2].
constexpr char kConnectProxy[] = R"(
import socket, socketserver, sys, threading
def copy(source, target):
    while data := source.recv(65536): target.sendall(data)
    target.shutdown(socket.SHUT_WR)
class Proxy(socketserver.StreamRequestHandler):
    def handle(self):
        print("asked for", self.rfile.readline().decode().strip())
        while self.rfile.readline().strip(): pass
        if len(sys.argv) > 2:
            self.wfile.write(b"HTTP/1.1 %s No\r\nContent-Length: 0\r\n\r\n" % sys.argv[2].encode())
            return
        onward = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=copy, args=(onward, self.connection), daemon=True).start()
        copy(self.connection, onward)
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy)
server.daemon_threads = True
print("port", server.server_address[1])
server.serve_forever()
)";

// What arrived, and how often it was given while it was paused.
class Collected final : public HttpReceiver {
 public:
  explicit Collected(std::size_t pause_after = std::string::npos) : pause_after_(pause_after) {}

  void OnHead(int given, std::vector<std::pair<std::string, std::string>>) override {
    status = given;
  }
  Result<Flow> OnBody(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    given_while_paused |= paused_;
    body += bytes;
    paused_ = body.size() >= pause_after_;
    changed_.notify_all();
    return paused_ ? Flow::kPause : Flow::kGo;
  }
  void OnEnd(HttpEnd given) override {
    const std::lock_guard lock(mutex_);
    end = std::move(given);
    changed_.notify_all();
  }
  // Until it has ended, or is paused.
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return end || paused_; });
  }
  bool paused() {
    const std::lock_guard lock(mutex_);
    return paused_ && !end;
  }
  void Forget() {
    const std::lock_guard lock(mutex_);
    paused_ = false;
    pause_after_ = body.size() + (1 << 20);
  }

  int status = 0;
  std::string body;
  bool given_while_paused = false;
  std::optional<HttpEnd> end;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t pause_after_;
  bool paused_ = false;
};

// Variables for the time of one test; nothing of the machine's own gets in.
class ScopedVariables {
 public:
  ScopedVariables(std::initializer_list<std::pair<const char*, std::string>> values) {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : values) setenv(name, value.c_str(), 1);
  }
  ~ScopedVariables() {
    for (const char* name : kNames) unsetenv(name);
  }

 private:
  static constexpr const char* kNames[] = {"http_proxy", "https_proxy",  "HTTPS_PROXY",
                                           "all_proxy",  "ALL_PROXY",    "no_proxy",
                                           "NO_PROXY",   "SSL_CERT_FILE"};
};

class HttpLoopTest : public ::testing::Test {
 protected:
  std::shared_ptr<Collected> Send(const std::string& url, std::string body = "hello") {
    auto receiver = std::make_shared<Collected>();
    loop_->Send({.url = url, .body = std::move(body)}, {}, receiver);
    return receiver;
  }
  std::shared_ptr<Collected> Ask(const std::string& url) {
    auto receiver = Send(url);
    receiver->Wait();
    return receiver;
  }

  // A key and a certificate for model.example and this machine, made for this test; false where the
  // program openssl is missing.
  bool MakeCertificate() {
    const auto made =
        RunProcess({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                             "/CN=test", "-addext", "subjectAltName=DNS:model.example,IP:127.0.0.1",
                             "-keyout", key_path(), "-out", certificate_path()}});
    return made && made->exit_code == 0;
  }
  std::string key_path() const { return folder_.path() + "/key.pem"; }
  std::string certificate_path() const { return folder_.path() + "/cert.pem"; }
  const std::string& folder() const { return folder_.path(); }

 private:
  const TempFolder folder_ = *TempFolder::Make();
  const std::shared_ptr<HttpLoop> loop_holder_ = *HttpLoop::Make();

 protected:
  const std::shared_ptr<HttpLoop>& loop_ = loop_holder_;
};

std::string ConnectionOf(const std::string& body) { return body.substr(0, body.find(' ')); }

TEST_F(HttpLoopTest, ACertificateCountsOnlyWithItsAuthority) {  // MOD-15: custom CA
  ASSERT_TRUE(MakeCertificate()) << "scripts/setup installs openssl";
  const auto server = TestServer::StartPython(kTlsServer, {folder()});
  const std::string url = fmt::format("https://127.0.0.1:{}/v1", server->port());
  struct Case {
    std::string file;
    const char* cause;
    HttpEnd::Again again;
  };
  const Case cases[] = {
      {"", "certificate is not trusted (SSL_CERT_FILE", HttpEnd::Again::kNo},
      {folder() + "/none.pem", "SSL_CERT_FILE names cannot be read", HttpEnd::Again::kNo}};
  for (const Case& c : cases) {
    const ScopedVariables variables({});
    if (!c.file.empty()) setenv("SSL_CERT_FILE", c.file.c_str(), 1);
    const auto refused = Ask(url);
    ASSERT_TRUE(refused->end->error);
    EXPECT_EQ(refused->end->error->code, ErrorCode::kNetwork);
    EXPECT_THAT(refused->end->error->message, HasSubstr(c.cause));
    EXPECT_THAT(refused->end->error->message,
                HasSubstr(fmt::format("127.0.0.1:{}", server->port())));
    EXPECT_EQ(refused->end->again, c.again);
  }
  const ScopedVariables variables({{"SSL_CERT_FILE", certificate_path()}});
  const auto answer = Ask(url);
  ASSERT_FALSE(answer->end->error) << answer->end->error->message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answer->body, HasSubstr(" hello"));
  // One connection serves what comes one after the other.
  EXPECT_EQ(ConnectionOf(Ask(url)->body), ConnectionOf(answer->body)) << "MOD-15: reuse";
}

TEST_F(HttpLoopTest, RequestsShareOneHttp2Connection) {  // MOD-15: HTTP/2, connection reuse
  ASSERT_TRUE(MakeCertificate()) << "scripts/setup installs openssl";
  ASSERT_TRUE(FindProgram("nghttpd")) << "scripts/setup installs nghttp2-server";
  int port = 0;
  {  // nghttpd does not tell which free port it took
    const auto probe = HttpListener::Start({}, [](const auto&) {});
    port = (*probe)->port();
  }
  // It speaks nothing but HTTP/2, and says what it does, a frame a line, by connection.
  const auto server =
      TestServer::Start({"stdbuf", "-oL", "nghttpd", "-v", "--echo-upload", "-a", "127.0.0.1",
                         std::to_string(port), key_path(), certificate_path()},
                        "listen ");
  ASSERT_TRUE(server->runs()) << server->Log();
  const ScopedVariables variables({{"SSL_CERT_FILE", certificate_path()}});
  const std::string url = fmt::format("https://127.0.0.1:{}/v1", port);
  std::vector<std::shared_ptr<Collected>> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(Send(url, fmt::format("request {}", i)));
  for (int i = 0; i < 20; ++i) {
    asked[i]->Wait();
    ASSERT_FALSE(asked[i]->end->error) << asked[i]->end->error->message;
    EXPECT_EQ(asked[i]->body, fmt::format("request {}", i));
  }
  const std::string log = server->Log();
  EXPECT_THAT(log, HasSubstr("The negotiated protocol: h2"));
  EXPECT_THAT(log, HasSubstr("[id=1]"));
  EXPECT_THAT(log, Not(HasSubstr("[id=2]"))) << "20 requests at once on one connection";
}

TEST_F(HttpLoopTest, ThePlainProxyGetsWhatIsNotForThisMachine) {  // MOD-15: proxy variables
  std::mutex mutex;
  std::vector<std::string> targets;
  auto proxy = HttpListener::Start({}, [&](const auto& exchange) {
    const std::lock_guard lock(mutex);
    targets.push_back(exchange->request().target);
    exchange->Reply({.body = "through the proxy"});
  });
  ASSERT_TRUE(proxy);
  auto direct =
      HttpListener::Start({}, [](const auto& exchange) { exchange->Reply({.body = "direct"}); });
  const std::string address = fmt::format("http://127.0.0.1:{}", (*proxy)->port());
  const ScopedVariables variables({{"http_proxy", address}, {"no_proxy", "other.invalid"}});
  EXPECT_EQ(Ask("http://model.example/v1")->body, "through the proxy");
  EXPECT_EQ(targets, std::vector<std::string>{"http://model.example/v1"});
  EXPECT_EQ(Ask(fmt::format("http://127.0.0.1:{}/v1", (*direct)->port()))->body, "direct");
  const auto excepted = Ask("http://other.invalid/v1");
  ASSERT_TRUE(excepted->end->error);
  EXPECT_THAT(excepted->end->error->message,
              HasSubstr("other.invalid:80: the host name is not known"));
  EXPECT_EQ(targets.size(), 1u);
}

TEST_F(HttpLoopTest, TlsGoesThroughAConnectProxy) {  // MOD-15: proxy variables
  ASSERT_TRUE(MakeCertificate()) << "scripts/setup installs openssl";
  const auto server = TestServer::StartPython(kTlsServer, {folder()});
  const auto proxy = TestServer::StartPython(kConnectProxy, {std::to_string(server->port())});
  const ScopedVariables variables(
      {{"SSL_CERT_FILE", certificate_path()},
       {"https_proxy", fmt::format("http://127.0.0.1:{}", proxy->port())}});
  const auto answer = Ask("https://model.example/v1");
  ASSERT_FALSE(answer->end->error) << answer->end->error->message;
  EXPECT_THAT(answer->body, HasSubstr(" hello"))
      << "the certificate is the target's, not the proxy's";
  EXPECT_THAT(proxy->Log(), HasSubstr("asked for CONNECT model.example:443 HTTP/1.1"));
}

TEST_F(HttpLoopTest, AProxyThatFailsIsNamedAsTheProxy) {  // section 6: proxy
  const auto refusing = TestServer::StartPython(kConnectProxy, {"0", "407"});
  int nobody = 0;
  {
    const auto probe = HttpListener::Start({}, [](const auto&) {});
    nobody = (*probe)->port();
  }
  struct Case {
    int port;
    const char* cause;
    HttpEnd::Again again;
  };
  const Case cases[] = {
      {refusing->port(), "model.example:443: the proxy refuses (status 407)", HttpEnd::Again::kNo},
      {nobody, "model.example:443: the proxy does not answer (", HttpEnd::Again::kYes},
  };
  for (const Case& c : cases) {
    const ScopedVariables variables(
        {{"https_proxy", fmt::format("http://me:secret@127.0.0.1:{}", c.port)}});
    const auto answer = Ask("https://model.example/v1");
    ASSERT_TRUE(answer->end->error);
    EXPECT_THAT(answer->end->error->message, HasSubstr(c.cause));
    EXPECT_THAT(answer->end->error->message, Not(HasSubstr("secret")));
    EXPECT_EQ(answer->end->again, c.again);
  }
  const ScopedVariables variables({{"https_proxy", "http://proxy.invalid:3128"}});
  EXPECT_THAT(Ask("https://model.example/v1")->end->error->message,
              HasSubstr("the proxy's name is not known (DNS)"));
}

TEST_F(HttpLoopTest, AnIpv6AddressIsReached) {  // MOD-15: IPv6
  auto server = HttpListener::Start({.address = "::1"},
                                    [](const auto& exchange) { exchange->Reply({.body = "six"}); });
  if (!server) GTEST_SKIP() << "this machine has no IPv6: " << server.error().message;
  const auto answer = Ask(fmt::format("http://[::1]:{}/v1", (*server)->port()));
  ASSERT_FALSE(answer->end->error) << answer->end->error->message;
  EXPECT_EQ(answer->body, "six");
}

TEST_F(HttpLoopTest, APausedTransferReadsNothingAndHoldsUpNoOther) {  // MOD-15: back-pressure
  constexpr std::size_t kBlock = 1 << 20, kBlocks = 48;
  std::atomic<std::size_t> sent{0};
  auto server = HttpListener::Start({.threads = 4}, [&](const auto& exchange) {
    if (exchange->request().target == "/small") return exchange->Reply({.body = "small"});
    exchange->SendHead(200, {});
    const std::string block(kBlock, 'x');
    while (sent < kBlocks && exchange->SendChunk(block)) ++sent;
    exchange->Finish();
  });
  ASSERT_TRUE(server);
  const std::string address = fmt::format("http://127.0.0.1:{}", (*server)->port());
  constexpr Millis kSilence(400);
  auto large = std::make_shared<Collected>(/*pause_after=*/1);
  const std::uint64_t id = loop_->Send(
      {.method = HttpCall::Method::kGet, .url = address + "/large", .idle_limit = kSilence}, {},
      large);
  large->Wait();
  const auto paused_at = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - paused_at < 2 * kSilence) {
    ASSERT_EQ(Ask(address + "/small")->body, "small");
  }
  EXPECT_TRUE(large->paused()) << "a pause of ours is no silence of the server";
  EXPECT_LT(sent, kBlocks / 2) << "the server waits for us";
  for (; large->paused(); large->Wait()) {
    large->Forget();
    loop_->Resume(id);
  }
  ASSERT_FALSE(large->end->error) << large->end->error->message;
  EXPECT_EQ(large->body.size(), kBlock * kBlocks);
  EXPECT_FALSE(large->given_while_paused);
  loop_->Resume(id);  // it has ended: nothing happens
  loop_->Resume(4711);
  EXPECT_EQ(Ask(address + "/small")->body, "small");
}

TEST_F(HttpLoopTest, APausedTransferCanBeCancelledAndHasADeadline) {  // MOD-15, MOD-23
  auto server = HttpListener::Start({}, [&](const auto& exchange) {
    exchange->SendHead(200, {});
    const std::string block(1 << 20, 'x');
    while (exchange->SendChunk(block)) {
    }
  });
  ASSERT_TRUE(server);
  const std::string url = fmt::format("http://127.0.0.1:{}/", (*server)->port());
  CancelSource source;
  auto cancelled = std::make_shared<Collected>(/*pause_after=*/1);
  loop_->Send({.url = url}, source.token(), cancelled);
  cancelled->Wait();
  source.Cancel("enough");
  while (cancelled->paused()) std::this_thread::yield();
  EXPECT_EQ(cancelled->end->error->code, ErrorCode::kCancelled);
  auto late = std::make_shared<Collected>(/*pause_after=*/1);
  loop_->Send({.url = url, .deadline = Millis(60)}, {}, late);
  late->Wait();
  while (late->paused()) std::this_thread::yield();
  EXPECT_EQ(late->end->error->code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace dossier
