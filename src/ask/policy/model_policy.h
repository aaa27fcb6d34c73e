// What a run does differently for a small model, in one table: prompts, blocks, votes, evidence,
// closing. Everything else in `ask` reads a field of it and never asks for the size of a model.
//
//   const ModelPolicy& policy = PolicyOf(Profile::kSmall);
//   while (turn <= policy.turns) …
//
// Each field says which behaviour it turns on; docs/small-models.md has what was measured of it.
// Thread-safety: constants.

#ifndef DOSSIER_ASK_POLICY_MODEL_POLICY_H_
#define DOSSIER_ASK_POLICY_MODEL_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ask/engine.h"
#include "ask/reply/reply_text.h"
#include "ask/reply/truncation.h"
#include "inspect/description/hint.h"

namespace dossier::ask {

struct ModelPolicy {
  std::string_view name;  // "small" or "large": for the journal and the session

  // --- turns and attempts
  int turns = 30;
  int votes = 1;                         // attempts of which two must agree; 1: the first counts
  std::optional<int> failed_turns;       // in a row, after which the question is asked afresh
  std::span<const double> temperatures;  // by attempt, the last for all later ones; may be empty
  std::optional<double> subcall_temperature;

  // --- prompts
  std::int64_t direct_tokens = 16'384;  // a shorter prompt with the whole context is one plain call
  bool checks_direct_answers = false;   // read again, compared, looked for in the context
  bool reads_records_by_code = false;   // even where one plain call would do
  inspect::HintProfile hint = inspect::HintProfile::kLarge;
  bool shows_samples_beside_fields = true;  // of records whose fields are listed
  bool reads_passages_first = false;        // each alone, before any code is written

  // --- replies
  std::int64_t reply_tokens = 8192;         // at most, if the model can write as many
  ModelSize tolerance = ModelSize::kLarge;  // of forms in which code and finals may come
  bool stops_behind_code = false;           // the reply ends where its first block does
  bool repeats_itself = false;              // a long reply is a loop: stopped, never asked again
  bool holds_to_grammar = false;            // where the provider can
  bool takes_final_beside_code = true;      // a variable named in the reply that sets it
  std::size_t map_items = 25;               // texts in one request of map_llm
  bool refuses_bare_question = false;       // as the prompt of a sub-call

  // --- outputs and answers
  std::optional<std::size_t> output_chars;  // of a block that the model is shown; none: by window
  Cut output_cut = Cut::kEnd;
  bool finds_answers_in_outputs = false;  // repeated code, prose about an output, a lone value
  // What of an answer an output must show.
  enum class Checked { kNumbers, kEveryWord } checked = Checked::kNumbers;
};

// `profile` is kSmall or kLarge.
const ModelPolicy& PolicyOf(Profile profile);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_MODEL_POLICY_H_
