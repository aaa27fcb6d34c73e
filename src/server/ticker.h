// A thread that calls functions periodically: to send progress, to notice clients that left, and to
// keep quiet streams alive.
//
//   Ticker ticker;
//   const Ticker::Handle beat = ticker.Every(Millis(250), [&] { Flush(); });   // while beat lives
//
// A handle's destructor waits for a call in progress; after that, what the function uses may be
// destroyed. Functions must not block or destroy their own handle. Thread-safety: all methods from
// any thread; handles must not outlive the ticker.

#ifndef DOSSIER_SERVER_TICKER_H_
#define DOSSIER_SERVER_TICKER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace dossier::server {

class Ticker {
 public:
  class Handle {
   public:
    Handle() = default;
    Handle(Handle&& other) noexcept
        : ticker_(std::exchange(other.ticker_, nullptr)), id_(other.id_) {}
    Handle& operator=(Handle&& other) noexcept {
      std::swap(ticker_, other.ticker_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Handle() {
      if (ticker_) ticker_->Remove(id_);
    }

   private:
    friend class Ticker;
    Handle(Ticker* ticker, std::uint64_t id) : ticker_(ticker), id_(id) {}
    Ticker* ticker_ = nullptr;
    std::uint64_t id_ = 0;
  };

  Ticker() = default;
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Calls `call` every `interval`. The thread starts with the first function.
  Handle Every(Millis interval, std::function<void()> call);

 private:
  struct Entry {
    Millis interval;
    Clock::Steady next;
    std::shared_ptr<std::function<void()>> call;
  };

  void Remove(std::uint64_t id);
  void Run();

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t last_ = 0, running_ = 0;  // the entry whose function runs; 0: none
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_TICKER_H_
