// What the code of one call has shown so far: the ground on which an answer must stand.
//
//   Evidence evidence(question, hint_values);
//   evidence.AddCode(code);
//   evidence.AddClean(code, result);
//   if (auto offer = evidence.ProseAnswer("It is 42.")) …
//
// Thread-safety: one owner. The two views given must outlive the object.

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
  // `hint_values`: what the hint showed as examples (CheckGrounded).
  Evidence(std::string_view question, std::span<const std::string> hint_values)
      : question_(question), hint_values_(hint_values) {}

  // A block is about to run.
  void AddCode(std::string code) { code_.push_back(std::move(code)); }
  // A block ran without error. What the model has `seen` of its output is evidence if the block
  // touched data, and without the texts that the code says itself; its numbers, if the block
  // computed them from such as outputs of this attempt have shown.
  void AddClean(std::string_view code, const sandbox::BlockResult& result, std::string seen);
  // A block raised or was stopped: what it had shown by then came out of data all the same.
  void AddRaised(const sandbox::BlockResult& result, std::string_view seen);
  // What `code` handed over as its answer, by the same rule.
  void AddHanded(std::string_view code, const sandbox::BlockResult& result);
  // Remembers the names, then drops those of earlier attempts: an attempt that sees the results of
  // another is no independent one.
  void NoteNames(std::vector<sandbox::VariableInfo>* variables);
  // A line `ASKED: the first hundred rows` of a reply, with words of the question, says that the
  // question asks for a part: then a part of so many rows or documents leaves nothing out.
  void NoteAsked(std::string_view reply);
  // A new attempt stands on its own outputs only. Code and the count of clean blocks stay.
  void StartAfresh();

  // Whether a block without error has touched data, in this attempt or an earlier one.
  bool touched_data() const { return touched_data_; }
  bool printed_anything() const { return !printed_.empty(); }
  // What came out of data, newest last.
  const std::vector<std::string>& shown() const { return shown_; }
  // Of these, what blocks printed: without the answers that they handed in.
  const std::vector<std::string>& outputs() const { return outputs_; }
  // The same with the texts that the code says itself: names that it gave to what it counted.
  const std::vector<std::string>& whole_outputs() const { return whole_outputs_; }
  // Conditions of this attempt that fit nothing in the data, and that no later block of it wrote in
  // a way that does: why it may have found nothing.
  const std::vector<std::string>& unmatched() const { return unmatched_; }
  // Whether the newest output that is nothing is proved to be (BlockResult::Nothing).
  bool nothing_proved() const { return nothing_proved_; }
  // What the newest of the outputs leaves out that `answer` stands in, or of all where it stands in
  // none, a sentence each; without parts of as many rows as the question itself names, of documents
  // that it names, and of what it asks for as the model said. `sizes`: of the context.
  std::vector<std::string> LeftOut(std::string_view answer, std::string_view sizes) const;
  // What the newest clean block looked for in texts.
  const std::vector<std::string>& searched() const { return searched_; }
  // A day, or another text of three numbers or more, to which the newest clean block keeps although
  // neither the question nor what was printed before names it; empty: there is none.
  std::string UnnamedDay() const;
  const std::vector<std::string>& code() const { return code_; }
  // That of this attempt only.
  std::span<const std::string> attempt_code() const { return std::span(code_).subspan(earlier_); }
  // The newest output, if it is one short value of the wanted kind.
  std::optional<std::string> PrintedValue(AnswerKind wanted) const;

  // A small model often states the answer in a sentence instead of the asked form. If every number,
  // quote and example value in it stands in what code printed, it is an answer.
  std::optional<Offer> ProseAnswer(std::string_view text) const;
  // A small model that was shown an output and writes the same program again has nothing to add:
  // the output is its answer.
  std::optional<Offer> RepeatedAnswer(std::string_view code) const;

 private:
  bool ReckonsWithShown(std::string_view code) const;
  void AddShown(std::string text, const sandbox::BlockResult& result);
  void NoteUnmatched(const sandbox::BlockResult& result);

  const std::string_view question_;
  const std::span<const std::string> hint_values_;
  bool touched_data_ = false;
  bool part_asked_ = false;  // by the question, as the model quoted it
  bool nothing_proved_ = false;
  std::size_t earlier_ = 0;                                   // blocks of earlier attempts
  std::vector<std::vector<sandbox::BlockResult::Gap>> gaps_;  // of each of shown_
  std::vector<std::string> printed_, shown_, outputs_, whole_outputs_, code_, unmatched_, searched_,
      days_;
  std::string clean_code_;                   // the newest block that ran without error, as CodeKey
  std::set<std::string> names_, old_names_;  // of variables: all, and those of earlier attempts
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_EVIDENCE_H_
