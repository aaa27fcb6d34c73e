#include "agents/task/task_status.h"

#include <gtest/gtest.h>

#include <vector>

namespace dossier::agents {
namespace {

using enum TaskStatus;

TEST(TaskStatusTest, NamesAndStatusesAreOneToOne) {  // REP-47
  for (std::size_t i = 0; i < kTaskStatuses; ++i) {
    const auto status = static_cast<TaskStatus>(i);
    EXPECT_EQ(ParseStatus(StatusName(status)), status);
  }
  EXPECT_EQ(StatusName(kPolicyViolation), "policy-violation");
  EXPECT_EQ(StatusName(kBudget), "budget");
  EXPECT_EQ(ParseStatus("approved"), std::nullopt);
}

TEST(TaskStatusTest, TheExitCodeIsTheOneCauseOr13) {  // REP-2
  struct Case {
    std::vector<TaskStatus> statuses;
    int code;
  };
  const Case kCases[] = {
      {{}, 0},
      {{kMerged, kSkipped}, 0},
      {{kMerged, kPolicyViolation, kPolicyViolation}, 12},
      {{kTimedOut, kMerged}, 7},
      {{kBudget}, 10},
      {{kBudget, kTimedOut}, 13},
      {{kNeedsFix}, 13},
      {{kNeedsFix, kPolicyViolation}, 13},
      {{kBlocked, kPolicyViolation}, 13},
      {{kInterrupted}, 13},
  };
  for (const Case& c : kCases) EXPECT_EQ(ExitCodeOf(c.statuses), c.code);
}

}  // namespace
}  // namespace dossier::agents
