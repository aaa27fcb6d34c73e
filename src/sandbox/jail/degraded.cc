#include "sandbox/jail/degraded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace dossier::sandbox {
namespace {

// Those that strict isolation has; a missing one must be named to be done without.
constexpr std::array<std::string_view, 6> kLayers = {"process", "namespaces", "flags",
                                                     "rlimits", "landlock",   "seccomp"};

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status CheckLayerNames(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (Holds(kLayers, name)) continue;
    return MakeError(ErrorCode::kUsage, "--degraded {}: no such layer; there are {}", name,
                     fmt::join(kLayers, ", "));
  }
  return {};
}

void AcceptMissing(std::span<const std::string> names, JailSpec* spec) {
  spec->mode = names.empty() ? Mode::kStrict : Mode::kDegraded;
  for (const std::string_view layer : kLayers) {
    if (!Holds(names, layer)) spec->required_layers.emplace_back(layer);
  }
}

std::string WayOut(const Error& error) {
  if (error.code != ErrorCode::kUnavailable) return "";
  for (const std::string_view layer : kLayers) {
    if (error.message.find(fmt::format(" {} ", layer)) == std::string::npos) continue;
    return fmt::format("; `--degraded {}` runs without it", layer);
  }
  return "";
}

std::vector<std::string> MissingLayers(const IsolationReport& report) {
  std::vector<std::string> missing;
  for (const std::string_view layer : kLayers) {
    if (!report.Applied(layer)) missing.emplace_back(layer);
  }
  return missing;
}

}  // namespace dossier::sandbox
