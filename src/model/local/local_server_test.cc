#include "model/local/local_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <thread>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// Stands in for llama-server: the same flags and endpoints, one token a word. Every start adds a
// line to the file `starts` beside it.
constexpr std::string_view kFakeServer = R"(#!/usr/bin/env python3
import http.server, json, os, sys
flags = dict(zip(sys.argv[1::2], sys.argv[2::2]))
folder = os.path.dirname(os.path.abspath(__file__))
open(folder + "/starts", "a").write("%d\n" % os.getpid())
open(folder + "/environment", "w").write(repr(dict(os.environ)) + repr(sys.argv))
if os.path.exists(folder + "/broken"):
    sys.exit("error: failed to load model")
key = open(flags["--api-key-file"]).read().strip()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.headers.get("Authorization") != "Bearer " + key:
            return self.answer(401, {})
        if self.path == "/v1/models":
            return self.answer(200, {"data": [{"id": flags["--alias"]}]})
        self.answer(200, {})
    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["content"]
        self.answer(200, {"tokens": list(range(len(text.split())))})
    def log_message(self, *arguments):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(flags["--port"])), Handler).serve_forever()
)";

class LocalServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(WriteFileAtomic(program_, kFakeServer, 0755), Succeeds());
    ASSERT_THAT(WriteFileAtomic(weights_, "GGUF"), Succeeds());
  }
  void TearDown() override { EXPECT_THAT(StopLocalServer(data_, {}), Succeeds()); }

  LocalServerOptions Options(Millis idle = Millis(600'000)) const {
    return {.data_folder = data_,
            .weights = {"tiny", weights_, 4},
            .idle = idle,
            .runtime = LocalRuntime{"llama-server", program_, *FindProgram("python3"), "1"},
            .machine = Machine{.free_memory = 16'000'000'000, .cores = 2}};
  }

  std::size_t Starts() const {
    const std::string text = ReadFile(folder_.path() + "/starts").value_or("");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // Until `done`, at most 20 s.
  static bool Eventually(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(Millis(20));
    }
    return true;
  }

  TempFolder folder_ = *TempFolder::Make();
  const std::string data_ = folder_.path() + "/data";
  const std::string program_ = folder_.path() + "/llama-server";
  const std::string weights_ = folder_.path() + "/tiny.gguf";
};

TEST_F(LocalServerTest, WithoutANetworkNoRuntimeIsFetched) {  // CON-2, MOD-31
  LocalServerOptions options = Options();
  options.runtime.reset();
  options.network = LocalServerOptions::Network::kNone;
  std::vector<std::string> lines;
  options.say = [&](std::string_view line) { lines.emplace_back(line); };
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", /*overwrite=*/1);  // a llama-server of this machine would do
  const auto state = EnsureLocalServer(options, {});
  setenv("PATH", path.c_str(), /*overwrite=*/1);
  EXPECT_THAT(state,
              FailsWith(ErrorCode::kNetwork, "--offline: the local runtime is not installed"));
  EXPECT_FALSE(Exists(data_ + "/local/python"));
  EXPECT_TRUE(lines.empty());
}

TEST_F(LocalServerTest, StartsOnceIsSharedAndEnds) {  // MOD-31, 32, 33, 34
  LocalServerOptions options = Options();
  std::vector<std::string> lines;
  options.say = [&](std::string_view line) { lines.emplace_back(line); };
  const auto first = EnsureLocalServer(options, {});
  ASSERT_THAT(first, Succeeds());
  EXPECT_EQ(first->window, 16384);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "starting local model tiny (0.0 GB) …");
  EXPECT_EQ(lines[1].find(lines[0]), 0u);
  const auto second = EnsureLocalServer(options, {});
  ASSERT_THAT(second, Succeeds());
  EXPECT_EQ(second->pid, first->pid);
  EXPECT_EQ(Starts(), 1u);
  EXPECT_TRUE(*StopLocalServer(data_, {}));
  EXPECT_FALSE(FindLocalServer(data_));
  EXPECT_FALSE(*StopLocalServer(data_, {}));
}

TEST_F(LocalServerTest, TheKeyIsInAPrivateFileOnly) {  // MOD-32, A6
  ASSERT_EQ(setenv("DOSSIER_TEST_API_KEY", "sk-secret", 1), 0);
  const auto state = EnsureLocalServer(Options(), {});
  ASSERT_THAT(state, Succeeds());
  struct stat info{};
  ASSERT_EQ(stat((data_ + "/local/server.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const std::string seen = *ReadFile(folder_.path() + "/environment");
  EXPECT_EQ(seen.find(state->key), std::string::npos);
  EXPECT_EQ(seen.find("sk-secret"), std::string::npos);
  const std::string log = ReadFile(data_ + "/local/server.log").value_or("");
  EXPECT_EQ(log.find(state->key), std::string::npos);
  EXPECT_FALSE(Exists(data_ + "/local/launch.json"));
  unsetenv("DOSSIER_TEST_API_KEY");
}

TEST_F(LocalServerTest, ManyCommandsAtOnceStartOneServer) {  // MOD-32, A8
  std::vector<std::thread> threads;
  std::vector<pid_t> pids(6);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto state = EnsureLocalServer(Options(), {});
      pids[i] = state ? state->pid : -1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Starts(), 1u);
  for (const pid_t pid : pids) EXPECT_EQ(pid, pids[0]);
  EXPECT_GT(pids[0], 1);
}

TEST_F(LocalServerTest, AKilledServerIsReplaced) {  // MOD-32, A8
  const auto first = EnsureLocalServer(Options(), {});
  ASSERT_THAT(first, Succeeds());
  kill(first->server_pid, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return kill(first->pid, 0) != 0; }));
  EXPECT_FALSE(Exists(data_ + "/local/server.json"));
  const auto second = EnsureLocalServer(Options(), {});
  ASSERT_THAT(second, Succeeds());
  EXPECT_NE(second->pid, first->pid);
}

TEST_F(LocalServerTest, AKilledWatcherTakesItsServerAlong) {  // MOD-32
  const auto state = EnsureLocalServer(Options(), {});
  ASSERT_THAT(state, Succeeds());
  kill(state->pid, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return kill(state->server_pid, 0) != 0; }));
  EXPECT_THAT(EnsureLocalServer(Options(), {}), Succeeds());
  EXPECT_EQ(Starts(), 2u);
}

TEST_F(LocalServerTest, AStaleStateWithATakenPortDoesNoHarm) {  // MOD-32, A8
  ASSERT_THAT(EnsureLocalServer(Options(), {}), Succeeds());
  const std::string path = data_ + "/local/server.json";
  Json state = *ParseJson(*ReadFile(path));
  ASSERT_TRUE(*StopLocalServer(data_, {}));
  // Both processes live, but neither is ours and nothing answers with the key.
  state.as_object()["pid"] = getpid();
  state.as_object()["server_pid"] = getpid();
  ASSERT_THAT(WriteFileAtomic(path, ToJson(state), 0600), Succeeds());
  EXPECT_FALSE(FindLocalServer(data_));
  EXPECT_THAT(EnsureLocalServer(Options(), {}), Succeeds());
  EXPECT_EQ(Starts(), 2u);
}

TEST_F(LocalServerTest, EndsAfterATimeWithoutRequests) {  // MOD-32
  const auto state = EnsureLocalServer(Options(Millis(300)), {});
  ASSERT_THAT(state, Succeeds());
  EXPECT_TRUE(Eventually([&] { return kill(state->pid, 0) != 0; }));
  EXPECT_FALSE(Exists(data_ + "/local/server.json"));
  EXPECT_NE(kill(state->server_pid, 0), 0);
}

TEST_F(LocalServerTest, ALargerWindowOrOtherWeightsReplaceIt) {  // MOD-33
  LocalServerOptions options = Options();
  options.window = 4096;
  const auto small = EnsureLocalServer(options, {});
  ASSERT_THAT(small, Succeeds());
  EXPECT_EQ(small->window, 4096);
  options.window = 8192;
  const auto large = EnsureLocalServer(options, {});
  ASSERT_THAT(large, Succeeds());
  EXPECT_EQ(large->window, 8192);
  options.window = std::nullopt;
  EXPECT_EQ(EnsureLocalServer(options, {})->pid, large->pid);
}

TEST_F(LocalServerTest, AServerThatCannotStartSaysWhyAndWhatElse) {  // MOD-34
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/broken", ""), Succeeds());
  const auto state = EnsureLocalServer(Options(), {});
  EXPECT_THAT(state, FailsWith(ErrorCode::kUnavailable, "may be damaged"));
  EXPECT_THAT(state, FailsWith(ErrorCode::kUnavailable, "--base-url"));
  EXPECT_THAT(state, FailsWith(ErrorCode::kUnavailable, "server.log"));
}

TEST_F(LocalServerTest, CountsWithTheServersTokenizer) {  // MOD-35
  const auto state = EnsureLocalServer(Options(), {});
  ASSERT_THAT(state, Succeeds());
  const auto counter =
      MakeServerCounter(state->port, state->key, {.bytes_per_token = 2, .margin = 0.5});
  ASSERT_THAT(counter, Succeeds());
  const tokens::Count exact = (*counter)->CountText("one two three");
  EXPECT_EQ(exact.tokens, 3);
  EXPECT_TRUE(exact.exact);
  EXPECT_EQ((*counter)->CountText("").tokens, 0);
  EXPECT_FALSE((*counter)->CountText(std::string(kMostCountedBytes + 1, 'x')).exact);
  EXPECT_EQ((*counter)->CountText("bad \xff byte").tokens, 3);
  ASSERT_TRUE(*StopLocalServer(data_, {}));
  EXPECT_TRUE((*counter)->CountText("one two three").exact);  // remembered
  const tokens::Count estimated = (*counter)->CountText("four five six");
  EXPECT_FALSE(estimated.exact);
  EXPECT_DOUBLE_EQ(estimated.margin, 0.5);
}

TEST(ServerStateTest, AnythingInTheStateFileIsReadWithoutHarm) {  // MOD-32
  const std::string good =
      R"({"pid":12,"server_pid":13,"port":80,"key":"ab","model":"m","window":4096,"slots":1})";
  ASSERT_THAT(ParseServerState(good), Succeeds());
  EXPECT_THAT(ParseServerState(R"({"pid":1})"), FailsWith(ErrorCode::kDamaged, "incomplete"));
  // A key with a line end would add a header to our requests.
  const std::string evil =
      R"({"pid":12,"server_pid":13,"port":80,"key":"a\r\nb","model":"m","window":1,"slots":1})";
  EXPECT_THAT(ParseServerState(evil), FailsWith(ErrorCode::kDamaged, "incomplete"));
  Random random(/*seed=*/3);
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    }
    const auto state = ParseServerState(text);
    if (!state) continue;
    EXPECT_GT(state->pid, 1);
    EXPECT_GT(state->port, 0);
    EXPECT_LE(state->port, 65535);
  }
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;

constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kWeightsBytes = 1'117'320'768;

TEST(LocalPlanTest, TheLargestWindowThatFitsIntoHalfOfWhatIsFree) {  // MOD-33
  struct Case {
    std::uint64_t free;
    std::int64_t window;
  };
  constexpr Case kCases[] = {
      {16 * kGigabyte, 16384}, {4 * kGigabyte, 16384}, {3'600'000'000, 8192},
      {3'200'000'000, 4096},   {2 * kGigabyte, 4096},  {0, 16384},
  };
  for (const Case& c : kCases) {
    const auto plan = PlanServer({.free_memory = c.free, .cores = 2}, {.weights = kWeightsBytes});
    ASSERT_TRUE(plan) << c.free;
    EXPECT_EQ(plan->window, c.window) << c.free;
    EXPECT_EQ(plan->slots, 1);
    EXPECT_EQ(plan->threads, 2);
  }
}

TEST(LocalPlanTest, TooLittleMemoryIsRefusedWithNumbersAndAWayOut) {  // MOD-34
  const auto plan = PlanServer({.free_memory = kGigabyte, .cores = 2}, {.weights = kWeightsBytes});
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.6 GB"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.0 GB are free"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "--base-url"));
}

TEST(LocalPlanTest, TheUsersWindowIsTakenAsItIs) {  // MOD-33
  const auto plan = PlanServer({.free_memory = 3 * kGigabyte, .cores = 2},
                               {.weights = kWeightsBytes, .window = 12000});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->window, 12000);
}

TEST(LocalPlanTest, NoWindowIsLongerThanTheModelWasMadeFor) {  // MOD-33
  const Machine machine{.free_memory = 64 * kGigabyte, .cores = 2};
  const auto refused =
      PlanServer(machine, {.weights = kWeightsBytes, .window = 65536, .longest = 32768});
  EXPECT_THAT(refused, FailsWith(ErrorCode::kInvalidArgument,
                                 "65,536 tokens is longer than the "
                                 "32,768 that this model was made for"));
  const auto whole =
      PlanServer(machine, {.weights = kWeightsBytes, .window = 32768, .longest = 32768});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->window, 32768);
  const auto small = PlanServer(machine, {.weights = kWeightsBytes, .longest = 2048});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->window, 2048) << "of an old model";
}

TEST(LocalPlanTest, WhatTheFileSaysOfTheModelCounts) {  // MOD-33
  const auto number = [](std::string_view name, std::uint32_t value) {
    const std::uint64_t size = name.size();
    const std::uint32_t kind = 4;
    return std::string(reinterpret_cast<const char*>(&size), 8) + std::string(name) +
           std::string(reinterpret_cast<const char*>(&kind), 4) +
           std::string(reinterpret_cast<const char*>(&value), 4);
  };
  const std::uint32_t version = 3;
  const std::uint64_t counts[] = {0, 5};
  const auto folder = TempFolder::Make();
  const Weights weights{"old", folder->path() + "/old.gguf", 1000};
  ASSERT_TRUE(WriteFileAtomic(
      weights.path, "GGUF" + std::string(reinterpret_cast<const char*>(&version), 4) +
                        std::string(reinterpret_cast<const char*>(counts), 16) +
                        number("llama.context_length", 2048) + number("llama.block_count", 10) +
                        number("llama.attention.head_count", 4) +
                        number("llama.attention.key_length", 64) +
                        number("llama.attention.value_length", 32)));
  EXPECT_EQ(NeedsOf(weights).longest, 2048);
  EXPECT_EQ(NeedsOf(weights).kv_bytes, 10u * 4 * (64 + 32) * 2);
  ASSERT_TRUE(WriteFileAtomic(weights.path, "GGUF and nothing of use"));
  EXPECT_EQ(NeedsOf(weights).longest, std::nullopt);
  EXPECT_EQ(NeedsOf(weights).kv_bytes, kDefaultKvBytes);
}

TEST(LocalPlanTest, SlotsGrowWithTheCores) {  // MOD-33
  constexpr std::pair<int, int> kCases[] = {{1, 1}, {2, 1}, {4, 1}, {8, 2}, {16, 4}, {64, 4}};
  for (const auto& [cores, slots] : kCases) {
    const auto plan =
        PlanServer({.free_memory = 64 * kGigabyte, .cores = cores}, {.weights = kWeightsBytes});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->slots, slots) << cores;
    EXPECT_EQ(plan->threads, cores);
  }
}

TEST(LocalPlanTest, FreeMemoryIsReadFromTheKernelsTable) {
  EXPECT_EQ(FreeMemory("MemTotal:  8 kB\nMemAvailable:   123 kB\n"), 123u << 10);
  EXPECT_EQ(FreeMemory("MemTotal:  8 kB\n"), 0u);
  EXPECT_EQ(FreeMemory("MemAvailable:   99999999999999999999 kB\n"), 0u);
  EXPECT_EQ(FreeMemory("MemAvailable:   18446744073709551615 kB\n"), 0u);
}

TEST(LocalPlanTest, PhysicalCoresAreDifferentPairsOfPackageAndCore) {  // MOD-33
  const std::string two_threads_a_core =
      "physical id : 0\ncore id : 0\n\nphysical id : 0\ncore id : 1\n\n"
      "physical id : 0\ncore id : 0\n\nphysical id : 0\ncore id : 1\n";
  EXPECT_EQ(PhysicalCores(two_threads_a_core, 4), 2);
  EXPECT_EQ(PhysicalCores(two_threads_a_core, 1), 1);
  EXPECT_EQ(PhysicalCores("physical id:0\ncore id:0\nphysical id:1\ncore id:0\n", 2), 2);
  EXPECT_EQ(PhysicalCores("model name : unknown\n", 3), 3);
}

TEST(LocalPlanTest, AnyTextIsReadWithoutHarm) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 500; ++round) {
    const std::string text = "MemAvailable:" + random.Bytes(40) + "\ncore id:" + random.Bytes(20);
    FreeMemory(text);
    EXPECT_GE(PhysicalCores(text, 2), 1);
    EXPECT_LE(PhysicalCores(text, 2), 2);
  }
}

}  // namespace

}  // namespace dossier::model
