#include "server/rpc/rpc_ask.h"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "api/access.h"
#include "base/deadline.h"
#include "base/text/text.h"
#include "server/run_table.h"

namespace dossier::server {
namespace {

constexpr std::string_view kScripted = "scripted";  // a provider

void TakeText(const Json& from, std::string_view key, std::string* to) {
  if (const auto value = FindString(from, key)) *to = *value;
}

void TakeNumber(const Json& from, std::string_view key, std::optional<double>* to) {
  if (const auto value = FindNumber(from, key)) *to = *value;
}

template <typename Whole>
void TakeWhole(const Json& from, std::string_view key, Whole* to) {
  if (const auto value = FindInt(from, key)) *to = *value;
}

ModelOptions ModelOptionsOf(const Json& given) {
  ModelOptions options;
  TakeText(given, "base_url", &options.base_url);
  TakeText(given, "key_env", &options.key_env);
  TakeText(given, "record", &options.record);
  TakeText(given, "replay", &options.replay);
  TakeNumber(given, "temperature", &options.temperature);
  TakeWhole(given, "max_output", &options.max_output);
  TakeWhole(given, "window", &options.window);
  TakeWhole(given, "retries", &options.retries);
  if (const auto many = FindInt(given, "concurrency"))
    options.concurrency = static_cast<int>(*many);
  TakeNumber(given, "price_input", &options.price_input);
  TakeNumber(given, "price_output", &options.price_output);
  return options;
}

AskOptions::Mode AskModeOf(const Json& params) {
  const std::string mode = TextAt(params, "mode");
  if (mode == "direct") return AskOptions::Mode::kDirect;
  return mode == "recursive" ? AskOptions::Mode::kRecursive : AskOptions::Mode::kAuto;
}

AskOptions AskOptionsOf(const Json& params) {
  AskOptions options{.mode = AskModeOf(params)};
  TakeWhole(params, "max_calls", &options.max_calls);
  TakeWhole(params, "max_tokens", &options.max_tokens);
  TakeNumber(params, "max_usd", &options.max_usd);
  if (const auto seconds = FindNumber(params, "max_time_s")) {
    options.max_time = LimitOfSeconds(*seconds);
  }
  if (const auto turns = FindInt(params, "max_turns")) options.max_turns = static_cast<int>(*turns);
  if (const auto seed = FindInt(params, "seed")) options.seed = static_cast<std::uint64_t>(*seed);
  TakeNumber(params, "temperature", &options.temperature);
  if (const Json* schema = Find(params, "schema")) options.json_schema = ToJson(*schema);
  TakeWhole(params, "repairs", &options.repairs);
  TakeText(params, "layouts_dir", &options.layouts_dir);
  return options;
}

// Reads images, given by a place or in base64.
Result<std::vector<AskImage>> AskMediaOf(const Json& params) {
  std::vector<AskImage> media;
  const Json* given = Find(params, "media");
  if (given == nullptr) return media;
  for (const Json& image : given->as_array()) {
    AskImage one{.name = TextAt(image, "name"), .place = TextAt(image, "place"), .bytes = {}};
    if (!AppendBase64(TextAt(image, "data"), &one.bytes)) {
      return MakeError(ErrorCode::kInvalidArgument, "/media/{}/data: is no base64", media.size());
    }
    media.push_back(std::move(one));
  }
  return media;
}

// Makes "calls 3 of 3, time 60 of 60", the run's id, and after a semicolon the remedy, as hints do.
Error LimitFault(const Answer& answer) {
  std::string limits;
  ErrorCode code = answer.limits_hit.empty() ? ErrorCode::kLimit : ErrorCode::kTimeout;
  for (const LimitHit& hit : answer.limits_hit) {
    limits +=
        fmt::format("{}{} {} of {}", limits.empty() ? "" : ", ", hit.limit, hit.used, hit.max);
    if (hit.limit != "time") code = ErrorCode::kLimit;
  }
  const std::string_view known = answer.text.empty() ? "before an answer was found"
                                                     : "and what was known by then is in `partial`";
  return {code, fmt::format("the run ended by a limit, {}; limits: {}; run {}: raise them, or look "
                            "at it by `dossier runs show {}`",
                            known, limits.empty() ? "not said" : limits, answer.run, answer.run)};
}

// Returns why an answer is not usable; nothing for a usable one, even with doubts.
std::optional<Error> FaultOf(const Answer& answer) {
  switch (answer.status) {
    case AnswerStatus::kFinal:
      return std::nullopt;
    case AnswerStatus::kUnconfirmed:
      if (answer.error && answer.error->code == ErrorCode::kSchema) return answer.error;
      return answer.limits_hit.empty() ? std::nullopt : std::optional(LimitFault(answer));
    case AnswerStatus::kExtracted:
      return LimitFault(answer);
    case AnswerStatus::kInterrupted:
      return Error{ErrorCode::kCancelled, "the run was cancelled"};
    case AnswerStatus::kNone:
    case AnswerStatus::kFailed:
      break;
  }
  const bool other = answer.error && answer.error->code != ErrorCode::kLimit;
  if (!other && !answer.limits_hit.empty()) return LimitFault(answer);
  return answer.error ? *answer.error : Error{ErrorCode::kFailed, "no answer was found"};
}

}  // namespace

Result<Model> Asker::Open(const Json& params, std::string_view name, const CancelToken& cancel) {
  const Json* given = Find(params, "model_options");
  const std::string key = std::string(name) + "\n" + (given ? ToJson(*given) : "");
  const std::lock_guard lock(mutex_);
  if (const auto found = models_.find(key); found != models_.end()) return found->second;
  ModelOptions options = ModelOptionsOf(given ? *given : Json(JsonObject{}));
  options.cancel = cancel;
  DOSSIER_ASSIGN_OR_RETURN(Model model, Model::Open(name, options));
  // A script's rules are used up by questions, so each scripted model starts anew.
  if (model.provider() != kScripted) models_[key] = model;
  return model;
}

Result<std::vector<Context>> Asker::ContextsOf(const Json& params) const {
  const std::string id = TextAt(params, "context");
  std::vector<Context> out;
  if (id.empty()) return out;
  DOSSIER_ASSIGN_OR_RETURN(const auto sources, workspace_.contexts().SourcesOf(id));
  for (const ask::ContextSource& source : sources) {
    Context context = source.text ? Text(*source.text) : File(source.path);
    context.name = source.shown.empty() ? source.name : source.shown;
    out.push_back(std::move(context));
  }
  return out;
}

// A call waits for the program's reply on the thread that the run provides.
std::vector<AskTool> Asker::ToolsOf(const Json& params, const RpcScope& scope) const {
  std::vector<AskTool> out;
  const Json* given = Find(params, "tools");
  if (given == nullptr) return out;
  for (const Json& tool : given->as_array()) {
    const std::string name = TextAt(tool, "name");
    out.push_back(
        {.name = name,
         .description = TextAt(tool, "description"),
         .parameters = ToJson(*Find(tool, "schema")),
         .run = [this, name, id = scope.id](std::string_view arguments,
                                            const CancelToken& cancel) -> Result<std::string> {
           DOSSIER_ASSIGN_OR_RETURN(Json args, ParseJson(arguments));
           // Shared: the thread that delivers the reply may still use it after this one continues.
           const auto answered = std::make_shared<std::promise<Result<std::string>>>();
           callbacks_.Call(
               {.id = id, .name = name, .args = std::move(args.get_object())}, cancel,
               [answered](Result<Json> value) {
                 answered->set_value(value.map([](const Json& v) { return ToJson(v); }));
               });
           return answered->get_future().get();
         }});
  }
  return out;
}

Result<RpcReply> Asker::Estimate(const JsonObject& given, const RpcScope& scope) {
  const Json params(given);
  AskWish wish{.context = TextAt(params, "context"),
               .question = TextAt(params, "question"),
               .max_usd = FindNumber(params, "max_usd"),
               .max_calls = FindInt(params, "max_calls")};
  const std::string mode = TextAt(params, "mode");
  if (mode == "direct") wish.mode = ask::Mode::kDirect;
  if (mode == "recursive") wish.mode = ask::Mode::kRecursive;
  std::shared_ptr<const Model::Impl> model;
  if (given.contains("model") || given.contains("model_options")) {
    DOSSIER_ASSIGN_OR_RETURN(const Model opened,
                             Open(params, TextAt(params, "model"), scope.cancel));
    DOSSIER_ASSIGN_OR_RETURN(model, ModelAccess::Of(opened));
    wish.opened = &model->opened;
  }
  DOSSIER_ASSIGN_OR_RETURN(const AskEstimate estimate,
                           workspace_.runs().Estimate(wish, scope.cancel));
  JsonObject result = estimate.ToJson();
  result["text"] = estimate.ToText();
  return RpcReply{.result = std::move(result)};
}

Result<RpcReply> Asker::Ask(const JsonObject& given, const RpcScope& scope) {
  const Json params(given);
  AskOptions options = AskOptionsOf(params);
  // The context first: a wrong id must not cost the start of a model.
  DOSSIER_ASSIGN_OR_RETURN(const auto contexts, ContextsOf(params));
  DOSSIER_ASSIGN_OR_RETURN(options.model, Open(params, TextAt(params, "model"), scope.cancel));
  // The same model is opened once; a script has one set of rules.
  const std::string sub = TextAt(params, "sub_model");
  if (!sub.empty() && sub != TextAt(params, "model")) {
    DOSSIER_ASSIGN_OR_RETURN(options.sub_model, Open(params, sub, scope.cancel));
  }
  // If there is no sandbox, the run that needs one reports it.
  if (auto pool = workspace_.Pool()) options.pool = SandboxPoolAccess::Over(std::move(*pool));
  options.tools = ToolsOf(params, scope);
  DOSSIER_ASSIGN_OR_RETURN(options.media, AskMediaOf(params));
  options.cancel = scope.cancel;
  if (FindBool(params, "events").value_or(false)) {
    options.on_event = [&scope](const RunEvent& event) {
      auto data = ParseJson(event.data);
      scope.event({{"type", event.type},
                   {"seq", event.number},
                   {"time", event.time},
                   {"data", data ? std::move(*data) : Json(nullptr)}});
    };
    options.on_text = [&scope](std::string_view text) {
      scope.event({{"type", "text"}, {"text", text}});
    };
  }
  DOSSIER_ASSIGN_OR_RETURN(const Answer answer,
                           dossier::Ask(TextAt(params, "question"), contexts, options));
  DOSSIER_ASSIGN_OR_RETURN(Json whole, ParseJson(answer.json, 200));
  return RpcReply{.result = std::move(whole), .error = FaultOf(answer)};
}

}  // namespace dossier::server
