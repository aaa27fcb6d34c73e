// The evidence that the code of one call has shown so far, on which an answer must be based.
//
//   Evidence evidence(question, hint_values);
//   evidence.AddCode(code);
//   evidence.AddClean(code, result);
//   if (auto offer = evidence.ProseAnswer("It is 42.")) …
//
// Thread-safety: one owner. Both views passed in must outlive the object.

#ifndef DOSSIER_ASK_POLICY_EVIDENCE_H_
#define DOSSIER_ASK_POLICY_EVIDENCE_H_

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/policy/grounding.h"
#include "ask/policy/offer.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

class Evidence {
 public:
  // `hint_values` are the example values in the hint (CheckGrounded).
  Evidence(std::string_view question, std::span<const std::string> hint_values)
      : question_(question), hint_values_(hint_values) {}

  // Notes that a block is about to run.
  void AddCode(std::string code) { code_.push_back(std::move(code)); }
  // Notes that a block ran without error. The output that the model has `seen` is evidence if the
  // block touched data, except texts that the code itself contains; numbers count even without data
  // if the block computed them from numbers in outputs of this attempt.
  void AddClean(std::string_view code, const sandbox::BlockResult& result, std::string seen);
  // Notes that a block raised or was stopped: what it had shown by then still came from data.
  void AddRaised(const sandbox::BlockResult& result, std::string_view seen);
  // Adds what `code` handed in as its answer, by the same rule.
  void AddHanded(std::string_view code, const sandbox::BlockResult& result);
  // Remembers the names, then removes those of earlier attempts: an attempt that sees another's
  // results is not independent.
  void NoteNames(std::vector<sandbox::VariableInfo>* variables);
  // Reads a reply's line `ASKED: the first hundred rows`, which has words of the question: the
  // question asks for a part, so a part of that many rows or documents leaves nothing out.
  // A line `IT SAYS: ` has words of the text on which the answer rests.
  void NoteAsked(std::string_view reply);
  // Starts a new attempt, which has only its own outputs. Code and clean-block count are kept.
  void StartAfresh();

  // Returns true if a block without error has touched data, in this or an earlier attempt.
  bool touched_data() const { return touched_data_; }
  bool printed_anything() const { return !printed_.empty(); }
  // The texts that came from data, newest last.
  const std::vector<std::string>& shown() const { return shown_; }
  // The printed part of shown(), without the answers handed in.
  const std::vector<std::string>& outputs() const { return outputs_; }
  // As outputs(), with the texts that the code itself contains, such as labels for counts.
  const std::vector<std::string>& whole_outputs() const { return whole_outputs_; }
  // Conditions of this attempt that matched nothing in the data, and that no later block of it
  // wrote in a form that does: a possible reason for empty results.
  const std::vector<std::string>& unmatched() const { return unmatched_; }
  // Returns true if the newest empty output is proved to be right (BlockResult::Nothing).
  bool nothing_proved() const { return nothing_proved_; }
  // Returns what the newest output that contains `answer` leaves out (or all outputs, if none
  // does), one sentence each, except parts with as many rows as the question names, documents that
  // it names, and parts that it asks for according to the model. `sizes` are the context's sizes.
  std::vector<std::string> LeftOut(std::string_view answer, std::string_view sizes) const;
  const std::string& says() const { return says_; }  // quoted by the model, folded
  // The texts that the newest clean block searched for.
  const std::vector<std::string>& searched() const { return searched_; }
  // Returns a date, or another text with three or more numbers, to which the newest clean block is
  // limited although neither the question nor earlier output names it; empty if there is none.
  std::string UnnamedDay() const;
  const std::vector<std::string>& code() const { return code_; }
  // The code of this attempt only.
  std::span<const std::string> attempt_code() const { return std::span(code_).subspan(earlier_); }
  // Returns the newest output if it is one short value of the wanted kind.
  std::optional<std::string> PrintedValue(AnswerKind wanted) const;

  // Makes an offer from prose: a small model often answers in a sentence instead of the requested
  // form. It counts if code printed every number, quote and example value in it.
  std::optional<Offer> ProseAnswer(std::string_view text) const;
  // Makes an offer from repeated code: a small model that repeats a program after seeing its output
  // has nothing to add, so the output is its answer.
  std::optional<Offer> RepeatedAnswer(std::string_view code) const;

 private:
  bool ReckonsWithShown(std::string_view code) const;
  void AddShown(std::string text, const sandbox::BlockResult& result);
  void NoteUnmatched(const sandbox::BlockResult& result);

  const std::string_view question_;
  const std::span<const std::string> hint_values_;
  bool touched_data_ = false;
  bool part_asked_ = false;  // the question asks for a part, as quoted by the model
  bool nothing_proved_ = false;
  std::size_t earlier_ = 0;                                   // blocks of earlier attempts
  std::vector<std::vector<sandbox::BlockResult::Gap>> gaps_;  // for each of shown_
  std::vector<std::string> printed_, shown_, outputs_, whole_outputs_, code_, unmatched_, searched_,
      days_;
  std::string says_;
  std::string clean_code_;                   // CodeKey of the newest block that ran without error
  std::set<std::string> names_, old_names_;  // of variables: all, and those of earlier attempts
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_EVIDENCE_H_
