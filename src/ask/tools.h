// Tools of a caller: functions that the code of a run may call beside ours. A program of the
// caller, or of a program that uses this library, answers; it runs on the host, outside the
// sandbox.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.tools, ReadTools(yaml, "tools.yml", environment));
//   // in code: rate(currency="EUR", day="2026-11-26")
//
// Arguments come from code of a model: they are checked against the tool's schema before anything
// else hears of them. Thread-safety: a tool may be called from many threads at once, and so is
// `run`.

#ifndef DOSSIER_ASK_TOOLS_H_
#define DOSSIER_ASK_TOOLS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/exact_json.h"
#include "base/result.h"
#include "model/schema/json_schema.h"

namespace dossier::ask {

struct Tool {
  std::string name, description;
  model::JsonSchema parameters;  // of an object; its properties in the order of the arguments
  int retry = 0;                 // how often it is tried again after a failure
  // Given arguments that fit. Errors: any; kTimeout and kFailed are tried again.
  std::function<Result<ExactJson>(const JsonObject& arguments, const CancelToken& cancel)> run;
};

// The tools of a file: a YAML list of `name`, `description`, `parameters` (JSON Schema of an
// object, or of its properties), `command` (argv; gets the arguments as a JSON object on stdin,
// prints JSON or a text), `timeout` (30 s) and `retry` (0). Errors: kConfig with file and line;
// names that are no identifiers, keywords, ours, or there twice are told of all at once.
Result<std::vector<Tool>> ReadTools(std::string_view yaml, std::string_view file,
                                    std::vector<std::string> environment);
// Whether the names of all may be functions of code. Errors: kConfig, naming all that may not.
Status CheckToolNames(std::span<const Tool> tools);

// Checks, calls, and calls again as often as the tool wants. `retried` is told why, each time.
// Errors: kInvalidArgument (the arguments do not fit; nothing ran), else those of the tool.
Result<ExactJson> CallTool(const Tool& tool, const JsonObject& arguments, const CancelToken& cancel,
                           const std::function<void(const Error& error)>& retried);

// "rate(currency: string, day: string = optional): The rate of a day."; a line each.
std::string DescribeTools(std::span<const Tool> tools);
// For SessionSpec::features: [{"name", "description", "parameters": [names]}].
JsonArray ToolFeatures(std::span<const Tool> tools);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_TOOLS_H_
