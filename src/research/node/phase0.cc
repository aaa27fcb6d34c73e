#include "research/node/phase0.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files/file.h"
#include "base/text/redact.h"
#include "research/files/cuts.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

// The shape of a plan; its empty values are used for missing keys.
constexpr std::string_view kEmptyPlan = R"({
  "goal_summary": "", "implementation_strategy": [],
  "dependencies": {"apt": [], "pip": [], "source": []},
  "download_commands_seed": [], "compile_plan": {}, "compile_commands": [], "run_commands": [],
  "phase_guidance": {
    "phase1": {"targets": [], "preferred_commands": [], "done_conditions": []},
    "phase2": {"targets": [], "notes": ""},
    "phase3": {"compiler_selection_policy": "", "notes": ""},
    "phase4": {"output_policy": "", "validation": []}},
  "risks_and_mitigations": [], "time_budget_estimate": {"total_estimated_seconds": 0}})";

Json EmptyPlan() { return *ParseJson(kEmptyPlan); }

std::string_view KindName(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return "a text";
}

bool SameKind(const Json& a, const Json& b) {
  if (a.is_number()) return b.is_number();
  return a.kind() == b.kind();
}

// Adds to `plan` what it lacks of `shape`. A single text where a list is expected becomes a list.
Status Complete(const JsonObject& shape, std::string_view path, JsonObject& plan) {
  for (const auto& member : shape) {
    const Json& wanted = member.value();
    const std::string name = fmt::format("{}{}", path, std::string_view(member.key()));
    Json* value = plan.if_contains(member.key());
    if (value == nullptr || value->is_null()) {
      plan[member.key()] = wanted;
      continue;
    }
    if (wanted.is_array() && value->is_string()) *value = JsonArray{*value};
    if (wanted.is_number() && !value->is_number()) *value = wanted;
    if (!SameKind(wanted, *value)) {
      return MakeError(ErrorCode::kInvalidArgument, "{} must be {}", name, KindName(wanted));
    }
    if (!wanted.is_object()) continue;
    DOSSIER_RETURN_IF_ERROR(Complete(wanted.get_object(), name + ".", value->get_object()));
  }
  return {};
}

JsonObject PickKeys(const Json& value, std::initializer_list<std::string_view> keys) {
  JsonObject picked;
  for (const std::string_view key : keys) {
    if (const Json* found = Find(value, key)) picked[key] = *found;
  }
  return picked;
}

CallRequest PlanRequest(const PhaseContext& context) {
  const NodeWork& work = context.work;
  CallRequest request{.site = "phase0_plan",
                      .alias = "phase0_prompt",
                      .prefix = work.prefix,
                      .memory_query = work.coding.memory_query};
  request.prefix.plan = nullptr;
  AddHistory(work.history, work.worker, &request);
  request.check = [](std::string_view payload) -> Status {
    DOSSIER_RETURN_IF_ERROR(ParsePlan(payload));
    return {};
  };
  return request;
}

Status SavePlan(const PhaseContext& context, std::string_view payload) {
  const auto write = [&](std::string_view name, const std::string& text) {
    return WriteRunFile(context.WorkerFile(name), Redact(text));
  };
  DOSSIER_RETURN_IF_ERROR(MakeFolders(context.WorkerFile("plans")));
  DOSSIER_RETURN_IF_ERROR(write("plans/phase0_llm_output.txt", std::string(payload)));
  DOSSIER_RETURN_IF_ERROR(
      write("plans/phase0_plan.json", ToPrettyJson(context.outcome.phase0_plan)));
  return write("plans/phase0_history_full.json", ToPrettyJson(context.work.history));
}

}  // namespace

Result<Json> ParsePlan(std::string_view payload) {
  DOSSIER_ASSIGN_OR_RETURN(RelaxedJson read, ParseRelaxedJson(payload));
  const Json* inner = Find(read.value, "plan");
  Json plan = inner != nullptr && inner->is_object() ? Json(*inner) : std::move(read.value);
  if (!plan.is_object()) return MakeError(ErrorCode::kInvalidArgument, "the plan is no object");
  const Json shape = EmptyPlan();
  const JsonObject& known = shape.get_object();
  const bool knows_any = std::any_of(known.begin(), known.end(), [&](const auto& member) {
    return plan.get_object().contains(member.key());
  });
  if (!knows_any) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the plan has none of the keys goal_summary, implementation_strategy, "
                     "dependencies, …");
  }
  DOSSIER_RETURN_IF_ERROR(Complete(known, "", plan.get_object()));
  return plan;
}

Json PlanSection(const Json& plan) {
  JsonObject section = PickKeys(plan, {"goal_summary", "implementation_strategy", "dependencies"});
  if (const Json* guidance = Find(plan, "phase_guidance")) {
    section["phase_guidance"] = PickKeys(*guidance, {"phase2", "phase3", "phase4"});
  }
  const Json* risks = Find(plan, "risks_and_mitigations");
  if (risks != nullptr && risks->is_array() && !risks->get_array().empty()) {
    section["risks_and_mitigations"] = *risks;
  }
  return section;
}

std::int64_t EstimatedSeconds(const Json& plan) {
  const Json* estimate = Find(plan, "time_budget_estimate");
  if (estimate == nullptr) return 0;
  const double seconds = FindNumber(*estimate, "total_estimated_seconds").value_or(0);
  return std::isfinite(seconds) ? static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e12)) : 0;
}

std::vector<std::string> PlanTexts(const Json& plan, std::string_view key, std::string_view inner,
                                   std::string_view list) {
  const Json* outer = Find(plan, key);
  const Json* found = outer == nullptr ? nullptr : inner.empty() ? outer : Find(*outer, inner);
  return found == nullptr ? std::vector<std::string>{} : StringsOf(Find(*found, list));
}

void AddHistory(Json history, std::string_view worker, CallRequest* request) {
  if (history.is_null()) return;
  if (auto* object = history.if_object()) {
    (*object)["full_file"] = run_files::Plans(worker) + "/phase0_history_full.json";
  }
  request->sections.push_back({.name = "history", .value = std::move(history)});
}

Status MakePlan(PhaseContext& context) {
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome answer,
                           context.Ask(Phase::kPlan, PlanRequest(context)));
  if (answer.failure) {
    context.outcome.failure = answer.failure;
    context.Fail("PhasePlanError",
                 fmt::format("{}: {}", answer.failure->reason, answer.failure->detail));
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(context.outcome.phase0_plan, ParsePlan(answer.payload));
  DOSSIER_RETURN_IF_ERROR(SavePlan(context, answer.payload));
  const std::int64_t estimated = EstimatedSeconds(context.outcome.phase0_plan);
  const std::int64_t limit = context.services.config->exec.timeout;
  if (estimated * 5 <= limit * 4) return {};
  return context.Warn(
      fmt::format("the plan estimates {} s, over 80 % of the limit of {} s", estimated, limit));
}

}  // namespace dossier::research
