// A clock, a timer and a client that a test moves by hand.
//
//   ManualClock clock; ManualTimer timer(clock); FakeClient client;
//   gate->Submit(…); client.Answer(0, reply); clock->Advance(Millis(500)); timer->RunDue();
//
// Thread-safety: FakeClient and ManualTimer may be used from many threads.

#ifndef DOSSIER_TESTING_FAKES_FOR_TEST_H_
#define DOSSIER_TESTING_FAKES_FOR_TEST_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/client/client.h"
#include "model/client/timer.h"

namespace dossier::model {

class ManualClock final : public Clock {
 public:
  Steady Now() const override { return Steady(std::chrono::hours(1)) + Millis(passed_.load()); }
  Wall WallNow() const override {
    return Wall(std::chrono::seconds(1'800'000'000)) + Millis(passed_.load());
  }
  void Advance(Millis by) { passed_ += by.count(); }

 private:
  std::atomic<std::int64_t> passed_{0};
};

class ManualTimer final : public Timer {
 public:
  explicit ManualTimer(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  std::uint64_t At(Clock::Steady when, std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    tasks_.emplace(std::pair(when, next_id_), std::move(task));
    return next_id_++;
  }
  void Forget(std::uint64_t id) override {
    std::lock_guard lock(mutex_);
    std::erase_if(tasks_, [id](const auto& task) { return task.first.second == id; });
  }
  // Runs what is due, also what these tasks add.
  void RunDue() {
    while (true) {
      std::function<void()> task;
      {
        std::lock_guard lock(mutex_);
        if (tasks_.empty() || tasks_.begin()->first.first > clock_->Now()) return;
        task = std::move(tasks_.begin()->second);
        tasks_.erase(tasks_.begin());
      }
      task();
    }
  }
  std::size_t waiting() const {
    std::lock_guard lock(mutex_);
    return tasks_.size();
  }

 private:
  const std::shared_ptr<const Clock> clock_;
  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 1;
  std::map<std::pair<Clock::Steady, std::uint64_t>, std::function<void()>> tasks_;
};

// Keeps every request until the test answers it.
class FakeClient final : public Client {
 public:
  struct Call {
    std::shared_ptr<const Request> request;
    CancelToken cancel;
    std::shared_ptr<Sink> sink;
  };

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    std::lock_guard lock(mutex_);
    calls_.push_back({std::move(request), std::move(cancel), std::move(sink)});
    ++open_;
    most_open_ = std::max(most_open_, open_);
  }

  void Answer(std::size_t index, std::string text, Usage usage = {.cost_nano_usd = 0}) {
    Reply reply;
    reply.text = std::move(text);
    reply.usage = usage;
    Take(index)->OnDone(std::move(reply));
  }
  void Fail(std::size_t index, ErrorCode code, const Failure& failure) {
    const auto sink = Take(index);
    sink->OnFailure(failure);
    sink->OnDone(MakeError(code, "failed with {}", failure.status));
  }

  std::size_t calls() const {
    std::lock_guard lock(mutex_);
    return calls_.size();
  }
  Call call(std::size_t index) const {
    std::lock_guard lock(mutex_);
    return calls_.at(index);
  }
  int most_open() const { return most_open_; }

 private:
  std::shared_ptr<Sink> Take(std::size_t index) {
    std::lock_guard lock(mutex_);
    --open_;
    return std::move(calls_.at(index).sink);
  }

  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  int open_ = 0, most_open_ = 0;
};

// What a sink was told.
class RecordingSink : public Sink {
 public:
  void OnDelta(std::string_view text) override { deltas.emplace_back(text); }
  void OnFailure(const Failure& given) override { failure = given; }
  void OnRetry(int, const Error&, Millis wait) override { retries.push_back(wait); }
  void OnDone(Result<Reply> reply) override {
    std::lock_guard lock(mutex_);
    ++times_done;
    result = std::move(reply);
    done_.notify_all();
  }
  Result<Reply> Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return result.has_value(); });
    return *result;
  }

  std::vector<std::string> deltas;
  std::vector<Millis> retries;
  Failure failure;
  int times_done = 0;
  std::optional<Result<Reply>> result;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
};

inline Request UserRequest(std::string text) {
  Request request;
  request.messages.turns.push_back({assembly::Role::kUser, {{.text = std::move(text)}}});
  return request;
}

}  // namespace dossier::model

#endif  // DOSSIER_TESTING_FAKES_FOR_TEST_H_
