#include "agents/task/work.h"

namespace dossier::agents {

Result<GuardWatch::Seen> GuardWatch::End(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  DOSSIER_ASSIGN_OR_RETURN(GuardReport report, guard_.Check());
  foreign_.insert(foreign_.end(), report.foreign.begin(), report.foreign.end());
  foreign_count_ = foreign_.size();
  Seen seen{.moved_branches = std::move(report.moved_branches)};
  seen.foreign.assign(foreign_.begin() + static_cast<std::ptrdiff_t>(begin), foreign_.end());
  return seen;
}

}  // namespace dossier::agents
