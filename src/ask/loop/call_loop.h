// Runs one call of the recursive engine: turns of "reply, run its code, show the output" until an
// answer is accepted or a limit ends it.
//
//   CallLoop loop(run, metadata, moved, open_workbench);
//   CallResult result = loop.Run();
//
// Sequential code in the caller's thread. Thread-safety: one owner.

#ifndef DOSSIER_ASK_LOOP_CALL_LOOP_H_
#define DOSSIER_ASK_LOOP_CALL_LOOP_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ask/loop/feedback.h"
#include "ask/loop/prompt_room.h"
#include "ask/loop/reading.h"
#include "ask/policy/ballot.h"
#include "ask/policy/evidence.h"
#include "ask/policy/gates.h"
#include "ask/policy/named_values.h"
#include "ask/policy/stall.h"
#include "ask/reply/bare_answer.h"
#include "ask/reply/extraction.h"
#include "ask/reply/submit.h"
#include "ask/reply/transcript.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/workbench.h"

namespace dossier::ask {

// The prompts' information about the context; made once per run.
struct Metadata {
  std::string documents, doc_count;  // "1 document", "1"
  std::string total_chars, doc_sizes, hint;
  std::string doc_unlisted;  // lines of doc_sizes that say more than the hint
  ShownPassages passages;
  std::string sizes;   // all sizes in the description, as plain numbers
  std::string access;  // small models: names the variable with the data, in 1 or 2 sentences
  std::vector<std::string> hint_values;  // for the grounding gate
  // By the field's name in the hint, over all documents: the distinct values in the first records,
  // for fields with few (numbers and booleans as text), and the names of the types.
  std::map<std::string, std::vector<std::string>> field_values, field_types;
  std::uint64_t characters = 0;
};

struct CallResult {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;
  std::optional<Json> value;
  int turns = 0;
  std::vector<LimitHit> limits_hit;
  std::vector<Compacted> compactions;
  std::optional<Error> error;
  int attempts = 1, agreeing = 1;
  std::vector<std::string> doubts;
  std::string last_output;           // if no answer was handed in
  std::vector<std::string> printed;  // by code, from data
};

// Marks an answer as partial that is kept although it fails a requirement of the caller (exit code
// 11, or 15 if required evidence is missing).
void MarkNotAsRequired(std::string_view gate, const std::string& complaint, CallResult* result);
// Warns that only the answer's text has all its numbers, because its value could not hold some.
void WarnOfTexts(const CallLog& log);

class CallLoop {
 public:
  // Makes the workbench when the first code has to run, so that the first request does not wait for
  // it. The workbench must outlive the loop.
  using OpenWorkbench = std::function<Result<Workbench*>()>;

  // `moved` receives what no longer fits the prompts.
  CallLoop(RunState& run, const Metadata& metadata, MovedTurns& moved, OpenWorkbench open);
  CallResult Run();
  // Returns the first prompt without sending it.
  Result<assembly::Assembled> FirstPrompt();
  // Returns the current turn, for budget().
  int turn() const { return turn_; }
  // Return the results that the model was shown in answered requests, and the passages among them.
  const std::vector<std::string>& shown_results() const { return shown_results_; }
  const std::vector<Passage>& passages_shown() const;

 private:
  // The end of a turn: an answer, the end of the call, or feedback for the next turn.
  struct TurnEnd {
    std::optional<Offer> accepted;
    std::string stop_reason;  // not empty: continue with extraction
    std::string stalled;      // why this attempt leads nowhere; empty: it may succeed
    std::optional<Error> error;
  };

  // The end of a block. Later blocks rely on its effects, so the rest of a reply runs only after
  // blocks that ended whole.
  struct BlockEnd {
    enum class Kind { kWhole, kRaised, kRefused } kind = Kind::kWhole;
    std::optional<Offer> offer;  // the answer that it handed in
    std::optional<Error> error;  // from the sandbox
  };
  static BlockEnd::Kind KindOf(const sandbox::BlockResult& result);

  // call_loop.cc: the turns and their prompts.
  void StartTurn();
  void CountPlainAnswer();
  std::optional<CallResult> ReadFirst();
  bool SaidAgain(const std::string& answer);
  TurnEnd Turn();
  std::optional<CallResult> EndOfTurn(TurnEnd end);
  std::optional<CallResult> TakeVote(Offer offer);
  bool ContradictsReadings(const Offer& decided) const;
  bool MayStartAfresh() const;
  void StartAfresh();
  Result<assembly::Assembled> AssembleTurn();
  std::map<std::string, std::string> Values() const;
  std::string BudgetLine() const;

  // Gets the reply to the turn's prompt; asks once more, with more room, if the reply was cut off.
  Result<model::Reply> AskTurn(const assembly::Assembled& prompt);
  Millis TimeBehindReply() const;
  std::optional<model::Reply> ArrivedFinal(std::string partial) const;

  // call_turn.cc: processing one reply.
  Status NeedWorkbench();
  bool MayHoldNames() const;  // of code that ran, here or for earlier session questions
  TurnEnd Act(const model::Reply& reply);
  Extraction Extract(const model::Reply& reply);
  std::optional<Submission> SubmissionOf(const model::Reply& reply,
                                         const Extraction& extraction) const;
  TurnEnd TakeSubmission(const Submission& submission, std::size_t blocks);
  Result<sandbox::BlockResult> RunSubmission(const std::string& code);
  TurnEnd CutTwice(const model::Reply& reply, const BareAnswer& bare);
  // Returns why this turn shows that the call is stalled; empty: it is not.
  std::string Stalled(const model::Reply& reply, StallWatch::Ran ran);
  TurnEnd RunBlocks(const Extraction& extraction, const BareAnswer& bare);
  BlockEnd RunBlock(const CodeBlock& block, Feedback* feedback);
  Result<sandbox::BlockResult> Execute(const std::string& code);
  void NoteResult(const std::string& code, const sandbox::BlockResult& result, Feedback* feedback);
  TurnEnd AfterAllBlocks(const BareAnswer& bare, Feedback feedback);
  TurnEnd WithoutCode(const Extraction& extraction, const BareAnswer& bare);
  std::optional<Offer> Resolve(const BareAnswer& bare, Feedback* feedback);
  bool Computes(const BareAnswer& bare);
  std::optional<Offer> RunAnswer(const BareAnswer& bare, Feedback* feedback);
  std::optional<Offer> RefuseOnce(const BareAnswer& bare, std::string reason, Feedback* feedback);
  enum class Repairs { kAsAllowed, kNoMore };
  static Offer OfferOf(const sandbox::HandedAnswer& answer, Source source);
  std::optional<Refusal> Require(Offer* offer, Repairs repairs);
  TurnEnd Decide(Offer offer, Feedback* feedback);
  TurnEnd Continue(Feedback feedback);
  SubcallTally TakeTally();  // of the sub-calls since the last call
  bool HasReadContext();
  GateSituation Situation(std::string_view answer);
  std::string ValueLeftOut(std::string_view answer);
  std::string UnreadDocument(std::string_view answer);
  std::vector<std::string_view> StoredTexts() const;
  std::string CountedMentions(std::string_view answer) const;
  bool DataHold(std::string_view word) const;
  bool ShowValuesOfData(std::span<const std::string> outputs) const;
  AnswerKind WantedKind();
  std::string ReplyGrammar() const;
  FeedbackStyle Style() const;

  // call_end.cc: how a call ends.
  CallResult FinishVotes(std::string_view why);
  void NoteDoubt(const Offer& offer, CallResult* result) const;
  CallResult Finish(Offer offer, RunStatus status);
  void KeepClosing();
  void KeepBack(const model::FinishReserve& keep);
  void KeepClosingTokens(const assembly::Assembled& empty, model::FinishReserve* keep) const;
  CallResult Close(const std::string& reason);
  void NoteClosingDoubt(Offer* offer);
  std::int64_t ClosingRoom(const assembly::Assembled& prompt) const;
  Result<assembly::Assembled> ClosingPrompt(const std::string& reason);
  std::optional<Offer> ReadClosing(const model::Reply& reply);
  CallResult KeepDraft(RunStatus status, std::optional<Error> error);
  // Ends the call after a signal: returns the answers of the vote so far, else the draft.
  CallResult Interrupted(Error error);
  CallResult Ended(RunStatus status);
  void WarnOfSkippedRows();
  std::optional<std::string> Exhausted() const;
  bool LastChance() const;
  ModelSize tolerance() const { return run_.policy.tolerance; }
  bool HoldsToGrammar() const { return run_.policy.holds_to_grammar && run_.root.entry.grammar; }

  RunState& run_;
  const Metadata& metadata_;
  OpenWorkbench open_;
  Workbench* bench_ = nullptr;  // null until code has to run
  Gates gates_;
  Ballot ballot_;
  Evidence evidence_;
  StallWatch stall_;
  StallWatch cut_replies_;  // texts of replies that were cut off
  FailedBlocks failed_;
  std::set<std::size_t> records_used_;  // documents whose records code requested

  model::FinishReserve kept_;  // for the closing request
  Millis longest_reply_{0};    // of the turns, if the run has a time limit
  std::vector<std::string> shown_results_;
  int turn_ = 0;
  std::optional<std::int64_t> seconds_left_;  // at the start of the turn; unset: no limit
  int turns_replied_ = 0;                     // an interrupted or refused request is not a turn
  int errors_in_a_row_ = 0;
  int blocks_run_ = 0;
  int attempt_ = 0;        // fresh starts so far; raises the temperature
  int failed_turns_ = 0;   // consecutive turns without output or accepted answer
  Transcript transcript_;  // what was sent and received
  PromptRoom room_;
  PassageReader reader_;
  std::string results_;                           // the newest feedback, for the request zone
  std::string short_results_;                     // replaces results_ once it is old
  std::string request_note_;                      // replaces the reminder once
  std::vector<sandbox::VariableInfo> variables_;  // after the newest block
  std::optional<Offer> draft_;                    // newest answer handed in but not accepted
  std::optional<AnswerKind> wanted_;              // unset: not asked yet
  std::optional<NamedValues> named_values_;       // unset: not looked for yet
  // Rarity of the words of question and checked answer: in running text, and in all documents.
  WordRarity rarity_, all_words_;
  // Tallies: not yet reported in feedback; of the whole call; of the newest block.
  SubcallTally untold_, all_subcalls_, newest_block_;
  bool asked_is_it_ = false;
  std::map<std::string_view, int> repairs_;  // of answers that fail a requirement, by gate
  bool refused_final_ = false;               // a final answer without a value was refused
  std::vector<LimitHit> limits_hit_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_CALL_LOOP_H_
