// Sends one request to the root model, with the run's sampling, limits and journal.
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
  std::optional<std::int64_t> max_output;  // tokens of the reply; unset: the run's
  std::string grammar;                     // GBNF that constrains the reply, if supported
  std::optional<double> temperature;       // unset: from the run and the attempt
  int first_tokens = 0;                    // number of candidates wanted (model::Sampling)
  const Json* schema = nullptr;            // constrains the reply, if supported
  std::string_view hint;                   // description of the data to keep in the journal
  std::string* partial = nullptr;          // receives the part that had arrived of a failed reply
};

// Estimates the request that AskRoot would send.
CallEstimate EstimateRoot(const RunState& run, const assembly::Assembled& prompt,
                          const RootRequest& about);

// Errors: those of model::Gate::Complete; kRefused (SpendGuard). The request and its result are
// recorded in the journal.
Result<model::Reply> AskRoot(RunState& run, const assembly::Assembled& prompt,
                             const RootRequest& about);

// Repeats the request after the reply `cut`, with four times the output limit if the model and its
// window allow it. Returns the new reply, or `cut` itself if none came or the new one is also cut
// off and shorter. Errors: kCancelled, if the run is.
Result<model::Reply> AskAgain(RunState& run, assembly::Assembled prompt, RootRequest about,
                              model::Reply cut);

// Returns how much more likely the model's reply to `prompt` is "yes" than "no", as a logarithm.
// None if the request failed or the server gives no probabilities for the two words.
std::optional<double> AskYesOrNo(RunState& run, const assembly::Assembled& prompt);

// Asks the model what kind of answer the question wants, since it understands every language:
// "number", "name", "yes or no", "date" or "sentence". Empty if the server does not support
// grammars or the request failed.
std::string AskKindOfAnswer(RunState& run, int turn);

// Returns true if the reply ends early: at the output limit, by a filter or a refusal, or with the
// connection.
bool IsCut(const model::Reply& reply);

// Warns that the reply `cut` ends early, with a code and words for how it ended: "reply_cut",
// "reply_filtered", "reply_refused". `what` says which reply it is and what becomes of it, with {}
// for the reason. Returns the sentence.
std::string WarnOfCut(const RunState& run, const model::Reply& cut, std::string_view what);

// Returns how the reply ended, as code extraction distinguishes it.
ReplyFinish FinishOf(const model::Reply& reply);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_ROOT_REQUEST_H_
