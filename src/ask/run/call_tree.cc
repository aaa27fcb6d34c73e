#include "ask/run/call_tree.h"

namespace dossier::ask {

void CallTree::Start(Work work) {
  std::lock_guard lock(mutex_);
  const int depth = work.depth;
  waiting_.emplace(depth, std::move(work));
  Fill();
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
  std::lock_guard lock(mutex_);
  --running_;
  Fill();
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

// Starts a thread for each work that may run. Called with the lock held.
void CallTree::Fill() {
  while (auto next = Next()) {
    threads_.Run([this, work = std::move(*next)]() mutable { RunOn(std::move(work)); });
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
