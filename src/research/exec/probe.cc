#include "research/exec/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/exec/exec_backend.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

constexpr Millis kFieldTime{10'000};
constexpr std::size_t kMaxVersion = 200;  // characters

constexpr std::string_view kVisibleDevices[] = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
                                                "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};

std::string Clean(std::string_view text) { return std::string(TrimSpace(utf8::Sanitize(text))); }

// Removes lscpu's list of vulnerabilities, a third of its text, which no program needs: lines that
// begin with "Vulnerability", or in newer versions all that is indented below "Vulnerabilities:".
std::string WithoutVulnerabilities(std::string_view text) {
  std::string kept;
  bool below = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (below && line.starts_with(' ')) continue;
    below = line.starts_with("Vulnerabilities:");
    if (below || TrimSpace(line).starts_with("Vulnerability ")) continue;
    kept.append(line).push_back('\n');
  }
  return std::string(TrimSpace(kept));
}

class Prober {
 public:
  Prober(ExecBackend& backend, const ProbeConfig& config, const CancelToken& cancel)
      : backend_(backend), config_(config), cancel_(cancel) {}

  MachineFacts Probe() {
    MachineFacts found;
    Take("cat /etc/os-release 2>/dev/null || cat /usr/lib/os-release", {20, 1'200},
         found.os_release);
    if (const auto text = Ask({.command = "lscpu"})) {
      found.cpu_info = CutTail(WithoutVulnerabilities(*text), {60, 20'000});
    }
    Take("free -h; head -n 20 /proc/meminfo", {40, 2'000}, found.memory_info);
    found.gpu_info = GpuInfo();
    if (!config_.assigned_gpu_id.empty()) found.assigned_gpu_id = config_.assigned_gpu_id;
    Take("cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", {1, 100}, found.cpu_governor);
    Take("numactl --hardware", {30, 2'000}, found.numa_config);
    found.all_env_vars = Variables();
    found.network_access = NetworkAccess();
    TakeConfiguration(found);
    found.available_compilers = Tools(Names(kProbedCompilers));
    found.available_libs = Libraries();
    found.system_performance_tools = PerformanceTools();
    found.installed_system_packages = Packages();
    return found;
  }

 private:
  static std::string Names(std::span<const std::string_view> names) {
    return fmt::format("{}", fmt::join(names, " "));
  }

  // Returns what the command printed; none if it printed nothing or could not run.
  std::optional<std::string> Ask(ExecCommand command) {
    command.time_limit = kFieldTime;
    const auto result = backend_.Run(command, cancel_);
    if (!result || result->status == 126 || result->status == 127) return {};
    // If the command timed out, only complete lines count.
    std::string_view out = result->out;
    if (result->timed_out) out = out.substr(0, out.rfind('\n') + 1);
    std::string text = Clean(out);
    if (text.empty()) return {};
    return text;
  }

  void Take(std::string_view line, CutLimits limits, std::string& field) {
    if (const auto text = Ask({.command = std::string(line)})) field = CutTail(*text, limits);
  }

  void TakeConfiguration(MachineFacts& found) const {
    if (!config_.container_runtime.empty()) found.container_runtime = config_.container_runtime;
    if (!config_.singularity_image.empty()) found.singularity_image = config_.singularity_image;
    const std::string digest = backend_.Facts().image.digest;
    if (!digest.empty()) found.container_digest = "sha256:" + digest;
    found.workspace_mount = config_.workspace_mount;
    found.timeout_seconds = config_.timeout_seconds;
  }

  std::string GpuInfo() {
    if (config_.gpu == ProbeConfig::Gpu::kNo) return "disabled by config";
    std::string text;
    if (!config_.assigned_gpu_id.empty()) {
      text += fmt::format("assigned_gpu_id={}\n", config_.assigned_gpu_id);
    }
    const EnvironmentList environment(config_.environment);
    for (const std::string_view name : kVisibleDevices) {
      if (const auto value = environment.Find(name)) text += fmt::format("{}={}\n", name, *value);
    }
    const auto listed = Ask({.command = "nvidia-smi -L"});
    const bool works = listed && listed->find("GPU ") != std::string::npos;
    return CutTail(text + (works ? *listed : "nvidia-smi not available"), {20, 1'000});
  }

  // Returns variables as commands see them: the sandbox sets HOME and others itself.
  std::string Variables() {
    const std::size_t hidden = config_.variables_not_shown + config_.environment.size() -
                               AllowedEnvironment(config_.environment).size();
    const std::vector<std::string> shown = AllowedEnvironment(SandboxEnvironment());
    if (shown.empty() && hidden == 0) return "NA";
    std::string text = CutTail(Join(shown, "\n"), {200, 10'000});
    if (hidden > 0) {
      text += fmt::format("{}(+{} variables not shown)", text.empty() ? "" : "\n", hidden);
    }
    return text;
  }

  // If the command fails, returns what the sandbox is given, without what it replaces.
  std::vector<std::string> SandboxEnvironment() {
    const auto text = Ask({.argv = {"env"}});
    if (!text) {
      EnvironmentList given(config_.environment);
      for (const std::string_view name : {"HOME", "TMPDIR"}) given.Remove(name);
      return given.Take();
    }
    std::vector<std::string> found;
    for (const std::string_view line : Split(*text, '\n')) found.emplace_back(line);
    return found;
  }

  std::string NetworkAccess() {
    if (config_.network == NetworkPolicy::kNever) return "blocked";
    if (config_.network_probe_host.empty()) return "unknown";
    ExecCommand command{.argv = {"getent", "hosts", config_.network_probe_host},
                        .phase = Phase::kInstall,
                        .time_limit = kFieldTime};
    const auto result = backend_.Run(command, cancel_);
    if (!result || result->status == 126 || result->status == 127) return "unknown";
    return result->status == 0 ? "available" : "blocked";
  }

  std::vector<ProbedTool> Tools(const std::string& names) {
    const auto text =
        Ask({.command = fmt::format("for n in {}; do p=$(command -v \"$n\") || continue; "
                                    "v=$($(command -v timeout >/dev/null && echo timeout 2) "
                                    "\"$p\" --version 2>/dev/null </dev/null | head -n 1); "
                                    "printf '%s\\t%s\\t%s\\n' \"$n\" \"$p\" \"$v\"; done",
                                    names)});
    std::vector<ProbedTool> tools;
    for (const auto& [name, path, version] : Rows(text)) {
      tools.push_back({name, path, std::string(utf8::Prefix(version, kMaxVersion)), ""});
    }
    return tools;
  }

  struct Row {
    std::string first, second, third;
  };
  static std::vector<Row> Rows(const std::optional<std::string>& text) {
    std::vector<Row> rows;
    if (!text) return rows;
    for (const std::string_view line : Split(*text, '\n')) {
      const auto cells = Split(line, '\t');
      if (cells.size() < 2) continue;
      rows.push_back({Clean(cells[0]), Clean(cells[1]), cells.size() > 2 ? Clean(cells[2]) : ""});
    }
    return rows;
  }

  std::vector<ProbedTool> PerformanceTools() {
    std::string names;
    for (const ProbedToolName& tool : kProbedTools) names.append(tool.name).push_back(' ');
    std::vector<ProbedTool> tools = Tools(std::string(TrimSpace(names)));
    for (ProbedTool& tool : tools) {
      for (const ProbedToolName& known : kProbedTools) {
        if (known.name == tool.name) tool.description = known.description;
      }
    }
    return tools;
  }

  // Parses lines like "libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1".
  std::vector<std::string> Libraries() {
    const auto text = Ask({.command = "ldconfig -p 2>/dev/null || /sbin/ldconfig -p"});
    std::vector<std::string> found;
    if (!text) return found;
    const auto lines = Split(*text, '\n');
    for (const std::string_view name : kProbedLibraries) {
      const bool is_there = std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
        line = TrimSpace(line);
        return line.starts_with(name) && line.size() > name.size() &&
               std::string_view("._-0123456789").find(line[name.size()]) != std::string_view::npos;
      });
      if (is_there) found.emplace_back(name);
    }
    return found;
  }

  std::vector<ProbedPackage> Packages() {
    ExecCommand command{
        .argv = {"dpkg-query", "-W", "-f=${Package}\\t${Version}\\t${db:Status-Status}\\n"}};
    command.argv.insert(command.argv.end(), kProbedPackages.begin(), kProbedPackages.end());
    std::vector<ProbedPackage> packages;
    for (const auto& [name, version, status] : Rows(Ask(command))) {
      if (!version.empty()) packages.push_back({name, version, status});
    }
    return packages;
  }

  ExecBackend& backend_;
  const ProbeConfig& config_;
  const CancelToken& cancel_;
};

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

std::string CachePath(ExecBackend& backend, const ProbeConfig& config, const ProbeCache& cache) {
  const std::string digest = backend.Facts().image.digest;
  const std::string key =
      fmt::format("2\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", cache.day,
                  digest.empty() ? "machine " + HostName() : digest, backend.Facts().kind,
                  Join(config.environment, "\n"), config.variables_not_shown,
                  static_cast<int>(config.network), config.network_probe_host,
                  static_cast<int>(config.gpu), config.assigned_gpu_id, config.container_runtime,
                  config.singularity_image, config.workspace_mount, config.timeout_seconds);
  return fmt::format("{}/{}.json", cache.folder, Sha256Hex(key));
}

}  // namespace

MachineFacts Probe(ExecBackend& backend, const ProbeConfig& config, const CancelToken& cancel) {
  return Prober(backend, config, cancel).Probe();
}

MachineFacts CachedProbe(ExecBackend& backend, const ProbeConfig& config, const ProbeCache& cache,
                         const CancelToken& cancel) {
  const std::string path = CachePath(backend, config, cache);
  if (const auto text = ReadFile(path, 1 << 20)) {
    const auto json = ParseJson(*text);
    if (auto known = json ? ReadEnvironment(*json) : tl::unexpected(json.error())) return *known;
  }
  MachineFacts found = Probe(backend, config, cancel);
  if (cancel.cancelled()) return found;
  // If the cache cannot be written, the only cost is a second probe.
  if (MakeFolders(cache.folder)) (void)WriteFileAtomic(path, ToJson(EnvironmentJson(found)));
  return found;
}

std::vector<std::string> CompilerNames(const MachineFacts& environment) {
  std::vector<std::string> names;
  for (const ProbedTool& tool : environment.available_compilers) names.push_back(tool.name);
  return names;
}

// The two forms of a probe's results: the list for prompts, the JSON for journal and cache.

namespace {

struct TextField {
  std::string_view name;
  std::string MachineFacts::* member;
};
constexpr std::array<TextField, 13> kTexts = {{
    {"os_release", &MachineFacts::os_release},
    {"cpu_info", &MachineFacts::cpu_info},
    {"memory_info", &MachineFacts::memory_info},
    {"gpu_info", &MachineFacts::gpu_info},
    {"assigned_gpu_id", &MachineFacts::assigned_gpu_id},
    {"cpu_governor", &MachineFacts::cpu_governor},
    {"numa_config", &MachineFacts::numa_config},
    {"all_env_vars", &MachineFacts::all_env_vars},
    {"network_access", &MachineFacts::network_access},
    {"container_runtime", &MachineFacts::container_runtime},
    {"singularity_image", &MachineFacts::singularity_image},
    {"container_digest", &MachineFacts::container_digest},
    {"workspace_mount", &MachineFacts::workspace_mount},
}};

// A value with several lines is placed below its name.
std::string Item(std::string_view name, std::string_view value) {
  if (value.empty()) value = "none";
  if (value.find('\n') == std::string_view::npos) return fmt::format("- {}: {}\n", name, value);
  return fmt::format("- {}:\n  {}\n", name, ReplaceAll(TrimSpace(value), "\n", "\n  "));
}

std::string ToolLine(const ProbedTool& tool) {
  std::string line = fmt::format("{} ({})", tool.name, tool.path);
  if (!tool.version.empty()) line += ": " + tool.version;
  if (!tool.description.empty()) line += "; " + tool.description;
  return line;
}

std::string ToolLines(const std::vector<ProbedTool>& tools) {
  std::string text;
  for (const ProbedTool& tool : tools) text += ToolLine(tool) + "\n";
  return text;
}

std::string PackageLines(const std::vector<ProbedPackage>& packages) {
  std::string text;
  for (const ProbedPackage& package : packages) {
    text += fmt::format("{} {} ({})\n", package.name, package.version, package.status);
  }
  return text;
}

JsonArray ToolsJson(const std::vector<ProbedTool>& tools) {
  JsonArray list;
  for (const ProbedTool& tool : tools) {
    JsonObject entry{{"name", tool.name}, {"path", tool.path}, {"version", tool.version}};
    if (!tool.description.empty()) entry["description"] = tool.description;
    list.push_back(std::move(entry));
  }
  return list;
}

tl::unexpected<Error> Wrong(std::string_view field, std::string_view wanted) {
  return MakeError(ErrorCode::kDamaged, "the probe's result: {} must be {}", field, wanted);
}

Result<std::string> Text(const Json& json, std::string_view name, std::string_view field) {
  if (const auto text = FindString(json, name)) return std::string(*text);
  return Wrong(field, "a text");
}

Result<const JsonArray*> List(const Json& json, std::string_view name) {
  const Json* value = Find(json, name);
  if (value == nullptr || !value->is_array()) return Wrong(name, "a list");
  return &value->get_array();
}

Result<std::vector<ProbedTool>> ReadTools(const Json& json, std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonArray* list, List(json, name));
  std::vector<ProbedTool> tools;
  for (const Json& entry : *list) {
    ProbedTool tool;
    DOSSIER_ASSIGN_OR_RETURN(tool.name, Text(entry, "name", name));
    DOSSIER_ASSIGN_OR_RETURN(tool.path, Text(entry, "path", name));
    DOSSIER_ASSIGN_OR_RETURN(tool.version, Text(entry, "version", name));
    tool.description = FindString(entry, "description").value_or("");
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace

std::string EnvironmentText(const MachineFacts& environment) {
  std::string text;
  for (const TextField& field : kTexts) text += Item(field.name, environment.*field.member);
  text += fmt::format("- timeout_seconds: {}\n", environment.timeout_seconds);
  text += Item("available_compilers", ToolLines(environment.available_compilers));
  text += Item("available_libs", Join(environment.available_libs, ", "));
  text += Item("system_performance_tools", ToolLines(environment.system_performance_tools));
  text += Item("installed_system_packages", PackageLines(environment.installed_system_packages));
  text +=
      "\nRules:\n"
      "- Choose compilers from available_compilers only.\n"
      "- The listed tools work here: name no risk about one of them unless a command failed.\n"
      "- The listed packages are installed: do not install them again.\n"
      "- Commands already run inside this environment: do not start a container for them.\n";
  return text;
}

JsonObject EnvironmentJson(const MachineFacts& environment) {
  JsonObject json;
  for (const TextField& field : kTexts) json[field.name] = environment.*field.member;
  json["timeout_seconds"] = environment.timeout_seconds;
  json["available_compilers"] = ToolsJson(environment.available_compilers);
  json["available_libs"] =
      JsonArray(environment.available_libs.begin(), environment.available_libs.end());
  json["system_performance_tools"] = ToolsJson(environment.system_performance_tools);
  JsonArray packages;
  for (const ProbedPackage& package : environment.installed_system_packages) {
    packages.push_back(JsonObject{
        {"name", package.name}, {"version", package.version}, {"status", package.status}});
  }
  json["installed_system_packages"] = std::move(packages);
  return json;
}

Result<MachineFacts> ReadEnvironment(const Json& json) {
  MachineFacts environment;
  for (const TextField& field : kTexts) {
    DOSSIER_ASSIGN_OR_RETURN(environment.*field.member, Text(json, field.name, field.name));
  }
  const auto seconds = FindInt(json, "timeout_seconds");
  if (!seconds) return Wrong("timeout_seconds", "a whole number");
  environment.timeout_seconds = *seconds;
  DOSSIER_ASSIGN_OR_RETURN(environment.available_compilers, ReadTools(json, "available_compilers"));
  DOSSIER_ASSIGN_OR_RETURN(const JsonArray* libraries, List(json, "available_libs"));
  for (const Json& name : *libraries) {
    if (!name.is_string()) return Wrong("available_libs", "a list of texts");
    environment.available_libs.emplace_back(name.get_string());
  }
  DOSSIER_ASSIGN_OR_RETURN(environment.system_performance_tools,
                           ReadTools(json, "system_performance_tools"));
  constexpr std::string_view kPackages = "installed_system_packages";
  DOSSIER_ASSIGN_OR_RETURN(const JsonArray* packages, List(json, kPackages));
  for (const Json& entry : *packages) {
    ProbedPackage package;
    DOSSIER_ASSIGN_OR_RETURN(package.name, Text(entry, "name", kPackages));
    DOSSIER_ASSIGN_OR_RETURN(package.version, Text(entry, "version", kPackages));
    DOSSIER_ASSIGN_OR_RETURN(package.status, Text(entry, "status", kPackages));
    environment.installed_system_packages.push_back(std::move(package));
  }
  return environment;
}

bool IsAllowedVariable(std::string_view name) {
  if (IsSecretVariableName(name)) return false;
  for (const std::string_view allowed : kAllowedVariables) {
    const bool open = allowed.ends_with('*');
    if (open ? name.starts_with(allowed.substr(0, allowed.size() - 1)) : name == allowed) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> AllowedEnvironment(std::span<const std::string> all) {
  EnvironmentList list;
  for (const std::string& entry : all) {
    const std::string_view name = VariableName(entry);
    if (name.size() == entry.size() || !IsAllowedVariable(name)) continue;
    list.Set(name, Redact(std::string_view(entry).substr(name.size() + 1)));
  }
  std::vector<std::string> allowed = list.Take();
  std::sort(allowed.begin(), allowed.end());
  return allowed;
}

}  // namespace dossier::research
