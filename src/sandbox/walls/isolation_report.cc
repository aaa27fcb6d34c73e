// Converts the report and the options to JSON, and checks a report for strict mode.

#include <algorithm>
#include <charconv>
#include <limits>

#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {
namespace {

enum class Need { kStrict, kFileWall, kOptional };

struct LayerFacts {
  std::string_view name;
  Need need;
  std::string_view gap;  // what is possible without it
};

constexpr LayerFacts kLayers[] = {
    {"process", Need::kStrict, "the worker keeps its host's identity or environment"},
    {"namespaces", Need::kFileWall, "file names visible"},
    {"flags", Need::kStrict, "capabilities and privileges are not dropped"},
    {"rlimits", Need::kStrict, "memory, files and CPU of the process are not limited"},
    {"landlock", Need::kFileWall, "files and network are walled by other layers only"},
    {"seccomp", Need::kStrict, "every system call is allowed"},
    {"seccomp-threads", Need::kStrict, "code can write to the bridge"},
    {"cgroup", Need::kOptional, ""},
    {"watchdog", Need::kStrict, "resident memory and threads are not watched"},
};

std::string_view LayerGap(std::string_view name) {
  for (const LayerFacts& facts : kLayers) {
    if (facts.name == name) return facts.gap;
  }
  return "";
}

constexpr std::int64_t kMaxLimit = std::numeric_limits<std::int64_t>::max() / 2;

Result<std::int64_t> Number(const Json& value, std::string_view key, std::int64_t low,
                            std::int64_t high) {
  const auto number = FindInt(value, key);
  if (number && *number >= low && *number <= high) return *number;
  return MakeError(ErrorCode::kInvalidArgument, "isolation: {} is not a number from {} to {}", key,
                   low, high);
}

JsonArray Strings(const std::vector<std::string>& list) {
  JsonArray out;
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

Result<std::vector<std::string>> StringList(const Json& value, std::string_view key) {
  const Json* list = Find(value, key);
  std::vector<std::string> strings = StringsOf(list);
  if (list && list->is_array() && strings.size() == list->get_array().size()) return strings;
  return MakeError(ErrorCode::kInvalidArgument, "isolation: {} is not a list of texts", key);
}

std::string_view ModeName(IsolationMode mode) {
  return mode == IsolationMode::kStrict ? "strict" : "degraded";
}

Result<IsolationMode> FindMode(const Json& value) {
  const auto text = FindString(value, "mode");
  if (text == "strict") return IsolationMode::kStrict;
  if (text == "degraded") return IsolationMode::kDegraded;
  return MakeError(ErrorCode::kInvalidArgument, "isolation: mode is neither strict nor degraded");
}

Result<LayerState> FindState(const Json& value) {
  const auto text = FindString(value, "state");
  for (LayerState state : {LayerState::kApplied, LayerState::kUnavailable, LayerState::kFailed}) {
    if (text == LayerStateName(state)) return state;
  }
  return MakeError(ErrorCode::kInvalidArgument, "isolation: a layer without a known state");
}

Error Missing(const Layer& layer, std::string_view more) {
  const std::string_view verb =
      layer.state == LayerState::kFailed ? "could not be applied" : "is not available";
  return {ErrorCode::kUnavailable,
          fmt::format("sandbox: {} {} ({}){}; run where it is, or accept less with "
                      "--sandbox=degraded",
                      layer.name, verb, layer.reason, more)};
}

}  // namespace

std::string_view LayerStateName(LayerState state) {
  switch (state) {
    case LayerState::kApplied:
      return "applied";
    case LayerState::kUnavailable:
      return "unavailable";
    case LayerState::kFailed:
      return "failed";
  }
  return "failed";
}

std::vector<std::string_view> LayerNames() {
  std::vector<std::string_view> names;
  for (const LayerFacts& facts : kLayers) names.push_back(facts.name);
  return names;
}

Status CheckRequired(const IsolationReport& report) {
  if (report.mode == IsolationMode::kDegraded) return {};
  for (const LayerFacts& facts : kLayers) {
    const Layer* layer = report.Find(facts.name);
    if (facts.need != Need::kStrict || layer == nullptr) continue;
    if (layer->state != LayerState::kApplied) return tl::unexpected(Missing(*layer, ""));
  }
  const Layer* landlock = report.Find("landlock");
  const Layer* namespaces = report.Find("namespaces");
  if (landlock == nullptr || landlock->state == LayerState::kApplied) return {};
  if (namespaces == nullptr || namespaces->state == LayerState::kApplied) return {};
  return tl::unexpected(Missing(
      *landlock, fmt::format(" and no mount namespace stands in for it ({})", namespaces->reason)));
}

const Layer* IsolationReport::Find(std::string_view name) const {
  for (const Layer& layer : layers) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

bool IsolationReport::Applied(std::string_view name) const {
  const Layer* layer = Find(name);
  return layer != nullptr && layer->state == LayerState::kApplied;
}

void IsolationReport::Set(std::string_view name, LayerState state, std::string reason) {
  const std::string_view gap = LayerGap(name);
  std::erase(gaps, gap);
  if (state != LayerState::kApplied && !gap.empty()) gaps.emplace_back(gap);
  for (Layer& layer : layers) {
    if (layer.name != name) continue;
    layer.state = state;
    layer.reason = std::move(reason);
    return;
  }
  layers.push_back({std::string(name), state, std::move(reason)});
}

void ApplyLayer(std::string_view layer, const std::vector<std::string>& disabled,
                const std::function<Result<std::string>()>& apply, IsolationReport& report) {
  if (std::find(disabled.begin(), disabled.end(), layer) != disabled.end()) {
    return report.Set(layer, LayerState::kUnavailable, "switched off");
  }
  Result<std::string> detail = apply();
  if (detail) return report.Set(layer, LayerState::kApplied, std::move(*detail));
  const bool absent = detail.error().code == ErrorCode::kUnavailable;
  report.Set(layer, absent ? LayerState::kUnavailable : LayerState::kFailed,
             std::move(detail.error().message));
}

Json IsolationReport::ToJson() const {
  JsonArray list;
  for (const Layer& layer : layers) {
    JsonObject entry{{"name", layer.name}, {"state", LayerStateName(layer.state)}};
    if (!layer.reason.empty()) {
      entry[layer.state == LayerState::kApplied ? "detail" : "reason"] = layer.reason;
    }
    list.push_back(std::move(entry));
  }
  return JsonObject{{"schema", "dossier.sandbox/1"}, {"mode", ModeName(mode)},
                    {"layers", std::move(list)},     {"gaps", Strings(gaps)},
                    {"limits", limits.ToJson()},     {"worker", worker}};
}

Result<IsolationReport> IsolationReport::FromJson(const Json& value) {
  IsolationReport report;
  if (FindString(value, "schema") != "dossier.sandbox/1") {
    return MakeError(ErrorCode::kInvalidArgument, "not a dossier.sandbox/1 report");
  }
  DOSSIER_ASSIGN_OR_RETURN(report.mode, FindMode(value));
  const Json* list = dossier::Find(value, "layers");
  if (list == nullptr || !list->is_array()) {
    return MakeError(ErrorCode::kInvalidArgument, "isolation: layers is not a list");
  }
  for (const Json& entry : list->get_array()) {
    DOSSIER_ASSIGN_OR_RETURN(const LayerState state, FindState(entry));
    const char* key = state == LayerState::kApplied ? "detail" : "reason";
    report.layers.push_back({TextAt(entry, "name"), state, TextAt(entry, key)});
  }
  DOSSIER_ASSIGN_OR_RETURN(report.gaps, StringList(value, "gaps"));
  const Json* limits = dossier::Find(value, "limits");
  DOSSIER_ASSIGN_OR_RETURN(report.limits, Limits::FromJson(limits ? *limits : Json()));
  report.worker = TextAt(value, "worker");
  return report;
}

JsonObject Limits::ToJson() const {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  return {{"silence_ms", silence.count()},
          {"cpu_ms", cpu.count()},
          {"grace_ms", grace.count()},
          {"memory", number(memory)},
          {"output", number(output)},
          {"tmp", number(tmp)},
          {"threads", threads},
          {"files", files}};
}

Result<Limits> Limits::FromJson(const Json& value) {
  Limits limits;
  DOSSIER_ASSIGN_OR_RETURN(const auto silence, Number(value, "silence_ms", 1, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(const auto cpu, Number(value, "cpu_ms", 1, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(const auto grace, Number(value, "grace_ms", 0, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(limits.memory, Number(value, "memory", 0, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(limits.output, Number(value, "output", 0, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(limits.tmp, Number(value, "tmp", 0, kMaxLimit));
  DOSSIER_ASSIGN_OR_RETURN(const auto threads, Number(value, "threads", 1, 4096));
  DOSSIER_ASSIGN_OR_RETURN(const auto files, Number(value, "files", 8, 65536));
  limits.silence = Millis(silence);
  limits.cpu = Millis(cpu);
  limits.grace = Millis(grace);
  limits.threads = static_cast<int>(threads);
  limits.files = static_cast<int>(files);
  return limits;
}

Json IsolationOptions::ToJson() const {
  return JsonObject{{"mode", ModeName(mode)},
                    {"limits", limits.ToJson()},
                    {"read_folders", Strings(read_folders)},
                    {"load_folders", Strings(load_folders)},
                    {"disabled_layers", Strings(disabled_layers)},
                    {"worker", worker}};
}

Result<IsolationOptions> IsolationOptions::FromJson(const Json& value) {
  IsolationOptions options;
  DOSSIER_ASSIGN_OR_RETURN(options.mode, FindMode(value));
  const Json* limits = dossier::Find(value, "limits");
  DOSSIER_ASSIGN_OR_RETURN(options.limits, Limits::FromJson(limits ? *limits : Json()));
  DOSSIER_ASSIGN_OR_RETURN(options.read_folders, StringList(value, "read_folders"));
  DOSSIER_ASSIGN_OR_RETURN(options.load_folders, StringList(value, "load_folders"));
  DOSSIER_ASSIGN_OR_RETURN(options.disabled_layers, StringList(value, "disabled_layers"));
  options.worker = TextAt(value, "worker");
  return options;
}

}  // namespace dossier::sandbox
