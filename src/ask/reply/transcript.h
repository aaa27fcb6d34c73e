// The history of one call: all of it, and the part of it that a request holds.
//
//   Transcript transcript({.counter = *root.counter, .boundary = run.boundary, …}, moved);
//   transcript.AddReply(1, reply.text);
//   transcript.AddOutput(1, sent, shorter);
//   sections.push_back(transcript.AsSection());
//   // The prompt got too long:
//   const assembly::CompactionPlan plan = transcript.Plan({.start = 3000, .target = 2000});
//   transcript.Apply(plan, summary);
//
// What is taken out of the view stays here, in the journal, and in `history` for code. The first
// reply stays in the view: a summary that stood right behind the question would join its message.
// Thread-safety: one owner.

#ifndef DOSSIER_ASK_REPLY_TRANSCRIPT_H_
#define DOSSIER_ASK_REPLY_TRANSCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "assembly/fit/compaction.h"
#include "tokens/counter/counter.h"

namespace dossier::ask {

// Messages that compaction took out of the prompt, as code finds them in `history`. An entry never
// changes and never goes away, so that a pointer in an old message stays true. Any thread.
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

struct TranscriptStyle {
  const tokens::Counter& counter;
  std::int64_t tokens_per_message = 0;
  std::int64_t summary_tokens = 1500;  // the most that one summary may cost
  std::string boundary;                // fences what models wrote
};

class Transcript {
 public:
  Transcript(TranscriptStyle style, MovedTurns& moved) : style_(std::move(style)), moved_(moved) {}

  // What the model wrote in `turn`.
  void AddReply(int turn, std::string text);
  // The message that answered it, as it was sent, and what may stand for it once it is old.
  void AddOutput(int turn, std::string text, std::string shorter);
  // A fresh start: nothing of it is sent again.
  void Clear();
  bool empty() const { return turns_.empty(); }

  // As a request holds it; provenance says what was left out.
  assembly::Section AsSection() const;
  std::int64_t tokens() const;  // of the view, with framing

  struct Room {
    std::int64_t start = 0, target = 0;  // tokens of the view
  };
  assembly::CompactionPlan Plan(const Room& room) const;
  // The turns that a summary of `plan` has to tell, as text of at most about `room` tokens: the
  // longest messages lose their middle, and say so.
  struct Told {
    std::string text;
    std::size_t cut = 0;  // messages that lost something
  };
  Told ToTell(const assembly::CompactionPlan& plan, std::int64_t room) const;
  // The numbers of these turns: "2 to 7".
  std::string TurnsOf(const assembly::CompactionPlan& plan) const;
  // `summary`: what a model wrote; empty: turns of kSummarize are only counted.
  Status Apply(const assembly::CompactionPlan& plan, std::string_view summary);
  // Of the turns, code finds those in `history` that a layout left out of what was sent.
  void MoveOutUnsent(const assembly::Messages& sent);

 private:
  void Add(std::string id, assembly::Role role, std::string text, std::string output_of);
  void MoveOut(std::string_view id);
  std::string Short(const assembly::HistoryTurn& turn) const;
  std::string Bounded(std::string_view summary) const;
  assembly::CompactionPolicy Policy(const Room& room) const;

  const TranscriptStyle style_;
  MovedTurns& moved_;
  std::vector<assembly::HistoryTurn> turns_;
  std::map<std::string, std::string, std::less<>> shorter_;  // by id
  std::map<std::string, std::size_t, std::less<>> places_;   // by id: index in `history`
  assembly::Compaction compaction_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_TRANSCRIPT_H_
