// Answers with one plain call over a context that fits, and searches passages to show with a hint.
// Thread-safety: only the thread that runs the call uses it.

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

// The prompt with the whole context and the question. Errors: kTooLong if it does not fit; kIo.
Result<assembly::Assembled> AssembleDirect(RunState& run);

// Assembles the prompt of a layout ("direct", "direct_again", …) over `context`, with
// `reply_tokens` reserved for the reply. Errors: kTooLong if it does not fit the window.
Result<assembly::Assembled> AssembleOverContext(RunState& run, std::string_view layout,
                                                const std::string& context,
                                                std::int64_t reply_tokens);

struct DirectAnswer {
  CallResult result;
  // Set if the answer failed its check; asking the same question to code may settle it.
  std::optional<PlainAnswer> unsettled;
};

// Errors: the model's; kTooLong if the provider reports it.
Result<DirectAnswer> AnswerDirectly(RunState& run);

// Returns the documents that are not records, or all.
enum class Documents { kText, kAll };
std::vector<TextDocument> ContextTexts(const RunState& run, Documents which);
// Measures how rare the words of `text` are in them.
WordRarity MeasureContextWords(const RunState& run, std::string_view text,
                               Documents which = Documents::kText);

// Returns the free-text paragraphs that share the question's rarest words; empty if there are none.
ShownPassages FindPassagesFor(const RunState& run);

struct ModeDecision {
  Mode mode = Mode::kRecursive;  // never kAuto
  ContextTokens size;            // of question, context and template
  std::int64_t threshold = 0;    // the largest size for direct mode
  std::string reason;
};

// Errors: kTooLong for `--mode direct` with too large a context, with the tokens and the limit.
Result<ModeDecision> DecideMode(RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_DIRECT_H_
