#include "cli/system/doctor_command.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ostream>
#include <thread>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "model/catalog/catalog.h"
#include "model/catalog/keys.h"
#include "model/local/local_runtime.h"
#include "model/local/local_weights.h"
#include "model/providers/model_list.h"
#include "sandbox/session/session.h"
#include "store/sqlite.h"

namespace dossier::cli {
namespace {

using State = DoctorCheck::State;

std::string_view StateName(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kInfo:
      return "info";
    case State::kWarning:
      return "warning";
    case State::kFailed:
      return "failed";
  }
  return "failed";
}

DoctorCheck Kernel() {
  utsname name;
  if (uname(&name) != 0) return {"kernel", State::kFailed, "uname failed"};
  return {"kernel", State::kInfo,
          fmt::format("{} {} {}, {} cores", name.sysname, name.release, name.machine,
                      std::thread::hardware_concurrency())};
}

// Reads "MemAvailable:   123 kB" from /proc/meminfo, in bytes.
std::uint64_t MemoryLine(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::uint64_t number = 0;
  for (char c : TrimSpace(text.substr(at + key.size(), 32))) {
    if (c < '0' || c > '9') break;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number << 10;
}

DoctorCheck Memory() {
  constexpr std::uint64_t kCellMemory = 1ull << 30;  // the default of --cell-memory
  const std::string text = ReadFile("/proc/meminfo", 1 << 20).value_or("");
  const std::uint64_t total = MemoryLine(text, "MemTotal:");
  const std::uint64_t free = MemoryLine(text, "MemAvailable:");
  if (total == 0) return {"memory", State::kWarning, "/proc/meminfo cannot be read"};
  return {"memory", free < kCellMemory ? State::kWarning : State::kOk,
          fmt::format("{} free of {}", FormatSize(free), FormatSize(total))};
}

DoctorCheck StoreFolder() {
  const auto folder = DataFolder();
  if (!folder) return {"store folder", State::kFailed, folder.error().message};
  if (const Status made = MakeFolders(*folder, 0700); !made) {
    return {"store folder", State::kFailed, made.error().message};
  }
  if (access(folder->c_str(), W_OK) != 0) {
    return {"store folder", State::kFailed, *folder + " cannot be written"};
  }
  if (const Status local = store::RefuseNetworkFileSystem(*folder); !local) {
    return {"store folder", State::kFailed, local.error().message};
  }
  struct statvfs space;
  if (statvfs(folder->c_str(), &space) != 0) return {"store folder", State::kOk, *folder};
  return {"store folder", State::kOk,
          fmt::format("{}, {} free", *folder, FormatSize(space.f_bavail * space.f_frsize))};
}

// Answers nothing: the check runs code that makes no requests.
class NoHandler final : public sandbox::BridgeHandler {
  void OnCall(sandbox::BridgeCall, std::shared_ptr<sandbox::BridgeReply> reply) override {
    reply->Fail("denied", "doctor has no model");
  }
};

struct SandboxFindings {
  bool strict = false;
  Json report;
  std::vector<DoctorCheck> checks;
};

Result<std::unique_ptr<sandbox::Session>> OpenSession(const DoctorArguments& arguments,
                                                      sandbox::IsolationMode mode) {
  sandbox::PoolOptions options;
  options.mode = mode;
  options.worker_path = arguments.worker_path;
  options.read_folders = arguments.read_folders;
  options.disabled_layers = arguments.disabled_layers;
  DOSSIER_ASSIGN_OR_RETURN(auto pool, sandbox::Pool::Make(std::move(options)));
  return pool->Open({});
}

DoctorCheck CheckLayer(const sandbox::Layer& layer, const sandbox::IsolationReport& report) {
  if (layer.state == sandbox::LayerState::kApplied) return {layer.name, State::kOk, layer.reason};
  // The strict mode judges each layer; only what it would refuse counts as failed.
  sandbox::IsolationReport strict = report;
  strict.mode = sandbox::IsolationMode::kStrict;
  const Status required = sandbox::CheckRequired(strict);
  const bool named =
      !required && required.error().message.find("sandbox: " + layer.name + " ") == 0;
  const State state = named                    ? State::kFailed
                      : layer.name == "cgroup" ? State::kInfo
                                               : State::kWarning;
  return {layer.name, state,
          fmt::format("{}: {}", sandbox::LayerStateName(layer.state), layer.reason)};
}

DoctorCheck StandardLibrary(sandbox::Session& session) {
  NoHandler handler;
  constexpr std::string_view kCode =
      "import asyncio, csv, datetime, decimal, json, re, statistics, zoneinfo\n"
      "print(json.dumps(statistics.mean([1, 2, 3])))\n";
  const auto result = session.Run(kCode, {}, handler);
  if (!result) return {"standard library", State::kFailed, result.error().message};
  if (result->status == sandbox::BlockStatus::kOk) {
    return {"standard library", State::kOk, "json, re, csv, asyncio and others work"};
  }
  return {"standard library", State::kFailed,
          result->error ? result->error->message : "a block that imports it does not end"};
}

SandboxFindings CheckSandbox(const DoctorArguments& arguments) {
  SandboxFindings findings;
  auto session = OpenSession(arguments, sandbox::IsolationMode::kStrict);
  findings.strict = session.has_value();
  if (!session) {
    findings.checks.push_back({"sandbox", State::kFailed, session.error().message});
    session = OpenSession(arguments, sandbox::IsolationMode::kDegraded);
    if (!session) return findings;
  }
  const sandbox::IsolationReport& report = (*session)->report();
  findings.report = report.ToJson();
  if (findings.strict) {
    findings.checks.push_back(
        {"sandbox", State::kOk,
         fmt::format("strict, a session starts in {} ms", (*session)->start_time().count())});
  }
  for (const sandbox::Layer& layer : report.layers) {
    findings.checks.push_back(CheckLayer(layer, report));
  }
  for (const std::string& gap : report.gaps) {
    findings.checks.push_back({"gap", State::kWarning, gap});
  }
  findings.checks.push_back({"libpython", State::kOk, report.worker});
  findings.checks.push_back(StandardLibrary(**session));
  return findings;
}

// Reports where keys are, never a value.
void AddKeys(const ModelData& data, std::vector<DoctorCheck>* checks) {
  for (const model::Provider& provider : data.catalog.providers()) {
    for (const auto places : {model::KeyPlaces::kVariables, model::KeyPlaces::kFiles}) {
      const auto place = model::KeyPlace(provider, places, Environment, data.config);
      if (!place) continue;
      checks->push_back({"key of " + provider.name, State::kOk, *place});
      break;
    }
  }
}

DoctorCheck LocalModel() {
  const auto data = DataFolder();
  if (!data) return {"local model", State::kWarning, data.error().message};
  const auto weights = model::FindWeights(*data, model::DefaultWeights().name);
  if (!weights) {
    const bool missing = weights.error().code == ErrorCode::kNotFound;
    return {
        "local model", missing ? State::kInfo : State::kWarning,
        missing ? "not here; `dossier models pull` fetches it (1.1 GB)" : weights.error().message};
  }
  const auto runtime = model::FindRuntime(*data, CancelToken());
  return {"local model", State::kOk,
          fmt::format("{}, {}", DescribeWeights(*weights),
                      runtime ? runtime->kind : "its runtime is fetched on first use")};
}

enum class LocalWeights { kHere, kMissing };

// Reports what answers a question without a model name, as far as can be seen without asking.
DoctorCheck DefaultModel(const Result<model::Choice>& choice, LocalWeights local) {
  if (!choice) return {"model", State::kWarning, choice.error().message};
  std::string name = choice->provider.name + "/" + choice->model;
  if (choice->ask_server == model::Choice::AskServer::kYes) {
    const std::string first = "the first that " + choice->provider.base_url + " lists";
    name = choice->model.empty() ? first : fmt::format("{}, or {}", name, first);
  }
  if (choice->provider.name == "local" && local == LocalWeights::kMissing) {
    return {"model", State::kWarning,
            "none yet: name a server's by -m, store a key (`dossier keys set`), or fetch the local "
            "one (`dossier models pull`)"};
  }
  return {"model", State::kOk, fmt::format("{} ({})", name, choice->why)};
}

// Reports whether anything answers at an address of the configuration or of a variable.
DoctorCheck Address(const model::Choice& choice, std::string name, const GlobalFlags& global,
                    const CancelToken& cancel) {
  const std::string& address = choice.provider.base_url;
  const auto url = ParseUrl(address);
  if (!url) return {std::move(name), State::kWarning, url.error().message};
  if (global.offline && !url->is_loopback()) return {std::move(name), State::kInfo, address};
  const auto listed = FetchModelList(choice.provider, choice.key, Millis(2000), cancel);
  if (!listed) return {std::move(name), State::kWarning, listed.error().message};
  return {std::move(name), State::kOk, fmt::format("{} lists {} models", address, listed->size())};
}

// Probes local ports for at most 200 ms. The result never contains a key.
std::vector<DoctorCheck> ModelChecks(Context& context) {
  const auto failed = [](const Error& error) {
    return std::vector<DoctorCheck>{{"models", State::kFailed, error.message}};
  };
  const auto config = LoadConfig(context.flags, {}, context.err);
  if (!config) return failed(config.error());
  const auto flags = WithConfig({}, *config, context.flags);
  if (!flags) return failed(flags.error());
  const auto data = LoadModelData(*flags->config);
  if (!data) return failed(data.error());
  const DoctorCheck local = LocalModel();
  const auto choice = data->catalog.Choose({.name = flags->model,
                                            .base_url = flags->base_url,
                                            .key_env = flags->key_env,
                                            .config = data->config},
                                           Environment);
  std::vector<DoctorCheck> checks = {DefaultModel(
      choice, local.state == State::kOk ? LocalWeights::kHere : LocalWeights::kMissing)};
  const bool configured = !flags->base_url.empty();
  if (choice && (configured || choice->ask_server == model::Choice::AskServer::kYes)) {
    checks.push_back(
        Address(*choice, configured ? "api_base" : "address", context.flags, context.cancel));
  }
  for (const model::LocalServer& server :
       model::ProbeLocalServers(model::UsualPlaces(data->catalog, Environment))) {
    checks.push_back({fmt::format("port {}", server.port), State::kInfo, Describe(server)});
  }
  AddKeys(*data, &checks);
  checks.push_back(local);
  return checks;
}

void PrintText(const std::vector<DoctorCheck>& checks, std::ostream& out) {
  std::size_t width = 0;
  for (const DoctorCheck& check : checks) width = std::max(width, check.name.size());
  for (const DoctorCheck& check : checks) {
    const std::string line =
        fmt::format("{:<8} {:<{}}  {}", StateName(check.state), check.name, width, check.detail);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

Json ToJsonReport(const std::vector<DoctorCheck>& checks, const SandboxFindings& findings) {
  JsonArray list;
  for (const DoctorCheck& check : checks) {
    list.push_back(JsonObject{
        {"name", check.name}, {"state", StateName(check.state)}, {"detail", check.detail}});
  }
  return JsonObject{{"schema", "dossier.doctor/1"},
                    {"strict", findings.strict},
                    {"checks", std::move(list)},
                    {"sandbox", findings.report}};
}

void DeclareDoctor(Flags& flags, DoctorArguments& to) {
  flags.Add("--json", &to.json, "one object with every check");
  flags.Add("--sandbox-read", &to.read_folders, "a folder that the code may read").Kind(kFolder);
}

Result<int> RunDoctor(const DoctorArguments& given, Context& context) {
  DoctorArguments arguments = given;
  arguments.extra = ModelChecks(context);
  return RunDoctor(arguments, context.out, context.err);
}

}  // namespace

int RunDoctor(const DoctorArguments& arguments, std::ostream& out, std::ostream& err) {
  std::vector<DoctorCheck> checks = {Kernel(), Memory(), StoreFolder()};
  const SandboxFindings findings = CheckSandbox(arguments);
  checks.insert(checks.end(), findings.checks.begin(), findings.checks.end());
  checks.insert(checks.end(), arguments.extra.begin(), arguments.extra.end());
  if (arguments.json) {
    out << ToJson(ToJsonReport(checks, findings)) << "\n";
  } else {
    PrintText(checks, out);
  }
  out.flush();
  if (findings.strict) return 0;
  err << "dossier: code of a model cannot run strictly here; --sandbox=degraded accepts less\n";
  return ExitCode(ErrorCode::kCheckFailed);
}

Command DoctorCommand() {
  return {.name = "doctor",
          .summary = "what works on this machine: sandbox, models, storage",
          .examples =
              "dossier doctor\n"
              "    what works on this machine, and what would help",
          .binding = Bind(DeclareDoctor, RunDoctor)};
}

}  // namespace dossier::cli
