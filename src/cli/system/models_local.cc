#include "cli/system/models_local.h"

#include <condition_variable>
#include <mutex>

#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/system/pull_view.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/quantity_flags.h"
#include "model/local/embedding_files.h"
#include "model/local/local_fetch.h"
#include "model/local/local_pull.h"
#include "model/local/local_server.h"
#include "model/scripted/scripted.h"
#include "model/scripted/serve_script.h"

namespace dossier::cli {
namespace {

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

model::Say SayTo(std::ostream& err) {
  return [&err](std::string_view line) { err << "dossier: " << Safe(line) << "\n" << std::flush; };
}

// "local/NAME", "NAME" or nothing: the default one.
std::string LocalName(std::string name) {
  if (name.rfind("local/", 0) == 0) name.erase(0, 6);
  return name.empty() || name == "local" ? model::DefaultWeights().name : name;
}

Status PullDefault(const std::string& data, const CancelToken& cancel, std::ostream& out,
                   std::ostream& err) {
  const model::WeightsSource source = model::DefaultWeights();
  PullView view(Terminal::Detect(), err);
  model::PullOptions options;
  options.progress = [&view](const model::PullProgress& progress) { view.Show(progress); };
  auto pulled = model::PullWeights(source, data, options, cancel);
  view.End();
  DOSSIER_RETURN_IF_ERROR(pulled);
  // The runtime too, so that the first question needs no network.
  DOSSIER_ASSIGN_OR_RETURN(const model::Runtime runtime,
                           model::EnsureRuntime(data, SayTo(err), cancel));
  const bool present = pulled->outcome == model::PullResult::Outcome::kPresent;
  out << fmt::format("{} is {} ({}, {}): {}\n", source.name,
                     present ? "here" : "fetched and checked", FormatSize(source.bytes),
                     runtime.kind, pulled->weights.path);
  return {};
}

Status PullAddress(const ModelsArguments& arguments, const std::string& data,
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

Status ShowStopped(const std::string& data, const ModelsArguments& arguments,
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

}  // namespace

Status PullModel(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                 std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const std::string& name = arguments.name;
  const bool is_file = name.ends_with(".gguf") && name.find("://") == std::string::npos;
  if (arguments.offline && !is_file) {
    return MakeError(ErrorCode::kNetwork,
                     "--offline: models pull fetches weights; name a .gguf file that is here");
  }
  if (name.find("://") != std::string::npos) return PullAddress(arguments, data, cancel, out, err);
  if (!arguments.sha256.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--sha256 is for a file that is fetched from an https address");
  }
  if (const auto source = model::FindEmbeddingSource(name)) {
    return PullEmbeddingModel(**source, data, cancel, out);
  }
  if (name.empty() || LocalName(name) == model::DefaultWeights().name) {
    return PullDefault(data, cancel, out, err);
  }
  model::Weights weights;
  if (name.ends_with(".gguf")) {
    DOSSIER_ASSIGN_OR_RETURN(weights, model::LinkWeights(data, name));
  } else {
    return MakeError(ErrorCode::kConfig,
                     "{} is neither {}, nor a .gguf file, nor an https address of one", name,
                     model::DefaultWeights().name);
  }
  out << fmt::format("{} is ready ({}): -m local/{}\n", Safe(weights.path),
                     FormatSize(weights.bytes), Safe(weights.name));
  return {};
}

Status StartServer(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                   std::ostream& err) {
  model::LocalServerOptions options;
  DOSSIER_ASSIGN_OR_RETURN(options.data_folder, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(options.idle, ReadTimeFlag("--idle", arguments.idle));
  DOSSIER_ASSIGN_OR_RETURN(options.weights,
                           model::FindWeights(options.data_folder, LocalName(arguments.name)));
  options.window = arguments.context;
  options.say = SayTo(err);
  if (arguments.offline) options.network = model::LocalServerOptions::Network::kNone;
  DOSSIER_ASSIGN_OR_RETURN(const model::ServerState state,
                           model::EnsureLocalServer(options, cancel));
  out << fmt::format("{} answers on 127.0.0.1:{}, window {}\n", Safe(state.model), state.port,
                     GroupDigits(static_cast<std::uint64_t>(state.window)));
  return {};
}

Status StopServer(const CancelToken& cancel, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const bool ran, model::StopLocalServer(data, cancel));
  out << (ran ? "the local server has ended\n" : "the local server was not running\n");
  return {};
}

Status ShowServer(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const auto state = model::FindLocalServer(data);
  if (!state) return ShowStopped(data, arguments, cancel, out);
  const model::ServerStats stats = model::ReadServerStats(data, *state);
  const auto& speed = stats.tokens_per_second;
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.local-server/1"},
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
  out << fmt::format("server    pid {}, 127.0.0.1:{}\n", state->pid, state->port)
      << fmt::format("runtime   {} {}\n", Safe(state->runtime), Safe(state->version))
      << fmt::format("model     {}, window {}, {} slot{}, {} threads\n", Safe(state->model),
                     GroupDigits(static_cast<std::uint64_t>(state->window)), state->slots,
                     state->slots == 1 ? "" : "s", state->threads)
      << fmt::format("memory    {}\n", FormatSize(stats.memory))
      << fmt::format(
             "speed     {}\n",
             speed ? fmt::format("{:.1f} tokens/s in the last request", *speed) : "no request yet")
      << fmt::format("ends in   {} s without requests\n", stats.idle_left);
  return {};
}

Status ServeScriptFile(const ModelsArguments& arguments, const CancelToken& cancel,
                       std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(auto script, model::Script::Load(arguments.name));
  model::ServeScriptOptions options{.port = arguments.port, .record_path = arguments.record};
  if (const model::RoleRules* rules = model::FindRoleRules(arguments.roles)) options.rules = *rules;
  DOSSIER_ASSIGN_OR_RETURN(const auto server, model::ServeScript(script, options));
  out << fmt::format("http://127.0.0.1:{}/v1\n", server->port()) << std::flush;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  const std::uint64_t id = cancel.OnCancel([&] {
    const std::lock_guard lock(mutex);
    stop = true;
    stopped.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    stopped.wait(lock, [&] { return stop; });
  }
  cancel.Forget(id);
  return {};
}

}  // namespace dossier::cli
