// Tools of a caller: functions that code in a run may call besides the built-in ones. A program of
// the caller, or the program that uses this library, implements them; it runs on the host, outside
// the sandbox.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.tools, ReadTools(yaml, "tools.yml", environment));
//   // in code: rate(currency="EUR", day="2026-11-26")
//
// Arguments come from a model's code, so they are checked against the tool's schema before anything
// else sees them. Thread-safety: a tool, and so its `run`, may be called from many threads at once.

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
  std::string server = {};       // whose words the description and the schema are; "": the caller's
  model::JsonSchema parameters;  // of an object; properties in argument order
  int retry = 0;                 // retries after a failure
  // Called only with arguments that fit. Errors: any; kTimeout and kFailed are retried.
  std::function<Result<ExactJson>(const JsonObject& arguments, const CancelToken& cancel)> run;
};

// Reads the tools of a file: a YAML list of `name`, `description`, `parameters` (JSON Schema of an
// object, or of its properties), `command` (argv; gets the arguments as a JSON object on stdin,
// prints JSON or text), `timeout` (30 s) and `retry` (0). Errors: kConfig with file and line; all
// invalid names (not an identifier, keyword, built-in, duplicate) are reported at once.
Result<std::vector<Tool>> ReadTools(std::string_view yaml, std::string_view file,
                                    std::vector<std::string> environment);
// Checks that all names can be functions of code. Errors: kConfig, naming all that cannot.
Status CheckToolNames(std::span<const Tool> tools);

// Errors: kInvalidArgument, with all that does not fit.
Status CheckArguments(const Tool& tool, const JsonObject& arguments);
// Checks the arguments and calls the tool, with its retries. `retried` gets the reason for each
// retry. Errors: kInvalidArgument (the arguments do not fit; nothing ran), else those of the tool.
Result<ExactJson> CallTool(const Tool& tool, const JsonObject& arguments, const CancelToken& cancel,
                           const std::function<void(const Error& error)>& retried);

// Returns lines such as "rate(currency: string, day: string = optional): The rate of a day.". Those
// of a server are in a data fence, which is the same for the same tools.
std::string DescribeTools(std::span<const Tool> tools);
// Returns text of a server in such a fence.
std::string FencedForServer(std::string_view server, std::string_view text);
// Returns JSON for SessionSpec::features: [{"name", "description", "parameters": [names]}].
JsonArray ToolFeatures(std::span<const Tool> tools);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_TOOLS_H_
