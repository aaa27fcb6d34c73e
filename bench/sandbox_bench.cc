#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/files/file.h"
#include "benches.h"
#include "measure.h"
#include "sandbox/session/session.h"

namespace dossier::bench {
namespace {

using sandbox::BlockResult;
using sandbox::BridgeCall;
using sandbox::BridgeReply;
using sandbox::Pool;
using sandbox::Session;

constexpr int kStarts = 40;
constexpr int kRounds = 7;   // of each round-trip figure; they take turns
constexpr int kCells = 400;  // a round
constexpr int kCalls = 2000;
constexpr int kPings = 5000;
constexpr std::size_t kPingBytes = 64;  // about what the header and JSON of a small frame need

class InstantHandler final : public sandbox::BridgeHandler {
 public:
  void OnCall(BridgeCall, std::shared_ptr<BridgeReply> reply) override {
    reply->Ok(JsonObject{{"text", "ok"}});
  }
};

// `python3 -I -S -c pass`, from spawn to its end.
Status StartPython() {
  const char* argv[] = {"/usr/bin/python3", "-I", "-S", "-c", "pass", nullptr};
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, argv[0], nullptr, nullptr, const_cast<char**>(argv), environ);
  if (failed != 0) return MakeErrnoError(failed, argv[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) return MakeError(ErrorCode::kFailed, "{} ended with {}", argv[0], status);
  return {};
}

Status RunCell(Session& session, std::string_view code) {
  InstantHandler handler;
  DOSSIER_ASSIGN_OR_RETURN(const BlockResult result, session.Run(code, {}, handler));
  if (result.status == sandbox::BlockStatus::kOk) return {};
  return MakeError(ErrorCode::kFailed, "a cell ended with {}: {}", BlockStatusName(result.status),
                   result.error ? result.error->message : "");
}

Status MeasureStarts(Pool& pool) {
  Samples first_cell, python;
  for (int i = 0; i < kStarts; ++i) {
    std::unique_ptr<Session> session;
    Status status;
    first_cell.Time([&] {
      auto opened = pool.Open({});
      if (!opened) {
        status = tl::unexpected(opened.error());
        return;
      }
      session = std::move(*opened);
      status = RunCell(*session, "pass");
    });
    DOSSIER_RETURN_IF_ERROR(status);
    session.reset();
    python.Time([&] { status = StartPython(); });
    DOSSIER_RETURN_IF_ERROR(status);
  }
  Report("cell.first", first_cell);
  Report("python.start", python);
  return {};
}

// Holds this thread, and what it starts meanwhile, to one core. Which core a woken thread gets is
// the scheduler's lottery, and on a virtual machine a wake-up on another core costs ten times as
// much: a round trip and its peer are compared where neither pays for it.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof(before_), &before_);
    int first = 0;  // the same core each time
    while (first < CPU_SETSIZE && !CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_;
};

// Two processes that hand a short message to and fro: what any bridge pays at least.
class PingPong {
 public:
  static Result<std::unique_ptr<PingPong>> Start() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
      return MakeErrnoError(errno, "socketpair");
    }
    UniqueFd ours(pair[0]), theirs(pair[1]);
    const pid_t pid = fork();
    if (pid < 0) return MakeErrnoError(errno, "fork");
    if (pid == 0) {
      ours.Reset();
      std::array<char, kPingBytes> bytes;
      while (read(theirs.get(), bytes.data(), bytes.size()) > 0 &&
             write(theirs.get(), bytes.data(), bytes.size()) > 0) {
      }
      _exit(0);
    }
    return std::unique_ptr<PingPong>(new PingPong(std::move(ours), pid));
  }
  ~PingPong() {
    socket_.Reset();
    waitpid(pid_, nullptr, 0);
  }

  bool Once() {
    std::array<char, kPingBytes> bytes{};
    return write(socket_.get(), bytes.data(), bytes.size()) > 0 &&
           read(socket_.get(), bytes.data(), bytes.size()) > 0;
  }

 private:
  PingPong(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  UniqueFd socket_;
  pid_t pid_;
};

// Mean of `count` turns in seconds.
template <typename Work>
Status MeasureMean(Samples* samples, int count, Work work) {
  Samples total;
  Status status;
  total.Time([&] { status = work(); });
  samples->Add(total.Smallest() / count);
  return status;
}

Status MeasureRoundTrips(PingPong& ping_pong, Session& session) {
  Samples pings, cells, calls, queries;
  const std::string raw_calls =
      fmt::format("import _dossier\nfor i in range({}): _dossier.call('budget', {{}})", kCalls);
  const std::string llm_calls = fmt::format("for i in range({}): llm_query('hello')", kCalls);
  for (int round = 0; round < kRounds; ++round) {
    DOSSIER_RETURN_IF_ERROR(MeasureMean(&pings, kPings, [&]() -> Status {
      for (int i = 0; i < kPings; ++i) {
        if (!ping_pong.Once()) return MakeError(ErrorCode::kFailed, "the ping-pong ended");
      }
      return {};
    }));
    DOSSIER_RETURN_IF_ERROR(MeasureMean(&cells, kCells, [&]() -> Status {
      for (int i = 0; i < kCells; ++i) DOSSIER_RETURN_IF_ERROR(RunCell(session, "pass"));
      return {};
    }));
    DOSSIER_RETURN_IF_ERROR(
        MeasureMean(&calls, kCalls, [&] { return RunCell(session, raw_calls); }));
    DOSSIER_RETURN_IF_ERROR(
        MeasureMean(&queries, kCalls, [&] { return RunCell(session, llm_calls); }));
  }
  Report("socketpair.round_trip", pings);
  Report("cell.round_trip", cells);
  Report("bridge.round_trip", calls);
  Report("bridge.llm_query", queries);
  return {};
}

}  // namespace

Status RunSandboxBench() {
  {
    const OnOneCore held;
    // Forked before the pool has threads.
    DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<PingPong> ping_pong, PingPong::Start());
    DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<Pool> pool, Pool::Make({}));
    DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, pool->Open({}));
    DOSSIER_RETURN_IF_ERROR(MeasureRoundTrips(*ping_pong, *session));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<Pool> pool, Pool::Make({}));
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, pool->Open({}));
  DOSSIER_RETURN_IF_ERROR(RunCell(*session, "pass"));  // the zygote is warm from here on
  return MeasureStarts(*pool);
}

}  // namespace dossier::bench
