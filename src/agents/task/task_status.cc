#include "agents/task/task_status.h"

namespace dossier::agents {
namespace {

constexpr std::array<std::string_view, kTaskStatuses> kNames = {
    "merged",       "skipped",       "needs-fix",     "policy-violation", "missing-patch",
    "apply-failed", "commit-failed", "engine-failed", "timed-out",        "review-failed",
    "blocked",      "interrupted",   "budget"};

constexpr int kPartly = 13;

int CauseOf(TaskStatus status) {
  switch (status) {
    case TaskStatus::kMerged:
    case TaskStatus::kSkipped:
      return 0;
    case TaskStatus::kPolicyViolation:
      return 12;
    case TaskStatus::kTimedOut:
      return 7;
    case TaskStatus::kBudget:
      return 10;
    default:
      return kPartly;
  }
}

}  // namespace

std::string_view StatusName(TaskStatus status) { return kNames[static_cast<std::size_t>(status)]; }

std::optional<TaskStatus> ParseStatus(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<TaskStatus>(i);
  }
  return std::nullopt;
}

int ExitCodeOf(std::span<const TaskStatus> statuses) {
  int code = 0;
  for (const TaskStatus status : statuses) {
    const int cause = CauseOf(status);
    if (cause == 0) continue;
    if (code != 0 && code != cause) return kPartly;
    code = cause;
  }
  return code;
}

}  // namespace dossier::agents
