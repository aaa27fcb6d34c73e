// The closed list of ways in which a task can end, and the exit code of the program for them.
//
//   StatusName(TaskStatus::kNeedsFix)                    // "needs-fix"
//   ExitCodeOf({{TaskStatus::kMerged, TaskStatus::kTimedOut}})   // 7
//
// Thread-safety: pure functions.

#ifndef DOSSIER_AGENTS_TASK_TASK_STATUS_H_
#define DOSSIER_AGENTS_TASK_TASK_STATUS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace dossier::agents {

enum class TaskStatus : std::uint8_t {
  kMerged,
  kSkipped,
  kNeedsFix,
  kPolicyViolation,
  kMissingPatch,
  kApplyFailed,
  kCommitFailed,
  kEngineFailed,
  kTimedOut,
  kReviewFailed,
  kBlocked,
  kInterrupted,
  kBudget,
};
inline constexpr std::size_t kTaskStatuses = 13;

std::string_view StatusName(TaskStatus status);  // "policy-violation"
std::optional<TaskStatus> ParseStatus(std::string_view name);

// Returns 0 if all are merged or skipped; else 12, 7 or 10 if all others were refused by policy,
// ran out of time or out of budget; else 13.
int ExitCodeOf(std::span<const TaskStatus> statuses);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_TASK_STATUS_H_
