// Spares: processes that wait before a session is asked for.

#include "sandbox/session/zygote_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>
#include <sstream>
#include <thread>

#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

constexpr char kWorker[] = DOSSIER_BIN_DIR "/dossier-python-worker";

pid_t ParentOf(pid_t pid) {
  const std::string text = ReadFile(fmt::format("/proc/{}/status", pid)).value_or("");
  const std::size_t at = text.find("\nPPid:");
  return at == std::string::npos ? 0 : std::stoi(text.substr(at + 6));
}

std::set<pid_t> ChildrenOf(pid_t pid) {
  std::istringstream text(
      ReadFile(fmt::format("/proc/{}/task/{}/children", pid, pid)).value_or(""));
  std::set<pid_t> children;
  for (pid_t child; text >> child;) children.insert(child);
  return children;
}

class ZygoteClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ZygoteClient::Start(kWorker, {});
    ASSERT_TRUE(made) << made.error().message;
    client_ = std::move(*made);
    // A host that has forked twice will do it again.
    for (int i = 0; i < 2; ++i) Fork();
    client_->OrderNext();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (spare_ == 0 && std::chrono::steady_clock::now() < end) {
      if (ChildrenOf(ParentOf(workers_[0].pid)).empty()) GTEST_SKIP() << "no list of children here";
      for (const pid_t child : ChildrenOf(ParentOf(workers_[0].pid))) {
        if (!Known(child)) spare_ = child;
      }
      std::this_thread::yield();
    }
    ASSERT_NE(spare_, 0) << "no spare was made";
  }

  void Fork() {
    auto worker = client_->Fork();
    ASSERT_TRUE(worker) << worker.error().message;
    workers_.push_back(std::move(*worker));
  }

  bool Known(pid_t pid) const {
    for (const ForkedWorker& worker : workers_) {
      if (worker.pid == pid) return true;
    }
    return false;
  }

  std::unique_ptr<ZygoteClient> client_;
  std::vector<ForkedWorker> workers_;
  pid_t spare_ = 0;
};

TEST_F(ZygoteClientTest, ASpareBecomesOneSessionAndNoOther) {  // SBX-3
  Fork();
  EXPECT_EQ(workers_.back().pid, spare_);
  for (int i = 0; i < 5; ++i) Fork();
  std::set<pid_t> pids;
  for (const ForkedWorker& worker : workers_) pids.insert(worker.pid);
  EXPECT_EQ(pids.size(), workers_.size());
}

TEST_F(ZygoteClientTest, ASpareThatDiedIsReplaced) {
  const UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, spare_, 0)));
  ASSERT_TRUE(handle.valid());
  ASSERT_EQ(kill(spare_, SIGKILL), 0);
  pollfd entry{handle.get(), POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, 60'000), 1);
  Fork();
  EXPECT_NE(workers_.back().pid, spare_);
  pollfd alive{workers_.back().socket.get(), POLLRDHUP, 0};
  EXPECT_EQ(poll(&alive, 1, 0), 0);
}

TEST(ZygoteStartTest, AWorkerThatDoesNotStartIsNamedWhenItIsFirstNeeded) {  // section 6
  auto client = ZygoteClient::Start("/bin/false", {});
  ASSERT_TRUE(client);
  EXPECT_THAT((*client)->Fork(),
              dossier::testing::FailsWith(ErrorCode::kUnavailable, "/bin/false does not start"));
}

TEST(ZygoteStartTest, AWaitEndsWithItsTokenAndTheNextOneGoesOn) {  // REC-61
  const TempFolder folder = *TempFolder::Make("zygote");
  const std::string path = folder.path() + "/worker";
  // The real worker, once somebody writes into the pipe.
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(WriteFileAtomic(
      path, fmt::format("#!/bin/sh\nread line < {}\nexec {} \"$@\"\n", pipe, kWorker)));
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  auto client = ZygoteClient::Start(path, {});
  ASSERT_TRUE(client) << client.error().message;
  CancelSource cancel;
  std::thread other([&] { cancel.Cancel("interrupted"); });
  EXPECT_THAT((*client)->Fork(cancel.token()),
              dossier::testing::FailsWith(ErrorCode::kCancelled, "interrupted"));
  other.join();
  EXPECT_THAT((*client)->WaitReady(cancel.token()),
              dossier::testing::FailsWith(ErrorCode::kCancelled, "interrupted"));
  ASSERT_TRUE(WriteAll(UniqueFd(open(pipe.c_str(), O_WRONLY)).get(), "go\n"));
  EXPECT_THAT((*client)->Fork(), dossier::testing::Succeeds());
  EXPECT_THAT((*client)->WaitReady(cancel.token()), dossier::testing::Succeeds());
}

}  // namespace
}  // namespace dossier::sandbox
