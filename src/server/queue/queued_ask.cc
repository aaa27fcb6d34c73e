#include "server/queue/queued_ask.h"

#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/json/find_uint.h"
#include "base/random.h"
#include "store/postgres/blobs.h"

namespace dossier::server {
namespace {

constexpr ask::Mode kQueuedModes[] = {ask::Mode::kAuto, ask::Mode::kDirect, ask::Mode::kRecursive};

Status CheckModelName(const std::string& name) {
  if (name.find("://") == name.npos) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "model {}: a queued run names a model of the workers' configuration, not an "
                   "address",
                   name);
}

Result<JsonArray> PutContexts(store::RunQueue& queue, const ask::ContextSet& context) {
  JsonArray list;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ask::ContextDocument& document = context.documents()[i];
    if (document.database) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "{}: an SQLite file cannot be queued; export what matters as CSV or NDJSON",
                       document.name);
    }
    DOSSIER_ASSIGN_OR_RETURN(const ask::StoredText* text, context.Stored(i));
    const std::string_view bytes = text->map.bytes();
    DOSSIER_RETURN_IF_ERROR(store::PutBlob(queue.connection(), text->sha256, bytes));
    list.push_back(JsonObject{{"name", document.name},
                              {"path", document.path},
                              {"sha256", text->sha256},
                              {"bytes", bytes.size()}});
  }
  return list;
}

template <typename Value>
void Note(const std::optional<Value>& value, std::string_view name, JsonObject* to) {
  if (value) (*to)[name] = Json(*value);
}

}  // namespace

Result<std::string> QueueAsk(store::RunQueue& queue, const AskToQueue& ask) {
  const AskWish& wish = ask.wish;
  DOSSIER_RETURN_IF_ERROR(CheckWish(wish));
  DOSSIER_RETURN_IF_ERROR(CheckModelName(wish.model));
  JsonObject request{{"kind", "ask"},
                     {"question", wish.question},
                     {"mode", ask::ModeName(wish.mode)},
                     {"seed", wish.seed.value_or(SystemEntropy() >> 1)},
                     {"seed_given", wish.seed.has_value()}};
  DOSSIER_ASSIGN_OR_RETURN(request["contexts"], PutContexts(queue, *ask.context));
  if (!wish.model.empty()) request["model"] = wish.model;
  Note(wish.schema, "schema", &request);
  Note(wish.max_usd, "max_usd", &request);
  Note(wish.max_calls, "max_calls", &request);
  Note(wish.temperature, "temperature", &request);
  Note(wish.max_depth, "max_depth", &request);
  if (wish.max_time) request["max_time_ms"] = wish.max_time->count();
  return queue.Put({.owner = ask.owner, .priority = ask.priority, .request = std::move(request)});
}

Result<QueuedAsk> ReadQueuedAsk(const JsonObject& request) {
  const Json data(request);
  if (TextAt(data, "kind") != "ask") {
    return MakeError(ErrorCode::kDamaged,
                     "a queued run of kind '{}' is none that this worker knows",
                     TextAt(data, "kind"));
  }
  QueuedAsk out;
  AskWish& wish = out.wish;
  wish.question = TextAt(data, "question");
  wish.model = TextAt(data, "model");
  for (const ask::Mode mode : kQueuedModes) {
    if (TextAt(data, "mode") == ask::ModeName(mode)) wish.mode = mode;
  }
  if (const Json* schema = Find(data, "schema")) wish.schema = *schema;
  wish.max_usd = FindNumber(data, "max_usd");
  wish.max_calls = FindInt(data, "max_calls");
  wish.temperature = FindNumber(data, "temperature");
  if (const auto depth = FindInt(data, "max_depth")) wish.max_depth = static_cast<int>(*depth);
  if (const auto time = FindInt(data, "max_time_ms"))
    wish.max_time = std::chrono::milliseconds(*time);
  wish.seed = FindUint(data, "seed");
  if (!wish.seed) {
    return MakeError(ErrorCode::kDamaged, "the seed of the queued run is no whole number from 0");
  }
  if (FindBool(data, "seed_given") == true) out.seed_from = ask::AskRequest::Seed::kGiven;
  DOSSIER_RETURN_IF_ERROR(CheckWish(wish));
  DOSSIER_RETURN_IF_ERROR(CheckModelName(wish.model));
  const Json* contexts = Find(data, "contexts");
  for (const Json& one : contexts && contexts->is_array() ? contexts->get_array() : JsonArray()) {
    QueuedContext context{TextAt(one, "name"), TextAt(one, "path"), TextAt(one, "sha256")};
    if (!IsSha256Hex(context.sha256)) {
      return MakeError(ErrorCode::kDamaged, "a context of the queued run has no hash");
    }
    out.contexts.push_back(std::move(context));
  }
  return out;
}

Result<std::vector<ask::ContextSource>> FetchContexts(store::RunQueue& queue, const QueuedAsk& ask,
                                                      store::ContentStore& content) {
  std::vector<ask::ContextSource> sources;
  for (const QueuedContext& context : ask.contexts) {
    DOSSIER_RETURN_IF_ERROR(store::FetchBlob(queue.connection(), context.sha256, content));
    ask::ContextSource source{.path = {}, .text = {}, .name = context.name, .notes = {}};
    if (context.path.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(source.text, content.Get(context.sha256));
    } else {
      source.path = content.PathOf(context.sha256);
      source.shown = context.path;
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace dossier::server
