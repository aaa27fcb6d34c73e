#include "sandbox/session/host_result.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sandbox {
namespace {

constexpr std::size_t kPreviewCharacters = 200;
constexpr std::size_t kMaxVariables = 10'000;

// A string or a blob of `raw`; null and absent are empty.
Result<std::string> Text(const Json* value, std::string_view raw) {
  if (!value || value->is_null()) return std::string();
  auto text = ResolveText(*value, raw, {});
  if (!text) return MakeError(ErrorCode::kProtocol, "bridge: {}", text.error().message);
  return text;
}

std::string StringOf(const Json& object, std::string_view key) {
  return std::string(FindString(object, key).value_or(""));
}

BlockError ReadError(const Json& value) {
  return {.type = StringOf(value, "type"),
          .message = StringOf(value, "message"),
          .line = static_cast<int>(FindInt(value, "line").value_or(0)),
          .source = StringOf(value, "source"),
          .traceback = StringOf(value, "traceback")};
}

Result<BlockStatus> ReadStatus(std::string_view name) {
  for (const BlockStatus status : {BlockStatus::kOk, BlockStatus::kError, BlockStatus::kFinal,
                                   BlockStatus::kNotRun, BlockStatus::kInterrupted}) {
    if (name == BlockStatusName(status)) return status;
  }
  return MakeError(ErrorCode::kProtocol, "bridge: done with an unknown status");
}

Result<std::optional<HandedAnswer>> ReadAnswer(const Json* value, std::string_view raw) {
  if (!value || value->is_null()) return std::nullopt;
  using Form = HandedAnswer::Form;
  static constexpr std::pair<std::string_view, Form> kForms[] = {
      {"answer_dict", Form::kAnswerDict}, {"answer", Form::kAnswerDict},
      {"submit", Form::kSubmit},          {"final", Form::kFinal},
      {"final_var", Form::kFinalVar},     {"partial", Form::kPartial}};
  HandedAnswer answer;
  const std::string_view name = FindString(*value, "form").value_or("");
  const auto row = std::find_if(std::begin(kForms), std::end(kForms),
                                [&](const auto& form) { return form.first == name; });
  if (row == std::end(kForms)) {
    return MakeError(ErrorCode::kProtocol, "bridge: an answer of an unknown form");
  }
  answer.form = row->second;
  DOSSIER_ASSIGN_OR_RETURN(answer.text, Text(Find(*value, "text"), raw));
  if (const Json* json = Find(*value, "value"); json && !json->is_null()) answer.value = *json;
  return answer;
}

std::vector<VariableInfo> ReadVariables(const Json* list) {
  std::vector<VariableInfo> variables;
  if (!list || !list->is_array()) return variables;
  for (const Json& value : list->get_array()) {
    if (variables.size() == kMaxVariables) break;
    VariableInfo info{.name = StringOf(value, "name"), .type = StringOf(value, "type")};
    info.preview =
        std::string(utf8::Prefix(FindString(value, "preview").value_or(""), kPreviewCharacters));
    info.size =
        static_cast<std::uint64_t>(std::max<std::int64_t>(FindInt(value, "size").value_or(0), 0));
    variables.push_back(std::move(info));
  }
  return variables;
}

void ReadEvidence(const JsonObject& json, BlockResult* result) {
  if (FindBool(Json(json), "touches_data").value_or(false)) {
    result->ground = BlockResult::Ground::kData;
  }
  result->typed = StringList(json.if_contains("typed"));
  result->searched = StringList(json.if_contains("searched"));
  result->unmatched = StringList(json.if_contains("unmatched"));
  result->settled = StringList(json.if_contains("settled"));
  const Json* read = json.if_contains("read");
  if (!read || !read->is_array()) return;
  for (const Json& part : read->get_array()) {
    const JsonArray* three = part.if_array();
    const bool whole_numbers =
        three && three->size() == 3 && std::ranges::all_of(*three, [](const Json& number) {
          return number.is_int64() && number.get_int64() >= 0;
        });
    if (!whole_numbers) continue;
    result->read.push_back({static_cast<std::size_t>((*three)[0].get_int64()),
                            static_cast<std::uint64_t>((*three)[1].get_int64()),
                            static_cast<std::uint64_t>((*three)[2].get_int64())});
  }
}

// "Block stopped after 60 s without a sub-call (line 3). …": the limit, and what to do.
std::string StopSentence(InterruptReason reason, const BlockOutcome& outcome, const Limits& limits,
                         int line) {
  const auto seconds = [](Millis time) {
    return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                    : fmt::format("{} ms", time.count());
  };
  const std::string where = line > 0 ? fmt::format(" (line {})", line) : "";
  switch (reason) {
    case InterruptReason::kSilence:
      return fmt::format(
          "Block stopped after {} without {}a sub-call{}. Do less in one block and keep what is "
          "done "
          "in variables; the user may allow more with --cell-time.",
          seconds(limits.silence), limits.counts == Limits::Counts::kIdle ? "work or " : "", where);
    case InterruptReason::kCpu:
      return fmt::format(
          "Block stopped after {} of CPU time{}. Do less in one block and keep what is done in "
          "variables; the user may allow more with --cell-cpu.",
          seconds(limits.cpu), where);
    case InterruptReason::kDeadline:
      return fmt::format("Block stopped: the run's time is over{}.", where);
    case InterruptReason::kUser:
      break;
  }
  return fmt::format("Block stopped by the user after {}{}.", seconds(outcome.wall), where);
}

void AddLateOutput(const BlockOutput& output, BlockResult* result) {
  if (output.late.empty()) return;
  result->notes.push_back(
      fmt::format("late output of block {}: {}", output.late_block, utf8::Sanitize(output.late)));
}

}  // namespace

std::vector<std::string> StringList(const Json* list) {
  std::vector<std::string> strings;
  if (!list || !list->is_array()) return strings;
  for (const Json& value : list->get_array()) {
    if (value.is_string()) strings.emplace_back(value.get_string());
  }
  return strings;
}

Result<BlockResult> ReadBlockResult(BlockOutcome outcome, const Limits& limits) {
  const JsonObject& json = outcome.done.json;
  const std::string& raw = outcome.done.raw;
  BlockResult result;
  DOSSIER_ASSIGN_OR_RETURN(result.status, ReadStatus(json.at("status").get_string()));
  result.out = utf8::Sanitize(outcome.output.text);
  result.out_bytes = outcome.output.total;
  result.out_dropped = outcome.output.dropped;
  const Json* characters = json.if_contains("out_chars");
  result.out_chars = characters && result.out_dropped > 0
                         ? static_cast<std::uint64_t>(characters->get_int64())
                         : utf8::CodePoints(result.out);
  DOSSIER_ASSIGN_OR_RETURN(result.last, Text(json.if_contains("last"), raw));
  DOSSIER_ASSIGN_OR_RETURN(result.refused, Text(json.if_contains("refused"), raw));
  if (const Json* error = json.if_contains("error"); error && error->is_object()) {
    result.error = ReadError(*error);
  }
  DOSSIER_ASSIGN_OR_RETURN(result.answer, ReadAnswer(json.if_contains("answer"), raw));
  if (const Json* draft = json.if_contains("draft"); draft && !draft->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(result.draft, Text(draft, raw));
  }
  result.notes = StringList(json.if_contains("notes"));
  result.variables = ReadVariables(json.if_contains("vars"));
  ReadEvidence(json, &result);
  const Json& usage = json.at("usage");
  result.cpu = Millis(FindInt(usage, "cpu_ms").value_or(0));
  result.wall = outcome.wall;
  result.peak_bytes =
      std::max(outcome.peak_bytes, static_cast<std::uint64_t>(FindInt(usage, "peak").value_or(0)));
  AddLateOutput(outcome.output, &result);
  if (!outcome.interrupted || result.status != BlockStatus::kInterrupted) return result;
  const InterruptReason reason = *outcome.interrupted;
  if (reason == InterruptReason::kCpu || reason == InterruptReason::kDeadline) {
    result.status = BlockStatus::kLimit;
  }
  result.stopped = StopSentence(reason, outcome, limits, result.error ? result.error->line : 0);
  result.notes.insert(result.notes.begin(), result.stopped);
  return result;
}

Result<CheckResult> ReadCheckResult(const Message& checked) {
  CheckResult result;
  result.ok = checked.json.at("ok").get_bool();
  const Json* error = checked.json.if_contains("error");
  if (error && error->is_object()) result.error = ReadError(*error);
  const auto flag = [&](std::string_view name) {
    const Json* value = checked.json.if_contains(name);
    return value && value->get_bool();
  };
  result.incomplete = flag("incomplete");
  result.has_effect = flag("has_effect");
  result.computes = flag("computes");
  return result;
}

}  // namespace dossier::sandbox
