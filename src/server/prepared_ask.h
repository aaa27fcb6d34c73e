// Turns a caller's question into a request for the engine: model, limits, context, journal.
//
//   AskPlace place{.journal = journal, .sources = sources, .folder = folder};
//   DOSSIER_ASSIGN_OR_RETURN(PreparedAsk ask, PrepareAsk(workspace, wish, place, cancel));
//   ask::Engine(ask.options).Run(ask.request, cancel, sink);
//
// Errors: kInvalidArgument if the wish is invalid; those of model, context and journal.
// Thread-safety: all functions from any thread.

#ifndef DOSSIER_SERVER_PREPARED_ASK_H_
#define DOSSIER_SERVER_PREPARED_ASK_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/open_model.h"
#include "ask/engine.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "server/day_budget.h"
#include "store/journal.h"

namespace dossier::server {

class Workspace;

struct AskWish {
  std::string context;  // id
  std::string question;
  std::optional<Json> schema;  // the schema that the answer must fit
  std::optional<double> max_usd;
  std::optional<std::int64_t> max_calls;
  ask::Mode mode = ask::Mode::kAuto;
  std::string model;                         // "": the workspace's model
  const app::OpenedModel* opened = nullptr;  // used instead of `model`; must outlive the call
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;  // unset: drawn
  std::optional<std::chrono::milliseconds> max_time;
  std::optional<int> max_depth;
  std::vector<ask::Medium> media;  // images that code may show to a model; not for queued runs
  std::optional<Purse> purse;      // the caller's budget, charged beside the server's own
};

// The source of an ask's context, and the place where it is recorded.
struct AskPlace {
  std::shared_ptr<store::Journal> journal;
  std::vector<ask::ContextSource> sources;
  std::string folder;  // cache of replies to earlier sub-calls
  enum class Memory : std::uint8_t { kByConfig, kOff } memory = Memory::kByConfig;
  // kLookedAt: for an estimate, which sends nothing and needs no price.
  app::ModelSettings::Use use = app::ModelSettings::Use::kAsked;
};

// Everything that a run needs before it begins.
struct PreparedAsk {
  ask::EngineOptions options;
  ask::AskRequest request;
  std::optional<double> most_usd;
};

// Converts the event `run.finished` of a run whose process is gone to dossier.ask/1 without the
// answer.
JsonObject RecordedResult(std::string_view run, const JsonObject& finished);
// Checks the wish itself.
Status CheckWish(const AskWish& wish);
Result<PreparedAsk> PrepareAsk(Workspace& workspace, const AskWish& wish, AskPlace place,
                               const CancelToken& cancel);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_PREPARED_ASK_H_
