#include <optional>
#include <ostream>
#include <string>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "cli/system/models_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/shared_flags.h"
#include "model/dialects/role_rules.h"
#include "model/local/local_fetch.h"
#include "model/local/local_pull.h"
#include "model/local/local_server.h"
#include "model/scripted/scripted.h"
#include "model/scripted/serve_script.h"

namespace dossier::cli {
namespace {

struct LocalModelArguments {
  std::string name;           // a model; for `pull` a model or a path; a script file
  std::string record, roles;  // for serve-script
  std::string sha256;         // for a file downloaded from an address
  std::string idle = "10m";
  std::optional<std::int64_t> context;  // context size of the local server, in tokens
  int port = 0;
  bool json = false;
};

// Accepts "local/NAME", "NAME" or nothing (the default model).
std::string LocalName(std::string name) {
  if (name.rfind("local/", 0) == 0) name.erase(0, 6);
  return name.empty() || name == "local" ? model::DefaultWeights().name : name;
}

Status PullAddress(const LocalModelArguments& arguments, const std::string& data,
                   const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  PullView view(Terminal::Detect(), err);
  model::FetchOptions options;
  options.progress = [&view](const model::PullProgress& progress) { view.Show(progress); };
  auto fetched = model::FetchWeights({.url = arguments.name, .sha256 = arguments.sha256}, data,
                                     options, cancel);
  view.End();
  DOSSIER_RETURN_IF_ERROR(fetched);
  const bool present = fetched->outcome == model::PullResult::Outcome::kPresent;
  const std::string hash = fetched->sha256.empty()    ? "not checked: no --sha256"
                           : arguments.sha256.empty() ? "SHA-256 " + fetched->sha256
                                                      : "SHA-256 as given";
  out << fmt::format("{} is {} ({}, {}): -m local/{}\n", Safe(fetched->weights.path),
                     present ? "here already" : "fetched", FormatSize(fetched->weights.bytes), hash,
                     Safe(fetched->weights.name));
  return {};
}

Status PullEmbeddingModel(const model::EmbeddingSource& source, const std::string& data,
                          const CancelToken& cancel, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const model::EmbeddingFiles files,
                           model::PullEmbedding(source, data, /*fetch=*/nullptr, cancel));
  out << fmt::format(
      "{} is here, checked: {}\n`memory: {{embed_model: {}}}` in dossier.yml uses it\n",
      source.name, Safe(files.weights), source.name);
  return {};
}

Status ShowStopped(const std::string& data, const LocalModelArguments& arguments,
                   const CancelToken& cancel, std::ostream& out) {
  const auto weights = model::FindWeights(data, model::DefaultWeights().name);
  const auto runtime = model::FindRuntime(data, cancel);
  const std::string installed =
      runtime ? runtime->kind + " " + Safe(runtime->version) : "not installed yet";
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.local-server/1"},
                             {"running", false},
                             {"runtime", runtime ? Json(runtime->kind) : Json(nullptr)},
                             {"version", runtime ? Json(runtime->version) : Json(nullptr)},
                             {"weights", weights ? Json(weights->path) : Json(nullptr)}})
        << "\n";
    return {};
  }
  out << fmt::format(
      "server    not running; it starts when a command needs it\n"
      "runtime   {}\nweights   {}\n",
      installed, weights ? weights->path : weights.error().message);
  return {};
}

Status PullModel(const LocalModelArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const std::string& name = arguments.name;
  const bool is_file = name.ends_with(".gguf") && name.find("://") == std::string::npos;
  if (context.flags.offline && !is_file) {
    return MakeError(ErrorCode::kNetwork,
                     "--offline: models pull fetches weights; name a .gguf file that is here");
  }
  if (name.find("://") != std::string::npos)
    return PullAddress(arguments, data, context.cancel, context.out, context.err);
  if (!arguments.sha256.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--sha256 is for a file that is fetched from an https address");
  }
  if (const auto source = model::FindEmbeddingSource(name)) {
    return PullEmbeddingModel(**source, data, context.cancel, context.out);
  }
  if (name.empty() || LocalName(name) == model::DefaultWeights().name) {
    return PullDefaultModel(data, context.cancel, context.out, context.err);
  }
  model::Weights weights;
  if (name.ends_with(".gguf")) {
    DOSSIER_ASSIGN_OR_RETURN(weights, model::LinkWeights(data, name));
  } else {
    return MakeError(ErrorCode::kConfig,
                     "{} is neither {}, nor a .gguf file, nor an https address of one", name,
                     model::DefaultWeights().name);
  }
  context.out << fmt::format("{} is ready ({}): -m local/{}\n", Safe(weights.path),
                             FormatSize(weights.bytes), Safe(weights.name));
  return {};
}

Status StartServer(const LocalModelArguments& arguments, Context& context) {
  model::LocalServerOptions options;
  DOSSIER_ASSIGN_OR_RETURN(options.data_folder, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(options.idle, ReadTimeFlag("--idle", arguments.idle));
  DOSSIER_ASSIGN_OR_RETURN(options.weights,
                           model::FindWeights(options.data_folder, LocalName(arguments.name)));
  options.window = arguments.context;
  options.say = SayTo(context.err);
  if (context.flags.offline) options.network = model::LocalServerOptions::Network::kNone;
  DOSSIER_ASSIGN_OR_RETURN(const model::ServerState state,
                           model::EnsureLocalServer(options, context.cancel));
  context.out << fmt::format("{} answers on 127.0.0.1:{}, window {}\n", Safe(state.model),
                             state.port, GroupDigits(static_cast<std::uint64_t>(state.window)));
  return {};
}

Status StopServer(const LocalModelArguments&, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const bool ran, model::StopLocalServer(data, context.cancel));
  context.out << (ran ? "the local server has ended\n" : "the local server was not running\n");
  return {};
}

Status ShowServer(const LocalModelArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const auto state = model::FindLocalServer(data);
  if (!state) return ShowStopped(data, arguments, context.cancel, context.out);
  const model::ServerStats stats = model::ReadServerStats(data, *state);
  const auto& speed = stats.tokens_per_second;
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.local-server/1"},
                                     {"running", true},
                                     {"runtime", state->runtime},
                                     {"version", state->version},
                                     {"pid", state->pid},
                                     {"port", state->port},
                                     {"model", state->model},
                                     {"window", state->window},
                                     {"slots", state->slots},
                                     {"threads", state->threads},
                                     {"memory", stats.memory},
                                     {"tokens_per_second", speed ? Json(*speed) : Json(nullptr)},
                                     {"idle_left", stats.idle_left}})
                << "\n";
    return {};
  }
  context.out << fmt::format("server    pid {}, 127.0.0.1:{}\n", state->pid, state->port)
              << fmt::format("runtime   {} {}\n", Safe(state->runtime), Safe(state->version))
              << fmt::format("model     {}, window {}, {} slot{}, {} threads\n", Safe(state->model),
                             GroupDigits(static_cast<std::uint64_t>(state->window)), state->slots,
                             state->slots == 1 ? "" : "s", state->threads)
              << fmt::format("memory    {}\n", FormatSize(stats.memory))
              << fmt::format("speed     {}\n",
                             speed ? fmt::format("{:.1f} tokens/s in the last request", *speed)
                                   : "no request yet")
              << fmt::format("ends in   {} s without requests\n", stats.idle_left);
  return {};
}

Status ServeScriptFile(const LocalModelArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(auto script, model::Script::Load(arguments.name));
  model::ServeScriptOptions options{.port = arguments.port, .record_path = arguments.record};
  if (const model::RoleRules* rules = model::FindRoleRules(arguments.roles)) options.rules = *rules;
  DOSSIER_ASSIGN_OR_RETURN(const auto server, model::ServeScript(script, options));
  context.out << fmt::format("http://127.0.0.1:{}/v1\n", server->port()) << std::flush;
  while (WaitUnlessCancelled(std::chrono::hours(1), context.cancel)) continue;
  return {};
}

void DeclarePull(Flags& flags, LocalModelArguments& to) {
  constexpr static ValueKind kHex{"HEX"};
  flags.Add("name", &to.name,
            "a .gguf file, which is linked, not copied; the https address of one; or "
            "wordllama, which memory can search with (19 MB)");
  flags.Add("--sha256", &to.sha256, "the hash that the file at the address must have").Kind(kHex);
}

void DeclareStart(Flags& flags, LocalModelArguments& to) {
  flags.Add("name", &to.name, "of the local model");
  flags.Add("--window", &to.context, "tokens of its window (default: by memory)")
      .Between(512, 1 << 20)
      .Formerly("--context");
  flags.Add("--idle", &to.idle, "end it after this time without requests").ShowDefault();
}

void DeclareStop(Flags&, LocalModelArguments&) {}

void DeclareStatus(Flags& flags, LocalModelArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

void DeclareServeScript(Flags& flags, LocalModelArguments& to) {
  flags.Add("file", &to.name, "the script").Required().Kind(kPath);
  flags.Add("--port", &to.port, "0: any free one").Between(0, 65535);
  flags
      .Add("--roles", &to.roles,
           "whose rules for the order of messages (default: the provider's of the address)")
      .OneOf(model::RoleRulesNames());
  flags.Add("--record", &to.record, "append every request to this file, as JSONL").Kind(kPath);
}

}  // namespace

std::vector<Command> LocalModelCommands() {
  return {
      {.name = "pull",
       .summary = "fetch the local model (1.1 GB) or one for memory, or add a GGUF file",
       .binding = Bind(DeclarePull, PullModel)},
      {.name = "start",
       .summary = "start the local server now",
       .binding = Bind(DeclareStart, StartServer)},
      {.name = "stop", .summary = "end the local server", .binding = Bind(DeclareStop, StopServer)},
      {.name = "status",
       .summary = "the local server: runtime, port, memory, speed",
       .binding = Bind(DeclareStatus, ShowServer)}};
}

Command ServeScriptCommand() {
  return {.name = "serve-script",
          .summary = "serve scripted replies as OpenAI, Anthropic and Gemini do",
          .binding = Bind(DeclareServeScript, ServeScriptFile)};
}

}  // namespace dossier::cli
