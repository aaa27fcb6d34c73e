// Calls from code to the host, and code that tries to forge what the host says.

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "sandbox/session/host_worker.h"
#include "testing/session_fixture.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

class SessionBridgeTest : public SandboxTest {};

TEST_F(SessionBridgeTest, ValuesAndTextsCrossBothWays) {  // SBX-94
  auto session = Open();
  ASSERT_TRUE(session);
  BridgeCall seen;
  handler_ = AnsweringHandler([&](BridgeCall call, const std::shared_ptr<BridgeReply>& reply) {
    seen = std::move(call);
    reply->Ok(JsonObject{{"list", JsonArray{1, 2.5, nullptr, true, "é"}},
                         {"big", std::uint64_t{18446744073709551615u}}},
              std::string("raw\0bytes", 9));
  });
  EXPECT_EQ(
      Output(*session,
             "import _dossier\n"
             "value, raw = _dossier.call('map', {'n': 2**53 + 1, 'x': [None, 'é']}, b'\\x00t')\n"
             "print(value['list'], value['big'] == 2**64 - 1, raw)"),
      "[1, 2.5, None, True, 'é'] True b'raw\\x00bytes'\n");
  EXPECT_EQ(seen.method, "map");
  EXPECT_EQ(seen.block, 1);
  EXPECT_EQ(ToJson(seen.args), R"({"n":9007199254740993,"x":[null,"é"]})");
  EXPECT_EQ(seen.raw, std::string("\0t", 2));
}

TEST_F(SessionBridgeTest, WhatCannotCrossIsNamedWithItsPath) {  // SBX-94
  auto session = Open();
  ASSERT_TRUE(session);
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"{'a': float('nan')}", "args.a: NaN"},
      {"{'a': [0, float('inf')]}", "args.a[1]: infinity"},
      {"{'a': {1: 2}}", "args.a: a key of type int"},
      {"{'a': {1, 2}}", "args.a: a set"},
      {"{'a': 2**70}", "args.a: an integer of more than 64 bits"},
      {"deep()", "nested deeper"},
  };
  for (const auto& [args, message] : kCases) {
    const std::string out =
        Output(*session, fmt::format("import _dossier\n"
                                     "def deep():\n    x = {{}}\n"
                                     "    for i in range(100): x = {{'k': x}}\n"
                                     "    return x\n"
                                     "try:\n    _dossier.call('map', {})\n"
                                     "except _dossier.BridgeError as e: print(e.code, e.message)",
                                     args));
    EXPECT_THAT(out, ::testing::StartsWith("bad_argument args"));
    EXPECT_THAT(out, HasSubstr(std::string(message)));
  }
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(SessionBridgeTest, AFailureIsAnErrorInTheCode) {
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
    reply->Fail("limit", "no calls left", BridgeReply::Retry::kYes);
    reply->Ok("ignored");  // only the first answer counts
  });
  EXPECT_EQ(Output(*session,
                   "import _dossier\n"
                   "try:\n    _dossier.call('llm', {})\n"
                   "except _dossier.BridgeError as e: print(e.code, e.message, e.retryable)"),
            "limit no calls left True\n");
}

TEST_F(SessionBridgeTest, AReplyDroppedByTheHostFailsTheCall) {
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([](const BridgeCall&, const std::shared_ptr<BridgeReply>&) {});
  EXPECT_EQ(Output(*session,
                   "import _dossier\n"
                   "try:\n    _dossier.call('llm', {})\n"
                   "except _dossier.BridgeError as e: print(e.code)"),
            "failed\n");
}

TEST_F(SessionBridgeTest, ACallOverTheLimitIsRefusedAndTheSessionLives) {  // SBX-90
  auto session = Open();
  ASSERT_TRUE(session);
  EXPECT_THAT(Output(*session,
                     "import _dossier\n"
                     "for args, raw in (({}, bytes(65 << 20)), ({'a': 'x' * (9 << 20)}, b'')):\n"
                     "    try:\n        _dossier.call('llm', args, raw)\n"
                     "    except _dossier.BridgeError as e: print(e.code, e.message)"),
              HasSubstr("too_large the call has 68157"));
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(SessionBridgeTest, AMegabyteAndMoreCrossesBothWays) {
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([](BridgeCall call, const std::shared_ptr<BridgeReply>& reply) {
    reply->Ok(nullptr, std::move(call.raw));
  });
  EXPECT_EQ(Output(*session,
                   "import _dossier, random\n"
                   "for n in (1 << 20, (1 << 20) + 1, 20_000_000):\n"
                   "    data = random.randbytes(n)\n"
                   "    print(_dossier.call('echo', {}, data)[1] == data)"),
            "True\nTrue\nTrue\n");
}

TEST_F(SessionBridgeTest, ManyThreadsCallAtOnceWithinTheCredit) {  // SBX-91, SBX-A8
  auto session = Open();
  ASSERT_TRUE(session);
  std::vector<std::pair<BridgeCall, std::shared_ptr<BridgeReply>>> held;
  std::size_t most = 0;
  handler_ = AnsweringHandler([&](BridgeCall call, std::shared_ptr<BridgeReply> reply) {
    held.emplace_back(std::move(call), std::move(reply));
    most = std::max(most, held.size());
    if (held.size() < 30) return;
    for (auto& [c, r] : held) r->Ok(c.args);  // in any order, by id
    held.clear();
  });
  EXPECT_EQ(
      Output(*session,
             "import _dossier, concurrent.futures\n"
             "def one(i):\n    return _dossier.call('llm', {'i': i}, b'x' * 20_000)[0]['i'] == i\n"
             "with concurrent.futures.ThreadPoolExecutor(30) as pool:\n"
             "    print(sum(pool.map(one, range(3000))))"),
      "3000\n");
  EXPECT_EQ(handler_.calls, 3000);
  EXPECT_LE(most, 256u);
}

TEST_F(SessionBridgeTest, CallsOfManyBlocksNeverRunOutOfCredit) {  // FLT-85, SBX-91
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler(
      [](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) { reply->Ok(nullptr); });
  // 27 MB in parts below the step in which credit is told, in the raw half and in the JSON half.
  for (int block = 0; block < 30; ++block) {
    const BlockResult result = Run(*session,
                                   "import _dossier\n"
                                   "_dossier.call('llm', {}, bytes(450_000))\n"
                                   "_dossier.call('llm', {'a': 'x' * 450_000})");
    ASSERT_EQ(result.status, BlockStatus::kOk) << "block " << block;
  }
  EXPECT_EQ(Output(*session,
                   "for i in range(2000): _dossier.call('llm', {'a': 'x' * 10_000})\n"
                   "print('done')"),
            "done\n");
}

TEST_F(SessionBridgeTest, OpenCallsHoldNoMoreThanTheCredit) {  // FLT-85, SBX-91
  auto session = Open();
  ASSERT_TRUE(session);
  std::vector<std::pair<BridgeCall, std::shared_ptr<BridgeReply>>> held;
  std::uint64_t bytes = 0, most = 0;
  handler_ = AnsweringHandler([&](BridgeCall call, std::shared_ptr<BridgeReply> reply) {
    bytes += call.raw.size();
    most = std::max(most, bytes);
    held.emplace_back(std::move(call), std::move(reply));
    if (held.size() < 3) return;
    for (auto& [c, r] : held) {
      bytes -= c.raw.size();
      r->Ok(nullptr);
    }
    held.clear();
  });
  EXPECT_EQ(Output(*session,
                   "import _dossier, concurrent.futures\n"
                   "text = bytes(3_000_000)\n"
                   "with concurrent.futures.ThreadPoolExecutor(30) as pool:\n"
                   "    list(pool.map(lambda i: _dossier.call('llm', {}, text), range(60)))\n"
                   "print('done')"),
            "done\n");
  EXPECT_LE(most, (8u << 20) + 3'000'000);
}

TEST_F(SessionBridgeTest, ManyLargeRepliesAreNotAllKept) {  // FLT-85: 60 greps, 2.4 GB
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
    reply->Ok(nullptr, std::string(20 << 20, 'x'));
  });
  const auto before = ReadProcessUsage(getpid());
  ASSERT_TRUE(before);
  for (int block = 0; block < 6; ++block) {
    Output(*session, "import _dossier\nfor i in range(5): _dossier.call('grep', {'pattern': 'x'})");
  }
  const auto after = ReadProcessUsage(getpid());
  ASSERT_TRUE(after);
  EXPECT_LT(after->private_bytes, before->private_bytes + (260u << 20));  // of 600 MB
}

TEST_F(SessionBridgeTest, ThreadsThatOutliveTheirBlockCannotCall) {  // SBX-47
  auto session = Open();
  ASSERT_TRUE(session);
  Output(*session,
         "import threading, _dossier\nresult = []\ngo = threading.Event()\n"
         "def late():\n    go.wait()\n    for i in range(3):\n"
         "        try: _dossier.call('llm', {})\n"
         "        except _dossier.BridgeError as e: result.append(e.code)\n"
         "t = threading.Thread(target=late, daemon=True)\nt.start()\n"
         "import time\nthreading.Timer(0.05, go.set).start()");
  while (session->Get("result", 100).value_or("") != "['cancelled', 'cancelled', 'cancelled']") {
  }
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(SessionBridgeTest, ARunningSessionRefusesASecondBlock) {  // SBX-47
  auto session = Open();
  ASSERT_TRUE(session);
  handler_ = AnsweringHandler([&](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
    AnsweringHandler none;
    std::thread([&] {
      EXPECT_THAT(session->Run("1", {}, none), FailsWith(ErrorCode::kRefused, "running"));
      EXPECT_THAT(session->Get("x", 1), FailsWith(ErrorCode::kRefused, "running"));
    }).join();
    reply->Ok(nullptr);
  });
  EXPECT_EQ(Run(*session, "import _dossier\nn = _dossier.call('llm', {})").status,
            BlockStatus::kOk);
}

TEST_F(SessionBridgeTest, CodeCannotReachTheBridge) {  // SBX-24, SBX-E8
  auto session = Open();
  ASSERT_TRUE(session);
  // A forged `done` with a final answer, to every descriptor, also from a thread.
  const BlockResult result = Run(*session, R"(
import os, socket, struct, threading
payload = b'{"status":"final","usage":{},"out_bytes":0,"dropped":0}'
frame = struct.pack('<IBBHQII', len(payload), 1, 8, 0, 4, 1, len(payload)) + payload
wrote = []
def forge():
    for fd in range(3, 64):
        try: os.write(fd, frame); wrote.append(fd)
        except OSError: pass
        try: socket.socket(fileno=fd).send(frame); wrote.append(fd)
        except OSError: pass
forge()
t = threading.Thread(target=forge); t.start(); t.join()
)");
  EXPECT_EQ(result.status, BlockStatus::kOk);
  EXPECT_EQ(Output(*session, "print('alive')"), "alive\n");
}

TEST_F(SessionBridgeTest, ItemsThatCameBeforeAnInterruptAreKept) {  // spec 5: item
  SessionSpec spec;
  spec.features = {{"depth", 1}};
  auto session = Open(std::move(spec));
  ASSERT_TRUE(session);
  std::vector<std::string> asked;
  std::shared_ptr<BridgeReply> open;
  handler_ = AnsweringHandler([&](BridgeCall call, std::shared_ptr<BridgeReply> reply) {
    const JsonArray& prompts = call.args.at("prompts").get_array();
    asked.push_back(fmt::format("{}", prompts.size()));
    const auto result = [](std::string_view text) {
      return JsonObject{
          {"ok", true}, {"text", JsonObject{{"blob", JsonArray{0, text.size()}}}}, {"tokens", 1}};
    };
    if (prompts.size() < 3) {
      JsonArray results;
      for (std::size_t i = 0; i < prompts.size(); ++i) results.push_back(result("late"));
      return reply->Ok(JsonObject{{"results", std::move(results)}}, "late");
    }
    reply->Item(2, result("two"), "two");
    session->Interrupt(InterruptReason::kUser);
    open = std::move(reply);  // the others never come
  });
  constexpr std::string_view kBatch = "print(llm_query_batched(['a', 'b', 'c']))";
  const BlockResult stopped = Run(*session, kBatch);
  EXPECT_EQ(stopped.status, BlockStatus::kInterrupted);
  EXPECT_THAT(stopped.notes, ::testing::Contains(HasSubstr("1 of its 3 replies are kept")));
  EXPECT_EQ(Output(*session, kBatch), "['late', 'late', 'two']\n");
  EXPECT_THAT(asked, ::testing::ElementsAre("3", "2"));
}

}  // namespace
}  // namespace dossier::sandbox
