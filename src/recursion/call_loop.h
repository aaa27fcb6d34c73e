// One call of the recursive engine: turns of "reply, run its code, show the output" until an answer
// is accepted or a limit ends it.
//
//   CallLoop loop(run, metadata, open_workbench);
//   CallResult result = loop.Run();
//
// Sequential code on the caller's thread. Thread-safety: one owner.

#ifndef DOSSIER_RECURSION_CALL_LOOP_H_
#define DOSSIER_RECURSION_CALL_LOOP_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recursion/bare_answer.h"
#include "recursion/extraction.h"
#include "recursion/feedback.h"
#include "recursion/gates.h"
#include "recursion/run_state.h"
#include "recursion/stall.h"
#include "recursion/votes.h"
#include "recursion/workbench.h"

namespace dossier::recursion {

// What the prompts say about the context; made once a run.
struct Metadata {
  std::string doc_count, total_chars, doc_sizes, hint, passages;
  std::string access;  // small models: which name holds the data, in one or two sentences
  std::vector<std::string> hint_values;  // for the grounding gate
  std::uint64_t characters = 0;
  std::uint64_t records = 0;  // of all documents; 0: not all of it is records
};

struct CallResult {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;
  std::optional<Json> value;
  int turns = 0;
  std::vector<LimitHit> limits_hit;
  std::optional<Error> error;
  std::string coverage_gate;
};

class CallLoop {
 public:
  // Makes the workbench when the first code has to run: the first request does not wait for it.
  // The workbench must outlive the loop.
  using OpenWorkbench = std::function<Result<Workbench*>()>;

  CallLoop(RunState& run, const Metadata& metadata, OpenWorkbench open);
  CallResult Run();
  // The first prompt, without sending it.
  Result<assembly::Assembled> FirstPrompt();
  // One plain request with the run's models, limits and journal (REC-2).
  Result<model::Reply> AskDirect(const assembly::Assembled& prompt) {
    return Ask(prompt, model::Purpose::kDirect, model::Stage::kNormal);
  }
  // The turn that is running, for budget().
  int turn() const { return turn_; }

 private:
  struct Offer {  // an answer, not accepted yet
    std::string text;
    Source source = Source::kNone;
    std::optional<Json> value;
  };
  // How a turn ended: an answer, the end of the call, or the feedback for the next one.
  struct TurnEnd {
    std::optional<Offer> accepted;
    std::string stop_reason;  // not empty: go to extract
    std::optional<Error> error;
  };

  Status NeedWorkbench();
  TurnEnd Turn();
  Result<model::Reply> Ask(const assembly::Assembled& prompt, model::Purpose purpose,
                           model::Stage stage);
  Result<assembly::Assembled> AssembleTurn();
  TurnEnd Act(const model::Reply& reply);
  TurnEnd RunBlocks(const Extraction& extraction, const BareAnswer& bare);
  std::optional<TurnEnd> RunBlock(const CodeBlock& block, Feedback* feedback);
  TurnEnd WithoutCode(const Extraction& extraction, const BareAnswer& bare);
  std::optional<Offer> Resolve(const BareAnswer& bare, Feedback* feedback);
  std::optional<Offer> ProseAnswer(std::string_view text) const;
  std::optional<Offer> RepeatedAnswer(std::string_view code) const;
  TurnEnd Decide(Offer offer, Feedback* feedback);
  TurnEnd Continue(Feedback feedback);

  void StartAfresh();
  std::optional<Offer> CountVote(Offer offer);
  CallResult FinishVotes(std::string_view why);
  CallResult Finish(Offer offer, RunStatus status);
  CallResult Extract(const std::string& reason);
  CallResult KeepDraft(RunStatus status, std::optional<Error> error);
  std::optional<std::string> Exhausted();
  bool LastChance() const;
  std::string BudgetLine() const;
  FeedbackStyle Style() const;
  std::map<std::string, std::string> Values() const;
  GateSituation Situation() const;

  RunState& run_;
  const Metadata& metadata_;
  OpenWorkbench open_;
  Workbench* bench_ = nullptr;  // null until code has to run
  Gates gates_;
  StallWatch stall_;
  FailedBlocks failed_;

  int turn_ = 0;
  int errors_in_a_row_ = 0;
  int clean_blocks_ = 0;
  int blocks_run_ = 0;
  int attempt_ = 0;                        // fresh starts so far; raises the temperature
  int failed_turns_ = 0;                   // in a row, without an output or an accepted answer
  struct Candidate {
    Offer offer;
    Vote vote;
  };
  std::vector<Candidate> candidates_;      // accepted answers of independent attempts
  std::vector<assembly::Turn> history_;    // what was sent and received, oldest first
  std::string results_;                    // the newest feedback: the request zone
  std::string request_note_;               // instead of the reminder, once
  std::vector<std::string> printed_;       // by clean blocks, newest last
  std::vector<std::string> code_;          // of all turns
  std::optional<Offer> draft_;
  std::optional<std::string> printed_value_;  // small-models 16
  std::string clean_code_;                 // the newest block that ran without error, as CodeKey
  bool asked_is_it_ = false;
  std::set<std::string> names_;            // of all variables so far
  std::set<std::string> old_names_;        // variables of earlier attempts: not shown again
  std::vector<LimitHit> limits_hit_;
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_CALL_LOOP_H_
