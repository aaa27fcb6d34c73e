// The history of one call: all of it, and the view of it that a request contains.
//
//   Transcript transcript({.counter = *root.counter, .boundary = run.boundary, …}, moved);
//   transcript.AddReply(1, reply.text);
//   transcript.AddOutput(1, sent, shorter);
//   sections.push_back(transcript.AsSection());
//   // The prompt got too long:
//   const assembly::CompactionPlan plan = transcript.Plan({.start = 3000, .target = 2000});
//   transcript.Apply(plan, summary);
//
// What is removed from the view remains here, in the journal, and in `history` for code. The first
// reply stays in the view, because a summary right after the question would be merged with its
// message. Thread-safety: one owner.

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

// Messages that compaction removed from the prompt, available to code in `history`. Entries never
// change or disappear, so references in old messages stay valid. Thread-safety: any thread.
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
  std::int64_t summary_tokens = 1500;  // maximum for one summary
  std::string boundary;                // marks text written by models
};

class Transcript {
 public:
  Transcript(TranscriptStyle style, MovedTurns& moved) : style_(std::move(style)), moved_(moved) {}

  // Adds what the model wrote in `turn`.
  void AddReply(int turn, std::string text);
  // Adds the message that answered it, as sent, and the shorter text that may replace it later.
  void AddOutput(int turn, std::string text, std::string shorter);
  // Makes a fresh start: nothing of the history is sent again.
  void Clear();
  bool empty() const { return turns_.empty(); }

  // Returns the view for a request; its provenance says what was left out.
  assembly::Section AsSection() const;
  std::int64_t tokens() const;  // of the view, with framing

  struct Room {
    std::int64_t start = 0, target = 0;  // view sizes in tokens
  };
  assembly::CompactionPlan Plan(const Room& room) const;
  // The turns that a summary of `plan` must cover, as text of about `room` tokens at most: the
  // longest messages lose their middle, with a note.
  struct Told {
    std::string text;
    std::size_t cut = 0;  // messages that were shortened
  };
  Told ToTell(const assembly::CompactionPlan& plan, std::int64_t room) const;
  // Returns the numbers of these turns: "2 to 7".
  std::string TurnsOf(const assembly::CompactionPlan& plan) const;
  // `summary` is a model's text; if empty, the turns of kSummarize are only counted.
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
  std::map<std::string, std::size_t, std::less<>> places_;   // index in `history`, by id
  assembly::Compaction compaction_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_TRANSCRIPT_H_
