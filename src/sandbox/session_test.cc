#include "sandbox/session.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;

class NoCalls final : public BridgeHandler {
 public:
  void OnCall(BridgeCall, std::shared_ptr<BridgeReply> reply) override {
    reply->Fail("unknown_method", "no calls here");
  }
};

Result<std::unique_ptr<Pool>> MakePool() {
  return Pool::Make({.worker_path = DOSSIER_BIN_DIR "/dossier-python-worker"});
}

TEST(SessionTest, RunsABlockAndReturnsItsOutput) {
  auto pool = MakePool();
  ASSERT_TRUE(pool) << pool.error().message;
  auto session = (*pool)->Open({});
  ASSERT_TRUE(session) << session.error().message;
  NoCalls handler;
  auto result = (*session)->Run("x = 20\nprint(x + 1)", {}, handler);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->status, BlockStatus::kOk) << (result->error ? result->error->message : "");
  EXPECT_EQ(result->out, "21\n");
}

}  // namespace
}  // namespace dossier::sandbox
