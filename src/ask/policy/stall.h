// Two small memories of a call: replies that lead nowhere, and blocks that failed.
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
    std::string_view output;  // what the turn's blocks gave, as the model is shown it
  };

  // Counts a turn without an accepted answer. Why the call is stalled, if it is: in three turns in
  // a row nothing ran, or the output was the same; else empty.
  std::string_view Note(const Turn& turn);

 private:
  int nothing_ran_ = 0, same_ = 0;
  std::string output_;
};

class FailedBlocks {
 public:
  static constexpr std::size_t kRemembered = 3;

  // `code` raised an error.
  void Add(std::string_view code);
  // Whether it is one of the last three that did.
  bool Holds(std::string_view code) const;

 private:
  std::deque<std::string> keys_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_STALL_H_
