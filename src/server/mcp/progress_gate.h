// Limits the progress notices of a request to a client that wants them: at most four a second, at
// least one in ten seconds, with increasing values, none after it is closed.
//
//   ProgressGate gate(token, send);
//   gate.Offer({.done = 3, .message = "turn 3/30"});   // sent now, or by the next Tick
//   gate.Tick(now);                                    // several times a second
//   gate.Close();                                      // before the answer
//
// Thread-safety: all methods from any thread. `send` is called with the gate locked.

#ifndef DOSSIER_SERVER_MCP_PROGRESS_GATE_H_
#define DOSSIER_SERVER_MCP_PROGRESS_GATE_H_

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json/json.h"
#include "server/mcp/message.h"
#include "server/operations.h"

namespace dossier::mcp {

class ProgressGate {
 public:
  ProgressGate(Json token, std::function<void(const std::string&)> send)
      : token_(std::move(token)), send_(std::move(send)) {}

  void Offer(const server::Progress& progress,
             Clock::Steady now = std::chrono::steady_clock::now()) {
    const std::lock_guard lock(mutex_);
    if (progress.done > latest_.done || !offered_) {
      latest_ = progress;
      offered_ = waiting_ = true;
    }
    Flush(now);
  }
  void Tick(Clock::Steady now = std::chrono::steady_clock::now()) {
    const std::lock_guard lock(mutex_);
    if (offered_ && !waiting_ && now - last_ >= kLongest) waiting_ = true;
    Flush(now);
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  static constexpr std::size_t kMostASecond = 4;
  static constexpr std::chrono::seconds kWindow{1}, kLongest{10};

  void Flush(Clock::Steady now) {
    if (closed_ || !waiting_) return;
    while (!sent_.empty() && now - sent_.front() >= kWindow) sent_.pop_front();
    if (sent_.size() >= kMostASecond) return;
    sent_.push_back(now);
    last_ = now;
    waiting_ = false;
    // The value must increase, even if only time has passed.
    told_ = told_ && latest_.done <= *told_ ? *told_ + 0.001 : latest_.done;
    JsonObject params{{"progressToken", token_}, {"progress", *told_}};
    if (latest_.total) params["total"] = *latest_.total;
    if (!latest_.message.empty()) params["message"] = latest_.message;
    send_(NotificationText("notifications/progress", std::move(params)));
  }

  const Json token_;
  const std::function<void(const std::string&)> send_;
  std::mutex mutex_;
  server::Progress latest_;
  std::optional<double> told_;
  bool offered_ = false, waiting_ = false, closed_ = false;
  std::deque<Clock::Steady> sent_;
  Clock::Steady last_;
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_PROGRESS_GATE_H_
