// Names, exit codes and JSON of a run's results.

#include "ask/engine.h"

namespace dossier::ask {
namespace {

Json WarningsJson(const std::vector<Warning>& warnings) {
  JsonArray list;
  for (const Warning& warning : warnings) {
    JsonObject object{{"code", warning.code}};
    if (!warning.data.is_null()) object["data"] = warning.data;
    list.push_back(std::move(object));
  }
  return list;
}

Json LimitsJson(const std::vector<LimitHit>& limits) {
  JsonArray list;
  for (const LimitHit& hit : limits) {
    list.push_back(JsonObject{{"limit", hit.limit}, {"max", hit.max}, {"used", hit.used}});
  }
  return list;
}

Json CompactionsJson(const std::vector<Compacted>& compactions) {
  JsonArray list;
  for (const Compacted& done : compactions) list.push_back(done.ToJson());
  return list;
}

Json ProofsJson(const std::vector<Proof>& proofs) {
  JsonArray list;
  for (const Proof& proof : proofs) list.push_back(proof.ToJson());
  return list;
}

}  // namespace

JsonObject Compacted::ToJson() const {
  JsonObject json = {
      {"turn", turn}, {"kind", kind}, {"turns", turns}, {"before", before}, {"after", after}};
  if (messages_cut > 0) json["messages_cut"] = messages_cut;
  return json;
}

JsonObject EvidenceSummary::ToJson() const {
  JsonObject json{{"read_by_models", read_by_models},
                  {"read_by_code", read_by_code},
                  {"attempts", attempts},
                  {"agreeing", agreeing},
                  {"doubts", boost::json::value_from(doubts)}};
  if (files_left_out > 0) json["files_left_out"] = files_left_out;
  return json;
}

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kAuto:
      return "auto";
    case Mode::kDirect:
      return "direct";
    case Mode::kRecursive:
      return "recursive";
  }
  return "auto";
}

std::string_view RunStatusName(RunStatus status) {
  constexpr std::string_view kNames[] = {"final", "extracted",   "partial",
                                         "none",  "interrupted", "failed"};
  return kNames[static_cast<int>(status)];
}

std::string_view SourceName(Source source) {
  constexpr std::string_view kNames[] = {"none",      "answer_dict", "submit",    "final",
                                         "final_var", "partial",     "bare_text", "direct",
                                         "extract",   "draft",       "passage"};
  return kNames[static_cast<int>(source)];
}

int Outcome::exit_code() const {
  switch (status) {
    case RunStatus::kFinal:
      return 0;
    case RunStatus::kExtracted:
      return ExitCode(ErrorCode::kLimit);
    case RunStatus::kPartial:
      // A problem that the caller asked about takes precedence over a partial answer.
      for (const ErrorCode told :
           {ErrorCode::kSchema, ErrorCode::kCheckFailed, ErrorCode::kRefused}) {
        if (error && error->code == told) return ExitCode(told);
      }
      return ExitCode(ErrorCode::kPartial);
    case RunStatus::kInterrupted:
      return ExitCode(ErrorCode::kCancelled);
    case RunStatus::kNone:
    case RunStatus::kFailed:
      // The exit codes for limits and partial answers promise an answer; here there is none.
      return error && error->code != ErrorCode::kLimit && error->code != ErrorCode::kPartial
                 ? ExitCode(error->code)
                 : 1;
  }
  return ExitCode(ErrorCode::kInternal);
}

Json Outcome::ToJson() const {
  const model::LedgerUse& use = usage;
  const model::Usage& spent = use.spent.total;
  JsonObject object{
      {"schema", "dossier.ask/1"},
      {"run", run},
      {"status", RunStatusName(status)},
      {"source", SourceName(source)},
      {"answer", source == Source::kNone ? Json(nullptr) : Json(text)},
      {"value", value ? *value : Json(nullptr)},
      {"mode", ModeName(mode)},
      {"mode_reason",
       JsonObject{
           {"tokens", mode_tokens}, {"estimated", mode_estimated}, {"threshold", mode_threshold}}},
      {"turns", turns},
      {"calls",
       JsonObject{{"sent", use.calls}, {"cached", use.cached_calls}, {"failed", use.failed_calls}}},
      {"tokens", JsonObject{{"input", spent.input},
                            {"output", spent.output},
                            {"cached", spent.cached},
                            {"cache_write", spent.cache_write},
                            {"estimated", spent.estimated}}},
      {"cost_usd",
       spent.cost_nano_usd ? Json(static_cast<double>(*spent.cost_nano_usd) / 1e9) : Json(nullptr)},
      {"seconds", static_cast<double>(elapsed.count()) / 1000},
      {"coverage", JsonObject{{"read_by_models", evidence.read_by_models},
                              {"read_by_code", evidence.read_by_code}}},
      {"evidence", JsonObject{{"attempts", evidence.attempts},
                              {"agreeing", evidence.agreeing},
                              {"doubts", boost::json::value_from(evidence.doubts)}}},
      {"citations", CitationsJson(citations)},
      {"limits_hit", LimitsJson(limits_hit)},
      {"compactions", CompactionsJson(compactions)},
      {"warnings", WarningsJson(warnings)},
      {"sandbox", sandbox ? sandbox->ToJson() : Json(nullptr)}};
  if (evidence.files_left_out > 0) {
    object["coverage"].as_object()["files_left_out"] = evidence.files_left_out;
  }
  if (shared_calls) object["calls"].as_object()["shared"] = *shared_calls;
  if (!proofs.empty()) object["evidence"].as_object()["claims"] = ProofsJson(proofs);
  if (files) object["files"] = OutFilesJson(*files);
  if (error) {
    object["error"] = JsonObject{{"code", ErrorName(error->code)}, {"message", error->message}};
  }
  return object;
}

}  // namespace dossier::ask
