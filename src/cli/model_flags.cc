#include "cli/model_flags.h"

#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"

namespace dossier::cli {
namespace {

Result<model::Choice> Choose(const model::Catalog& catalog, const ModelFlags& flags,
                             const std::string& name) {
  return catalog.Choose({.name = name,
                         .base_url = flags.base_url,
                         .key_env = flags.key_env,
                         .script = flags.script},
                        Environment);
}

Result<recursion::BoundModel> Bind(const model::Choice& choice, const ModelFlags& flags,
                                   const std::function<void(std::string_view)>& say,
                                   const CancelToken& cancel, std::string* description) {
  DOSSIER_ASSIGN_OR_RETURN(model::Connection connection,
                           model::Connect(choice, {.progress = say}, cancel));
  *description = connection.description;
  recursion::BoundModel bound;
  bound.name = choice.model;
  bound.entry = connection.entry;
  bound.counter = connection.counter;
  bound.stops = connection.stop_sequences ? recursion::BoundModel::Stops::kHonoured
                                          : recursion::BoundModel::Stops::kIgnored;
  bound.gate = model::Gate::Make(
      connection.client,
      {.concurrency = std::min(flags.concurrency, std::max(1, connection.parallel)),
       .retries = flags.retries,
       .price_input = connection.entry.price_input},
      SystemClock());
  return bound;
}

// K=V, V as JSON where it is JSON, else as text.
Result<JsonObject> ParseParams(const std::vector<std::string>& params) {
  JsonObject out;
  for (const std::string& param : params) {
    const auto equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kUsage, "--param {}: write it as NAME=VALUE", param);
    }
    const std::string value = param.substr(equals + 1);
    auto json = ParseJson(value);
    out[param.substr(0, equals)] = json ? std::move(*json) : Json(value);
  }
  return out;
}

}  // namespace

std::optional<std::string> Environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value || !value[0]) return std::nullopt;
  return std::string(value);
}

void AddModelFlags(CLI::App& command, ModelFlags* flags) {
  const std::string group = "Model";
  command.add_option("-m,--model", flags->model, "model, as [PROVIDER/]NAME")->group(group);
  command.add_option("--sub-model", flags->sub_model, "model of sub-calls (default: the same)")
      ->group(group);
  command.add_option("--base-url", flags->base_url, "any OpenAI-compatible address")->group(group);
  command.add_option("--key-env", flags->key_env, "variable that holds the key")->group(group);
  command.add_option("--script", flags->script, "replies of the model `scripted`")->group(group);
  command.add_option("--temperature", flags->temperature, "0 to 2")
      ->check(CLI::Range(0.0, 2.0))
      ->group(group);
  command.add_option("--max-output", flags->max_output, "tokens of one reply")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--param", flags->params, "NAME=VALUE passed to the provider")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--concurrency", flags->concurrency, "requests in flight")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--timeout", flags->timeout, "longest time of one request")
      ->capture_default_str()
      ->group(group);
  command.add_option("--idle-timeout", flags->idle_timeout, "longest silence of one request")
      ->capture_default_str()
      ->group(group);
  command.add_option("--retries", flags->retries, "after the first attempt")
      ->check(CLI::Range(0, 20))
      ->capture_default_str()
      ->group(group);
}

Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  OpenedModel opened;
  DOSSIER_ASSIGN_OR_RETURN(opened.sampling.extra, ParseParams(flags.params));
  opened.sampling.max_output = flags.max_output;
  DOSSIER_ASSIGN_OR_RETURN(opened.deadline, ParseDuration(flags.timeout));
  DOSSIER_ASSIGN_OR_RETURN(opened.idle_limit, ParseDuration(flags.idle_timeout));
  DOSSIER_ASSIGN_OR_RETURN(const model::Catalog catalog, model::Catalog::Load({}));
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, Choose(catalog, flags, flags.model));
  for (const std::string& warning : choice.warnings) say("warning: " + warning);
  DOSSIER_ASSIGN_OR_RETURN(opened.root, Bind(choice, flags, say, cancel, &opened.description));
  opened.why = choice.why;
  opened.sub = opened.root;
  if (!flags.sub_model.empty() && flags.sub_model != flags.model) {
    DOSSIER_ASSIGN_OR_RETURN(const model::Choice sub, Choose(catalog, flags, flags.sub_model));
    std::string unused;
    DOSSIER_ASSIGN_OR_RETURN(opened.sub, Bind(sub, flags, say, cancel, &unused));
  }
  return opened;
}

}  // namespace dossier::cli
