// One request to the root model, with the run's sampling, limits and journal.
//
//   DOSSIER_ASSIGN_OR_RETURN(model::Reply reply,
//                            AskRoot(run, prompt, {.purpose = model::Purpose::kRoot, .turn = 3}));
//
// Waits for the reply. Thread-safety: one request at a time for each run.

#ifndef DOSSIER_ASK_LOOP_ROOT_REQUEST_H_
#define DOSSIER_ASK_LOOP_ROOT_REQUEST_H_

#include "ask/reply/extraction.h"
#include "ask/run/run_state.h"
#include "assembly/assemble.h"

namespace dossier::ask {

struct RootRequest {
  model::Purpose purpose = model::Purpose::kRoot;
  model::Stage stage = model::Stage::kNormal;
  int turn = 1;
  int attempt = 0;  // fresh starts so far; raises a small model's temperature
  std::optional<std::int64_t> max_output;  // tokens of the reply; unset: those of the run
  std::string grammar;                     // that the reply is held to, where the server can; GBNF
  std::optional<double> temperature;       // unset: that of the run and the attempt
  int first_tokens = 0;                    // candidates wanted (model::Sampling)
  const Json* schema = nullptr;            // that the reply is held to, where the server can
  std::string_view hint;                   // what the journal keeps of what the data are
  std::string* partial = nullptr;          // takes what had come of a reply that failed
};

// What AskRoot would send, and what it may cost.
CallEstimate EstimateRoot(const RunState& run, const assembly::Assembled& prompt,
                          const RootRequest& about);

// Errors: those of model::Gate::Complete; kRefused (SpendGuard). The request and what came of it
// are in the journal.
Result<model::Reply> AskRoot(RunState& run, const assembly::Assembled& prompt,
                             const RootRequest& about);

// Asks once more after the reply `cut` to the same request, with four times the room where the
// model and its window have it. What comes back is the new reply; `cut` itself if none came, or if
// it is cut, too, and shorter. Errors: kCancelled, if the run is.
Result<model::Reply> AskAgain(RunState& run, assembly::Assembled prompt, RootRequest about,
                              model::Reply cut);

// By how much more likely the model's reply to `prompt` is "yes" than "no", in logarithms. None if
// the request failed or the server gives no probabilities of the two words.
std::optional<double> AskYesOrNo(RunState& run, const assembly::Assembled& prompt);

// What kind of answer the question asks for, by the model's own word, as it reads every language:
// "number", "name", "yes or no", "date" or "sentence". Empty where the server holds no reply to a
// grammar, or the request failed.
std::string AskKindOfAnswer(RunState& run, int turn);

// Whether the reply ends before the model meant it to: at the output limit, by a filter, or with
// the connection.
bool IsCut(const model::Reply& reply);

// How the reply ended, as code extraction tells it apart.
ReplyFinish FinishOf(const model::Reply& reply);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_ROOT_REQUEST_H_
