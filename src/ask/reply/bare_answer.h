// Finds a final answer that a reply gives as text instead of calling it in code.
//
//   BareAnswer answer = FindBareAnswer(extraction.text_outside, ModelSize::kLarge);
//   if (answer.form == BareAnswer::Form::kFinalVar) LookUp(answer.text);
//
// Thread-safety: pure functions. Linear in the length of the text.

#ifndef DOSSIER_ASK_REPLY_BARE_ANSWER_H_
#define DOSSIER_ASK_REPLY_BARE_ANSWER_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ask/reply/reply_text.h"

namespace dossier::ask {

struct BareAnswer {
  // kFinalText is `FINAL: …` and `FINAL ANSWER: …`; the others are calls by name.
  enum class Form { kNone, kPartial, kFinalVar, kFinal, kFinalText };
  Form form = Form::kNone;
  std::string text;  // literal without outer quotes; for kFinalVar the variable's name
  bool looks_like_name =
      false;  // kFinal, kPartial: an unquoted identifier, see ResolveName; not None
  bool quoted = false;

  // Returns true for quoted text, a number or a name; false for an unevaluated expression.
  bool names_value() const;
};

// Finds the answer in `text`, a reply without thinking and fences. A form counts only at the start
// of a line, after optional `>`, `*`, backticks and `#`. PARTIAL takes precedence over FINAL_VAR,
// and that over FINAL; of one form the first counts. A line that Markdown's `>` quotes counts only
// if no other line has an answer, since it may repeat a document.
BareAnswer FindBareAnswer(std::string_view text, ModelSize model);

// Returns `text` without the lines on which such an answer starts, complete or not.
std::string WithoutFinalLines(std::string_view text);

enum class NameMeaning {
  kVariable,  // use the variable's value
  kLiteral,   // the text is the answer
  kUnknown,   // meant as a variable that does not exist: feedback as for FINAL_VAR
};

// Decides what FINAL(name) means. `earlier_code` is the code of this call's turns so far.
NameMeaning ResolveName(std::string_view name,
                        const std::function<bool(std::string_view)>& is_variable,
                        std::span<const std::string> earlier_code);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_BARE_ANSWER_H_
