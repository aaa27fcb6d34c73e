// For tests that run real sessions: one pool for the whole program, short ways to run blocks.

#ifndef DOSSIER_TESTING_SESSION_FIXTURE_H_
#define DOSSIER_TESTING_SESSION_FIXTURE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/session/session.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {

// Answers every call with `answer`, on the thread inside Run, and remembers what came.
class AnsweringHandler final : public BridgeHandler {
 public:
  using Answer = std::function<void(BridgeCall, std::shared_ptr<BridgeReply>)>;
  AnsweringHandler()
      : answer_([](const BridgeCall&, const std::shared_ptr<BridgeReply>& reply) {
          reply->Fail("unknown_method", "no calls here");
        }) {}
  explicit AnsweringHandler(Answer answer) : answer_(std::move(answer)) {}

  void OnCall(BridgeCall call, std::shared_ptr<BridgeReply> reply) override {
    ++calls;
    answer_(std::move(call), std::move(reply));
  }

  int calls = 0;

 private:
  Answer answer_;
};

// A sealed memfd with `text`.
inline UniqueFd MakeContextFd(std::string_view text) {
  UniqueFd fd(memfd_create("context", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_TRUE(WriteAll(fd.get(), text));
  fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return fd;
}

// Calls the bridge without the Python half in between.
inline constexpr char kRawCall[] = "import _dossier\n";

class SandboxTest : public ::testing::Test {
 protected:
  static Result<std::unique_ptr<Pool>> MakePool() {
    return Pool::Make({.worker_path = DOSSIER_BIN_DIR "/dossier-python-worker"});
  }

  // One zygote serves all tests of a suite.
  static void SetUpTestSuite() {
    auto made = MakePool();
    ASSERT_TRUE(made) << made.error().message;
    pool_ = std::move(*made);
  }
  static void TearDownTestSuite() { pool_.reset(); }

  std::unique_ptr<Session> Open(SessionSpec spec = {}) {
    auto session = pool_->Open(std::move(spec));
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  // Runs one block and fails the test on an error of the session.
  BlockResult Run(Session& session, std::string_view code, const BlockOptions& options = {}) {
    auto result = session.Run(code, options, handler_);
    EXPECT_TRUE(result) << result.error().message << "\nin: " << code;
    return result ? std::move(*result) : BlockResult{};
  }

  std::string Output(Session& session, std::string_view code) {
    BlockResult result = Run(session, code);
    EXPECT_FALSE(result.error) << result.error->type << ": " << result.error->message << "\n"
                               << result.error->traceback;
    return result.out;
  }

  AnsweringHandler handler_;
  static inline std::unique_ptr<Pool> pool_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_TESTING_SESSION_FIXTURE_H_
