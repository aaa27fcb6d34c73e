// Assembles prompts with a history, and compacts old turns when a prompt gets too long.
//
//   PromptRoom room(run, transcript);
//   DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt,
//                            room.Assemble("turn", values, {.turn = 7}));
//
// Compaction covers several turns at a time, since each change of an old message invalidates the
// provider's cached prefix: from the fraction compact-at of the window down to two thirds of that.
// A step that would free little is skipped unless the history would have to be cut.
//
// Every step is in the journal (`compaction.done`), and a warning reports a history that had to be
// cut anyway. Thread-safety: one owner.

#ifndef DOSSIER_ASK_LOOP_PROMPT_ROOM_H_
#define DOSSIER_ASK_LOOP_PROMPT_ROOM_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/reply/transcript.h"
#include "ask/run/run_state.h"

namespace dossier::ask {

// Returns the token limit for one summary, given the window in tokens.
std::int64_t SummaryTokens(std::int64_t window);

class PromptRoom {
 public:
  // Both must outlive this.
  PromptRoom(RunState& run, Transcript& transcript) : run_(run), transcript_(transcript) {}

  // The turn and attempt that a prompt is for.
  struct TurnInfo {
    int turn = 1, attempt = 0;
    enum class Summaries { kYes, kNo } summaries = Summaries::kYes;  // kNo: no call is left
  };
  // Errors: those of PromptBook::Assemble; kCancelled.
  Result<assembly::Assembled> Assemble(std::string_view layout,
                                       const std::map<std::string, std::string>& values,
                                       const TurnInfo& turn);
  const std::vector<Compacted>& done() const { return done_; }

 private:
  struct HistoryUse;
  Result<assembly::Assembled> Try(std::string_view layout,
                                  const std::map<std::string, std::string>& values) const;
  struct Need;
  std::optional<Need> Wanted(const assembly::Assembled& prompt, const HistoryUse& use) const;
  Result<bool> MakeRoom(const Need& need, const TurnInfo& turn, Compacted* done);
  Result<assembly::Assembled> SummaryPrompt(const assembly::CompactionPlan& plan, std::int64_t most,
                                            std::size_t* messages_cut) const;
  Result<std::string> Summary(const assembly::CompactionPlan& plan, const TurnInfo& turn,
                              std::size_t* messages_cut);
  void Tell(Compacted done, const assembly::Assembled& prompt);

  RunState& run_;
  Transcript& transcript_;
  std::vector<Compacted> done_;
  bool cut_told_ = false;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_PROMPT_ROOM_H_
