#include "agents/task/task_result.h"

#include <fmt/format.h>

#include "base/text/utf8.h"
#include "sources/header/header_tokens.h"

namespace dossier::agents {
namespace {

// Paths may be any bytes, JSON texts may not.
Json Text(std::string_view text) { return Json(utf8::Sanitize(text)); }

JsonArray Texts(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& text : texts) array.push_back(Text(text));
  return array;
}

JsonArray PathsOf(const std::vector<Violation>& violations, std::string_view rule) {
  JsonArray paths;
  for (const Violation& one : violations) {
    if (one.rule == rule) paths.push_back(Text(one.path));
  }
  return paths;
}

}  // namespace

JsonObject PolicyToJson(const std::vector<Violation>& violations) {
  JsonArray all;
  for (const Violation& one : violations) {
    all.push_back(JsonObject{{"rule", one.rule},
                             {"path", Text(one.path)},
                             {"value", Text(one.value)},
                             {"limit", Text(one.limit)}});
  }
  return {{"denied", PathsOf(violations, "deny")},
          {"not-allowed", PathsOf(violations, "allow")},
          {"violations", std::move(all)}};
}

std::string ViolationsText(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& one : violations) {
    text += fmt::format("- VIOLATION: rule {}", one.rule);
    if (!one.path.empty()) text += fmt::format(", {}", sources::SingleLine(one.path));
    if (!one.value.empty()) text += fmt::format(", is {}", sources::SingleLine(one.value));
    if (!one.limit.empty()) text += fmt::format(" (the rule: {})", one.limit);
    text += "\n";
  }
  return text;
}

Json UsageToJson(const std::optional<model::UsageSum>& usage) {
  if (!usage) return nullptr;
  const model::Usage& total = usage->total;
  Json cost = nullptr;
  if (total.cost_nano_usd) cost = static_cast<double>(*total.cost_nano_usd) / 1e9;
  return JsonObject{{"input", total.input},
                    {"output", total.output},
                    {"cached", total.cached},
                    {"cache_write", total.cache_write},
                    {"cost_usd", std::move(cost)}};
}

JsonObject ResultToJson(const TaskResult& result) {
  Json merge = nullptr, hash = nullptr;
  if (!result.patch_sha256.empty()) hash = result.patch_sha256;
  if (!result.commit.empty()) {
    merge = JsonObject{{"status", "merged"}, {"hash", hash}, {"commit", result.commit}};
  }
  return {{"summary", result.summary},
          {"status", StatusName(result.status)},
          {"reason", Text(result.reason)},
          {"targets", Texts(result.targets)},
          {"confinement", result.confinement},
          {"files", Texts(result.files)},
          {"policy", PolicyToJson(result.violations)},
          {"propose-exit", result.propose_exit},
          {"review-exit", result.review_exit},
          {"merge", std::move(merge)},
          {"hash", std::move(hash)},
          {"patch", Text(result.patch_file)},
          {"moved-branches", Texts(result.moved_branches)},
          {"task-digest", result.digest},
          {"timestamp", result.timestamp},
          {"attempts", result.attempts},
          {"seconds", result.seconds},
          {"usage", UsageToJson(result.usage)}};
}

}  // namespace dossier::agents
