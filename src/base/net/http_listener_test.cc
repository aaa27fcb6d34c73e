#include "base/net/http_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <utility>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A socket that waits no longer than 10 seconds for bytes.
UniqueFd Caller() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval longest{.tv_sec = 10, .tv_usec = 0};
  EXPECT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest)), 0);
  return fd;
}

void Connect(int fd, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
}

UniqueFd Dial(int port) {
  UniqueFd fd = Caller();
  Connect(fd.get(), port);
  return fd;
}

// What arrives until `until` was seen, or the end of the connection.
std::string ReadUntil(int fd, std::string_view until) {
  std::string got;
  char block[4096];
  while (until.empty() || got.find(until) == std::string::npos) {
    const ssize_t count = recv(fd, block, sizeof(block), 0);
    if (count <= 0) break;
    got.append(block, static_cast<std::size_t>(count));
  }
  return got;
}

std::unique_ptr<HttpListener> Start(HttpListener::Handler handler,
                                    HttpListenerOptions options = {}) {
  auto listener = HttpListener::Start(std::move(options), std::move(handler));
  EXPECT_TRUE(listener) << listener.error().message;
  return std::move(*listener);
}

TEST(HttpListenerTest, AnswersRequestAfterRequestOnOneConnection) {
  auto listener = Start([](const auto& exchange) {
    exchange->Reply({.status = 201,
                     .headers = {{"X-Made-By", "a\r\nb"}},
                     .body = exchange->request().method + exchange->request().target +
                             std::string(exchange->request().Header("x-a")) +
                             exchange->request().body});
  });
  const UniqueFd fd = Dial(listener->port());
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(WriteAll(fd.get(), "POST /p?q HTTP/1.1\r\nX-A: 7\r\nContent-Length: 3\r\n\r\nabc"));
    const std::string got = ReadUntil(fd.get(), "7abc");
    EXPECT_THAT(got, StartsWith("HTTP/1.1 201 Created\r\nX-Made-By: a  b\r\n"));
    EXPECT_THAT(got, HasSubstr("Content-Length: 12\r\n\r\nPOST/p?q7abc"));
  }
}

TEST(HttpListenerTest, StreamsInChunksFromAnotherThread) {
  auto listener = Start([](const auto& exchange) {
    std::thread([exchange] {
      exchange->SendHead(200, {{"Content-Type", "text/event-stream"}});
      EXPECT_TRUE(exchange->SendChunk("one"));
      EXPECT_TRUE(exchange->SendChunk(""));
      EXPECT_TRUE(exchange->SendChunk("two"));
      exchange->Finish();
      EXPECT_FALSE(exchange->SendChunk("late"));
    }).detach();
  });
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(ReadUntil(fd.get(), ""), HasSubstr("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
}

// SRV-41: what another server on the way may read otherwise than we do.
TEST(HttpListenerTest, AFoldedHeaderIsRefusedHoweverItArrives) {
  auto listener = Start([](const auto& exchange) {
    exchange->Reply({.status = 200, .body = exchange->request().body});
  });
  const std::string head = "POST / HTTP/1.1\r\nX-A: 1\r\nContent-Length: 4\r\n\r\n";
  const auto ask = [&](const std::string& request, std::size_t piece) {
    const UniqueFd fd = Dial(listener->port());
    for (std::size_t at = 0; at < request.size(); at += piece) {
      EXPECT_TRUE(WriteAll(fd.get(), request.substr(at, piece)));
    }
    shutdown(fd.get(), SHUT_WR);
    return ReadUntil(fd.get(), "");
  };
  for (const std::size_t piece : {1u, 7u, 4096u}) {
    EXPECT_THAT(ask(head + "a\n b", piece),
                HasSubstr("200 OK"));  // of the body a line may begin so
    for (const char* fold : {"\r\n ", "\r\n\t"}) {
      std::string folded = head;
      folded.insert(folded.find(": 1\r\n") + 3, std::string(fold) + "2");
      EXPECT_THAT(ask(folded, piece), StartsWith("HTTP/1.1 400 ")) << piece;
    }
    EXPECT_THAT(ask("GET / HTTP/1.1\r\nX-", piece), StartsWith("HTTP/1.1 400 "));
  }
  EXPECT_EQ(ask("", 1), "");
}

// SRV-41
TEST(HttpListenerTest, WhatFramesABodyIsBounded) {
  auto listener = Start([](const auto& exchange) {
    exchange->Reply({.status = 200, .body = exchange->request().body});
  });
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string whole = "5;a=b\r\nhello\r\n";
  const auto send_all = [&](const std::string& begin) {
    const UniqueFd fd = Dial(listener->port());
    EXPECT_TRUE(WriteAll(fd.get(), head + begin));
    const std::string more(1 << 20, begin.ends_with("0") ? '0' : 'x');
    for (int i = 0; i < 64; ++i) EXPECT_TRUE(WriteAll(fd.get(), more));
    return ReadUntil(fd.get(), "\r\n\r\n");  // the request has no end yet
  };
  for (const std::string& begin : {std::string("5;x"), std::string("0"), whole + "0\r\nX-A: x"}) {
    EXPECT_THAT(send_all(begin), StartsWith("HTTP/1.1 400 ")) << begin;
  }
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), head + whole + "0\r\nX-A: b\r\n\r\n"));
  EXPECT_THAT(ReadUntil(fd.get(), "hello"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpListenerTest, AReplyToHeadHasNoBody) {  // SRV-41
  auto listener = Start(
      [](const auto& exchange) { exchange->Reply({.status = 405, .body = "{\"error\":1}"}); });
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(
      WriteAll(fd.get(), "HEAD / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  const std::string got = ReadUntil(fd.get(), "");
  EXPECT_THAT(got, HasSubstr("Content-Length: 11\r\n\r\nHTTP/1.1 405 "));
  EXPECT_THAT(got, ::testing::EndsWith("\r\n\r\n"));
}

// SRV-41: what another server on the way may take for the next request.
TEST(HttpListenerTest, ChunksOfHttp10EndTheConnection) {
  auto listener = Start([](const auto& exchange) {
    exchange->Reply({.status = 200, .body = exchange->request().body});
  });
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(),
                       "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
                       "\r\n2\r\nhi\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\n"));
  const std::string got = ReadUntil(fd.get(), "");
  EXPECT_THAT(got, HasSubstr("Connection: close\r\n\r\nhi"));
  EXPECT_EQ(got.rfind("HTTP/1.1 "), 0u);
}

TEST(HttpListenerTest, AnAbortedOrForgottenExchangeBreaksTheConnection) {
  auto listener = Start([](const auto& exchange) {
    if (exchange->request().target == "/forget") return;
    exchange->SendHead(200, {});
    (void)exchange->SendChunk("half").has_value();
    exchange->Abort();
  });
  for (const char* target : {"/abort", "/forget"}) {
    const UniqueFd fd = Dial(listener->port());
    ASSERT_TRUE(WriteAll(fd.get(), std::string("GET ") + target + " HTTP/1.1\r\n\r\n"));
    const std::string got = ReadUntil(fd.get(), "");
    EXPECT_EQ(got.find("0\r\n\r\n"), std::string::npos) << got;
  }
}

TEST(HttpListenerTest, AHandlerSeesThatTheClientWentAway) {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<HttpExchange> kept;
  auto listener = Start([&](auto exchange) {
    std::lock_guard lock(mutex);
    kept = std::move(exchange);
    changed.notify_all();
  });
  UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return kept != nullptr; });
  EXPECT_FALSE(kept->client_gone());
  // What it sent behind its request does not hide that it left.
  ASSERT_TRUE(WriteAll(fd.get(), "\r\n"));
  fd.Reset();
  while (!kept->client_gone()) std::this_thread::yield();
}

TEST(HttpListenerTest, HostileRequestsAreRefused) {
  struct Case {
    std::string bytes;
    const char* answer;
  };
  const Case cases[] = {
      {"nonsense\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nA: " + std::string(70'000, 'x') + "\r\n\r\n", "HTTP/1.1 431"},
      {"POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x'), "HTTP/1.1 413"},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n", "HTTP/1.1 400"},
      {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
       "HTTP/1.1 100 Continue"},
  };
  auto listener = Start([](const auto& exchange) { exchange->Reply({}); }, {.max_body = 1000});
  for (const Case& c : cases) {
    const UniqueFd fd = Dial(listener->port());
    (void)WriteAll(fd.get(), c.bytes).has_value();
    EXPECT_THAT(ReadUntil(fd.get(), "\r\n\r\n"), StartsWith(c.answer));
  }
}

TEST(HttpListenerTest, NoBytesCrashIt) {
  auto listener = Start([](const auto& exchange) { exchange->Reply({.body = "ok"}); });
  Random random(9);
  const std::string base = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  for (int round = 0; round < 300; ++round) {
    std::string bytes = base;
    for (int i = 0; i < 3; ++i) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    const UniqueFd fd = Dial(listener->port());
    (void)WriteAll(fd.get(), bytes).has_value();
    shutdown(fd.get(), SHUT_WR);
    (void)ReadUntil(fd.get(), "");
  }
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), base));
  EXPECT_THAT(ReadUntil(fd.get(), "ok"), HasSubstr("200 OK"));
}

TEST(HttpListenerTest, StoppingClosesWhatIsOpenAndAPortInUseIsNamed) {
  std::shared_ptr<HttpExchange> kept;
  auto listener = Start([&](auto exchange) { kept = std::move(exchange); });
  EXPECT_THAT(HttpListener::Start({.address = "not an address"}, [](auto) {}),
              FailsWith(ErrorCode::kNetwork, "not an address"));
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  listener.reset();
  EXPECT_EQ(ReadUntil(fd.get(), ""), "");
  kept.reset();  // may outlive the listener
}

TEST(HttpListenerTest, JudgesARequestByItsHeadBeforeItsBodyComes) {
  auto listener = Start([](const auto& exchange) { exchange->Reply({.body = "in"}); },
                        {.admit = [](const HttpRequest& head) {
                          HttpAdmission out{.max_body = 5};
                          if (head.Header("x-key").empty()) {
                            out.refusal = HttpResponse{.status = 401, .body = "no key"};
                          }
                          return out;
                        }});
  const auto ask = [&](std::string_view head) {
    const UniqueFd fd = Dial(listener->port());
    EXPECT_TRUE(WriteAll(fd.get(), std::string("POST / HTTP/1.1\r\n") + std::string(head)));
    return ReadUntil(fd.get(), "in");
  };
  // SRV-41: the body never comes, and nobody waits for it.
  EXPECT_THAT(ask("Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("X-Key: 1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("X-Key: 1\r\nContent-Length: 5\r\n\r\nabcde"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("X-Key: 1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST(HttpListenerTest, ABodyGoesIntoAFileAndAHalfOneLeavesNothing) {
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/body";
  auto listener = Start(
      [](const auto& exchange) {
        const auto text = ReadFile(exchange->request().body_file);
        ::unlink(exchange->request().body_file.c_str());
        exchange->Reply({.body = text ? "<" + *text + ">" : text.error().message});
      },
      {.admit = [&](const HttpRequest&) { return HttpAdmission{.file = path}; }});
  {
    const UniqueFd fd = Dial(listener->port());
    ASSERT_TRUE(WriteAll(fd.get(), "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde"));
    EXPECT_THAT(ReadUntil(fd.get(), ">"), HasSubstr("<abcde>"));
  }
  {
    const UniqueFd fd = Dial(listener->port());
    ASSERT_TRUE(WriteAll(fd.get(), "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"));
    ASSERT_EQ(shutdown(fd.get(), SHUT_WR), 0);
    ReadUntil(fd.get(), "");  // the other side is done with it
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(HttpListenerTest, SlowHeadsAndSilentBodiesEnd) {
  auto listener = Start(
      [](const auto& exchange) { exchange->Reply({}); },
      {.head_time = std::chrono::milliseconds(50), .body_silence = std::chrono::milliseconds(50)});
  for (const char* half :
       {"POST / HTTP/1.1\r\nConte", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\na"}) {
    const UniqueFd fd = Dial(listener->port());
    ASSERT_TRUE(WriteAll(fd.get(), half));
    EXPECT_THAT(ReadUntil(fd.get(), ""), StartsWith("HTTP/1.1 408 "));
  }
}

TEST(HttpListenerTest, OneConnectionTooManyIsTurnedAway) {
  auto listener = Start([](const auto& exchange) { exchange->Reply({}); }, {.max_connections = 1});
  const UniqueFd first = Dial(listener->port());
  ASSERT_TRUE(WriteAll(first.get(), "GET / HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(ReadUntil(first.get(), "\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  const UniqueFd second = Dial(listener->port());
  EXPECT_THAT(ReadUntil(second.get(), ""), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpListenerTest, AClientThatReadsNothingHoldsNoThread) {
  const std::string large(32u << 20, 'x');
  auto listener = Start(
      [&](const auto& exchange) {
        const bool all = exchange->request().target == "/large";
        exchange->Reply({.body = all ? large : "small"});
      },
      {.threads = 1});
  const UniqueFd first = Dial(listener->port());
  ASSERT_TRUE(WriteAll(first.get(), "GET /large HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
  char byte = 0;
  ASSERT_EQ(recv(first.get(), &byte, 1, 0), 1);  // the response has begun
  const UniqueFd second = Dial(listener->port());
  ASSERT_TRUE(WriteAll(second.get(), "GET / HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(ReadUntil(second.get(), "small"), HasSubstr("200 OK"));
  // Once it reads, it gets all, and what it asked for next.
  shutdown(first.get(), SHUT_WR);
  const std::string got = ReadUntil(first.get(), "");
  EXPECT_EQ(std::ranges::count(got, 'x'), std::ssize(large));
  EXPECT_TRUE(got.ends_with("small"));
}

TEST(HttpListenerTest, AClientThatReadsNoReplyIsCutOff) {
  constexpr std::size_t kBody = 32u << 20;
  std::promise<std::shared_ptr<HttpExchange>> replied;
  auto listener = Start(
      [&](const auto& exchange) {
        exchange->Reply({.body = std::string(kBody, 'x')});
        replied.set_value(exchange);
      },
      {.write_time = std::chrono::milliseconds(50)});
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  const auto exchange = replied.get_future().get();
  while (!exchange->client_gone()) std::this_thread::yield();
  EXPECT_LT(ReadUntil(fd.get(), "").size(), kBody);
}

// The thread that replies has other clients, too.
TEST(HttpListenerTest, AReplyFromAnotherThreadWaitsForNoReader) {
  constexpr std::size_t kBody = 32u << 20;
  std::promise<std::shared_ptr<HttpExchange>> asked;
  auto listener = Start([&](const auto& exchange) { asked.set_value(exchange); },
                        {.write_time = std::chrono::milliseconds(5'000)});
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  asked.get_future().get()->Reply({.body = std::string(kBody, 'x')});
  // Only now does the client begin to read.
  shutdown(fd.get(), SHUT_WR);
  EXPECT_GT(ReadUntil(fd.get(), "").size(), kBody);
}

TEST(HttpListenerTest, AClientThatReadsALittleNowAndThenIsCutOff) {
  constexpr std::size_t kBody = 64u << 20;
  auto listener =
      Start([](const auto& exchange) { exchange->Reply({.body = std::string(kBody, 'x')}); },
            {.write_time = std::chrono::milliseconds(200), .least_rate = 1u << 30});
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  std::string piece(256u << 10, ' ');
  std::size_t got = 0;
  for (ssize_t read = 1; read > 0; got += static_cast<std::size_t>(std::max<ssize_t>(read, 0))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    read = recv(fd.get(), piece.data(), piece.size(), 0);
  }
  EXPECT_LT(got, kBody);
}

// A client that sends before it reads would else see a broken connection.
TEST(HttpListenerTest, ARefusalIsReadBehindABodyThatIsStillSent) {
  auto listener =
      Start([](const auto& exchange) { exchange->Reply({}); }, {.admit = [](const HttpRequest&) {
              return HttpAdmission{.refusal = HttpResponse{.status = 401}};
            }});
  const UniqueFd fd = Dial(listener->port());
  constexpr std::size_t kBody = 24u << 20;
  ASSERT_TRUE(WriteAll(fd.get(), fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
                                             kBody, std::string(kBody, 'x'))));
  EXPECT_THAT(ReadUntil(fd.get(), ""), StartsWith("HTTP/1.1 401 "));
}

// How many files this process may have open, until the end of the scope.
class FileLimit {
 public:
  explicit FileLimit(rlim_t most) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit low{.rlim_cur = most, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

rlim_t LowestFreeDescriptor() {
  return static_cast<rlim_t>(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get());
}

TEST(HttpListenerTest, AClientWithoutADescriptorIsTurnedAwayAndLaterOnesAreServed) {
  auto listener = Start([](const auto& exchange) { exchange->Reply({}); });
  const UniqueFd first = Caller(), second = Caller();
  {
    const FileLimit none_left(LowestFreeDescriptor());
    for (const UniqueFd* fd : {&first, &second}) {
      Connect(fd->get(), listener->port());
      EXPECT_THAT(ReadUntil(fd->get(), ""),
                  AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 1")));
    }
  }
  // Up to 64 are turned away at once, and the next clients may still be among them.
  std::string answer;
  for (int tries = 0; tries <= 64 && !answer.starts_with("HTTP/1.1 200 "); ++tries) {
    const UniqueFd later = Dial(listener->port());
    ASSERT_TRUE(WriteAll(later.get(), "GET / HTTP/1.1\r\n\r\n"));
    answer = ReadUntil(later.get(), "\r\n\r\n");
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
}

TEST(HttpListenerTest, ConnectionsLeaveDescriptorsToTheWork) {
  std::unique_ptr<HttpListener> listener;
  const rlim_t most = LowestFreeDescriptor() + 16;
  {
    const FileLimit low(most);
    listener = Start([](const auto& exchange) { exchange->Reply({}); }, {.max_connections = 1024});
  }
  std::vector<UniqueFd> clients;
  for (rlim_t i = 0; i < most / 4 * 3; ++i) clients.push_back(Dial(listener->port()));
  EXPECT_THAT(ReadUntil(Dial(listener->port()).get(), ""), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpListenerTest, AReaderThatStopsReadingIsCutOff) {
  std::promise<bool> cut;
  auto listener = Start(
      [&](const auto& exchange) {
        std::thread([&, exchange] {
          exchange->SendHead(200, {});
          const std::string block(1 << 20, 'x');
          bool gone = false;
          for (int i = 0; i < 1000 && !gone; ++i) gone = !exchange->SendChunk(block);
          cut.set_value(gone);
        }).detach();
      },
      {.write_time = std::chrono::milliseconds(50)});
  const UniqueFd fd = Dial(listener->port());
  ASSERT_TRUE(WriteAll(fd.get(), "GET / HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(cut.get_future().get());
}

}  // namespace
}  // namespace dossier
