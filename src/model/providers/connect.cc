#include "model/providers/connect.h"

#include "base/clock.h"
#include "base/net/url.h"
#include "model/catalog/tokenizer.h"
#include "model/providers/command_client.h"
#include "model/providers/local_connect.h"
#include "model/providers/provider_client.h"
#include "model/scripted/scripted.h"

namespace dossier::model {
namespace {

Result<std::shared_ptr<const tokens::Counter>> MakeCounter(const Entry& entry,
                                                           const ConnectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenTokenizer(entry, tokens::DefaultDataPaths()));
  if (!opened.warning.empty() && options.progress) options.progress("warning: " + opened.warning);
  return std::move(opened.counter);
}

tl::unexpected<Error> RefuseOffline(const Choice& choice, std::string_view why) {
  return MakeError(ErrorCode::kNetwork, "--offline: {} {}; use -m local, or --replay", choice.model,
                   why);
}

// command/PRESET, or command/PRESET/MODEL.
Result<CommandPreset> PresetOf(const Choice& choice, const ConnectOptions& options) {
  return LoadPreset(choice.model.substr(0, choice.model.find('/')), options.commands_folder);
}

Result<Connection> ConnectScripted(const Choice& choice, const ConnectOptions& options) {
  if (choice.script.empty()) {
    return MakeError(ErrorCode::kUsage, "the scripted model needs --script FILE");
  }
  DOSSIER_ASSIGN_OR_RETURN(auto script, Script::Load(choice.script));
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return Connection{.client = MakeScriptedClient(script, SystemClock(), choice.entry),
                    .entry = choice.entry,
                    .counter = std::move(counter),
                    .description = "scripted " + choice.script,
                    .stop_sequences = false};
}

Result<Connection> ConnectProvider(const Choice& choice, const ConnectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(auto client, MakeProviderClient({.base_url = choice.provider.base_url,
                                                            .key = choice.key,
                                                            .key_source = choice.key_source,
                                                            .provider = choice.provider.name,
                                                            .dialect = choice.provider.dialect,
                                                            .headers = options.headers,
                                                            .models = options.known_models,
                                                            .entry = choice.entry}));
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return Connection{.client = std::move(client),
                    .entry = choice.entry,
                    .counter = std::move(counter),
                    .description = fmt::format("{} {}, {}", choice.provider.name, choice.model,
                                               choice.provider.base_url),
                    // Reasoning models refuse `stop` with the rest of the sampling parameters.
                    .stop_sequences = choice.entry.sampling || choice.provider.dialect != "openai"};
}

Result<Connection> ConnectCommand(const Choice& choice, const ConnectOptions& options) {
  const std::size_t slash = choice.model.find('/');
  DOSSIER_ASSIGN_OR_RETURN(CommandPreset preset, PresetOf(choice, options));
  Connection connection{.entry = choice.entry,
                        .description = fmt::format("command {}", choice.model),
                        .stop_sequences = false};
  connection.entry.capability.window = preset.window;
  connection.entry.capability.max_output = preset.max_output;
  DOSSIER_ASSIGN_OR_RETURN(connection.counter, MakeCounter(choice.entry, options));
  DOSSIER_ASSIGN_OR_RETURN(
      connection.client,
      MakeCommandClient(std::move(preset),
                        {.model = slash == std::string::npos ? "" : choice.model.substr(slash + 1),
                         .key_env = choice.key_source,
                         .environment = options.environment}));
  return connection;
}

Result<Connection> ConnectReplay(const Choice& choice, const ConnectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return Connection{
      .client = options.replay->Client(),
      .entry = choice.entry,
      .counter = std::move(counter),
      .description = fmt::format("replay of {} {}", choice.provider.name, choice.model),
      .stop_sequences = choice.entry.sampling || choice.provider.dialect != "openai"};
}

Result<Connection> ConnectReal(const Choice& choice, const ConnectOptions& options,
                               const CancelToken& cancel) {
  if (choice.provider.name == "scripted") return ConnectScripted(choice, options);
  if (choice.provider.name == "command") return ConnectCommand(choice, options);
  if (choice.provider.name == "local") return ConnectLocal(choice, options, cancel);
  return ConnectProvider(choice, options);
}

}  // namespace

Status CheckNetwork(const Choice& choice, const ConnectOptions& options) {
  if (options.network == ConnectOptions::Network::kAllowed || options.replay) return {};
  if (choice.provider.name == "command") {
    DOSSIER_ASSIGN_OR_RETURN(const CommandPreset preset, PresetOf(choice, options));
    if (preset.network == CommandPreset::Network::kNone) return {};
    return RefuseOffline(choice, "may reach the network (its preset does not say `network: none`)");
  }
  const std::string& address = choice.provider.base_url;
  const auto url = ParseUrl(address);
  if (address.empty() || (url && url->is_loopback())) return {};
  return RefuseOffline(choice, "is at " + address);
}

Result<Connection> Connect(const Choice& choice, const ConnectOptions& options,
                           const CancelToken& cancel) {
  if (!options.replay) DOSSIER_RETURN_IF_ERROR(CheckNetwork(choice, options));
  DOSSIER_ASSIGN_OR_RETURN(Connection connection, options.replay
                                                      ? ConnectReplay(choice, options)
                                                      : ConnectReal(choice, options, cancel));
  if (connection.parallel == 0) connection.parallel = choice.provider.concurrency;
  if (options.replay) return connection;
  if (options.recorder) {
    connection.client = options.recorder->Wrap(std::move(connection.client), choice.key);
  }
  return connection;
}

}  // namespace dossier::model
