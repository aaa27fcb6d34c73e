#include "cli/wiring/model_flags.h"

#include "base/text/text.h"
#include "cli/wiring/quantity_flags.h"

namespace dossier::cli {
namespace {

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

Result<app::ModelSettings> SettingsOf(const ModelFlags& flags) {
  app::ModelSettings settings = flags;
  DOSSIER_ASSIGN_OR_RETURN(settings.sent, ParseParams(flags.params));
  DOSSIER_ASSIGN_OR_RETURN(settings.deadline, ReadTimeFlag("--timeout", flags.timeout));
  DOSSIER_ASSIGN_OR_RETURN(settings.idle_limit, ReadTimeFlag("--idle-timeout", flags.idle_timeout));
  return settings;
}

Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global) {
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(config, &flags));
  flags.offline = global.offline;
  return flags;
}

void AddModelFlags(CLI::App& command, ModelFlags* flags) {
  const std::string group = "Model";
  command.add_option("-m,--model", flags->model, "model, as [PROVIDER/]NAME")->group(group);
  command.add_option("--sub-model", flags->sub_model, "model of sub-calls (default: the same)")
      ->group(group);
  command.add_option("--temperature", flags->temperature, "0 to 2")
      ->check(CLI::Range(0.0, 2.0))
      ->group(group);
  command.add_option("--max-output", flags->max_output, "tokens of one reply")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--param", flags->params, "NAME=VALUE passed to the provider")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--concurrency", flags->concurrency,
                  "requests in flight (16; of the local server, its slots)")
      ->check(CLI::Range(1, 10000))
      ->group(group);
  AddConnectionFlags(command, flags);
}

void AddPriceFlag(CLI::App& command, const std::string& group, std::vector<std::string>* prices) {
  command
      .add_option("--price", *prices,
                  "of a model that has none: IN/OUT or NAME=IN/OUT, USD for a million tokens")
      ->type_name("PRICE")
      ->allow_extra_args(false)
      ->group(group);
}

void AddConnectionFlags(CLI::App& command, ModelFlags* flags) {
  const std::string group = "Model";
  command.add_option("--base-url", flags->base_url, "any OpenAI-compatible address")->group(group);
  command.add_option("--key-env", flags->key_env, "variable that holds the key")->group(group);
  command.add_option("--script", flags->script, "replies of the model `scripted`")->group(group);
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
  command.add_option("--record", flags->record, "write requests and replies to this file")
      ->group(group);
  command.add_option("--replay", flags->replay, "answer from a recorded file: no key, no network")
      ->group(group);
}

Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const app::ModelSettings settings, SettingsOf(flags));
  return app::OpenModel(settings, say, cancel);
}

}  // namespace dossier::cli
