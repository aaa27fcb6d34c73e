#include "server/prepared_ask.h"

#include <algorithm>
#include <utility>

#include "app/load_config.h"
#include "app/memory_setup.h"
#include "app/section_makers.h"
#include "app/spending_window.h"
#include "ask/reply/requirement.h"
#include "base/random.h"
#include "base/text/text.h"
#include "model/schema/json_schema.h"
#include "server/workspace.h"

namespace dossier::server {
namespace {

// The equivalent command line without the question and its context, which `dossier runs resume`
// takes from the journal.
JsonArray LineOf(const AskWish& wish, const WorkspaceOptions& server,
                 const ask::AskRequest& request) {
  JsonArray line;
  if (server.ask_line.empty() || wish.opened) return line;
  for (const std::string& word : server.ask_line) line.emplace_back(word);
  const auto add = [&](std::string_view flag, std::string value) {
    line.emplace_back(flag);
    line.emplace_back(value);
  };
  add("--mode", std::string(ask::ModeName(request.mode)));
  const std::string& model = wish.model.empty() ? server.model.model : wish.model;
  if (!model.empty()) add("--model", model);
  add("--max-calls", fmt::format("{}", request.limits.calls));
  add("--max-depth", fmt::format("{}", request.limits.depth));
  if (request.limits.usd) add("--max-cost", fmt::format("{}", *request.limits.usd));
  if (request.limits.time) add("--max-time", fmt::format("{}ms", request.limits.time->count()));
  if (request.temperature) add("--temperature", fmt::format("{}", *request.temperature));
  if (wish.schema) add("--json-schema", dossier::ToJson(*wish.schema));
  return line;
}

}  // namespace

JsonObject RecordedResult(std::string_view run, const JsonObject& finished) {
  const auto number = [&](std::string_view key) {
    return Json(FindInt(finished, key).value_or(0));
  };
  JsonObject out{{"schema", "dossier.ask/1"},
                 {"run", run},
                 {"status", TextAt(finished, "status")},
                 {"source", TextAt(finished, "source")},
                 {"turns", number("turns")},
                 {"calls", JsonObject{{"sent", number("calls")},
                                      {"cached", number("cached_calls")},
                                      {"failed", number("failed_calls")}}},
                 {"tokens", JsonObject{{"input", number("input")},
                                       {"output", number("output")},
                                       {"cached", number("cached")},
                                       {"cache_write", number("cache_write")}}},
                 {"cost_usd", nullptr},
                 {"seconds", static_cast<double>(FindInt(finished, "ms").value_or(0)) / 1000}};
  if (const auto nano = FindInt(finished, "nano_usd"))
    out["cost_usd"] = static_cast<double>(*nano) / 1e9;
  for (const std::string_view key : {"evidence", "citations"}) {
    if (const Json* value = Find(finished, key)) out[key] = *value;
  }
  if (std::string error = TextAt(finished, "error"); !error.empty()) {
    out["error"] = JsonObject{{"message", std::move(error)}};
  }
  return out;
}

Status CheckWish(const AskWish& wish) {
  if (!TrimSpace(wish.question).empty()) return {};
  return MakeError(ErrorCode::kInvalidArgument, "/question: is empty");
}

Result<PreparedAsk> PrepareAsk(Workspace& workspace, const AskWish& wish, AskPlace place,
                               const CancelToken& cancel) {
  const WorkspaceOptions& server = workspace.options();
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, workspace.Config());
  const app::OpenedModel* model = wish.opened;
  if (model == nullptr) {
    DOSSIER_ASSIGN_OR_RETURN(model, workspace.Model(wish.model, cancel, place.use));
  }
  PreparedAsk out;
  out.request.question = wish.question;
  out.request.mode = wish.mode;
  out.request.media = wish.media;
  if (wish.schema) {
    DOSSIER_ASSIGN_OR_RETURN(const auto schema, model::JsonSchema::Compile(*wish.schema));
    out.request.requirements.push_back(ask::RequireSchema(schema));
  }
  out.request.limits.calls = std::min(server.max_calls, wish.max_calls.value_or(server.max_calls));
  out.most_usd = server.max_usd;
  if (wish.max_usd) out.most_usd = std::min(*wish.max_usd, out.most_usd.value_or(*wish.max_usd));
  out.request.temperature = wish.temperature ? wish.temperature : server.model.temperature;
  out.request.seed = wish.seed.value_or(SystemEntropy() >> 1);
  if (wish.seed) out.request.seed_from = ask::AskRequest::Seed::kGiven;
  out.request.limits.time = wish.max_time;
  if (wish.max_depth) out.request.limits.depth = *wish.max_depth;
  out.options.journal = std::move(place.journal);
  ask::AskLimits& limits = out.request.limits;
  limits.usd = out.most_usd;
  DOSSIER_RETURN_IF_ERROR(app::ApplyWindow(config->limits, *out.options.journal, &limits));
  out.most_usd = limits.usd;
  out.request.argv = LineOf(wish, server, out.request);
  out.request.folder = server.data_folder;  // a folder without project settings
  DOSSIER_ASSIGN_OR_RETURN(out.request.context,
                           ask::LoadContext(place.sources,
                                            {.content = &out.options.journal->content(),
                                             .copy_limit = config->store.copy_limit},
                                            cancel));
  out.options.root = model->root;
  out.options.sub = model->sub;
  out.options.pool_options = server.pool;
  DOSSIER_ASSIGN_OR_RETURN(out.options.folders, app::UserAssetFolders(""));
  out.options.makers = app::SectionMakersFor(
      {.config = [config]() -> Result<config::Config> { return *config; },
       .agents = [config] { return app::LoadAgents(*config, ".", app::UseIfApproved); },
       .done_tasks = {},
       .warn = {},
       .cancel = cancel,
       .now = {}});
  DOSSIER_ASSIGN_OR_RETURN(out.options.replies,
                           store::Memo::Open(place.folder, out.options.journal->content()));
  if (place.memory == AskPlace::Memory::kOff) return out;
  DOSSIER_ASSIGN_OR_RETURN(
      const app::PromptMemory memory,
      app::OpenPromptMemory({.use = app::MemoryWish::Use::kByConfig, .store = {}, .branch = {}},
                            *config, app::MemoryNeed::kWritten));
  out.request.memory = {.store = memory.store,
                        .branch = memory.branch,
                        .calls = memory.calls,
                        .consolidate_from = memory.consolidate_from};
  return out;
}

}  // namespace dossier::server
