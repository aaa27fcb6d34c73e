#include "ask/run/call_tree.h"

namespace dossier::ask {

void CallTree::Start(Work work) {
  std::unique_lock lock(mutex_);
  const int depth = work.depth;
  waiting_.emplace(depth, std::move(work));
  Fill(std::move(lock));
}

std::vector<CallTree::Work> CallTree::TakeBack(const void* owner) {
  std::vector<Work> taken;
  std::lock_guard lock(mutex_);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto here = it++;
    if (here->second.owner != owner) continue;
    taken.push_back(std::move(here->second));
    waiting_.erase(here);
  }
  return taken;
}

void CallTree::Wait() {
  std::unique_lock lock(mutex_);
  --running_;
  Fill(std::move(lock));
}

void CallTree::GoOn() {
  std::lock_guard lock(mutex_);
  ++running_;
}

// Returns the next work that may run now. Called with the lock held.
std::optional<CallTree::Work> CallTree::Next() {
  if (running_ >= most_ || waiting_.empty()) return std::nullopt;
  ++running_;
  Work next = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  return next;
}

// A thread for each work that may run.
void CallTree::Fill(std::unique_lock<std::mutex> lock) {
  while (auto next = Next()) {
    const auto work = std::make_shared<Work>(std::move(*next));
    const Status begun = threads_.Run([this, work] { RunOn(std::move(*work)); });
    if (begun) continue;
    if (--running_ > 0) {  // the thread of one that runs goes on with it
      waiting_.emplace_hint(waiting_.lower_bound(work->depth), work->depth, std::move(*work));
      return;
    }
    lock.unlock();
    if (work->refused) work->refused(begun.error());
    lock.lock();
  }
}

// A thread takes one work after the other as long as there is some.
void CallTree::RunOn(Work work) {
  for (std::optional<Work> next = std::move(work); next;) {
    next->work();
    next->work = nullptr;  // release what it holds before another thread may wait for it
    std::lock_guard lock(mutex_);
    --running_;
    next = Next();
  }
}

}  // namespace dossier::ask
