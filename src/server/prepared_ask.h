// A question as a caller gives it, made ready for the engine: model, limits, context, journal.
//
//   AskPlace place{.journal = journal, .sources = sources, .folder = folder};
//   DOSSIER_ASSIGN_OR_RETURN(PreparedAsk ask, PrepareAsk(workspace, wish, place, cancel));
//   ask::Engine(ask.options).Run(ask.request, cancel, sink);
//
// Errors: kInvalidArgument for what is wrong with the wish; those of model, context and journal.
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
  std::optional<Json> schema;  // that the answer must fit
  std::optional<double> max_usd;
  std::optional<std::int64_t> max_calls;
  ask::Mode mode = ask::Mode::kAuto;
  std::string model;                         // "": that of the workspace
  const app::OpenedModel* opened = nullptr;  // instead of it; stays until the call returns
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;  // unset: drawn
  std::optional<std::chrono::milliseconds> max_time;
  std::optional<int> max_depth;
  std::vector<ask::Medium> media;  // that code shows to a model; a queued run has none
  std::optional<Purse> purse;      // of the caller, who pays beside the server's own sum
};

// Where an ask takes its context from and leaves its record.
struct AskPlace {
  std::shared_ptr<store::Journal> journal;
  std::vector<ask::ContextSource> sources;
  std::string folder;  // of replies to sub-calls that were asked before
  enum class Memory : std::uint8_t { kByConfig, kOff } memory = Memory::kByConfig;
  // kLookedAt: of an estimate, which sends nothing and needs no price.
  app::ModelSettings::Use use = app::ModelSettings::Use::kAsked;
};

// What is known and open before a run begins.
struct PreparedAsk {
  ask::EngineOptions options;
  ask::AskRequest request;
  std::optional<double> most_usd;
};

// What the event `run.finished` says of a run whose process is gone, as dossier.ask/1 without the
// answer.
JsonObject RecordedResult(std::string_view run, const JsonObject& finished);
// What is wrong with the wish itself.
Status CheckWish(const AskWish& wish);
Result<PreparedAsk> PrepareAsk(Workspace& workspace, const AskWish& wish, AskPlace place,
                               const CancelToken& cancel);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_PREPARED_ASK_H_
