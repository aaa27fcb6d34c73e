// What the code of one call has shown so far: the ground on which an answer must stand.
//
//   Evidence evidence(question, hint_values);
//   evidence.AddCode(code);
//   evidence.AddClean(code, "42\n");
//   if (auto offer = evidence.ProseAnswer("It is 42.")) …
//
// Thread-safety: one owner. The two views given must outlive the object.

#ifndef DOSSIER_RECURSION_EVIDENCE_H_
#define DOSSIER_RECURSION_EVIDENCE_H_

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recursion/offer.h"
#include "sandbox/session.h"

namespace dossier::recursion {

class Evidence {
 public:
  // `hint_values`: what the hint showed as examples (CheckGrounded).
  Evidence(std::string_view question, std::span<const std::string> hint_values)
      : question_(question), hint_values_(hint_values) {}

  // A block is about to run.
  void AddCode(std::string code) { code_.push_back(std::move(code)); }
  // A block ran without error and printed `output`.
  void AddClean(std::string_view code, std::string output);
  // Remembers the names, then drops those of earlier attempts: an attempt that sees the results of
  // another is no independent one.
  void NoteNames(std::vector<sandbox::VariableInfo>* variables);
  // A new attempt stands on its own outputs only. Code and the count of clean blocks stay.
  void StartAfresh();

  int clean_blocks() const { return clean_blocks_; }
  bool printed_anything() const { return !printed_.empty(); }
  const std::vector<std::string>& printed() const { return printed_; }  // newest last
  const std::vector<std::string>& code() const { return code_; }
  // The newest output, if it is one short value in the question's shape (small-models 16).
  const std::optional<std::string>& printed_value() const { return printed_value_; }

  // A small model often states the answer in a sentence instead of the asked form. If every number,
  // quote and example value in it stands in what code printed, it is an answer (small-models 16).
  std::optional<Offer> ProseAnswer(std::string_view text) const;
  // A small model that was shown an output and writes the same program again has nothing to add:
  // the output is its answer (small-models 14, 16).
  std::optional<Offer> RepeatedAnswer(std::string_view code) const;

 private:
  const std::string_view question_;
  const std::span<const std::string> hint_values_;
  int clean_blocks_ = 0;
  std::vector<std::string> printed_, code_;
  std::optional<std::string> printed_value_;
  std::string clean_code_;                   // the newest block that ran without error, as CodeKey
  std::set<std::string> names_, old_names_;  // of variables: all, and those of earlier attempts
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_EVIDENCE_H_
