// Two small memories of a call: replies that lead nowhere, and blocks that failed.
//
//   StallWatch watch;
//   if (watch.Note({.characters = 12, .has_code = false})) EndWithExtract("stalled");   // REC-15
//   FailedBlocks failed;
//   if (failed.Holds(code)) SendBack("the same block raised before");                   // REC-16
//
// Thread-safety: none; one owner.

#ifndef DOSSIER_RECURSION_STALL_H_
#define DOSSIER_RECURSION_STALL_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace dossier::recursion {

class StallWatch {
 public:
  static constexpr int kReplies = 3;
  static constexpr std::uint64_t kShort = 24;  // characters

  struct Reply {
    std::uint64_t characters = 0;  // of the reply without thinking
    bool has_code = false;
  };

  // Counts a reply that held no accepted final. True if three in a row had no code, or three in a
  // row had at most 24 characters.
  bool Note(const Reply& reply);

 private:
  int without_code_ = 0;
  int short_ = 0;
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

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_STALL_H_
