#include "server/rpc/client_sessions.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "ask/tools.h"
#include "base/files/file.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "inspect/description/hint.h"
#include "sandbox/session/session.h"

namespace dossier::server {
namespace {

using sandbox::BlockResult;

constexpr std::uint64_t kLongestPart = 64u << 20;  // of a value, per message to the worker
constexpr std::size_t kLongestInJson = 1u << 16;   // a longer text is sent beside the JSON

// A value for one block: a file made by the program, or text in the request.
using Value = std::variant<MappedFile, std::string>;

std::string_view BytesOf(const Value& value) {
  const auto* file = std::get_if<MappedFile>(&value);
  return file ? file->bytes() : std::string_view(std::get<std::string>(value));
}

Result<std::map<std::string, Value>> ReadValues(const Json* given) {
  std::map<std::string, Value> values;
  if (given == nullptr || !given->is_object()) return values;
  for (const auto& [name, value] : given->get_object()) {
    if (const auto path = FindString(value, "path")) {
      DOSSIER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(std::string(*path)));
      values.emplace(name, std::move(file));
    } else {
      values.emplace(name, TextAt(value, "text"));
    }
  }
  return values;
}

Json ErrorJson(const std::optional<sandbox::BlockError>& error) {
  if (!error) return nullptr;
  return JsonObject{{"type", error->type},
                    {"message", error->message},
                    {"line", error->line},
                    {"source", error->source},
                    {"traceback", error->traceback}};
}

JsonObject ResultJson(const BlockResult& block) {
  JsonArray variables;
  for (const sandbox::VariableInfo& variable : block.variables) {
    variables.push_back(JsonObject{{"name", variable.name},
                                   {"type", variable.type},
                                   {"preview", variable.preview},
                                   {"size", variable.size}});
  }
  JsonObject out{{"status", sandbox::BlockStatusName(block.status)},
                 {"out", block.out},
                 {"out_bytes", block.out_bytes},
                 {"cut", block.out_dropped > 0},
                 {"last", block.last},
                 {"error", ErrorJson(block.error)},
                 {"refused", block.refused},
                 {"stopped", block.stopped.empty() ? block.death_reason : block.stopped},
                 {"notes", boost::json::value_from(block.notes)},
                 {"variables", std::move(variables)},
                 {"answer", nullptr},
                 {"cpu_ms", block.cpu.count()},
                 {"wall_ms", block.wall.count()}};
  if (block.answer) {
    out["answer"] =
        JsonObject{{"text", block.answer->text},
                   {"value", block.answer->value ? *block.answer->value : Json(nullptr)},
                   {"is_json", block.answer->value && !block.answer->numbers_as_text}};
  }
  return out;
}

// Applies time and size limits that a client may set for its session: {"cpu_s":10}.
Status ApplyLimits(const Json* given, sandbox::Limits* limits) {
  if (given == nullptr) return {};
  const auto seconds = [&](std::string_view key, Millis* to) {
    if (const auto value = FindNumber(*given, key)) *to = Millis(static_cast<long>(*value * 1000));
  };
  const auto bytes = [&](std::string_view key, std::uint64_t* to) {
    if (const auto value = FindInt(*given, key)) *to = static_cast<std::uint64_t>(*value);
  };
  seconds("cpu_s", &limits->cpu);
  seconds("silence_s", &limits->silence);
  bytes("memory", &limits->memory);
  bytes("output", &limits->output);
  DOSSIER_ASSIGN_OR_RETURN(*limits, sandbox::Limits::FromJson(limits->ToJson()));
  return {};
}

// The code of one request. The client's own code before and after the block adds nothing to the
// result, unless the code before it fails: then the block is not run.
struct Blocks {
  std::string before, code, after;
};

}  // namespace

// A session, which also answers the requests of its blocks.
class ClientSessions::Live final : public sandbox::BridgeHandler {
 public:
  Live(Callbacks& callbacks, std::shared_ptr<const OpenContext> context)
      : callbacks_(callbacks), context_(std::move(context)) {}

  Status Start(Workspace& workspace, const JsonObject& params, const CancelToken& cancel);
  Result<JsonObject> Run(const Blocks& blocks, std::map<std::string, Value> values,
                         const RpcScope& scope);
  Result<Json> Get(const std::string& name, const RpcScope& scope);
  Json Report() const { return session_->report().ToJson(); }
  void Interrupt() { session_->Interrupt(sandbox::InterruptReason::kUser); }

  void OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) override;

 private:
  void CallTool(const sandbox::BridgeCall& call, std::shared_ptr<sandbox::BridgeReply> reply);
  void GiveVariable(const sandbox::BridgeCall& call, sandbox::BridgeReply& reply);
  Result<std::vector<sandbox::ContextText>> Documents() const;
  Status TakeMail(const Json& mail, std::vector<sandbox::ContextText>* contexts);

  // Marks a block as running while it lives, until `cancel` stops it.
  class Running {
   public:
    Running(Live& live, const CancelToken& cancel) : live_(live) { Set(cancel); }
    ~Running() { Set(CancelToken()); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    void Set(const CancelToken& cancel) {
      const std::lock_guard lock(live_.running_mutex_);
      live_.running_ = cancel;
    }
    Live& live_;
  };
  bool IsStopping() {
    const std::lock_guard lock(running_mutex_);
    return running_.cancelled();
  }

  Callbacks& callbacks_;
  const std::shared_ptr<const OpenContext> context_;  // null: none
  std::set<std::string, std::less<>> tools_;
  bool any_tool_ = false;  // a plain session's adapter names them per block
  UniqueFd mail_;          // memory written by the client, read-only for code
  std::unique_ptr<sandbox::Session> session_;
  std::mutex busy_;  // held while a block runs
  std::mutex running_mutex_;
  CancelToken running_;  // stops the running block
  // Of the running block: only for its thread.
  Json id_;
  std::map<std::string, Value> values_;
  std::optional<Json> given_;
};

Result<std::vector<sandbox::ContextText>> ClientSessions::Live::Documents() const {
  std::vector<sandbox::ContextText> out;
  if (!context_) return out;
  const auto& documents = context_->set->documents();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const ask::StoredText* text, context_->set->Stored(i));
    const inspect::Description& about =
        text->description ? *text->description : documents[i].description;
    out.push_back({.name = documents[i].name,
                   .fd = text->fd.get(),
                   .bytes = text->map.bytes().size(),
                   .characters = about.counts.chars,
                   .meta = inspect::ContextMeta(about, inspect::Runtime::kPython)});
  }
  return out;
}

Status ClientSessions::Live::TakeMail(const Json& mail,
                                      std::vector<sandbox::ContextText>* contexts) {
  const std::string path = TextAt(mail, "path");
  const auto bytes = static_cast<std::uint64_t>(FindInt(mail, "bytes").value_or(0));
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(mail_, OpenRegularFile(path, &info));
  if (static_cast<std::uint64_t>(info.st_size) < bytes) {
    return MakeError(ErrorCode::kInvalidArgument, "{} has {} bytes, and {} are promised", path,
                     info.st_size, bytes);
  }
  contexts->push_back({.name = "mail", .fd = mail_.get(), .bytes = bytes, .copies = 0});
  return {};
}

Status ClientSessions::Live::Start(Workspace& workspace, const JsonObject& params,
                                   const CancelToken& cancel) {
  const Json whole(params);
  any_tool_ = FindBool(whole, "plain").value_or(false);
  sandbox::SessionSpec spec{.seed = static_cast<std::uint64_t>(FindInt(whole, "seed").value_or(0))};
  DOSSIER_ASSIGN_OR_RETURN(spec.contexts, Documents());
  if (const Json* mail = dossier::Find(params, "mail"); mail != nullptr && any_tool_) {
    DOSSIER_RETURN_IF_ERROR(TakeMail(*mail, &spec.contexts));
  }
  DOSSIER_RETURN_IF_ERROR(ApplyLimits(dossier::Find(params, "limits"), &spec.limits));
  spec.features = {{"depth", 0}, {"client", true}};
  if (any_tool_) spec.features["plain"] = true;
  if (const Json* tools = dossier::Find(params, "tools"); tools != nullptr && tools->is_array()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto any, model::JsonSchema::Compile(JsonObject{}));
    std::vector<ask::Tool> named;
    for (const Json& tool : tools->get_array()) {
      tools_.insert(TextAt(tool, "name"));
      named.push_back(
          {.name = TextAt(tool, "name"), .description = {}, .parameters = any, .run = {}});
    }
    if (!any_tool_) DOSSIER_RETURN_IF_ERROR(ask::CheckToolNames(named));
    spec.features["client_tools"] = *tools;
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, workspace.Pool());
  DOSSIER_ASSIGN_OR_RETURN(session_, pool->Open(std::move(spec), cancel));
  return {};
}

Result<JsonObject> ClientSessions::Live::Run(const Blocks& blocks,
                                             std::map<std::string, Value> values,
                                             const RpcScope& scope) {
  std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock && IsStopping()) lock.lock();  // that block is about to end
  if (!lock) return MakeError(ErrorCode::kLocked, "the session runs a block: wait for its result");
  const Running running(*this, scope.cancel);
  id_ = scope.id;
  values_ = std::move(values);
  given_.reset();
  Result<BlockResult> block;
  if (!blocks.before.empty()) {
    block = session_->Run(blocks.before, {.cancel = scope.cancel}, *this);
  }
  if (block && block->status == sandbox::BlockStatus::kOk) {
    block = session_->Run(blocks.code, {.cancel = scope.cancel}, *this);
    if (block && block->status != sandbox::BlockStatus::kDied && !blocks.after.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const BlockResult after,
                               session_->Run(blocks.after, {.cancel = scope.cancel}, *this));
      block->variables = after.variables;
    }
  }
  values_.clear();
  if (!block) return tl::unexpected(std::move(block).error());
  if (scope.cancel.cancelled() && block->status == sandbox::BlockStatus::kInterrupted) {
    return MakeError(ErrorCode::kCancelled, "{}", scope.cancel.reason());
  }
  return ResultJson(*block);
}

Result<Json> ClientSessions::Live::Get(const std::string& name, const RpcScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonObject block,
                           Run({.code = "_dossier_give(" + ToJson(Json(name)) + ")"}, {}, scope));
  if (given_) return std::move(*std::exchange(given_, std::nullopt));
  const Json& error = block.at("error");
  return MakeError(ErrorCode::kNotFound, "{}",
                   error.is_object() ? TextAt(error, "message") : "no value came of " + name);
}

void ClientSessions::Live::OnCall(sandbox::BridgeCall call,
                                  std::shared_ptr<sandbox::BridgeReply> reply) {
  if (call.method == "tool") return CallTool(call, std::move(reply));
  if (call.method == "variable") return GiveVariable(call, *reply);
  if (call.method == "give") {
    const std::string type = TextAt(Json(call.args), "type");
    const bool text = type == "str" || !call.raw.empty();  // its value comes beside the JSON
    given_ = JsonObject{{"type", type},
                        {"is_json", call.args["is_json"]},
                        {"value", text ? Json(call.raw) : call.args["value"]}};
    return reply->Ok(nullptr);
  }
  if (call.method == "budget") return reply->Ok(JsonObject{{"calls_left", 0}, {"depth", 0}});
  if (!context_ || !ask::DocumentService::Knows(call.method)) {
    return reply->Fail("denied", call.method + " is not available here: no model is connected");
  }
  std::string raw;
  auto value = context_->documents->Handle(call.method, call.args, &raw, reply->cancel());
  if (value) return reply->Ok(std::move(*value), std::move(raw));
  const bool wrong = value.error().code == ErrorCode::kInvalidArgument;
  reply->Fail(wrong ? "bad_argument" : "failed", value.error().message);
}

void ClientSessions::Live::CallTool(const sandbox::BridgeCall& call,
                                    std::shared_ptr<sandbox::BridgeReply> reply) {
  const Json args(call.args);
  ClientCall out{.id = id_, .name = TextAt(args, "name")};
  if (!any_tool_ && !tools_.contains(out.name)) {
    return reply->Fail("denied", out.name + " is no tool of this session");
  }
  if (const Json* named = dossier::Find(args, "args"); named != nullptr && named->is_object()) {
    out.args = named->get_object();
  }
  if (const Json* rest = dossier::Find(args, "rest"); rest != nullptr && rest->is_array()) {
    out.rest = rest->get_array();
  }
  callbacks_.Call(out, reply->cancel(), [reply](Result<Json> value) {
    if (!value) return reply->Fail("failed", value.error().message);
    const auto* text = value->if_string();
    if (text == nullptr || text->size() <= kLongestInJson) {
      return reply->Ok(JsonObject{{"value", std::move(*value)}});
    }
    std::string raw(text->data(), text->size());
    const std::size_t size = raw.size();
    reply->Ok(JsonObject{{"blob", JsonArray{0, size}}}, std::move(raw));
  });
}

void ClientSessions::Live::GiveVariable(const sandbox::BridgeCall& call,
                                        sandbox::BridgeReply& reply) {
  const Json args(call.args);
  const auto found = values_.find(TextAt(args, "name"));
  if (found == values_.end()) {
    return reply.Fail("bad_argument", TextAt(args, "name") + " was not given for this block");
  }
  const std::string_view bytes = BytesOf(found->second);
  const std::uint64_t at = static_cast<std::uint64_t>(std::clamp<std::int64_t>(
      FindInt(args, "at").value_or(0), 0, static_cast<std::int64_t>(bytes.size())));
  reply.Ok(JsonObject{{"size", bytes.size()}}, std::string(bytes.substr(at, kLongestPart)));
}

ClientSessions::~ClientSessions() = default;

Result<std::shared_ptr<ClientSessions::Live>> ClientSessions::Find(const JsonObject& params) {
  const Json* named = dossier::Find(params, "session");
  const std::string name =
      named != nullptr && named->is_string() ? std::string(named->get_string()) : "";
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(name);
  if (found != live_.end()) return found->second;
  return MakeError(ErrorCode::kNotFound, "there is no session {}: session.open makes one", name);
}

Result<Json> ClientSessions::Open(const JsonObject& params, const RpcScope& scope) {
  std::shared_ptr<const OpenContext> context;
  if (const std::string id = TextAt(Json(params), "context"); !id.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(context, workspace_.contexts().Find(id, scope.cancel));
  }
  const auto live = std::make_shared<Live>(callbacks_, std::move(context));
  DOSSIER_RETURN_IF_ERROR(live->Start(workspace_, params, scope.cancel));
  const std::lock_guard lock(mutex_);
  const std::string name = fmt::format("s{}", ++opened_);
  live_[name] = live;
  return JsonObject{{"session", name}, {"sandbox", live->Report()}};
}

Result<Json> ClientSessions::Run(const JsonObject& params, const RpcScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto live, Find(params));
  DOSSIER_ASSIGN_OR_RETURN(auto values, ReadValues(dossier::Find(params, "variables")));
  const Json whole(params);
  return live->Run({.before = TextAt(whole, "before"),
                    .code = TextAt(whole, "code"),
                    .after = TextAt(whole, "after")},
                   std::move(values), scope);
}

Result<Json> ClientSessions::Get(const JsonObject& params, const RpcScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto live, Find(params));
  return live->Get(std::string(params.at("name").get_string()), scope);
}

Result<Json> ClientSessions::Close(const JsonObject& params, const RpcScope&) {
  DOSSIER_ASSIGN_OR_RETURN(const auto live, Find(params));
  live->Interrupt();
  const std::lock_guard lock(mutex_);
  std::erase_if(live_, [&](const auto& entry) { return entry.second == live; });
  return JsonObject{};
}

}  // namespace dossier::server
