// What a caller requires of an answer, beside the engine's own checks: that it fits a JSON Schema,
// or that a program of the caller accepts it.
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

// What a requirement is about, for journals and exit codes: its form, or its evidence.
inline constexpr std::string_view kFormGate = "requirement", kCitationsGate = "citations";

// What came of the sub-calls so far: those that were answered; those that failed, and texts of
// map_llm without a label, and were not made good.
struct SubcallWork {
  int answered = 0, lost = 0;
};

struct FoundAnswer {
  std::string text;
  std::optional<Json> value = {};             // where code handed over data
  std::span<const std::string> printed = {};  // what code showed, out of data
  SubcallWork work = {};
  std::string_view gate = kFormGate;  // of the requirement that FirstComplaint is from
  // A number of the text is a text in `value`, which could not hold it.
  bool numbers_as_text = false;
  std::optional<Millis> time_left = {};  // of the run, for all that looks at it; unset: any
};

struct Requirement {
  std::string told;                 // to the model, before it answers
  std::optional<Json> schema = {};  // for servers that hold replies to one
  std::string_view gate = kFormGate;
  // What is wrong with the answer, for the model; empty: it satisfies, and may have been brought
  // into its canonical form. Errors: nobody could tell.
  std::function<Result<std::string>(FoundAnswer*, const CancelToken&)> complaint;
};

// The answer becomes the value as JSON on one line, with all digits of its numbers. A code fence
// around a text is removed. Of a value with numbers as texts the text has to be the exact JSON.
Requirement RequireSchema(const model::JsonSchema& schema);

// What the model is told of a program that looks at its answers.
inline constexpr std::string_view kToldOfCheck =
    "A program checks it; what it finds wrong comes back.";

// How every complaint of RequireCommand begins.
inline constexpr std::string_view kCheckSays = "The program that checks it";

struct CommandRequired {
  std::string line;                      // for /bin/sh
  std::vector<std::string> environment;  // "NAME=value"
  Millis timeout{60'000};
};
// The command gets the answer as one JSON value on stdin. It accepts by exit code 0; else what it
// prints, at most 2,000 characters, is the complaint. Errors: kContextCommand, where it cannot be
// started or does not end in time.
Requirement RequireCommand(CommandRequired command);

// That a model has read something for code; that no sub-call is lost. Both look at the work, not at
// the answer.
Requirement RequireSubcalls();
Requirement RequireWholeBatches();

// Whether `gate` is one of a requirement; and how often an answer may be mended that one of it
// refuses, where the caller allows `repairs`: evidence is asked for once.
bool IsRequirement(std::string_view gate);
int RepairsOf(std::string_view gate, int repairs);
// The code that stands for an answer that is kept although it is not as `gate` requires.
ErrorCode FailureOf(std::string_view gate);

// The first complaint of all; `answer` tells of which gate.
Result<std::string> FirstComplaint(std::span<const Requirement> requirements, FoundAnswer* answer,
                                   const CancelToken& cancel);
// What an answer says, for the checks of what it says: of data that a schema asks for the values, a
// line each. The names are the schema's.
std::string ClaimsOf(const FoundAnswer& answer, std::span<const Requirement> requirements);
// What the model is told of all; empty: nothing is required.
std::string RequirementsText(std::span<const Requirement> requirements);
// The first schema that is asked for; null: none is.
const Json* SchemaOf(std::span<const Requirement> requirements);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_REQUIREMENT_H_
