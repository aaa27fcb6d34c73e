// Messages that compaction took out of the prompt, as code finds them in `history`.
//
//   const std::size_t index = moved.Add("[output of turn 2]\n…");   // history[index] in the
//   sandbox
//
// An entry never changes and never goes away, so that a pointer in an old message stays true.
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_ASK_REPLY_MOVED_TURNS_H_
#define DOSSIER_ASK_REPLY_MOVED_TURNS_H_

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::ask {

class MovedTurns {
 public:
  std::size_t Add(std::string text) {
    std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
    return texts_.size() - 1;
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return texts_.size();
  }
  std::optional<std::string> At(std::size_t index) const {
    std::lock_guard lock(mutex_);
    if (index >= texts_.size()) return std::nullopt;
    return texts_[index];
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_MOVED_TURNS_H_
