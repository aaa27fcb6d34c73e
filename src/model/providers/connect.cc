#include "model/providers/connect.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/url.h"
#include "model/catalog/catalog.h"
#include "model/local/local_server.h"
#include "model/providers/command_client.h"
#include "model/providers/provider_client.h"
#include "model/scripted/scripted.h"
#include "tokens/files/open.h"

namespace dossier::model {
namespace {

Result<std::shared_ptr<const tokens::Counter>> MakeCounter(
    const Entry& entry, const ConnectOptions& options,
    const tokens::DataPaths& paths = tokens::DefaultDataPaths()) {
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenTokenizer(entry, paths));
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

Result<ConnectedModel> ConnectScripted(const Choice& choice, const ConnectOptions& options) {
  if (choice.script.empty()) {
    return MakeError(ErrorCode::kUsage, "the scripted model needs --script FILE");
  }
  DOSSIER_ASSIGN_OR_RETURN(auto script, Script::Load(choice.script));
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return ConnectedModel{.client = MakeScriptedClient(script, SystemClock(), choice.entry),
                        .entry = choice.entry,
                        .counter = std::move(counter),
                        .description = "scripted " + choice.script,
                        .stop_sequences = false};
}

Result<ConnectedModel> ConnectProvider(const Choice& choice, const ConnectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(auto client, MakeProviderClient({.base_url = choice.provider.base_url,
                                                            .key = choice.key,
                                                            .key_source = choice.key_source,
                                                            .provider = choice.provider.name,
                                                            .dialect = choice.provider.dialect,
                                                            .headers = options.headers,
                                                            .models = options.known_models,
                                                            .entry = choice.entry}));
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return ConnectedModel{.client = std::move(client),
                        .entry = choice.entry,
                        .counter = std::move(counter),
                        .description = fmt::format("{} {}, {}", choice.provider.name, choice.model,
                                                   choice.provider.base_url),
                        .stop_sequences = choice.entry.Takes("stop")};
}

Result<ConnectedModel> ConnectCommand(const Choice& choice, const ConnectOptions& options) {
  const std::size_t slash = choice.model.find('/');
  // It becomes a word of the program's command line, which would take it for a flag.
  if (slash != std::string::npos && choice.model.substr(slash + 1).starts_with('-')) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "command/{}: a model's name does not begin with \"-\"; flags of the program "
                     "belong into the argv of a preset of your own",
                     choice.model);
  }
  DOSSIER_ASSIGN_OR_RETURN(CommandPreset preset, PresetOf(choice, options));
  ConnectedModel connection{.entry = choice.entry,
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

// Nobody is there to be asked.
class NoClient final : public Client {
 public:
  void Submit(std::shared_ptr<const Request>, CancelToken, std::shared_ptr<Sink> sink) override {
    sink->OnDone(MakeError(ErrorCode::kInternal, "the local model is only looked at"));
  }
};

// The window and the counter that the server would have.
Result<ConnectedModel> LookAtLocal(const Choice& choice, const ConnectOptions& options,
                                   const std::string& data_folder) {
  ConnectedModel connection{.client = std::make_shared<NoClient>(),
                            .entry = choice.entry,
                            .description = fmt::format("local {}, not started", choice.model)};
  if (const auto weights = FindWeights(data_folder, choice.model)) {
    ModelNeeds needs = NeedsOf(*weights);
    needs.window = options.context_tokens;
    if (const auto plan = PlanServer(LookAtMachine(), needs)) {
      connection.entry.capability.window = plan->window;
      connection.parallel = plan->slots;
    }
  }
  if (const auto state = ReadFile(data_folder + "/local/server.json")) {
    if (const auto server = ParseServerState(*state); server && server->model == choice.model) {
      connection.entry.capability.window = server->window;
      connection.parallel = server->slots;
    }
  }
  connection.entry.capability.max_output =
      std::min(connection.entry.capability.max_output, connection.entry.capability.window / 2);
  connection.entry.grammar = connection.entry.json_schema = connection.entry.logprobs = true;
  tokens::DataPaths paths = tokens::DefaultDataPaths();
  paths.cache.clear();
  DOSSIER_ASSIGN_OR_RETURN(connection.counter, MakeCounter(choice.entry, options, paths));
  return connection;
}

// The managed llama.cpp server, started when first used; there is one for all processes.
Result<ConnectedModel> ConnectLocal(const Choice& choice, const ConnectOptions& options,
                                    const CancelToken& cancel) {
  LocalServerOptions server_options;
  DOSSIER_ASSIGN_OR_RETURN(server_options.data_folder, DataFolder());
  if (options.start == ConnectOptions::Start::kNothing) {
    return LookAtLocal(choice, options, server_options.data_folder);
  }
  DOSSIER_ASSIGN_OR_RETURN(server_options.weights,
                           FindWeights(server_options.data_folder, choice.model));
  server_options.window = options.context_tokens;
  server_options.say = options.progress;
  if (options.idle) server_options.idle = *options.idle;
  if (!options.local_server.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(server_options.runtime, NamedServer(options.local_server, cancel));
  } else if (options.network == ConnectOptions::Network::kNone) {
    server_options.network = LocalServerOptions::Network::kNone;
  }
  DOSSIER_ASSIGN_OR_RETURN(const ServerState server, EnsureLocalServer(server_options, cancel));

  ConnectedModel connection{.entry = choice.entry};
  connection.entry.capability.window = server.window;
  connection.entry.capability.max_output =
      std::min(connection.entry.capability.max_output, server.window / 2);
  // llama.cpp takes them for every model, whatever the entry says of an unknown one.
  connection.entry.grammar = connection.entry.json_schema = connection.entry.logprobs = true;
  DOSSIER_ASSIGN_OR_RETURN(
      connection.client,
      MakeProviderClient({.base_url = fmt::format("http://127.0.0.1:{}/v1", server.port),
                          .key = server.key,
                          .key_source = "the local server's state file",
                          .provider = "local",
                          .models = {server.model},
                          .entry = connection.entry}));
  // The vocabulary of the weights, in process; the server is asked only where we cannot read it.
  auto own = tokens::Open("gguf:" + server_options.weights.path, tokens::DefaultDataPaths());
  if (own) {
    connection.counter = std::move(own->counter);
  } else {
    DOSSIER_ASSIGN_OR_RETURN(connection.counter,
                             MakeServerCounter(server.port, server.key,
                                               {.bytes_per_token = choice.entry.bytes_per_token,
                                                .margin = choice.entry.margin}));
  }
  connection.description = fmt::format("local {}, port {}", server.model, server.port);
  connection.stop_sequences = true;
  connection.parallel = server.slots;
  return connection;
}

Result<ConnectedModel> ConnectReplay(const Choice& choice, const ConnectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeCounter(choice.entry, options));
  return ConnectedModel{
      .client = options.replay->Client(),
      .entry = choice.entry,
      .counter = std::move(counter),
      .description = fmt::format("replay of {} {}", choice.provider.name, choice.model),
      .stop_sequences = choice.entry.Takes("stop")};
}

Result<ConnectedModel> ConnectReal(const Choice& choice, const ConnectOptions& options,
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

Result<ConnectedModel> Connect(const Choice& choice, const ConnectOptions& options,
                               const CancelToken& cancel) {
  if (!options.replay) DOSSIER_RETURN_IF_ERROR(CheckNetwork(choice, options));
  DOSSIER_ASSIGN_OR_RETURN(ConnectedModel connection, options.replay
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
