#include "model/providers/local_connect.h"

#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "model/catalog/tokenizer.h"
#include "model/local/local_plan.h"
#include "model/local/local_server.h"
#include "model/local/local_tokenizer.h"
#include "model/providers/provider_client.h"
#include "tokens/files/open.h"

namespace dossier::model {
namespace {

// Nobody is there to be asked.
class NoClient final : public Client {
 public:
  void Submit(std::shared_ptr<const Request>, CancelToken, std::shared_ptr<Sink> sink) override {
    sink->OnDone(MakeError(ErrorCode::kInternal, "the local model is only looked at"));
  }
};

// The window and the counter that the server would have.
Result<Connection> LookAtLocal(const Choice& choice, const ConnectOptions& options,
                               const std::string& data_folder) {
  Connection connection{.client = std::make_shared<NoClient>(),
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
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened counter, OpenTokenizer(choice.entry, paths));
  if (!counter.warning.empty() && options.progress) {
    options.progress("warning: " + counter.warning);
  }
  connection.counter = std::move(counter.counter);
  return connection;
}

}  // namespace

Result<Connection> ConnectLocal(const Choice& choice, const ConnectOptions& options,
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

  Connection connection{.entry = choice.entry};
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

}  // namespace dossier::model
