#include "server/ticker.h"

#include <algorithm>

namespace dossier::server {

using std::chrono::steady_clock;

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Ticker::Handle Ticker::Every(Millis interval, std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  const auto next = steady_clock::now() + interval;
  // Wakes the thread only if this entry is due before all others.
  const bool first =
      std::ranges::all_of(entries_, [&](const auto& e) { return e.second.next > next; });
  entries_[++last_] = {interval, next, std::make_shared<std::function<void()>>(std::move(call))};
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  if (first) changed_.notify_all();
  return Handle(this, last_);
}

void Ticker::Remove(std::uint64_t id) {
  std::unique_lock lock(mutex_);
  entries_.erase(id);
  if (std::this_thread::get_id() == thread_.get_id()) return;
  changed_.wait(lock, [&] { return running_ != id; });
}

void Ticker::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto due = std::ranges::min_element(entries_, {}, [](const auto& e) { return e.second.next; });
    if (due->second.next > steady_clock::now()) {
      changed_.wait_until(lock, due->second.next);
      continue;
    }
    due->second.next = steady_clock::now() + due->second.interval;
    running_ = due->first;
    const auto call = due->second.call;
    lock.unlock();
    (*call)();
    lock.lock();
    running_ = 0;
    changed_.notify_all();
  }
}

}  // namespace dossier::server
