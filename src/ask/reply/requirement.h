// Requirements of a caller on an answer, besides the engine's own checks: that it fits a JSON
// Schema, or that a program of the caller accepts it.
//
//   request.requirements.push_back(RequireSchema(schema));
//   request.requirements.push_back(RequireCommand({.line = "./check.py"}));
//   request.repairs = 2;   // how often the model may mend an answer that was refused
//
// Thread-safety: a requirement may be used by many runs at once.

#ifndef DOSSIER_ASK_REPLY_REQUIREMENT_H_
#define DOSSIER_ASK_REPLY_REQUIREMENT_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "model/schema/json_schema.h"

namespace dossier::ask {

// The aspect that a requirement checks, for journals and exit codes: the answer's form or evidence.
inline constexpr std::string_view kFormGate = "requirement", kCitationsGate = "citations";

// Counts of sub-calls so far: those answered, and those lost (failed, or texts of map_llm without a
// label, unless a later call made up for it).
struct SubcallWork {
  int answered = 0, lost = 0;
};

struct FoundAnswer {
  std::string text;
  std::optional<Json> value = {};             // if code handed in data
  std::span<const std::string> printed = {};  // what code showed, from data
  SubcallWork work = {};
  std::string_view gate = kFormGate;  // of the requirement that FirstComplaint reports
  // A number of the text is a string in `value`, because JSON could not hold it.
  bool numbers_as_text = false;
  std::optional<Millis> time_left = {};  // of the run, for all that looks at it; unset: any
};

struct Requirement {
  std::string told;                 // to the model before it answers
  std::optional<Json> schema = {};  // for servers that can constrain replies to it
  std::string_view gate = kFormGate;
  // Returns what is wrong with the answer, for the model; empty if it is accepted, possibly
  // converted to its canonical form. Errors: the check itself failed.
  std::function<Result<std::string>(FoundAnswer*, const CancelToken&)> complaint;
};

// Replaces the answer by its value as JSON on one line, with all digits of its numbers. Removes a
// code fence around a text. If the value has numbers as strings, the text must be the exact JSON.
Requirement RequireSchema(const model::JsonSchema& schema);

// The text that tells the model about a program that checks its answers.
inline constexpr std::string_view kToldOfCheck =
    "A program checks it; what it finds wrong comes back.";

// The start of every complaint of RequireCommand.
inline constexpr std::string_view kCheckSays = "The program that checks it";

struct CommandRequired {
  std::string line;                      // for /bin/sh
  std::vector<std::string> environment;  // "NAME=value"
  Millis timeout{60'000};
};
// The command gets the answer as one JSON value on stdin. Exit code 0 accepts it; otherwise its
// output, at most 2,000 characters, is the complaint. Errors: kContextCommand, if it cannot be
// started or does not end in time.
Requirement RequireCommand(CommandRequired command);

// Require that a model has read something for code, and that no sub-call is lost. Both check the
// work, not the answer.
Requirement RequireSubcalls();
Requirement RequireWholeBatches();

// IsRequirement: true if `gate` is a requirement's. RepairsOf: how often an answer that it refuses
// may be corrected if the caller allows `repairs`; evidence is asked for only once.
bool IsRequirement(std::string_view gate);
int RepairsOf(std::string_view gate, int repairs);
// Returns the error code for an answer that is kept although it fails `gate`.
ErrorCode FailureOf(std::string_view gate);

// Returns the first complaint of all; `answer` gets the gate.
Result<std::string> FirstComplaint(std::span<const Requirement> requirements, FoundAnswer* answer,
                                   const CancelToken& cancel);
// Returns what an answer claims, for checks of its content: for data that a schema asks for, its
// values, one per line (the names are the schema's), otherwise the text.
std::string ClaimsOf(const FoundAnswer& answer, std::span<const Requirement> requirements);
// Returns what the model is told about all requirements; empty: there are none.
std::string RequirementsText(std::span<const Requirement> requirements);
// Returns the first required schema; null: there is none.
const Json* SchemaOf(std::span<const Requirement> requirements);
// Whether `text`, with or without a fence around it, is JSON that fits the schema that is asked
// for.
bool FitsSchema(std::string_view text, std::span<const Requirement> requirements);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_REQUIREMENT_H_
