// Answers one request of a client: by one call of a model, or by the engine over its documents.
//
//   Answers answers(workspace);
//   DOSSIER_ASSIGN_OR_RETURN(const Answered answered,
//                            answers.Answer(std::move(request), {.on_text = send}, cancel));
//
// A model with a plain name is called directly: it gets the messages, and its reply is returned.
// `dossier` and `dossier/MODEL` decide: a request with documents, or too long for one call, becomes
// a run of the engine. In both cases the journal records a run. Errors: kConfig (no such model,
// with the nearest), those of the model, the context, the limits. Thread-safety: all methods from
// any thread; Answer blocks its caller.

#ifndef DOSSIER_SERVER_HTTP_ANSWERS_H_
#define DOSSIER_SERVER_HTTP_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "server/day_budget.h"
#include "server/http/openai_request.h"
#include "server/workspace.h"

namespace dossier::server {

// Callbacks. Each may be empty; they are called from any thread and must not block.
struct AnswerWatch {
  std::function<void(std::string_view run)> on_run;          // once the run has an id
  std::function<void(std::string_view text)> on_text;        // parts of the answer, as they arrive
  std::function<void(const std::string& note)> on_progress;  // "turn 3/30, 41 calls, $0.021"
  std::function<void(double usd)> on_cost;  // at the end of any run; not called if unknown
};

struct Answered {
  std::string text;
  std::string finish = "stop";                     // stop, length, tool_calls, content_filter
  JsonArray tool_calls;                            // in OpenAI's format
  std::int64_t input = 0, output = 0, cached = 0;  // tokens of the whole run tree
  std::optional<std::int64_t> reasoning;
  JsonObject dossier;  // run, mode, status, coverage, citations, cost_usd, limits_hit, warnings
};

class Answers {
 public:
  // `purse`: the client's daily budget, which pays for what is answered; unset: no limit.
  explicit Answers(Workspace& workspace, std::optional<Purse> purse = {})
      : workspace_(workspace), purse_(std::move(purse)) {}

  Result<Answered> Answer(ChatRequest request, const AnswerWatch& watch, const CancelToken& cancel);
  // The names that /v1/models lists: dossier, and the default models.
  Result<std::vector<std::string>> ModelNames(const CancelToken& cancel);

 private:
  class DirectCall;

  Result<Answered> AskEngine(const ChatRequest& request, const std::string& model,
                             const AnswerWatch& watch, const CancelToken& cancel);
  Result<Answered> CallDirectly(const ChatRequest& request, const driver::BoundModel& model,
                                std::string context, const AnswerWatch& watch,
                                const CancelToken& cancel);
  Result<std::string> OpenDocuments(const ChatRequest& request, const CancelToken& cancel);

  Workspace& workspace_;
  const std::optional<Purse> purse_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_ANSWERS_H_
