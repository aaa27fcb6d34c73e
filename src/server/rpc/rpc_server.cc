#include "server/rpc/rpc_server.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "ask/documents/sql_tables.h"
#include "base/task_group.h"
#include "base/text/nearest.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "inspect/description/hint.h"
#include "model/schema/json_schema.h"
#include "server/contexts/place.h"
#include "server/line_stream.h"
#include "server/operations.h"
#include "server/rpc/callbacks.h"
#include "server/rpc/client_sessions.h"
#include "server/rpc/rpc_ask.h"

namespace dossier::server {
namespace {

constexpr std::size_t kMostRequests = 4096;  // open at once

struct RpcParts {
  Workspace& workspace;
  ClientSessions& sessions;
  Asker& asker;
};

using RunRpc = Result<RpcReply> (*)(RpcParts& parts, const JsonObject& params,
                                    const RpcScope& scope);

struct RpcMethod {
  std::string_view name;
  std::string_view schema;  // of its parameters; "": those of the operation with that name
  RunRpc run;               // null: run the operation with that name
};

Result<RpcReply> Plain(Result<Json> value) {
  if (!value) return tl::unexpected(std::move(value).error());
  return RpcReply{.result = std::move(*value)};
}

// Text too large for a line comes in a file, which may exist only under /proc.
Result<RpcReply> RunOpen(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  const std::string name = TextAt(Json(params), "name");
  std::vector<ask::ContextSource> sources;
  for (const Json& file : params.at("files").as_array()) {
    const std::string path = TextAt(file, "path"), shown = TextAt(file, "name");
    sources.push_back({.path = path,
                       .name = shown.empty() ? name : shown,
                       .shown = shown.empty() ? name : shown});
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           parts.workspace.contexts().Add(sources, name, {}, scope.cancel));
  JsonObject result = context->summary;
  result["content"] = context->hint;
  return RpcReply{.result = std::move(result)};
}

Result<RpcReply> RunOperation(std::string_view name, RpcParts& parts, const JsonObject& params,
                              const RpcScope& scope) {
  const Operation* operation = FindOperation(name);
  DOSSIER_ASSIGN_OR_RETURN(const Output output,
                           Perform(*operation, parts.workspace, params, {.cancel = scope.cancel}));
  JsonObject result = output.structured;
  result["text"] = PlainText(output);
  std::string content;  // without notes about it
  for (const TextPart& part : output.parts) {
    if (part.origin == TextPart::Origin::kOthers) content += part.text;
  }
  if (!content.empty()) result["content"] = content;
  RpcReply reply{.result = std::move(result)};
  if (output.kind == Output::Kind::kFailed) {
    reply.error = Error{ErrorCode::kFailed, PlainText(output)};
  }
  return reply;
}

// The tables of sql(), by name.
JsonArray TablesOf(const std::vector<ask::ContextDocument>& documents) {
  std::vector<ask::SqlDocument> described;
  JsonArray found;
  for (const ask::ContextDocument& document : documents) {
    described.push_back({document.name, &document.description});
  }
  for (const ask::SqlTable& table : ask::SqlTablesOf(described)) {
    JsonArray columns;
    for (const ask::SqlColumn& column : table.columns) {
      columns.push_back(JsonObject{{"name", column.name}, {"type", column.type}});
    }
    found.push_back(JsonObject{{"names", JsonArray(table.names.begin(), table.names.end())},
                               {"document", documents[table.document].name},
                               {"rows", table.rows},
                               {"columns", std::move(columns)}});
  }
  for (const ask::ContextDocument& document : documents) {
    if (!document.database) continue;
    for (const inspect::SqliteTable& table : document.database->tables) {
      found.push_back(JsonObject{{"names", JsonArray{table.name}},
                                 {"document", document.name},
                                 {"rows", table.rows ? Json(*table.rows) : Json(nullptr)},
                                 {"sql", table.sql}});
    }
  }
  return found;
}

// Adds the findings of `inspect` on each document to the usual description.
Result<RpcReply> RunDescribe(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(RpcReply reply, RunOperation("describe", parts, params, scope));
  const std::string id = TextAt(Json(params), "context");
  if (id.empty()) return reply;
  DOSSIER_ASSIGN_OR_RETURN(const auto context, parts.workspace.Context(id, scope.cancel));
  JsonArray files;
  for (const ask::ContextDocument& document : context->set->documents()) {
    files.push_back(inspect::ToJson(document.description));
  }
  reply.result.get_object()["files"] = std::move(files);
  reply.result.get_object()["tables"] = TablesOf(context->set->documents());
  return reply;
}

// Returns the text unchanged: a program counts lines itself.
Result<RpcReply> RunRead(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  const Json whole(params);
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           parts.workspace.Context(TextAt(whole, "context"), scope.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const DocumentPlace place,
                           ParsePlace(TextAt(whole, "at"), context->documents->documents()));
  const auto most = static_cast<std::uint64_t>(FindInt(whole, "max_chars").value_or(20'000));
  DOSSIER_ASSIGN_OR_RETURN(const PlaceText read,
                           ReadPlace(place, *context->documents, most, scope.cancel));
  return RpcReply{.result =
                      JsonObject{{"at", read.at},
                                 {"start", read.start},
                                 {"end", read.end},
                                 {"cut", read.cut},
                                 {"next", read.next.empty() ? Json(nullptr) : Json(read.next)},
                                 {"content", read.bytes}}};
}

Result<RpcReply> ListRuns(RpcParts& parts, const JsonObject& params, const RpcScope&) {
  const Json whole(params);
  std::optional<std::string> status;
  if (const auto given = FindString(whole, "status")) status = *given;
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, parts.workspace.Journal());
  DOSSIER_ASSIGN_OR_RETURN(
      const auto runs,
      journal->List(status, static_cast<std::size_t>(FindInt(whole, "limit").value_or(20))));
  JsonArray list;
  for (const store::RunSummary& run : runs) {
    list.push_back(store::SummaryJson(run));
  }
  return RpcReply{.result = JsonObject{{"runs", std::move(list)}}};
}

Result<RpcReply> GetRun(RpcParts& parts, const JsonObject& params, const RpcScope&) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, parts.workspace.Journal());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(TextAt(Json(params), "run")));
  DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal->StatusOf(run));
  DOSSIER_ASSIGN_OR_RETURN(const auto events, journal->Events(run));
  JsonArray list;
  for (const store::Event& event : events) {
    list.push_back(store::EventJson(event));
  }
  return RpcReply{.result =
                      JsonObject{{"run", run}, {"status", status}, {"events", std::move(list)}}};
}

constexpr std::string_view kAskSchema = R"({"type":"object","properties":{
"question":{"type":"string"},"context":{"type":"string"},
"mode":{"enum":["auto","direct","recursive"]},"model":{"type":"string"},"sub_model":{"type":"string"},
"model_options":{"type":"object","properties":{"base_url":{"type":"string"},"key_env":{"type":"string"},
"record":{"type":"string"},"replay":{"type":"string"},"temperature":{"type":"number"},
"max_output":{"type":"integer","minimum":1},"window":{"type":"integer","minimum":1},
"retries":{"type":"integer","minimum":0},"concurrency":{"type":"integer","minimum":1},
"price_input":{"type":"number"},"price_output":{"type":"number"}},"additionalProperties":false},
"max_calls":{"type":"integer","minimum":1},"max_tokens":{"type":"integer","minimum":1},
"max_usd":{"type":"number","exclusiveMinimum":0},"max_time_s":{"type":"number","exclusiveMinimum":0},
"max_turns":{"type":"integer","minimum":1},"seed":{"type":"integer","minimum":0},
"temperature":{"type":"number"},"schema":{"type":"object"},"repairs":{"type":"integer","minimum":0},
"layouts_dir":{"type":"string"},"events":{"type":"boolean"},"media":{"type":"array","items":{
"type":"object","properties":{"name":{"type":"string"},"place":{"type":"string"},"data":{"type":"string"}},
"required":["name"],"additionalProperties":false}},"tools":{"type":"array","items":{
"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},
"parameters":{"type":"array","items":{"type":"string"}},"schema":{"type":"object"}},
"required":["name","schema"],"additionalProperties":false}}},
"required":["question"],"additionalProperties":false})";

constexpr std::string_view kOpenSchema = R"({"type":"object","properties":{"name":{"type":"string"},
"files":{"type":"array","minItems":1,"items":{"type":"object","properties":{"path":{"type":"string"},
"name":{"type":"string"}},"required":["path","name"],"additionalProperties":false}}},
"required":["files"],"additionalProperties":false})";

constexpr std::string_view kDescribeSchema =
    R"({"type":"object","properties":{"context":{"type":"string"}},
"additionalProperties":false})";

constexpr std::string_view kReadSchema =
    R"({"type":"object","properties":{"context":{"type":"string"},
"at":{"type":"string"},"max_chars":{"type":"integer","minimum":1,"maximum":10000000}},
"required":["context","at"],"additionalProperties":false})";

constexpr std::string_view kSessionOpen =
    R"({"type":"object","properties":{"context":{"type":"string"},
"plain":{"type":"boolean"},"mail":{"type":"object","properties":{"path":{"type":"string"},
"bytes":{"type":"integer","minimum":1,"maximum":1073741824}},"required":["path","bytes"],"additionalProperties":false},"seed":{"type":"integer","minimum":0},"limits":{"type":"object","properties":{
"cpu_s":{"type":"number"},"silence_s":{"type":"number"},"memory":{"type":"integer"},"output":{"type":"integer"}},
"additionalProperties":false},"tools":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_]*$"},"description":{"type":"string"},
"parameters":{"type":"array","items":{"type":"string"}},"schema":{"type":"object"}},"required":["name","parameters"],
"additionalProperties":false}}},"additionalProperties":false})";

constexpr std::string_view kSessionRun =
    R"({"type":"object","properties":{"session":{"type":"string"},
"code":{"type":"string"},"before":{"type":"string"},"after":{"type":"string"},"variables":{"type":"object","additionalProperties":{"type":"object","properties":{
"path":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false}}},
"required":["session","code"],"additionalProperties":false})";

constexpr std::string_view kSessionGet =
    R"({"type":"object","properties":{"session":{"type":"string"},
"name":{"type":"string"}},"required":["session","name"],"additionalProperties":false})";

constexpr std::string_view kSessionClose =
    R"({"type":"object","properties":{"session":{"type":"string"}},
"required":["session"],"additionalProperties":false})";

constexpr std::string_view kRunsList = R"({"type":"object","properties":{"status":{"type":"string"},
"limit":{"type":"integer","minimum":1,"maximum":10000}},"additionalProperties":false})";

constexpr std::string_view kRunsGet = R"({"type":"object","properties":{"run":{"type":"string"}},
"required":["run"],"additionalProperties":false})";

constexpr std::string_view kCancel =
    R"({"type":"object","properties":{"id":{"type":["integer","string"]}},
"required":["id"],"additionalProperties":false})";

template <auto Member>
Result<RpcReply> OfSessions(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  return Plain((parts.sessions.*Member)(params, scope));
}

Result<RpcReply> RunAsk(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  return parts.asker.Ask(params, scope);
}

Result<RpcReply> RunEstimate(RpcParts& parts, const JsonObject& params, const RpcScope& scope) {
  return parts.asker.Estimate(params, scope);
}

// In the order of the greeting. `cancel` is handled by the server itself.
constexpr RpcMethod kMethods[] = {
    {"open", "", nullptr},
    {"describe", kDescribeSchema, RunDescribe},
    {"search", "", nullptr},
    {"read", kReadSchema, RunRead},
    {"ask", kAskSchema, RunAsk},
    {"estimate", kAskSchema, RunEstimate},
    {"session.open", kSessionOpen, OfSessions<&ClientSessions::Open>},
    {"session.run", kSessionRun, OfSessions<&ClientSessions::Run>},
    {"session.get", kSessionGet, OfSessions<&ClientSessions::Get>},
    {"session.close", kSessionClose, OfSessions<&ClientSessions::Close>},
    {"runs.list", kRunsList, ListRuns},
    {"runs.get", kRunsGet, GetRun},
    {"cancel", kCancel, nullptr},
};

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const RpcMethod& method : kMethods) names.emplace_back(method.name);
  return names;
}

Status CheckParams(std::string_view schema_text, const Json& params) {
  DOSSIER_ASSIGN_OR_RETURN(Json parsed, ParseJson(schema_text));
  DOSSIER_ASSIGN_OR_RETURN(const auto schema, model::JsonSchema::Compile(std::move(parsed)));
  const auto wrong = schema.Check(params, 3);
  if (wrong.empty()) return {};
  std::vector<std::string> sentences;
  for (const model::SchemaViolation& one : wrong) {
    sentences.push_back("params" + one.pointer + " " + one.reason);
  }
  return MakeError(ErrorCode::kInvalidArgument, "{}", Join(sentences, "; "));
}

// Returns the remedy, which follows the last semicolon of a message, if there is one.
std::string HintOf(const std::string& message) {
  const std::size_t at = message.rfind("; ");
  return at == std::string::npos ? "" : message.substr(at + 2);
}

JsonObject ErrorMessage(const Json& id, const Error& error, Json partial) {
  const std::string message = Redact(error.message);
  return {{"id", id},
          {"error", JsonObject{{"code", ErrorName(error.code)},
                               {"exit", ExitCode(error.code)},
                               {"message", message},
                               {"hint", HintOf(message)},
                               {"partial", std::move(partial)}}}};
}

// Handles the requests of one client, from its first line to its last.
class Connection {
 public:
  Connection(Workspace& workspace, const RpcOptions& options, const CancelToken& cancel)
      : all_(cancel),
        in_(options.in, all_.token(), kLongestLine, std::string(kLongLineAdvice)),
        out_(options.out),
        callbacks_(out_),
        sessions_(workspace, callbacks_),
        asker_(workspace, callbacks_),
        parts_{workspace, sessions_, asker_},
        version_(options.version) {}

  Status Serve();

 private:
  struct OpenRequest {
    explicit OpenRequest(const CancelToken& all) : source(all) {}
    CancelSource source;
  };

  void Take(std::string_view line);
  void Begin(const JsonObject& message, const Json& id);
  void Work(const RpcMethod& method, const JsonObject& params, const RpcScope& scope);
  void CancelOne(const Json& id, const JsonObject& params);
  void Send(JsonObject message);
  void Refuse(const Json& id, ErrorCode code, std::string text) {
    Send(ErrorMessage(id, {code, std::move(text)}, nullptr));
  }

  CancelSource all_;
  DescriptorLines in_;
  LineWriter out_;
  Callbacks callbacks_;
  ClientSessions sessions_;
  Asker asker_;
  RpcParts parts_;
  const std::string version_;
  std::mutex mutex_;                                          // guards open_
  std::map<std::string, std::shared_ptr<OpenRequest>> open_;  // by id, as JSON
  TaskGroup tasks_;  // last: its threads end before what they use is destroyed
};

Status Connection::Serve() {
  Send({{"rpc", 1}, {"version", version_}, {"methods", boost::json::value_from(MethodNames())}});
  Status ended;
  while (true) {
    auto line = in_.Next();
    if (!line && line.error().code == ErrorCode::kTooLong) {
      Refuse(nullptr, ErrorCode::kTooLong, line.error().message);
      continue;
    }
    if (!line) ended = tl::unexpected(std::move(line).error());
    if (!line || !*line) break;
    if ((*line)->find_first_not_of(" \t\r") != std::string::npos) Take(**line);
  }
  all_.Cancel("the input ended");
  callbacks_.FailAll();
  tasks_.Join();
  return ended;
}

void Connection::Send(JsonObject message) {
  const Json id = message.contains("id") ? message["id"] : Json(nullptr);
  Status sent = out_.Write(ToJson(message));
  if (sent) return;
  if (sent.error().code != ErrorCode::kTooLong) return all_.Cancel("nobody reads the output");
  static_cast<void>(out_.Write(ToJson(ErrorMessage(id, sent.error(), nullptr))));
}

void Connection::Take(std::string_view line) {
  auto message = ParseJson(line);
  if (!message || !message->is_object()) {
    return Refuse(nullptr, ErrorCode::kProtocol,
                  message ? "a message is a JSON object" : message.error().message);
  }
  const JsonObject& object = message->get_object();
  if (object.contains("reply")) {
    static_cast<void>(callbacks_.Resolve(object));  // late: its call is over
    return;
  }
  const auto* id = object.if_contains("id");
  if (id == nullptr || !(id->is_int64() || id->is_string())) {
    return Refuse(nullptr, ErrorCode::kProtocol, "a request has an id, a whole number or a text");
  }
  Begin(object, *id);
}

void Connection::Begin(const JsonObject& message, const Json& id) {
  const auto* given = message.if_contains("method");
  const std::string_view asked =
      given && given->is_string() ? std::string_view(given->get_string()) : "";
  const auto* method = std::ranges::find(kMethods, asked, &RpcMethod::name);
  if (method == std::end(kMethods)) {
    return Refuse(id, ErrorCode::kUsage,
                  fmt::format("there is no method {}: {}", asked, OneOf(asked, MethodNames())));
  }
  JsonObject params;
  if (const Json* of = Find(message, "params")) {
    if (!of->is_object()) return Refuse(id, ErrorCode::kUsage, "params is a JSON object");
    params = of->get_object();
  }
  if (method->name == "cancel") return CancelOne(id, params);
  const auto request = std::make_shared<OpenRequest>(all_.token());
  {
    const std::lock_guard lock(mutex_);
    if (open_.size() >= kMostRequests) {
      return Refuse(id, ErrorCode::kLimit,
                    fmt::format("{} requests are open; wait for some of them", kMostRequests));
    }
    if (!open_.emplace(ToJson(id), request).second) {
      return Refuse(id, ErrorCode::kUsage, "the id " + ToJson(id) + " is that of an open request");
    }
  }
  tasks_.RunOrDo([this, method, params = std::move(params), id, request] {
    Work(*method, params,
         {.id = id, .cancel = request->source.token(), .event = [this, id](JsonObject event) {
            Send({{"id", id}, {"event", std::move(event)}});
          }});
  });
}

void Connection::Work(const RpcMethod& method, const JsonObject& params, const RpcScope& scope) {
  const auto run = [&]() -> Result<RpcReply> {
    if (method.name == "open" && params.contains("files")) {
      DOSSIER_RETURN_IF_ERROR(CheckParams(kOpenSchema, params));
      return RunOpen(parts_, params, scope);
    }
    if (method.run == nullptr) return RunOperation(method.name, parts_, params, scope);
    DOSSIER_RETURN_IF_ERROR(CheckParams(method.schema, params));
    return method.run(parts_, params, scope);
  };
  auto reply = run();
  {
    const std::lock_guard lock(mutex_);
    open_.erase(ToJson(scope.id));
  }
  if (!reply) return Send(ErrorMessage(scope.id, reply.error(), nullptr));
  if (reply->error) return Send(ErrorMessage(scope.id, *reply->error, std::move(reply->result)));
  Send({{"id", scope.id}, {"result", std::move(reply->result)}});
}

void Connection::CancelOne(const Json& id, const JsonObject& params) {
  if (Status fits = CheckParams(kCancel, params); !fits) {
    return Send(ErrorMessage(id, fits.error(), nullptr));
  }
  std::shared_ptr<OpenRequest> found;
  {
    const std::lock_guard lock(mutex_);
    const auto at = open_.find(ToJson(params.at("id")));
    if (at != open_.end()) found = at->second;
  }
  if (found) found->source.Cancel("the program cancelled it");
  Send({{"id", id}, {"result", JsonObject{{"cancelled", found != nullptr}}}});
}

}  // namespace

Status RpcServer::Serve(const CancelToken& cancel) {
  return Connection(workspace_, options_, cancel).Serve();
}

}  // namespace dossier::server
