// Two small memories of a call: replies that made no progress, and blocks that failed.
//
//   StallWatch watch;
//   if (watch.Note({.ran = StallWatch::Ran::kNothing})) EndWithExtract("stalled");
//   FailedBlocks failed;
//   if (failed.Holds(code)) SendBack("the same block raised before");
//
// Thread-safety: none; one owner.

#ifndef DOSSIER_ASK_POLICY_STALL_H_
#define DOSSIER_ASK_POLICY_STALL_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace dossier::ask {

class StallWatch {
 public:
  static constexpr int kReplies = 3;

  enum class Ran { kNothing, kBlocks };
  struct Turn {
    Ran ran = Ran::kNothing;
    std::string_view output;  // output of the turn's blocks, as shown to the model
  };

  // Counts a turn without an accepted answer. Returns why the call is stalled (in three consecutive
  // turns nothing ran, or the output was the same), or an empty text if it is not.
  std::string_view Note(const Turn& turn);

 private:
  int nothing_ran_ = 0, same_ = 0;
  std::string output_;
};

class FailedBlocks {
 public:
  static constexpr std::size_t kRemembered = 3;

  // Notes that `code` raised an error.
  void Add(std::string_view code);
  // Returns true if `code` is one of the last three that raised.
  bool Holds(std::string_view code) const;

 private:
  std::deque<std::string> keys_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_STALL_H_
