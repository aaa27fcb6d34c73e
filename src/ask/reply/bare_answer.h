// A final written as text instead of called in code.
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
  std::string text;  // the literal, without outer quotes; kFinalVar: the variable's name
  bool looks_like_name =
      false;  // kFinal, kPartial: an unquoted identifier, see ResolveName; not None
  bool quoted = false;

  // Whether it is a text in quotes, a number or a name, and no expression that has yet to run.
  bool names_value() const;
};

// The answer in `text`, which is a reply without thinking and fences. A form counts at the start of
// a line only, where `>`, `*`, a backtick and `#` may stand before it. Of several forms PARTIAL
// goes before FINAL_VAR before FINAL, of one form the first. A line that Markdown's `>` cites
// counts only where no other line has an answer: it may repeat what a document says.
BareAnswer FindBareAnswer(std::string_view text, ModelSize model);

// `text` without the lines that such an answer starts on, be they complete or not.
std::string WithoutFinalLines(std::string_view text);

enum class NameMeaning {
  kVariable,  // take the variable's value
  kLiteral,   // the text is the answer
  kUnknown,   // was meant as a variable, but there is none: feedback as for FINAL_VAR
};

// What FINAL(name) means. `earlier_code` is the code of this call's turns so far.
NameMeaning ResolveName(std::string_view name,
                        const std::function<bool(std::string_view)>& is_variable,
                        std::span<const std::string> earlier_code);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_BARE_ANSWER_H_
