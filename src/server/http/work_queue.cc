#include "server/http/work_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace dossier::server {

WorkQueue::WorkQueue(WorkLimits limits) : limits_(limits) {}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkQueue::Submit(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (IsFull()) return false;
  waiting_.push_back(std::move(work));
  // Adds a thread only if all are busy: a quiet server has few.
  if (running_ + waiting_.size() > threads_.size() && threads_.size() < limits_.running) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: if it may wait, an existing thread does it later.
      if (threads_.empty() || waiting_.size() > limits_.waiting) {
        waiting_.pop_back();
        return false;
      }
    }
  }
  changed_.notify_one();
  return true;
}

void WorkQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return draining_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    work();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

bool WorkQueue::Drain(Millis most) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, most, [this] { return running_ == 0 && waiting_.empty(); });
}

bool WorkQueue::draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

bool WorkQueue::IsFull() const {
  return draining_ || running_ + waiting_.size() >= limits_.running + limits_.waiting;
}

bool WorkQueue::full() const {
  const std::lock_guard lock(mutex_);
  return IsFull();
}

std::size_t WorkQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::size_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace dossier::server
