#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/net/curl_api.h"
#include "benches.h"
#include "instant_server.h"
#include "measure.h"
#include "model/client/gate.h"
#include "model/providers/provider_client.h"

namespace dossier::bench {
namespace {

constexpr int kInFlight = 64, kRequests = 10'000, kRounds = 5;
constexpr int kHeld = 10'000;

double CpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Counts down; one waits for the end.
class Countdown {
 public:
  explicit Countdown(int count) : left_(count) {}
  void Done() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) ended_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int left_;
};

class CountingSink final : public model::Sink {
 public:
  CountingSink(Countdown& countdown, std::atomic<int>& failed)
      : countdown_(countdown), failed_(failed) {}
  void OnDelta(std::string_view) override {}
  void OnDone(Result<model::Reply> reply) override {
    if (!reply || reply->text != "yes") ++failed_;
    countdown_.Done();
  }

 private:
  Countdown& countdown_;
  std::atomic<int>& failed_;
};

std::shared_ptr<const model::Request> RequestOf600Bytes() {
  model::Request request{.model = "instant"};
  request.messages.turns.push_back({assembly::Role::kUser, {{.text = std::string(500, 'x')}}});
  request.sampling.max_output = 10;
  request.estimated_tokens = 150;
  return std::make_shared<const model::Request>(std::move(request));
}

Result<std::shared_ptr<model::Client>> ClientOf(const InstantServer& server,
                                                std::string_view path) {
  return model::MakeProviderClient(
      {.base_url = fmt::format("http://127.0.0.1:{}{}", server.port(), path),
       .stream = model::Streaming::kNo});
}

// All requests are queued at once; CPU seconds a request.
Status MeasureGate(const InstantServer& server, Samples& cpu, Samples& wall) {
  DOSSIER_ASSIGN_OR_RETURN(auto client, ClientOf(server, "/v1"));
  const auto gate = model::Gate::Make(client, {.concurrency = kInFlight}, SystemClock());
  const auto request = RequestOf600Bytes();
  model::Ledger ledger({}, SystemClock());
  std::atomic<int> failed{0};
  Countdown countdown(kRequests);
  const double before = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  const auto sink = std::make_shared<CountingSink>(countdown, failed);
  for (int i = 0; i < kRequests; ++i) {
    gate->Submit(request, ledger, model::Stage::kNormal, {}, sink);
  }
  countdown.Wait();
  wall.Add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           kRequests);
  cpu.Add((CpuSeconds() - before) / kRequests);
  if (failed == 0) return {};
  return MakeError(ErrorCode::kFailed, "{} requests failed", failed.load());
}

std::size_t Ignore(char*, std::size_t size, std::size_t count, void*) { return size * count; }

// The least that libcurl can do: the same body, handles used again, nothing read.
class CurlLoop {
 public:
  CurlLoop(const CurlApi& curl, int port)
      : curl_(curl), url_(fmt::format("http://127.0.0.1:{}/v1/chat/completions", port)) {}

  Status Run() {
    CURLM* const multi = curl_.multi_init();
    curl_slist* const headers = curl_.slist_append(
        curl_.slist_append(nullptr, "Content-Type: application/json"), "Expect:");
    std::vector<CURL*> handles;
    for (int i = 0; i < kInFlight; ++i) {
      CURL* const easy = curl_.easy_init();
      curl_.easy_setopt(easy, CURLOPT_URL, url_.c_str());
      curl_.easy_setopt(easy, CURLOPT_POSTFIELDS, body_.c_str());
      curl_.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
      curl_.easy_setopt(easy, CURLOPT_NOPROXY, "*");
      curl_.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
      curl_.easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Ignore);
      curl_.multi_add_handle(multi, easy);
      handles.push_back(easy);
    }
    const Status done = Loop(multi);
    for (CURL* easy : handles) {
      curl_.multi_remove_handle(multi, easy);
      curl_.easy_cleanup(easy);
    }
    curl_.slist_free_all(headers);
    curl_.multi_cleanup(multi);
    return done;
  }

 private:
  Status Loop(CURLM* multi) {
    int started = kInFlight, done = 0, running = 0, left = 0;
    while (done < kRequests) {
      curl_.multi_perform(multi, &running);
      while (const CURLMsg* message = curl_.multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL* const easy = message->easy_handle;
        if (message->data.result != CURLE_OK) return MakeError(ErrorCode::kFailed, "curl failed");
        ++done;
        curl_.multi_remove_handle(multi, easy);
        if (started < kRequests) {
          ++started;
          curl_.multi_add_handle(multi, easy);
        }
      }
      curl_.multi_poll(multi, nullptr, 0, 100, nullptr);
    }
    return {};
  }

  const CurlApi& curl_;
  const std::string url_;
  const std::string body_ = R"({"model":"instant","messages":[{"role":"user","content":")" +
                            std::string(500, 'x') + R"("}],"max_tokens":10})";
};

Status MeasureCurl(const InstantServer& server, Samples& cpu, Samples& wall) {
  DOSSIER_ASSIGN_OR_RETURN(const CurlApi* curl, LoadCurl());
  const double before = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  DOSSIER_RETURN_IF_ERROR(CurlLoop(*curl, server.port()).Run());
  wall.Add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           kRequests);
  cpu.Add((CpuSeconds() - before) / kRequests);
  return {};
}

// What a request in flight holds: resident bytes, with all at the server.
Status MeasureHeld(const InstantServer& server, Samples& bytes) {
  DOSSIER_ASSIGN_OR_RETURN(auto client, ClientOf(server, "/hold/v1"));
  auto gate = model::Gate::Make(client, {.concurrency = kHeld}, SystemClock());
  const auto request = RequestOf600Bytes();
  model::Ledger ledger({}, SystemClock());
  std::atomic<int> failed{0};
  Countdown countdown(kHeld);
  const auto sink = std::make_shared<CountingSink>(countdown, failed);
  const std::uint64_t before = server.requests();
  const double resident = ResidentBytes();
  for (int i = 0; i < kHeld; ++i) {
    gate->Submit(request, ledger, model::Stage::kNormal, {}, sink);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (server.requests() < before + kHeld && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto arrived = server.requests() - before;
  bytes.Add((ResidentBytes() - resident) / kHeld);
  gate.reset();
  if (arrived == kHeld) return {};
  return MakeError(ErrorCode::kFailed, "{} of {} requests in flight arrived", arrived, kHeld);
}

}  // namespace

Status RunModelBench() {
  DOSSIER_ASSIGN_OR_RETURN(const InstantServer server, InstantServer::Start());
  Samples gate_cpu, gate_wall, curl_cpu, curl_wall, held;
  for (int round = 0; round < kRounds; ++round) {
    DOSSIER_RETURN_IF_ERROR(MeasureGate(server, gate_cpu, gate_wall));
    DOSSIER_RETURN_IF_ERROR(MeasureCurl(server, curl_cpu, curl_wall));
  }
  Report("model.gate_cpu", gate_cpu);
  Report("model.gate_wall", gate_wall);
  Report("model.curl_cpu", curl_cpu);
  Report("model.curl_wall", curl_wall);
  DOSSIER_RETURN_IF_ERROR(MeasureHeld(server, held));
  Report("model.held_bytes", held);
  return {};
}

Status RunInstantServer() {
  DOSSIER_ASSIGN_OR_RETURN(const InstantServer server, InstantServer::Start());
  fmt::print("{}\n", server.port());
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return {};
}

}  // namespace dossier::bench
