#include "agents/run/workers.h"

#include <thread>
#include <vector>

namespace dossier::agents {

Status Workers::Run() {
  DOSSIER_RETURN_IF_ERROR(Report(schedule_.blocked()));
  std::vector<std::thread> threads;
  for (int worker = 1; worker <= parts_.count; ++worker) {
    threads.emplace_back([this, worker] { Loop(worker); });
  }
  for (std::thread& thread : threads) thread.join();
  return failed_;
}

void Workers::Loop(int worker) {
  while (const auto task = Next()) Done(*task, parts_.work(*task, worker));
}

std::optional<std::size_t> Workers::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!failed_ || parts_.stopped() || schedule_.done()) return std::nullopt;
    if (const auto task = schedule_.Take()) return task;
    changed_.wait(lock);
  }
}

void Workers::Done(std::size_t task, const Result<Schedule::Ended>& ended) {
  const std::lock_guard lock(mutex_);
  if (ended) {
    const Status reported = Report(schedule_.Finish(task, *ended));
    if (!reported && failed_) failed_ = reported;
  } else if (failed_) {
    failed_ = tl::unexpected(ended.error());
  }
  changed_.notify_all();
}

Status Workers::Report(const std::vector<Blocked>& blocked) {
  for (const Blocked& one : blocked) DOSSIER_RETURN_IF_ERROR(parts_.blocked(one));
  return {};
}

}  // namespace dossier::agents
