// The one table of operations that every front door offers: `mcp` to assistants, `rpc` to programs
// of other languages, `serve` to the network.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto workspace, Workspace::Open({.roots = {"/data"}}));
//   const Operation* open = FindOperation("open");
//   DOSSIER_ASSIGN_OR_RETURN(const Output output,
//                            Perform(*open, *workspace, {{"paths", {"/data/a.log"}}}, {}));
//   output.structured.at("context");   // "c3f9a01b2c4d"
//   PlainText(output);                 // what a person or a program reads
//
// An operation gets its arguments as JSON, checked against its schema, and gives a small JSON
// object and a text. The object never repeats the text. Errors are sentences for the caller, who
// may be a model: they name the thing and the way out. kInvalidArgument stands for arguments that
// do not fit, with the JSON path of each.
// Thread-safety: the table is constant; Perform may run many times at once on one workspace.

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

// How far a call has come.
struct Progress {
  double done = 0;              // rises
  std::optional<double> total;  // if it is known
  std::string message;          // "turn 3/30, 41 calls, $0.021"
};

// Who calls. Where there are no keys all callers are one.
struct ApiCaller {
  std::string id;  // Key::owner(), "" where none is needed; whose the code sessions are
  // Whose contexts and runs are whose; null: the caller sees all of them. Must outlive the call.
  Owners* owners = nullptr;
  std::optional<double> usd_day;  // US dollars that it may spend a day
};

// What one call may do and whom it tells. The functions may be empty; they are called from any
// thread, must not block, and are not called once the call has returned.
struct CallScope {
  CancelToken cancel;
  ApiCaller caller;
  std::function<void(const Progress& progress)> progress;
  std::function<void(const store::Event& event)> on_event;  // of a run that this call waits for
  std::function<void(std::string_view text)> on_text;       // of its model's reply, as it arrives
  // Each only lowers what the workspace allows.
  std::optional<double> max_usd;
  std::optional<std::int64_t> max_calls;
};

// A piece of an output's text. kOthers: text of files, code and models, which a front door for
// models puts into a data fence.
struct TextPart {
  enum class Origin : std::uint8_t { kOurs, kOthers } origin = Origin::kOurs;
  std::string text;
};

// Something that can be fetched by its address instead of being part of the text.
struct Link {
  std::string uri, name, about;  // "dossier://pack/…"
};

struct Output {
  JsonObject structured;
  std::vector<TextPart> parts;  // in order
  std::vector<Link> links;
  // kFailed: the call did what it could and tells why that was not enough (code that raised).
  enum class Kind : std::uint8_t { kDone, kFailed } kind = Kind::kDone;
};

// The parts, one after the other.
std::string PlainText(const Output& output);

struct Operation {
  std::string_view name;
  std::string_view about;        // for a model; says first whether it is free
  std::string_view schema;       // of the arguments: JSON Schema, an object
  std::string_view annotations;  // JSON: MCP's hints
  Result<Output> (*run)(Workspace& workspace, const JsonObject& arguments, const CallScope& scope);
};

// In the order in which they are listed.
std::span<const Operation> Operations();
const Operation* FindOperation(std::string_view name);  // null if there is none

// Checks the arguments, then runs. What the schema gives a default for is filled in. Errors:
// kInvalidArgument (with JSON paths), and those of the operation.
Result<Output> Perform(const Operation& operation, Workspace& workspace, const Json& arguments,
                       const CallScope& scope);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_OPERATIONS_H_
