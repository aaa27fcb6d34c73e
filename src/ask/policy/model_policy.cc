#include "ask/policy/model_policy.h"

#include <array>

namespace dossier::ask {
namespace {

// A model that repeats itself gets a higher temperature with each fresh start.
constexpr std::array kTemperatures = {0.2, 0.4, 0.7};

constexpr ModelPolicy kLarge{.name = "large"};

// Models with 1 to 3 billion parameters.
constexpr ModelPolicy kSmall{
    .name = "small",
    .turns = 12,
    .votes = 3,
    .failed_turns = 2,
    .temperatures = kTemperatures,
    .subcall_temperature = 0.0,
    // It misreads long prompts and reads only 60 to 100 tokens per second on a CPU: above this size
    // code is faster and more often right (docs/decisions/direct-threshold.md).
    .direct_tokens = 2'048,
    // About one plain answer in three is wrong (docs/small-models.md).
    .checks_direct_answers = true,
    // It cannot count, however short the list is.
    .reads_records_by_code = true,
    .hint = inspect::HintProfile::kSmall,
    // The field table has the same information in fewer tokens, and examples leak into answers.
    .shows_samples_beside_fields = false,
    .reads_passages_first = true,
    // A turn of code is either finished by then or repeats itself.
    .reply_tokens = 600,
    .tolerance = ModelSize::kSmall,
    .stops_behind_code = true,
    .repeats_itself = true,
    .holds_to_grammar = true,
    .takes_final_beside_code = false,
    .map_items = 1,
    // It tends to pass its own question on; the answer is then invented.
    .refuses_bare_question = true,
    .output_chars = 4'000,
    .output_cut = Cut::kMiddle,
    .finds_answers_in_outputs = true,
    .checked = ModelPolicy::Checked::kEveryWord,
};

}  // namespace

const ModelPolicy& PolicyOf(Profile profile) {
  return profile == Profile::kSmall ? kSmall : kLarge;
}

}  // namespace dossier::ask
