// The differences in a run between small and large models, in one table: prompts, blocks, votes,
// evidence, closing. All other code in `ask` reads its fields and never asks for the model's size.
//
//   const ModelPolicy& policy = PolicyOf(Profile::kSmall);
//   while (turn <= policy.turns) …
//
// Each field states the behaviour that it turns on; docs/small-models.md has the measurements.
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
  std::string_view name;  // "small" or "large", for the journal and the session

  // --- turns and attempts
  int turns = 30;
  int votes = 1;                         // attempts, of which two must agree; 1: the first counts
  std::optional<int> failed_turns;       // consecutive ones before the question is asked afresh
  std::span<const double> temperatures;  // by attempt; the last is for all later ones; may be empty
  std::optional<double> subcall_temperature;

  // --- prompts
  std::int64_t direct_tokens = 16'384;  // a shorter prompt with the whole context is one plain call
  bool checks_direct_answers = false;   // asked again, compared, searched for in the context
  bool reads_records_by_code = false;   // even if one plain call would do
  inspect::HintProfile hint = inspect::HintProfile::kLarge;
  bool shows_samples_beside_fields = true;  // of records whose fields are listed
  bool reads_passages_first = false;        // one at a time, before any code is written

  // --- replies
  std::int64_t reply_tokens = 8192;         // maximum, if the model can write that many
  ModelSize tolerance = ModelSize::kLarge;  // accepted forms of code and final answers
  bool stops_behind_code = false;           // the reply ends after its first block
  bool repeats_itself = false;              // a long reply is a loop: stopped, never asked again
  bool holds_to_grammar = false;            // if the provider can
  bool takes_final_beside_code = true;      // a variable named in the reply that sets it
  std::size_t map_items = 25;               // texts per request of map_llm
  bool refuses_bare_question = false;       // as a sub-call's prompt

  // --- outputs and answers
  std::optional<std::size_t> output_chars;  // shown per block; none: depends on the window
  Cut output_cut = Cut::kEnd;
  bool finds_answers_in_outputs = false;  // repeated code, prose about an output, a single value
  // The parts of an answer that an output must show.
  enum class Checked { kNumbers, kEveryWord } checked = Checked::kNumbers;
};

// `profile` is kSmall or kLarge.
const ModelPolicy& PolicyOf(Profile profile);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_MODEL_POLICY_H_
