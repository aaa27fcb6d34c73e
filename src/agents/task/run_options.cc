#include "agents/task/run_options.h"

#include "agents/task/task_json.h"
#include "base/json/json.h"

namespace dossier::agents {
namespace {

bool Says(const Json& json, std::string_view key, std::string_view word) {
  return FindString(json, key).value_or("") == word;
}

std::string_view MergingName(RunOptions::Merging merging) {
  switch (merging) {
    case RunOptions::Merging::kYes:
      return "yes";
    case RunOptions::Merging::kDryRun:
      return "dry-run";
    case RunOptions::Merging::kBranch:
      return "branch";
  }
  return "";
}

std::string_view MergeChecksName(RunOptions::MergeChecks checks) {
  switch (checks) {
    case RunOptions::MergeChecks::kAsApproved:
      return "as-approved";
    case RunOptions::MergeChecks::kAgain:
      return "again";
    case RunOptions::MergeChecks::kNone:
      return "none";
  }
  return "";
}

}  // namespace

JsonObject OptionsToJson(const RunOptions& options) {
  JsonObject out{
      {"workers", options.workers},
      {"tasks", JsonArray(options.tasks.begin(), options.tasks.end())},
      {"only", JsonArray(options.only.begin(), options.only.end())},
      {"target", options.target},
      {"engineer", options.engineer},
      {"reviewer", options.reviewer},
      {"attempts", options.attempts},
      {"merging", MergingName(options.merging)},
      {"merge_checks", MergeChecksName(options.merge_checks)},
      {"confinement", ConfinementName(options.walls.confinement)},
      {"degraded", JsonArray(options.walls.degraded.begin(), options.walls.degraded.end())},
      {"max_seconds", OrNull(options.max_seconds)},
      {"max_cost", OrNull(options.max_cost)},
      {"max_tokens", OrNull(options.max_tokens)},
      {"worktrees", options.worktrees == RunOptions::Worktrees::kKept ? "kept" : "removed"},
      {"notes", options.notes == RunOptions::Notes::kNone ? "none" : "written"}};
  if (options.ad_hoc) out["ad_hoc"] = TaskToJson(*options.ad_hoc);
  return out;
}

RunOptions OptionsFromJson(const Json& json) {
  const auto text = [&](std::string_view key) { return TextAt(json, key); };
  RunOptions options;
  options.workers = FindInt(json, "workers").value_or(options.workers);
  options.tasks = StringsOf(Find(json, "tasks"));
  options.only = StringsOf(Find(json, "only"));
  options.target = text("target");
  options.engineer = text("engineer");
  options.reviewer = text("reviewer");
  options.attempts = FindInt(json, "attempts").value_or(options.attempts);
  for (const auto merging : {RunOptions::Merging::kDryRun, RunOptions::Merging::kBranch}) {
    if (Says(json, "merging", MergingName(merging))) options.merging = merging;
  }
  for (const auto checks : {RunOptions::MergeChecks::kAgain, RunOptions::MergeChecks::kNone}) {
    if (Says(json, "merge_checks", MergeChecksName(checks))) options.merge_checks = checks;
  }
  if (Says(json, "confinement", "none")) options.walls.confinement = Confinement::kNone;
  options.walls.degraded = StringsOf(Find(json, "degraded"));
  options.max_seconds = FindNumber(json, "max_seconds");
  options.max_cost = FindNumber(json, "max_cost");
  options.max_tokens = FindInt(json, "max_tokens");
  if (Says(json, "worktrees", "kept")) options.worktrees = RunOptions::Worktrees::kKept;
  if (Says(json, "notes", "none")) options.notes = RunOptions::Notes::kNone;
  if (const Json* task = Find(json, "ad_hoc")) options.ad_hoc = TaskFromJson(*task);
  return options;
}

}  // namespace dossier::agents
