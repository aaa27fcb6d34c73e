#include "base/cancel.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <utility>

namespace dossier {

std::string CancelToken::reason() const {
  if (!state_) return {};
  std::lock_guard lock(state_->mutex);
  return state_->reason;
}

std::uint64_t CancelToken::OnCancel(std::function<void()> callback) const {
  if (!state_) return 0;
  {
    std::lock_guard lock(state_->mutex);
    if (!state_->cancelled) {
      const std::uint64_t id = state_->next_id++;
      state_->callbacks.emplace(id, std::move(callback));
      return id;
    }
  }
  callback();
  return 0;
}

void CancelToken::Forget(std::uint64_t id) const {
  if (!state_ || id == 0) return;
  std::lock_guard running(state_->running);
  std::lock_guard lock(state_->mutex);
  state_->callbacks.erase(id);
}

bool WaitUnlessCancelled(Millis time, const CancelToken& cancel) {
  std::mutex mutex;
  std::condition_variable woken;
  const std::uint64_t id = cancel.OnCancel([&] {
    const std::lock_guard lock(mutex);
    woken.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    woken.wait_for(lock, time, [&] { return cancel.cancelled(); });
  }
  cancel.Forget(id);
  return !cancel.cancelled();
}

CancelSource::CancelSource(const CancelToken& parent)
    : state_(std::make_shared<CancelToken::State>()), parent_(parent) {
  parent_id_ =
      parent_.OnCancel([state = state_, parent = parent_] { CancelState(state, parent.reason()); });
}

CancelSource::~CancelSource() { parent_.Forget(parent_id_); }

void CancelSource::Cancel(std::string reason) { CancelState(state_, std::move(reason)); }

void CancelSource::CancelState(const std::shared_ptr<CancelToken::State>& state,
                               std::string reason) {
  std::lock_guard running(state->running);
  std::map<std::uint64_t, std::function<void()>> callbacks;
  {
    std::lock_guard lock(state->mutex);
    if (state->cancelled) return;
    state->reason = std::move(reason);
    state->cancelled.store(true, std::memory_order_release);
    callbacks.swap(state->callbacks);
  }
  for (auto& [id, callback] : callbacks) callback();
}

CancelFd::CancelFd(CancelToken cancel)
    : cancel_(std::move(cancel)), fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) return;
  id_ = cancel_.OnCancel([fd = fd_] { (void)eventfd_write(fd, 1); });
  if (id_ == 0 && !cancel_.cancelled()) close(std::exchange(fd_, -1));  // it never will be
}

CancelFd::~CancelFd() {
  cancel_.Forget(id_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace dossier
