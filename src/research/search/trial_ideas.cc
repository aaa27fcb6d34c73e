#include "research/search/trial_ideas.h"

#include <utility>

#include "research/files/replies.h"

namespace dossier::research {
namespace {

struct TrialSite {
  std::string_view site, name_key, description_key;
};
constexpr TrialSite kTuningSite{"tuning_idea", "HYPERPARAM NAME", "DESCRIPTION"};
constexpr TrialSite kAblationSite{"ablation_idea", "ABLATION NAME", "ABLATION DESCRIPTION"};

const TrialSite& SiteOf(NodeKind kind) {
  return kind == NodeKind::kAblation ? kAblationSite : kTuningSite;
}

const std::string& TrialName(const Node& node) {
  return node.kind == NodeKind::kAblation ? node.ablation_name : node.hyperparam_name;
}

JsonArray Tried(const TrialQuestion& question) {
  JsonArray tried;
  for (const Node& node : question.tree->nodes) {
    if (node.kind != question.node->kind || node.is_seed_node) continue;
    tried.push_back(JsonObject{{"name", TrialName(node)},
                               {"params", node.plan},
                               {"metrics", node.metric ? MetricText(*node.metric) : "N/A"}});
  }
  for (const TrialIdea& idea : question.pending) {
    tried.push_back(
        JsonObject{{"name", idea.name}, {"params", idea.description}, {"metrics", "pending"}});
  }
  return tried;
}

// What a program consists of, and what it is hoped to show, as its plan says it.
void AddComponents(const Node& base, CallRequest* request) {
  const Json* strategy = Find(base.phase0_plan, "implementation_strategy");
  request->sections.push_back({"components", strategy ? *strategy : Json(base.plan)});
  request->sections.push_back(
      {"expected_impact", Json(FindString(base.summary, "significance").value_or(""))});
}

}  // namespace

Result<std::optional<TrialIdea>> AskTrialIdea(const Driver& driver, const TrialQuestion& question,
                                              const CancelToken& cancel) {
  const TrialSite& site = SiteOf(question.node->kind);
  CallRequest request{
      .site = std::string(site.site),
      .scope = ScopeOf(*question.node, site.site),
      .alias = fmt::format("stage{}_{}_prompt", question.stage, site.site),
      .prefix = CallPrefix(driver),
      .sections = {{"base_code", Json(question.base->code)}, {"tried", Json(Tried(question))}},
      .memory_query = driver.query};
  AddResults(*question.base, &request);
  request.sections.push_back({"hint", Json(question.base->hint)});
  if (question.node->kind == NodeKind::kAblation) AddComponents(*question.base, &request);
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, driver.caller().Call(request, cancel));
  DOSSIER_RETURN_IF_ERROR(KeepWarnings(driver, question.node->id, outcome.warnings));
  if (outcome.failure) {
    DOSSIER_RETURN_IF_ERROR(
        KeepWarning(driver, question.node->id,
                    "no idea for this slot, it stays empty: " + FailureText(*outcome.failure)));
    return std::optional<TrialIdea>();
  }
  const std::string_view keys[] = {site.name_key, site.description_key};
  const auto reply = ReadKeywords(outcome.payload, keys);
  return std::optional(
      TrialIdea{.name = reply[0].value_or(""), .description = reply[1].value_or("")});
}

}  // namespace dossier::research
