#include "research/search/slots.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

#include "base/task_group.h"

namespace dossier::research {
namespace {

// Hands out the slots and keeps the first error.
class SlotQueue {
 public:
  SlotQueue(const SlotPlan& plan, const SlotWork& work, const CancelToken& cancel)
      : plan_(plan), work_(work), cancel_(cancel), all_(cancel) {}

  void Work() {
    while (const std::optional<std::size_t> slot = Next()) {
      if (Status done = work_(*slot, all_.token()); !done) Keep(std::move(done).error());
    }
  }

  Status Outcome() const {
    if (failure_) return tl::unexpected(*failure_);
    if (next_ < plan_.count) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
    return {};
  }

 private:
  std::optional<std::size_t> Next() {
    const std::lock_guard lock(mutex_);
    if (failure_ || cancel_.cancelled() || next_ == plan_.count) return std::nullopt;
    return next_++;
  }

  void Keep(Error error) {
    {
      const std::lock_guard lock(mutex_);
      if (failure_) return;
      failure_ = std::move(error);
    }
    all_.Cancel("another slot of the round failed");
  }

  const SlotPlan& plan_;
  const SlotWork& work_;
  const CancelToken& cancel_;
  CancelSource all_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Status RunSlots(const SlotPlan& plan, const SlotWork& work, const CancelToken& cancel) {
  SlotQueue queue(plan, work, cancel);
  const auto threads = std::min(plan.count, static_cast<std::size_t>(std::max(plan.parallel, 1)));
  {
    TaskGroup others;
    for (std::size_t i = 1; i < threads; ++i) others.Run([&queue] { queue.Work(); });
    queue.Work();
  }
  return queue.Outcome();
}

}  // namespace dossier::research
