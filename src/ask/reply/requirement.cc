#include "ask/reply/requirement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/process.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/schema/schema_reply.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kComplaintShown = 2'000;  // characters

std::string Violations(const std::vector<model::SchemaViolation>& violations) {
  std::string lines = "It does not fit the schema:";
  for (const model::SchemaViolation& one : violations) {
    lines += fmt::format("\n- {}: {}", one.pointer.empty() ? "the value" : one.pointer, one.reason);
  }
  return lines;
}

// Data from code is judged directly; a text is parsed as JSON. So is the text of data with numbers
// as strings (because a value cannot hold them): that text is the JSON with the numbers.
std::string SchemaComplaint(const model::JsonSchema& schema, FoundAnswer* answer) {
  const model::CheckedReply read = model::CheckReply(answer->text, schema);
  const auto exact = ExactJson::Parse(read.text);
  const bool is_text = !answer->value || answer->value->is_string();
  if (answer->value && (is_text || !exact || !exact->has_texts())) {
    const auto violations = schema.Check(*answer->value);
    if (violations.empty()) {
      answer->text = ToJson(*answer->value);
      return {};
    }
    if (!is_text || !read.value) return Violations(violations);
  }
  if (read.value) {
    answer->text = ToJson(*read.value);
    answer->value = read.value->with_texts();
    answer->numbers_as_text = read.value->has_texts();
    return {};
  }
  // Where the schema wants a text, the words handed over are that text, as SUBMIT("x") means it.
  if (!exact && schema.Check(Json(read.text)).empty() && !schema.Check(JsonObject()).empty()) {
    answer->value = Json(read.text);
    answer->text = ToJson(*answer->value);
    return {};
  }
  std::string lines = "It does not fit the schema:";
  for (const std::string& violation : read.violations) {
    lines += fmt::format("\n- {}{}", violation.starts_with(':') ? "the value" : "", violation);
  }
  return lines;
}

Result<std::string> CommandComplaint(const CommandRequired& command, const FoundAnswer& answer,
                                     const CancelToken& cancel) {
  const Millis most = std::min(command.timeout, answer.time_left.value_or(command.timeout));
  ProcessSpec spec{.argv = {"/bin/sh", "-c", command.line},
                   .environment = command.environment,
                   .input = ToJson(answer.value ? *answer.value : Json(answer.text)) + "\n",
                   .max_output = 1u << 20,
                   .timeout = std::max(most, Millis(1))};
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult ran, RunProcess(spec, cancel));
  if (ran.exit_code == 0) return std::string();
  if (ran.timed_out) {
    return MakeError(ErrorCode::kContextCommand, "--validate {}: it did not end within {} ms{}",
                     command.line, most.count(),
                     most < command.timeout ? ", when the run's time was over" : "");
  }
  const std::string said = utf8::Sanitize(ran.out + (ran.out.empty() ? "" : "\n") + ran.err);
  if (ran.exit_code == 126 || ran.exit_code == 127) {
    return MakeError(ErrorCode::kContextCommand, "--validate {}: {}", command.line,
                     TrimSpace(said));
  }
  const std::string_view shown = utf8::Prefix(TrimSpace(said), kComplaintShown);
  if (!shown.empty()) return fmt::format("{} says:\n{}", kCheckSays, shown);
  return ran.exit_code > 0 ? fmt::format("{} ended with exit code {} and said nothing.", kCheckSays,
                                         ran.exit_code)
                           : fmt::format("{} was ended by signal {}.", kCheckSays, ran.signal);
}

void AddValues(const Json& json, std::string* lines) {
  if (const JsonObject* object = json.if_object()) {
    for (const auto& [name, value] : *object) AddValues(value, lines);
  } else if (const JsonArray* array = json.if_array()) {
    for (const Json& value : *array) AddValues(value, lines);
  } else {
    if (!lines->empty()) *lines += '\n';
    *lines += json.is_string() ? std::string(json.get_string()) : ToJson(json);
  }
}

}  // namespace

Requirement RequireSchema(const model::JsonSchema& schema) {
  return {
      .told = fmt::format(
          "It is one JSON value that fits this JSON Schema, handed in as a value or as the text "
          "of the JSON and nothing else:\n{}",
          ToJson(schema.json())),
      .schema = schema.json(),
      .complaint = [schema](FoundAnswer* answer, const CancelToken&) -> Result<std::string> {
        return SchemaComplaint(schema, answer);
      }};
}

Requirement RequireCommand(CommandRequired command) {
  return {
      .told = std::string(kToldOfCheck),
      .complaint = [command = std::move(command)](FoundAnswer* answer, const CancelToken& cancel) {
        return CommandComplaint(command, *answer, cancel);
      }};
}

Requirement RequireSubcalls() {
  return {
      .told = "It rests on what a model has read for your code: llm_query or map_llm.",
      .complaint = [](FoundAnswer* answer, const CancelToken&) -> Result<std::string> {
        if (answer->work.answered > 0) return std::string();
        return std::string(
            "No sub-call was answered: let a model read the texts that the answer rests on, with "
            "llm_query or map_llm.");
      }};
}

Requirement RequireWholeBatches() {
  return {.told = "It leaves out no sub-call that failed.",
          .complaint = [](FoundAnswer* answer, const CancelToken&) -> Result<std::string> {
            if (answer->work.lost == 0) return std::string();
            return fmt::format(
                "{} of the sub-calls failed or gave no label: ask for them again, or for shorter "
                "parts.",
                answer->work.lost);
          }};
}

bool IsRequirement(std::string_view gate) { return gate == kFormGate || gate == kCitationsGate; }

int RepairsOf(std::string_view gate, int repairs) {
  return gate == kCitationsGate ? std::min(repairs, 1) : repairs;
}

ErrorCode FailureOf(std::string_view gate) {
  return gate == kCitationsGate ? ErrorCode::kCheckFailed : ErrorCode::kSchema;
}

Result<std::string> FirstComplaint(std::span<const Requirement> requirements, FoundAnswer* answer,
                                   const CancelToken& cancel) {
  for (const Requirement& requirement : requirements) {
    answer->gate = requirement.gate;
    DOSSIER_ASSIGN_OR_RETURN(std::string complaint, requirement.complaint(answer, cancel));
    if (!complaint.empty()) return complaint;
  }
  return std::string();
}

std::string ClaimsOf(const FoundAnswer& answer, std::span<const Requirement> requirements) {
  if (!SchemaOf(requirements)) return answer.text;
  Json value = answer.value.value_or(nullptr);
  if (!value.is_object() && !value.is_array()) value = ParseJson(answer.text).value_or(nullptr);
  if (!value.is_object() && !value.is_array()) return answer.text;
  std::string lines;
  AddValues(value, &lines);
  return lines;
}

std::string RequirementsText(std::span<const Requirement> requirements) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    if (!text.empty()) text += '\n';
    text += "- " + requirement.told;
  }
  return text;
}

bool FitsSchema(std::string_view text, std::span<const Requirement> requirements) {
  const Json* schema = SchemaOf(requirements);
  if (!schema) return false;
  const auto compiled = model::JsonSchema::Compile(*schema);
  return compiled && model::CheckReply(text, *compiled).value.has_value();
}

const Json* SchemaOf(std::span<const Requirement> requirements) {
  for (const Requirement& requirement : requirements) {
    if (requirement.schema) return &*requirement.schema;
  }
  return nullptr;
}

}  // namespace dossier::ask
