#include "cli/system/doctor_command.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ostream>
#include <thread>

#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/model_flags.h"
#include "model/catalog/catalog.h"
#include "model/providers/probe.h"
#include "sandbox/session/session.h"
#include "store/network_fs.h"

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

// "MemAvailable:   123 kB" of /proc/meminfo, in bytes.
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

// Answers nothing: the check runs code that asks nothing.
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
                                                      sandbox::Mode mode) {
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
  // Strict judges each layer; only what it would refuse counts as failed.
  sandbox::IsolationReport strict = report;
  strict.mode = sandbox::Mode::kStrict;
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
  auto session = OpenSession(arguments, sandbox::Mode::kStrict);
  findings.strict = session.has_value();
  if (!session) {
    findings.checks.push_back({"sandbox", State::kFailed, session.error().message});
    session = OpenSession(arguments, sandbox::Mode::kDegraded);
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

void AddKeys(const model::Catalog& catalog, std::vector<DoctorCheck>* checks) {
  for (const model::Provider& provider : catalog.providers()) {
    for (const std::string& variable : provider.key_variables) {
      if (Environment(variable)) {
        checks->push_back({variable, State::kOk, fmt::format("set, for {}", provider.name)});
      }
    }
  }
}

// Probes local ports for 200 ms at most. Never holds a key's value.
std::vector<DoctorCheck> ModelChecks() {
  std::vector<DoctorCheck> checks;
  const auto data = LoadModelData();
  if (!data) {
    checks.push_back({"models", State::kFailed, data.error().message});
    return checks;
  }
  AddKeys(data->catalog, &checks);
  if (checks.empty()) {
    checks.push_back({"keys", State::kInfo, "no provider key is set; the local model answers"});
  }
  for (const model::LocalServer& server :
       model::ProbeLocalServers(model::kUsualPorts, Millis(200))) {
    checks.push_back(
        {fmt::format("port {}", server.port), State::kInfo,
         fmt::format("an OpenAI-compatible server; use it with --base-url {}", server.base_url)});
  }
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
  flags.Add("--sandbox-read", &to.read_folders, "one more read-only folder").Kind(kFolder);
}

Result<int> RunDoctor(const DoctorArguments& given, Context& context) {
  DoctorArguments arguments = given;
  arguments.extra = ModelChecks();
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
          .summary = "what works here: sandbox, models, store",
          .examples =
              "dossier doctor\n"
              "    what works on this machine, and what would help",
          .binding = Bind(DeclareDoctor, RunDoctor)};
}

}  // namespace dossier::cli
