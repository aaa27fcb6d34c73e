#include "model/local/local_fetch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <charconv>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/net/http_listener.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

// A server of one file, which breaks off, forbids parts or changes the file as a test says.
class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(/*seed=*/3);
    content_ = "GGUF" + random.Bytes(3 << 20);
    server_ = Serve([this](const auto& exchange) { Answer(*exchange); });
  }

  static std::unique_ptr<HttpListener> Serve(HttpListener::Handler handler) {
    auto server = HttpListener::Start({}, std::move(handler));
    EXPECT_TRUE(server) << server.error().message;
    return std::move(*server);
  }

  void Answer(HttpExchange& exchange) {
    const std::string range(exchange.request().Header("range"));
    ranges_.push_back(range);
    if (exchange.request().target == "/moved/tiny.gguf") {
      return exchange.Reply({.status = 302, .headers = {{"Location", "on.gguf?to=https://x"}}});
    }
    if (exchange.request().target == "/moved/on.gguf?to=https://x") {
      const std::string host(exchange.request().Header("host"));
      return exchange.Reply({.status = 302, .headers = {{"Location", "//" + host + "/to.gguf"}}});
    }
    if (exchange.request().target == "/to.gguf") {
      return exchange.Reply(
          {.status = 302, .headers = {{"Location", "/files/tiny.gguf?download=true"}}});
    }
    if (down_) return exchange.Reply({.status = 503});
    std::size_t from = 0;
    const std::string_view condition = exchange.request().Header("if-range");
    const bool parts = !range.empty() && (condition.empty() || condition == etag_) && offer_parts_;
    if (parts) std::from_chars(range.data() + 6, range.data() + range.size(), from);
    if (from >= content_.size()) {
      return exchange.Reply(
          {.status = 416,
           .headers = {{"Content-Range", fmt::format("bytes */{}", content_.size())}}});
    }
    HttpHeaders headers = {{"Content-Type", "application/octet-stream"}};
    if (!etag_.empty()) headers.emplace_back("ETag", etag_);
    if (parts) {
      headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", from, content_.size() - 1,
                                                        content_.size()));
    }
    const std::string_view rest = std::string_view(content_).substr(from);
    if (breaks_ > 0) {
      --breaks_;
      down_ = goes_down_;
      exchange.SendHead(parts ? 206 : 200, headers);
      (void)exchange.SendChunk(rest.substr(0, 1 << 20)).has_value();
      WaitForPartial(from + (1 << 20));  // a reset takes along what is still on its way
      return exchange.Abort();
    }
    exchange.Reply({.status = parts ? 206 : 200, .headers = headers, .body = std::string(rest)});
  }

  void WaitForPartial(std::size_t bytes) const {
    while (ReadFile(path_ + ".partial").value_or("").size() < bytes) std::this_thread::yield();
  }

  std::string Address(std::string_view path = "/files/tiny.gguf") const {
    return fmt::format("http://127.0.0.1:{}{}", server_->port(), path);
  }
  Result<FetchResult> Fetch(const std::string& url, const std::string& sha256 = {}) {
    options_.first_delay = Millis(1);
    return FetchWeights({.url = url, .sha256 = sha256}, data_, options_, cancel_.token());
  }
  bool NothingIsLeft() const {
    return !Exists(path_) && !Exists(path_ + ".partial") && !Exists(path_ + ".partial.json");
  }

  TempFolder folder_ = *TempFolder::Make();
  const std::string data_ = folder_.path() + "/data";
  const std::string path_ = data_ + "/models/tiny.gguf";
  std::string content_, etag_ = "\"v1\"";
  bool offer_parts_ = true;
  bool goes_down_ = false, down_ = false;  // after a break: answers nothing but 503
  int breaks_ = 0;
  std::vector<std::string> ranges_;
  FetchOptions options_;
  CancelSource cancel_;
  std::shared_ptr<HttpExchange> kept_;
  std::unique_ptr<HttpListener> server_;
};

TEST_F(FetchTest, AFileIsFetchedCheckedAndUsableByName) {  // MOD-30
  std::vector<PullProgress> told;
  options_.progress = [&](const PullProgress& progress) { told.push_back(progress); };
  const auto fetched = Fetch(Address("/moved/tiny.gguf"), Sha256Hex(content_));
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(*ReadFile(path_), content_);
  EXPECT_EQ(fetched->weights.name, "tiny");
  EXPECT_EQ(fetched->sha256, Sha256Hex(content_));
  EXPECT_TRUE(FindWeights(data_, "tiny"));
  EXPECT_FALSE(Exists(path_ + ".partial.json"));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().done, content_.size());
  EXPECT_EQ(told.back().total, content_.size());
  const std::size_t asked = ranges_.size();
  const auto again = Fetch(Address(), Sha256Hex(content_));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->outcome, PullResult::Outcome::kPresent);
  EXPECT_EQ(ranges_.size(), asked) << "what is here is not fetched again";
  EXPECT_THAT(Fetch(Address(), std::string(64, '0')),
              FailsWith(ErrorCode::kDamaged, "is here already with SHA-256"));
}

TEST_F(FetchTest, ABrokenLineIsGoneOnWithAtOnce) {  // MOD-30: resumes
  breaks_ = 2;
  const auto fetched = Fetch(Address());
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(*ReadFile(path_), content_);
  EXPECT_EQ(fetched->sha256, Sha256Hex(content_)) << "told, so that it can be given next time";
  ASSERT_EQ(ranges_.size(), 3u);
  EXPECT_EQ(ranges_[1], "bytes=1048576-");
  EXPECT_EQ(ranges_[2], "bytes=2097152-");
}

TEST_F(FetchTest, ALaterPullGoesOnOnlyWithTheSameFile) {  // MOD-30: resumes
  enum class Case { kSame, kOtherEtag, kNoParts, kNothingProves, kOtherAddress, kWholeAlready };
  for (const Case kind : {Case::kSame, Case::kOtherEtag, Case::kNoParts, Case::kNothingProves,
                          Case::kOtherAddress, Case::kWholeAlready}) {
    ASSERT_THAT(RemoveAll(data_), ::dossier::testing::Succeeds());
    etag_ = kind == Case::kNothingProves ? "" : "\"v1\"";
    offer_parts_ = true;
    breaks_ = 1;
    goes_down_ = true;
    const bool keeps = kind != Case::kNothingProves;
    EXPECT_THAT(
        Fetch(Address()),
        FailsWith(ErrorCode::kNetwork,
                  keeps ? "1,048,576 bytes are kept, the next pull goes on" : "status 503"));
    EXPECT_EQ(Exists(path_ + ".partial"), keeps);
    EXPECT_FALSE(Exists(path_)) << "never under the final name";
    goes_down_ = down_ = false;
    ranges_.clear();
    if (kind == Case::kOtherEtag) etag_ = "\"v2\"";
    if (kind == Case::kNoParts) offer_parts_ = false;
    if (kind == Case::kWholeAlready) {
      ASSERT_TRUE(WriteFileAtomic(path_ + ".partial", content_));
    }
    const std::string address =
        kind == Case::kOtherAddress ? Address("/others/tiny.gguf") : Address();
    const auto fetched = Fetch(address);
    ASSERT_TRUE(fetched) << static_cast<int>(kind) << fetched.error().message;
    EXPECT_EQ(*ReadFile(path_), content_) << static_cast<int>(kind);
    const bool asked_for_rest = kind != Case::kNothingProves && kind != Case::kOtherAddress;
    EXPECT_EQ(!ranges_.at(0).empty(), asked_for_rest) << static_cast<int>(kind);
  }
}

TEST_F(FetchTest, AnInterruptedPullKeepsWhatArrived) {  // MOD-30
  // The server stays silent after its first megabyte; the user interrupts.
  auto silent = Serve([&](auto exchange) {
    exchange->SendHead(200, {{"ETag", "\"v1\""}});
    (void)exchange->SendChunk(content_.substr(0, 1 << 20)).has_value();
    kept_ = std::move(exchange);
    WaitForPartial(1 << 20);
    cancel_.Cancel("interrupted");
  });
  EXPECT_THAT(Fetch(fmt::format("http://127.0.0.1:{}/tiny.gguf", silent->port())),
              FailsWith(ErrorCode::kCancelled, "the next pull goes on from there"));
  EXPECT_FALSE(Exists(path_)) << "never under the final name";
}

TEST_F(FetchTest, WhatIsWrongLeavesNothing) {  // section 6: wrong checksum, damaged, disk full
  EXPECT_THAT(Fetch(Address(), std::string(64, 'a')),
              FailsWith(ErrorCode::kDamaged, "expected " + std::string(64, 'a')));
  EXPECT_TRUE(NothingIsLeft());
  options_.free = 1000;
  EXPECT_THAT(Fetch(Address()), FailsWith(ErrorCode::kIo, "1,000 are free: 3,144,732 are missing"));
  EXPECT_TRUE(NothingIsLeft());
  options_.free.reset();
  content_ = "<html>please log in</html>";
  EXPECT_THAT(Fetch(Address()), FailsWith(ErrorCode::kDamaged, "is not a GGUF file"));
  EXPECT_TRUE(NothingIsLeft());
  content_ = "GG";
  EXPECT_THAT(Fetch(Address()), FailsWith(ErrorCode::kDamaged, "2 bytes are no GGUF file"));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(FetchTest, ADiskThatFillsUpLeavesNothing) {  // section 6: disk full while pulling
  struct rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto fetched = Fetch(Address());
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old);
  EXPECT_THAT(fetched, FailsWith(ErrorCode::kIo, "bytes are missing, nothing was kept"));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(FetchTest, NoNetworkIsToldWithHostPortAndCause) {  // section 6
  server_.reset();
  int port = 0;
  {
    port = Serve([](const auto&) {})->port();
  }
  EXPECT_THAT(Fetch(fmt::format("http://127.0.0.1:{}/a.gguf", port)),
              FailsWith(ErrorCode::kNetwork, fmt::format("127.0.0.1:{}: no connection", port)));
  EXPECT_THAT(Fetch("https://host.invalid/a.gguf"),
              FailsWith(ErrorCode::kNetwork, "host.invalid:443: the host name is not known (DNS)"));
}

TEST_F(FetchTest, AddressesThatAreNotFetchedAreRefusedBeforeAnythingIsSent) {  // MOD-30
  struct Case {
    std::string url, sha256;
    const char* message;
  };
  const Case cases[] = {
      {"http://host.invalid/a.gguf", "", "weights come over https only"},
      {"https://host.invalid/a.zip", "", "does not end with the name of a .gguf file"},
      {"https://host.invalid/.gguf", "", "does not end with the name of a .gguf file"},
      {"https://host.invalid/..%2fa.gguf", "", "does not end with the name of a .gguf file"},
      {"ftp://host.invalid/a.gguf", "", "is neither http nor https"},
      {"https://host.invalid/a.gguf", "abc", "\"abc\" is no SHA-256"},
  };
  for (const Case& c : cases) {
    const auto refused = Fetch(c.url, c.sha256);
    ASSERT_FALSE(refused) << c.url;
    EXPECT_THAT(refused.error().message, HasSubstr(c.message));
  }
  auto evil = Serve([](const auto& exchange) {
    exchange->Reply({.status = 302, .headers = {{"Location", "http://host.invalid/b.gguf"}}});
  });
  EXPECT_THAT(Fetch(fmt::format("http://127.0.0.1:{}/b.gguf", evil->port())),
              FailsWith(ErrorCode::kNetwork, "redirects to one that is not followed"));
  auto missing = Serve([](const auto& exchange) { exchange->Reply({.status = 404}); });
  EXPECT_THAT(Fetch(fmt::format("http://127.0.0.1:{}/b.gguf", missing->port())),
              FailsWith(ErrorCode::kNotFound, "there is no such file (status 404)"));
}

}  // namespace
}  // namespace dossier::model
