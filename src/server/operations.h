// The table of operations that every server offers: `mcp` to assistants, `rpc` to programs in other
// languages, `serve` over the network.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto workspace, Workspace::Open({.roots = {"/data"}}));
//   const Operation* open = FindOperation("open");
//   DOSSIER_ASSIGN_OR_RETURN(const Output output,
//                            Perform(*open, *workspace, {{"paths", {"/data/a.log"}}}, {}));
//   output.structured.at("context");   // "c3f9a01b2c4d"
//   PlainText(output);                 // what a person or a program reads
//
// An operation gets JSON arguments that were checked against its schema, and returns a small JSON
// object and a text. The object never repeats the text. Error messages are sentences for the
// caller, who may be a model: they name the cause and a remedy. kInvalidArgument means that
// arguments do not fit the schema; its message has the JSON path of each. Thread-safety: the table
// is constant; Perform may run many times at once on one workspace.

#ifndef DOSSIER_SERVER_OPERATIONS_H_
#define DOSSIER_SERVER_OPERATIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::server {

class Owners;
class Workspace;

// The progress of a call.
struct Progress {
  double done = 0;              // only increases
  std::optional<double> total;  // set if it is known
  std::string message;          // "turn 3/30, 41 calls, $0.021"
};

// The caller. Without keys, all callers are the same one.
struct ApiCaller {
  std::string id;  // ServerKey::owner(), "" without keys; the owner of code sessions
  // The owners of contexts and runs; null: the caller sees all. Must outlive the call.
  Owners* owners = nullptr;
  std::optional<double> usd_day;  // the caller's daily limit in US dollars
};

// What one call may do and where it reports. The functions may be empty; they are called from any
// thread, must not block, and are not called after the call has returned.
struct CallScope {
  CancelToken cancel;
  ApiCaller caller;
  std::function<void(const Progress& progress)> progress;
  std::function<void(const store::Event& event)> on_event;  // of a run that this call waits for
  std::function<void(std::string_view text)> on_text;       // the reply of its model, as it arrives
  // These can only lower the limits of the workspace.
  std::optional<double> max_usd;
  std::optional<std::int64_t> max_calls;
};

// A piece of an output's text. kOthers: text of files, code and models, which a server for models
// puts into a data fence.
struct TextPart {
  enum class Origin : std::uint8_t { kOurs, kOthers } origin = Origin::kOurs;
  std::string text;
};

// Something that can be fetched by its URI instead of being part of the text.
struct Link {
  std::string uri, name, about;  // "dossier://pack/…"
};

struct Output {
  JsonObject structured;
  std::vector<TextPart> parts;  // in order
  std::vector<Link> links;
  // kFailed: the call did what it could, and the text says why it failed (code that raised).
  enum class Kind : std::uint8_t { kDone, kFailed } kind = Kind::kDone;
};

// Returns the concatenated parts.
std::string PlainText(const Output& output);

struct Operation {
  std::string_view name;
  std::string_view about;        // for a model; first says whether it is free
  std::string_view schema;       // of the arguments: JSON Schema, an object
  std::string_view annotations;  // JSON: MCP's hints
  Result<Output> (*run)(Workspace& workspace, const JsonObject& arguments, const CallScope& scope);
};

// All operations, in the order in which they are listed.
std::span<const Operation> Operations();
const Operation* FindOperation(std::string_view name);  // null if there is none

// Checks the arguments, fills in defaults of the schema, and runs the operation. Errors:
// kInvalidArgument (with JSON paths), and those of the operation.
Result<Output> Perform(const Operation& operation, Workspace& workspace, const Json& arguments,
                       const CallScope& scope);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_OPERATIONS_H_
