// One plain call over a context that fits, and the search that stands beside a hint.

#ifndef DOSSIER_ASK_LOOP_DIRECT_H_
#define DOSSIER_ASK_LOOP_DIRECT_H_

#include <optional>
#include <string>
#include <string_view>

#include "ask/documents/context_tokens.h"
#include "ask/loop/call_loop.h"
#include "ask/policy/near_question.h"
#include "ask/run/run_state.h"

namespace dossier::ask {

// The whole context and the question. Errors: kTooLong if it does not fit the window; kIo.
Result<assembly::Assembled> AssembleDirect(RunState& run);

// The prompt of a layout ("direct", "direct_again", …) over `context`, with `reply_tokens` kept for
// the reply. Errors: kTooLong if it does not fit the window.
Result<assembly::Assembled> AssembleOverContext(RunState& run, std::string_view layout,
                                                const std::string& context,
                                                std::int64_t reply_tokens);

struct DirectAnswer {
  CallResult result;
  // Set if the answer was checked and did not stand: the same question to code may settle it.
  std::optional<PlainAnswer> unsettled;
};

// Errors: the model's; kTooLong when the provider says so.
Result<DirectAnswer> AnswerDirectly(RunState& run);

// How rare the words of `text` are in the documents that are no records, or in all.
enum class Documents { kText, kAll };
WordRarity MeasureContextWords(const RunState& run, std::string_view text,
                               Documents which = Documents::kText);

// The paragraphs of free text that share the question's rarest words; empty where there are none.
ShownPassages FindPassagesFor(const RunState& run);

struct ModeDecision {
  Mode mode = Mode::kRecursive;  // never kAuto
  ContextTokens size;            // of question, context and template
  std::int64_t threshold = 0;    // direct up to here
  std::string reason;
};

// Errors: kTooLong for `--mode direct` with too large a context, naming tokens and limit.
Result<ModeDecision> DecideMode(RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_DIRECT_H_
