#include "chat/turn/refresh_now.h"

#include <gtest/gtest.h>

#include "testing/chat_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

// A conversation of five long turns, and a model that answers once.
class CompactNowTest : public ::testing::Test {
 protected:
  CompactNowTest() {
    for (int turn = 0; turn < 5; ++turn) {
      rig_.answers = {{.text = "answer"}};
      EXPECT_EQ(rig_.Send("question " + std::string(2000, 'x')).exit, 0);
    }
  }

  Result<CompactedNow> Compact(CompactionLimits limits, ListedClient::Answer answer,
                               CompactParts::Action action = CompactParts::Action::kSave) {
    client_ = std::make_shared<ListedClient>(std::vector{std::move(answer)}, &rig_.trace);
    const driver::BoundModel model{.name = "m",
                                   .stored = "m",
                                   .entry = rig_.entry,
                                   .counter = rig_.counter,
                                   .gate = std::shared_ptr<model::Gate>(
                                       model::Gate::Make(client_, {.retries = 0}, SystemClock()))};
    return CompactNow(
        {.store = rig_.store, .model = model, .writer = model, .limits = limits, .action = action},
        "talk", {});
  }

  ChatRig rig_;
  std::shared_ptr<ListedClient> client_;
};

TEST_F(CompactNowTest, OldTurnsBecomeASummaryWithoutAnyTrigger) {  // 3.4, CON-44, CON-45
  const auto done = Compact({.keep_turns = 3, .summary_tokens = 100}, {.text = "A summary."});
  ASSERT_THAT(done, dossier::testing::Succeeds());
  EXPECT_THAT(done->line, HasSubstr("compacted: turns 1-2"));
  EXPECT_EQ(done->usage.input, 10);
  EXPECT_EQ(client_->requests.front().purpose, model::Purpose::kCompact);
  ASSERT_EQ(rig_.Read()->compaction.size(), 1u);
  EXPECT_EQ(rig_.Read()->compaction[0].text, "A summary.");
  EXPECT_EQ(rig_.Read()->messages.size(), 11u);
}

TEST_F(CompactNowTest, AFailedSummaryOrADryRunChangesNothing) {  // CON-42
  const CompactionLimits limits{.summary_tokens = 100};
  const Error down{ErrorCode::kNetwork, "nobody answers"};
  EXPECT_THAT(Compact(limits, {.error = down}), FailsWith(ErrorCode::kNetwork, "nobody answers"));
  EXPECT_THAT(Compact(limits, {.text = " "}), FailsWith(ErrorCode::kNetwork, "no text"));
  const auto planned = Compact(limits, {}, CompactParts::Action::kPlan);
  ASSERT_THAT(planned, dossier::testing::Succeeds());
  EXPECT_THAT(planned->line, HasSubstr("would compact: turns 1-3"));
  EXPECT_TRUE(client_->requests.empty());
  EXPECT_TRUE(rig_.Read()->compaction.empty());
}

TEST_F(CompactNowTest, ADryRunSaysWhatTheRealRunDoes) {  // CON-45
  const CompactionLimits limits{.keep_turns = 2, .summary_tokens = 100};
  const auto planned = Compact(limits, {}, CompactParts::Action::kPlan);
  const std::string longest(100, 's');  // a token a byte
  const auto done = Compact(limits, {.text = longest});
  ASSERT_THAT(planned, dossier::testing::Succeeds());
  ASSERT_THAT(done, dossier::testing::Succeeds());
  ASSERT_TRUE(planned->figures && done->figures);
  EXPECT_EQ(ToJson(*planned->figures), ToJson(*done->figures));
  const auto between = [](const std::string& line) {
    const std::size_t begin = line.find("turns");
    return line.substr(begin, line.find(" ->") - begin);
  };
  EXPECT_EQ(between(planned->line), between(done->line));
  EXPECT_THAT(planned->line, HasSubstr("-> at most 100; saves at least 9"));
  EXPECT_THAT(done->line, HasSubstr("-> 100; saved 9"));
  EXPECT_EQ(rig_.Read()->compaction[0].tokens_after, 100);
}

}  // namespace
}  // namespace dossier::chat
