// Makes a gate with a given timer, so that tests decide when time passes.
//
//   auto gate = MakeGate(client, {.concurrency = 4}, clock, timer);
//
// Thread-safety: as Gate.

#ifndef DOSSIER_MODEL_CLIENT_GATE_CORE_H_
#define DOSSIER_MODEL_CLIENT_GATE_CORE_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "model/client/gate.h"
#include "model/client/timer.h"

namespace dossier::model {

std::unique_ptr<Gate> MakeGate(std::shared_ptr<Client> client, const GateOptions& options,
                               std::shared_ptr<const Clock> clock, std::shared_ptr<Timer> timer);

// A queue that is fair between calls of a tree, and first in, first out within one.
//
//   FairQueue<int> queue;
//   queue.Push("0.1", 7);
//   std::optional<int> next = queue.Pop();     // takes turns between the keys that wait
//
// Thread-safety: not thread-safe; the gate guards it.

template <typename T>
class FairQueue {
 public:
  void Push(const std::string& key, T value) { Lane(key).push_back(std::move(value)); }
  // Inserts before all others of its key: for a retry, which keeps its place.
  void PushFront(const std::string& key, T value) { Lane(key).push_front(std::move(value)); }

  std::optional<T> Pop() {
    if (turns_.empty()) return std::nullopt;
    const std::string key = std::move(turns_.front());
    turns_.pop_front();
    const auto lane = lanes_.find(key);
    T value = std::move(lane->second.front());
    lane->second.pop_front();
    if (lane->second.empty()) {
      lanes_.erase(lane);
    } else {
      turns_.push_back(key);
    }
    return value;
  }

  bool empty() const { return turns_.empty(); }

 private:
  std::deque<T>& Lane(const std::string& key) {
    const auto [lane, is_new] = lanes_.try_emplace(key);
    if (is_new) turns_.push_back(key);
    return lane->second;
  }

  std::map<std::string, std::deque<T>> lanes_;  // none is empty
  std::deque<std::string> turns_;               // each key of lanes_ once
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_GATE_CORE_H_
