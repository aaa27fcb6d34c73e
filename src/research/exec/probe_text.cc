// The two forms of what a probe found: the list of prompts, the JSON of journal and cache.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "research/exec/environment_list.h"
#include "research/exec/probe.h"
#include "research/exec/probe_names.h"

namespace dossier::research {
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

// A value of several lines stands below its name.
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
