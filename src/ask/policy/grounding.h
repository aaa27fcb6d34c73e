// Checks whether an answer is supported by what code printed, and whether a printed value is an
// answer (small-models.md 16).
//
//   Grounding g = CheckGrounded("It is 42.", question, hint_values, printed);
//   if (!g.grounded) Refuse("{} occurs in nothing that was printed", g.missing);
//
// Thread-safety: pure functions. Linear in the length of what was printed.

#ifndef DOSSIER_ASK_POLICY_GROUNDING_H_
#define DOSSIER_ASK_POLICY_GROUNDING_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dossier::ask {

struct Grounding {
  bool grounded = true;
  std::string missing;  // the first number, quote or value that nothing shows; empty if no clean
                        // block printed anything
};

// Checks that each number of `answer` (by value: 3,800 is 3800.0; 3.14 is grounded by 3.14159),
// each quoted text and each of `hint_values` in it occurs in one of `printed`, the outputs of
// blocks that ran without error. Anything in `question` needs no evidence. `hint_values` are the
// example values in the hint.
Grounding CheckGrounded(std::string_view answer, std::string_view question,
                        std::span<const std::string> hint_values,
                        std::span<const std::string> printed);

// Returns the first text in quotation marks in `answer` that is neither in `question` nor in
// `shown`; empty if there is none. An answer that is data or code (begins with brackets or a
// backtick) quotes nothing.
std::string UnseenQuote(std::string_view answer, std::string_view question,
                        std::span<const std::string> shown);

bool HasNumber(std::string_view text);
// Returns true for "1", "3,800.5", "-2": a number with only punctuation and spaces around it.
bool IsBareNumber(std::string_view text);

// Returns `text` with the decimal digits of all scripts as 0 to 9: ١٣٤٣ is checked as 1343.
std::string WithPlainDigits(std::string_view text);

// Returns true if all numbers of `text`, except those in `known` (question, data sizes), are zero,
// or if it has no other numbers and shows only None, empty texts and empty containers. The worker
// uses the same rule for outputs (is_empty_output).
bool SaysNothing(std::string_view text, std::string_view known);

// Returns true if `text` has a number that is not in `known`.
bool AddsNumber(std::string_view text, std::string_view known);

// Returns `output` without whole-word occurrences of the texts in `typed`: the rest came from data.
std::string WithoutTyped(std::string_view output, std::span<const std::string> typed);

// The kind of answer that a question asks for, as far as known.
enum class AnswerKind { kUnknown, kNumber, kOther };

// Returns the value if a block's `output` is one short value of that kind, a number or a name. None
// for nothing-found values, containers and prose.
std::optional<std::string> PrintedAnswer(std::string_view output, AnswerKind wanted);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_GROUNDING_H_
