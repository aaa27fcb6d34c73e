#include "research/node/phase_outcome.h"

#include <fmt/format.h>

#include <array>

namespace dossier::research {
namespace {

struct TextField {
  std::string_view name;
  std::string PhasesOutcome::* member;
};
constexpr std::array<TextField, 6> kTexts = {{{"plan", &PhasesOutcome::plan},
                                              {"code", &PhasesOutcome::code},
                                              {"term_out", &PhasesOutcome::term_out},
                                              {"exc_type", &PhasesOutcome::exc_type},
                                              {"exc_info", &PhasesOutcome::exc_info},
                                              {"worker_image", &PhasesOutcome::worker_image}}};
struct JsonField {
  std::string_view name;
  Json PhasesOutcome::* member;
};
constexpr std::array<JsonField, 3> kValues = {{{"phase0_plan", &PhasesOutcome::phase0_plan},
                                               {"artifacts", &PhasesOutcome::artifacts},
                                               {"history", &PhasesOutcome::history}}};

tl::unexpected<Error> Wrong(std::string_view field) {
  return MakeError(ErrorCode::kDamaged, "a finished phase of the journal: {} is missing or wrong",
                   field);
}

}  // namespace

JsonObject OutcomeJson(const PhasesOutcome& outcome) {
  JsonObject json;
  for (const TextField& field : kTexts) json[field.name] = outcome.*field.member;
  for (const JsonField& field : kValues) json[field.name] = outcome.*field.member;
  json["timed_out"] = outcome.timed_out;
  json["exec_time"] = outcome.exec_time;
  json["outputs"] = JsonArray(outcome.outputs.begin(), outcome.outputs.end());
  if (outcome.failure) {
    json["failure"] = JsonObject{{"reason", outcome.failure->reason},
                                 {"detail", outcome.failure->detail},
                                 {"reply_path", outcome.failure->reply_path}};
  }
  return json;
}

Result<PhasesOutcome> ReadOutcome(const Json& json) {
  PhasesOutcome outcome;
  for (const TextField& field : kTexts) {
    const auto text = FindString(json, field.name);
    if (!text) return Wrong(field.name);
    outcome.*field.member = *text;
  }
  for (const JsonField& field : kValues) {
    const Json* value = Find(json, field.name);
    if (value == nullptr) return Wrong(field.name);
    outcome.*field.member = *value;
  }
  outcome.timed_out = FindBool(json, "timed_out").value_or(false);
  outcome.exec_time = FindNumber(json, "exec_time").value_or(0);
  const Json* outputs = Find(json, "outputs");
  if (outputs == nullptr || !outputs->is_array()) return Wrong("outputs");
  for (const Json& path : outputs->get_array()) {
    if (!path.is_string()) return Wrong("outputs");
    outcome.outputs.emplace_back(path.get_string());
  }
  if (const Json* failure = Find(json, "failure")) {
    outcome.failure = CallFailure{TextAt(*failure, "reason"), TextAt(*failure, "detail"),
                                  TextAt(*failure, "reply_path")};
  }
  return outcome;
}

}  // namespace dossier::research
