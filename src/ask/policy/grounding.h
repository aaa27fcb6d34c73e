// Whether an answer stands on what code printed, and whether a printed value is an answer
// (small-models.md 16).
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
  std::string missing;  // the first number, quote or value that nothing shows; empty if no block
                        // without error printed anything at all
};

// Each number of `answer` (by value: 3,800 is 3800.0; 3.14 is grounded by 3.14159), each quoted
// text and each of `hint_values` that stands in it must occur in one of `printed`: the outputs of
// blocks that ran without error. What stands in `question` needs no evidence. `hint_values`: the
// values that the hint shows as examples, one each.
Grounding CheckGrounded(std::string_view answer, std::string_view question,
                        std::span<const std::string> hint_values,
                        std::span<const std::string> printed);

// The first text between quotation marks of `answer` that stands neither in `question` nor in
// `shown`; empty if there is none. An answer that is data or code (brackets at its start, a
// backtick) quotes nothing.
std::string UnseenQuote(std::string_view answer, std::string_view question,
                        std::span<const std::string> shown);

bool HasNumber(std::string_view text);
// "1", "3,800.5", "-2": a number and nothing else but marks and spaces.
bool IsBareNumber(std::string_view text);

// `text` with the decimal digits of all scripts as 0 to 9: what is checked of ١٣٤٣ is 1343.
std::string WithPlainDigits(std::string_view text);

// Whether all numbers of `text` are zero but for those of `known` (the question, sizes of the
// data), or it has no other numbers and shows only None, empty texts and empty containers. The
// worker judges outputs alike (is_empty_output).
bool SaysNothing(std::string_view text, std::string_view known);

// Whether `text` has a number that is not in `known`.
bool AddsNumber(std::string_view text, std::string_view known);

// `output` without the texts of `typed` where they stand as whole words: what is left came out of
// data.
std::string WithoutTyped(std::string_view output, std::span<const std::string> typed);

// What kind of answer a question asks for, as far as that is known.
enum class AnswerKind { kUnknown, kNumber, kOther };

// The value, if `output` of a block is one short value of that kind: a number or a name. None for
// nothing-found values, containers and prose.
std::optional<std::string> PrintedAnswer(std::string_view output, AnswerKind wanted);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_GROUNDING_H_
