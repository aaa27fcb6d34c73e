#include "research/node/phase_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

constexpr std::size_t kRecentCommands = 5;

JsonObject& ObjectOf(Json& value) {
  if (!value.is_object()) value = JsonObject{};
  return value.get_object();
}

}  // namespace

void SetPhaseSummary(Phase phase, std::string_view text, Json& history) {
  ObjectOf(ObjectOf(history)["phase_summaries"])[PhaseName(phase)] = text;
}

void SetStepsSummary(const std::vector<InstallStep>& steps, const Json& plan, Json& history) {
  JsonArray recent;
  const std::size_t first = steps.size() - std::min(steps.size(), kRecentCommands);
  for (std::size_t i = first; i < steps.size(); ++i) {
    recent.push_back(JsonObject{{"command", CutText(steps[i].command, kFailureInEvent)},
                                {"exit_code", steps[i].exit_code}});
  }
  const auto failed = std::count_if(steps.begin(), steps.end(),
                                    [](const InstallStep& step) { return step.exit_code != 0; });
  const Json* dependencies = Find(plan, "dependencies");
  ObjectOf(history)["phase1_steps_summary"] =
      JsonObject{{"total_steps", steps.size()},
                 {"failed_steps", failed},
                 {"dependencies", dependencies == nullptr ? Json() : *dependencies},
                 {"recent_commands", std::move(recent)}};
}

void SetArtifactsSummary(const Artifacts& artifacts, Json& history) {
  std::vector<std::string> paths;
  for (const ArtifactFile& file : artifacts.files) paths.push_back(file.path);
  ObjectOf(history)["llm_output_summary"] = JsonObject{{"workspace_tree", CutTree(artifacts.tree)},
                                                       {"file_paths", TextArray(paths)},
                                                       {"build_plan", artifacts.build.fields}};
}

void SetOutputSummary(std::string_view name, std::string_view output, std::string_view errors,
                      Json& history) {
  JsonObject& object = ObjectOf(history);
  object[fmt::format("{}_log_summary", name)] = CutTail(output, kCommandSummary);
  object[fmt::format("{}_errors", name)] = errors;
}

std::string ErrorsOf(const Json& history) {
  for (const std::string_view name : {"run_errors", "compile_errors"}) {
    const auto errors = FindString(history, name);
    if (errors && !errors->empty()) return std::string(*errors);
  }
  return {};
}

}  // namespace dossier::research
