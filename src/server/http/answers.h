// One request of a client, answered: by one call of a model, or by the engine over its documents.
//
//   Answers answers(workspace);
//   DOSSIER_ASSIGN_OR_RETURN(const Answered answered,
//                            answers.Answer(std::move(request), {.on_text = send}, cancel));
//
// A model by its plain name is called as it is: the messages go to it, and its reply comes back.
// `dossier` and `dossier/MODEL` decide: what has documents, or is too long for one call, is a run
// of the engine. Either way there is a run in the journal.
// Errors: kConfig (no such model, with the nearest), those of the model, the context, the limits.
// Thread-safety: all methods from any thread; Answer blocks its caller.

#ifndef DOSSIER_SERVER_HTTP_ANSWERS_H_
#define DOSSIER_SERVER_HTTP_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "server/http/openai_request.h"
#include "server/workspace.h"

namespace dossier::server {

// Each may be empty; called from any thread, they must not block.
struct AnswerWatch {
  std::function<void(std::string_view run)> on_run;          // once the run has an id
  std::function<void(std::string_view text)> on_text;        // of the answer, as it arrives
  std::function<void(const std::string& note)> on_progress;  // "turn 3/30, 41 calls, $0.021"
  std::function<void(double usd)> on_cost;  // at the end, however it ended; unknown: not called
};

struct Answered {
  std::string text;
  std::string finish = "stop";                     // stop, length, tool_calls, content_filter
  JsonArray tool_calls;                            // as OpenAI writes them
  std::int64_t input = 0, output = 0, cached = 0;  // tokens, of the whole tree
  std::optional<std::int64_t> reasoning;
  JsonObject dossier;  // run, mode, status, coverage, citations, cost_usd, limits_hit, warnings
};

class Answers {
 public:
  explicit Answers(Workspace& workspace) : workspace_(workspace) {}

  Result<Answered> Answer(ChatRequest request, const AnswerWatch& watch, const CancelToken& cancel);
  // What /v1/models lists: dossier, and the models that are meant where none is named.
  Result<std::vector<std::string>> ModelNames(const CancelToken& cancel);

 private:
  class DirectCall;

  Result<Answered> AskEngine(const ChatRequest& request, const std::string& model,
                             const AnswerWatch& watch, const CancelToken& cancel);
  Result<Answered> CallDirectly(ChatRequest request, const driver::BoundModel& model,
                                std::string context, const AnswerWatch& watch,
                                const CancelToken& cancel);
  Result<std::string> OpenDocuments(const ChatRequest& request, const CancelToken& cancel);

  Workspace& workspace_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_ANSWERS_H_
