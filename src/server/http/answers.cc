#include "server/http/answers.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "app/load_config.h"
#include "app/spending_window.h"
#include "ask/reply/requirement.h"
#include "ask/run/prompts.h"
#include "ask/run/run_log.h"
#include "base/files/file.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "driver/caller.h"
#include "model/schema/json_schema.h"
#include "model/schema/schema_reply.h"
#include "server/http/openai_reply.h"
#include "server/operations.h"
#include "server/run_table.h"

namespace dossier::server {
namespace {

using assembly::Block;
using assembly::Role;

constexpr std::string_view kEngine = "dossier", kEngineWith = "dossier/";
constexpr std::chrono::hours kAnyTime{24 * 365};
constexpr std::int64_t kLeastMoved = 1'000;  // tokens; shorter parts are never moved
constexpr int kToolRounds = 20;
constexpr double kNano = 1e9;

// The tools that the server adds to a client's if a request is too long for one call.
struct ServerTool {
  std::string_view name, operation;
};
constexpr ServerTool kServerTools[] = {
    {"dossier_search", "search"}, {"dossier_read", "read"}, {"dossier_run", "run"}};

std::string OperationOf(std::string_view tool) {
  const auto* found = std::ranges::find(kServerTools, tool, &ServerTool::name);
  return found == std::end(kServerTools) ? "" : std::string(found->operation);
}

std::string FinishWord(const model::Reply& reply) {
  if (!reply.tool_calls.empty()) return "tool_calls";
  switch (reply.finish) {
    case model::Finish::kLength:
    case model::Finish::kCut:
      return "length";
    case model::Finish::kFilter:
    case model::Finish::kRefused:
      return "content_filter";
    default:
      return "stop";
  }
}

JsonArray ToolCallsJson(const std::vector<model::ToolCall>& calls) {
  JsonArray list;
  for (const model::ToolCall& call : calls) {
    list.push_back(JsonObject{
        {"id", call.id},
        {"type", "function"},
        {"function", JsonObject{{"name", call.name}, {"arguments", ToJson(call.arguments)}}}});
  }
  return list;
}

// The tool of an operation, without the argument that the server fills in.
assembly::ToolSpec SpecOf(const ServerTool& tool) {
  const Operation* operation = FindOperation(tool.operation);
  assembly::ToolSpec spec{.name = std::string(tool.name),
                          .description = std::string(operation->about)};
  auto schema = ParseJson(operation->schema);
  if (!schema) return spec;
  JsonObject& object = schema->get_object();
  if (auto* properties = object.if_contains("properties"))
    properties->get_object().erase("context");
  if (auto* required = object.if_contains("required")) {
    JsonArray kept;
    for (const Json& name : required->get_array()) {
      if (name != "context") kept.push_back(name);
    }
    *required = std::move(kept);
  }
  spec.parameters = std::move(*schema);
  return spec;
}

std::string LastUserText(const assembly::Messages& messages) {
  std::vector<std::string> texts = TextsOf(messages);
  for (std::size_t i = texts.size(); i-- > 0;) {
    if (messages.turns[i].role == Role::kUser) return std::move(texts[i]);
  }
  return {};
}

// Returns true if `block` is the only remaining text of what the user said last.
bool IsLastOfQuestion(const assembly::Messages& messages, const Block* block,
                      const std::set<const Block*>& moved) {
  const auto last = std::find_if(messages.turns.rbegin(), messages.turns.rend(),
                                 [](const auto& turn) { return turn.role == Role::kUser; });
  if (last == messages.turns.rend()) return false;
  bool within = false;
  for (const Block& one : last->blocks) {
    within = within || &one == block;
    const bool stands = one.type == Block::Type::kText && !TrimSpace(one.text).empty();
    if (stands && &one != block && !moved.contains(&one)) return false;
  }
  return within;
}

// The images of a request, for code to show to a model. An image's URL is only for the provider of
// a model that is called directly; the server never fetches one, since this machine may reach what
// the client cannot.
Result<std::vector<ask::Medium>> MediaOf(const ChatRequest& request, const CancelToken& cancel) {
  std::vector<ask::Medium> media;
  for (const assembly::Turn& turn : request.messages.turns) {
    for (const Block& block : turn.blocks) {
      if (block.type != Block::Type::kImage) continue;
      const std::string& path = request.image_paths[media.size()];
      if (!block.url.empty()) {
        return MakeError(ErrorCode::kInvalidArgument,
                         "{}: no address is fetched for a run over documents; send the image as a "
                         "data URL",
                         path);
      }
      std::string bytes;
      if (!AppendBase64(block.text, &bytes)) {
        return MakeError(ErrorCode::kInvalidArgument, "{}: is no base64", path);
      }
      const std::string name = ImageName(media.size());
      auto medium = ask::MediumOf(name, name, bytes, cancel);
      if (!medium) {
        return MakeError(ErrorCode::kInvalidArgument, "{}: {}", path, medium.error().message);
      }
      media.push_back(std::move(*medium));
    }
  }
  return media;
}

std::int64_t CountMessages(const assembly::Messages& messages, const tokens::Counter& counter) {
  std::int64_t sum = counter.CountText(messages.SystemText()).upper();
  for (const assembly::Turn& turn : messages.turns) {
    for (const Block& block : turn.blocks) {
      if (block.type != Block::Type::kImage) sum += counter.CountText(block.text).upper() + 4;
    }
  }
  for (const assembly::ToolSpec& tool : messages.tools) {
    sum += counter.CountText(tool.description + ToJson(tool.parameters)).upper();
  }
  return sum;
}

std::int64_t RoomOf(const driver::BoundModel& model, const ChatRequest& request) {
  const auto& capability = model.entry.capability;
  const std::int64_t reply =
      request.sampling.max_output.value_or(std::min<std::int64_t>(capability.max_output, 4'096));
  return capability.window - reply;
}

std::optional<Millis> TimeLimitOf(const ChatRequest& request) {
  if (!request.max_time_s) return std::nullopt;
  return Millis(static_cast<std::int64_t>(*request.max_time_s * 1e3));
}

// For a run without an answer: the limit that ended it, or else what failed.
tl::unexpected<Error> NoAnswer(std::string_view run, const JsonObject& told) {
  const Json* error = Find(told, "error");
  const std::string why = error ? ": " + TextAt(*error, "message") : "";
  std::string limits;
  if (const Json* hits = Find(told, "limits_hit"); hits && hits->is_array()) {
    for (const Json& hit : hits->get_array()) {
      const Json* most = Find(hit, "max");
      limits += fmt::format("{}{} ({})", limits.empty() ? "" : ", ", TextAt(hit, "limit"),
                            most ? ToJson(*most) : "");
    }
  }
  if (!limits.empty()) {
    return MakeError(ErrorCode::kLimit, "run {} has no answer: it met the limit of {}{}", run,
                     limits, why);
  }
  const ErrorCode code = error ? NamedError(TextAt(*error, "code")) : ErrorCode::kFailed;
  return MakeError(code, "run {} has no answer ({}){}", run, TextAt(told, "status"), why);
}

// Moves the longest parts of what users said until the rest fits. Returns false if it cannot fit.
bool MoveUntilItFits(ChatRequest& request, const tokens::Counter& counter, std::int64_t room) {
  std::int64_t size = CountMessages(request.messages, counter);
  std::set<const Block*> moved;
  while (size > room) {
    Block* longest = nullptr;
    std::size_t number = 0, at = 0;
    for (assembly::Turn& turn : request.messages.turns) {
      ++number;
      if (turn.role != Role::kUser && turn.role != Role::kTool) continue;
      for (Block& block : turn.blocks) {
        const bool text =
            block.type == Block::Type::kText || block.type == Block::Type::kToolResult;
        if (!text || moved.contains(&block)) continue;
        if (longest && block.text.size() <= longest->text.size()) continue;
        longest = &block;
        at = number;
      }
    }
    const std::int64_t tokens = longest ? counter.CountText(longest->text).upper() : 0;
    if (tokens < kLeastMoved) return false;
    const std::string name = fmt::format("turn-{}-{}.txt", at, request.documents.size() + 1);
    std::string left = MovedLine(name, longest->text);
    if (IsLastOfQuestion(request.messages, longest, moved)) {
      left += "\n\n" + EndsOf(longest->text);
    }
    moved.insert(longest);
    request.documents.push_back({.name = name, .text = std::exchange(longest->text, left)});
    size += counter.CountText(left).upper() - tokens;
  }
  return true;
}

}  // namespace

// Calls one model with the client's messages, and those of the server's tools in between.
class Answers::DirectCall final : public ask::EventSink {
 public:
  DirectCall(Workspace& workspace, const driver::BoundModel& model, const ChatRequest& request,
             const ask::AskLimits& limits, std::string context, const AnswerWatch& watch,
             const CancelToken& cancel, std::shared_ptr<store::Journal> journal)
      : workspace_(workspace),
        model_(model),
        request_(request),
        context_(std::move(context)),
        watch_(watch),
        cancel_(cancel),
        log_(std::move(journal), *this, workspace.options().clock),
        ledger_(LedgerLimitsOf(limits, *workspace.options().clock), workspace.options().clock),
        caller_(ledger_, workspace.options().clock) {}

  void OnEvent(const store::Event&) override {}

  Result<Answered> Run() {
    log_.Start(
        {{"kind", "serve"}, {"question", LastUserText(request_.messages)}, {"model", model_.name}});
    log_.Add(0, "mode.decided",
             {{"mode", "direct"},
              {"tokens", CountMessages(request_.messages, *model_.counter)},
              {"threshold", RoomOf(model_, request_)},
              {"reason", "as the client asked"}});
    if (watch_.on_run) watch_.on_run(log_.run());
    auto answered = CallUntilDone();
    // Those of the ledger, since failed and cancelled calls have a cost, too.
    const model::LedgerUse use = ledger_.use();
    const model::Usage& usage = use.spent.total;
    const bool failed = !answered;
    const auto& cost = usage.cost_nano_usd;
    if (cost && watch_.on_cost) watch_.on_cost(static_cast<double>(*cost) / kNano);
    log_.Add(0, "run.finished",
             {{"status", failed ? cancel_.cancelled() ? "interrupted" : "failed" : "final"},
              {"source", failed ? "none" : "direct"},
              {"answer", log_.Body(failed ? "" : answered->text)},
              {"turns", turns_},
              {"calls", use.calls},
              {"failed_calls", use.failed_calls},
              {"input", usage.input},
              {"output", usage.output},
              {"cached", usage.cached},
              {"nano_usd", cost ? Json(*cost) : Json()},
              {"error", failed ? Json(answered.error().message) : Json()}});
    if (failed) return answered;
    answered->input = usage.input;
    answered->output = usage.output;
    answered->cached = usage.cached;
    answered->reasoning = usage.reasoning;
    answered->dossier = {{"run", log_.run()},
                         {"mode", "direct"},
                         {"status", "final"},
                         {"coverage", nullptr},
                         {"citations", JsonArray()},
                         {"cost_usd", cost ? Json(static_cast<double>(*cost) / kNano) : Json()},
                         {"limits_hit", JsonArray()},
                         {"warnings", JsonArray()}};
    if (out_of_rounds_) {
      NotePartial("tools", fmt::format("the model called the server's tools {} times", kToolRounds),
                  &*answered);
    }
    NoteMisfit(&*answered);
    return answered;
  }

  // US dollars, also of calls that failed.
  double cost() const { return static_cast<double>(ledger_.nano_usd_spent()) / kNano; }

 private:
  static model::LedgerLimits LedgerLimitsOf(const ask::AskLimits& limits, const Clock& clock) {
    model::LedgerLimits out{.calls = limits.calls, .tokens = limits.tokens};
    if (limits.usd) out.nano_usd = model::NanoUsdLimit(*limits.usd);
    if (limits.time) out.deadline = clock.Now() + *limits.time;
    return out;
  }

  Result<Answered> CallUntilDone() {
    assembly::Messages messages = request_.messages;
    if (!context_.empty()) {
      for (const ServerTool& tool : kServerTools) messages.tools.push_back(SpecOf(tool));
    }
    for (int round = 0;; ++round) {
      DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, Call(messages));
      std::vector<model::ToolCall> theirs, ours;
      for (const model::ToolCall& call : reply.tool_calls) {
        (OperationOf(call.name).empty() ? theirs : ours).push_back(call);
      }
      if (ours.empty() || round >= kToolRounds) {
        Answered answered{
            .text = reply.text, .finish = FinishWord(reply), .tool_calls = ToolCallsJson(theirs)};
        out_of_rounds_ = !ours.empty() && theirs.empty();
        if (out_of_rounds_) answered.finish = "length";
        DOSSIER_ASSIGN_OR_RETURN(const bool again, AskForRepair(reply, &messages, &answered));
        if (!again) return answered;
        continue;
      }
      messages.turns.push_back(model::AssistantTurn(reply));
      assembly::Turn results{.role = Role::kTool};
      for (const model::ToolCall& call : reply.tool_calls) {
        const bool known = !OperationOf(call.name).empty();
        results.blocks.push_back(
            {.type = Block::Type::kToolResult,
             .text = known ? ResultOf(call)
                           : "Call the tools of the server first, then this one alone.",
             .call_id = call.id,
             .tool_name = call.name});
      }
      messages.turns.push_back(std::move(results));
    }
  }

  // Few providers enforce a schema, so the model is told if its reply does not fit. It may repair
  // it as often as `ask --repair` does by default. True: `messages` ask for a repair; else
  // `answered` is final. Errors: kSchema if only a fitting reply is wanted.
  Result<bool> AskForRepair(const model::Reply& reply, assembly::Messages* messages,
                            Answered* answered) {
    if (!request_.schema || !answered->tool_calls.empty()) return false;
    DOSSIER_ASSIGN_OR_RETURN(const auto schema, model::JsonSchema::Compile(*request_.schema));
    ask::FoundAnswer found{.text = reply.text};
    DOSSIER_ASSIGN_OR_RETURN(const std::string complaint,
                             ask::RequireSchema(schema).complaint(&found, cancel_));
    if (complaint.empty()) answered->text = std::move(found.text);
    const bool whole = answered->finish == "stop";  // a cut one needs more tokens instead
    if (complaint.empty() || !whole) return false;
    if (repairs_ > 0 || request_.strict) {
      log_.Add(0, "answer.refused", {{"gate", ask::kFormGate}, {"reason", complaint}});
    }
    if (repairs_ == 0 && request_.strict) {
      return MakeError(ErrorCode::kSchema,
                       "no reply of {} fits the schema of response_format: {}; run {} has them",
                       model_.name, complaint, log_.run());
    }
    if (repairs_-- <= 0) return false;
    DOSSIER_ASSIGN_OR_RETURN(const auto folders, app::UserAssetFolders(""));
    DOSSIER_ASSIGN_OR_RETURN(const auto prompts, ask::PromptBook::Load({}, folders));
    DOSSIER_ASSIGN_OR_RETURN(std::string text,
                             prompts.Text("final_refused", {{"reason", complaint}}, ""));
    messages->turns.push_back(model::AssistantTurn(reply));
    messages->turns.push_back({.role = Role::kUser, .blocks = {{.text = std::move(text)}}});
    return true;
  }

  void NoteMisfit(Answered* answered) const {
    if (!request_.schema || !answered->tool_calls.empty()) return;
    const auto schema = model::JsonSchema::Compile(*request_.schema);
    if (!schema || model::CheckReply(answered->text, *schema).value) return;
    NotePartial("schema", "the reply does not fit the schema of response_format", answered);
  }

  static void NotePartial(std::string_view code, std::string_view why, Answered* answered) {
    answered->dossier["status"] = "partial";
    answered->dossier["warnings"].get_array().push_back(JsonObject{{"code", code}, {"data", why}});
  }

  std::string ResultOf(const model::ToolCall& call) {
    JsonObject arguments = call.arguments.is_object() ? call.arguments.get_object() : JsonObject();
    arguments["context"] = context_;
    const auto output = Perform(*FindOperation(OperationOf(call.name)), workspace_,
                                Json(std::move(arguments)), {.cancel = cancel_});
    return output ? PlainText(*output) : output.error().message;
  }

  Result<model::Reply> Call(const assembly::Messages& messages) {
    model::Request sent{.model = model_.name,
                        .messages = messages,
                        .sampling = model_.sampling,
                        .schema = request_.schema,
                        .tool_use = request_.tool_use,
                        .purpose = model::Purpose::kDirect,
                        .turn = ++turns_,
                        .estimated_tokens = CountMessages(messages, *model_.counter),
                        .deadline = model_.deadline,
                        .idle_limit = model_.idle_limit};
    const model::Sampling& asked = request_.sampling;
    if (asked.temperature) sent.sampling.temperature = asked.temperature;
    if (asked.top_p) sent.sampling.top_p = asked.top_p;
    if (asked.max_output) sent.sampling.max_output = asked.max_output;
    if (asked.seed) sent.sampling.seed = asked.seed;
    if (!asked.stop.empty()) sent.sampling.stop = asked.stop;
    for (const auto& field : asked.extra) sent.sampling.extra[field.key()] = field.value();
    log_.Add(0, "request.sent",
             {{"purpose", "direct"},
              {"turn", turns_},
              {"model", model_.name},
              {"messages", log_.Messages(messages)},
              {"tokens", sent.estimated_tokens}});
    driver::CallHooks hooks;
    // With server tools, a text may precede a tool call, so it is sent only when that is known. The
    // same holds for a text that may have to be repaired.
    if (watch_.on_text && context_.empty() && !request_.schema) {
      hooks.on_delta = [this](std::string_view delta, std::string_view) { watch_.on_text(delta); };
    }
    driver::Called called = caller_.Ask(model_, std::move(sent), hooks, cancel_);
    if (!called.reply) {
      log_.Add(0, "request.failed",
               {{"turn", turns_},
                {"kind", ErrorName(called.reply.error().code)},
                {"message", called.reply.error().message}});
      // The provider refused the client's request, and would do so again.
      if (called.reply.error().code == ErrorCode::kFailed) {
        return MakeError(ErrorCode::kInvalidArgument, "{}", called.reply.error().message);
      }
      return std::move(called.reply);
    }
    const model::Reply& reply = *called.reply;
    JsonObject received{{"turn", turns_},
                        {"purpose", "direct"},
                        {"body", log_.Body(reply.text)},
                        {"finish", model::FinishName(reply.finish)},
                        {"input", reply.usage.input},
                        {"output", reply.usage.output},
                        {"cached", reply.usage.cached}};
    if (reply.usage.cost_nano_usd) received["nano_usd"] = *reply.usage.cost_nano_usd;
    log_.Add(0, "reply.received", std::move(received));
    if (watch_.on_text && !context_.empty() && !request_.schema && reply.tool_calls.empty()) {
      watch_.on_text(reply.text);
    }
    return std::move(called.reply);
  }

  Workspace& workspace_;
  const driver::BoundModel& model_;
  const ChatRequest& request_;
  const std::string context_;  // of the moved parts; "": nothing was moved
  const AnswerWatch& watch_;
  const CancelToken& cancel_;
  ask::AskLog log_;
  model::Ledger ledger_;
  driver::Caller caller_;
  bool out_of_rounds_ = false;  // the last reply still called tools of the server
  int turns_ = 0, repairs_ = ask::AskRequest().repairs;
};

Result<std::string> Answers::OpenDocuments(const ChatRequest& request, const CancelToken& cancel) {
  std::vector<ask::ContextSource> sources;
  for (const std::string& id : request.contexts) {
    DOSSIER_ASSIGN_OR_RETURN(const KnownContext record, workspace_.contexts().Look(id));
    DOSSIER_RETURN_IF_ERROR(workspace_.MayRead(record));
    DOSSIER_ASSIGN_OR_RETURN(const auto more, workspace_.contexts().SourcesOf(id));
    sources.insert(sources.end(), more.begin(), more.end());
  }
  std::map<std::string, std::string> uploads;  // path -> name shown
  for (const RequestDocument& document : request.documents) {
    if (document.path.empty()) {
      sources.push_back({.path = {}, .text = document.text, .name = document.name, .notes = {}});
    } else if (!document.shown.empty()) {
      uploads[document.path] = document.shown;
      sources.push_back({.path = document.path,
                         .text = {},
                         .name = document.name,
                         .notes = {},
                         .shown = document.shown});
    } else {
      sources.push_back({.path = document.path, .text = {}, .name = {}, .notes = {}});
    }
  }
  // The engine describes its context, so it always gets one.
  if (sources.empty())
    sources.push_back({.path = {}, .text = "", .name = "empty.txt", .notes = {}});
  // Judged by the open file's real location: it may not be the file that was admitted.
  ask::ContextOptions how;
  how.open = [this, uploads](const std::string& path) -> Result<UniqueFd> {
    const auto upload = uploads.find(path);
    if (upload == uploads.end()) return workspace_.OpenFile(path);
    struct stat info{};
    auto file = OpenRegularFile(path, &info);
    if (file) return file;
    return MakeError(ErrorCode::kNotFound, "{} was deleted", upload->second);
  };
  DOSSIER_ASSIGN_OR_RETURN(const auto opened,
                           workspace_.contexts().Add(sources, "", std::move(how), cancel));
  return opened->id;
}

Result<Answered> Answers::AskEngine(const ChatRequest& request, const std::string& model,
                                    const AnswerWatch& watch, const CancelToken& cancel) {
  AskWish wish{.question = request.question,
               .schema = request.schema,
               .max_usd = request.max_usd,
               .max_calls = request.max_calls,
               .mode = request.mode.value_or(ask::Mode::kAuto),
               .model = model,
               .temperature = request.sampling.temperature,
               .seed = request.sampling.seed,
               .max_time = TimeLimitOf(request),
               .max_depth = request.max_depth,
               .purse = purse_};
  DOSSIER_ASSIGN_OR_RETURN(wish.media, MediaOf(request, cancel));
  DOSSIER_ASSIGN_OR_RETURN(wish.context, OpenDocuments(request, cancel));
  CallScope scope{.cancel = cancel};
  if (watch.on_progress) {
    scope.progress = [&](const Progress& progress) { watch.on_progress(progress.message); };
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, workspace_.runs().Start(wish, scope));
  if (watch.on_run) watch.on_run(run);
  DOSSIER_ASSIGN_OR_RETURN(const Output output, workspace_.runs().Wait(run, kAnyTime, scope));
  const JsonObject& told = output.structured;
  Answered out;
  for (const TextPart& part : output.parts) {
    if (part.origin == TextPart::Origin::kOthers) out.text += part.text;
  }
  const auto cost = FindNumber(told, "cost_usd");
  if (cost && watch.on_cost) watch.on_cost(*cost);
  const std::string status = TextAt(told, "status"), source = TextAt(told, "source");
  if (out.text.empty()) return NoAnswer(run, told);
  if (const Json* error = Find(told, "error"); request.strict && error) {
    const ErrorCode code = NamedError(TextAt(*error, "code"));
    if (code == ErrorCode::kSchema) {
      return MakeError(code, "the answer of run {} does not fit: {}", run,
                       TextAt(*error, "message"));
    }
  }
  const bool whole = status == "final" && source != "extract" && source != "draft";
  out.finish = whole ? "stop" : "length";
  if (const Json* tokens = Find(told, "tokens")) {
    out.input = FindInt(*tokens, "input").value_or(0);
    out.output = FindInt(*tokens, "output").value_or(0);
    out.cached = FindInt(*tokens, "cached").value_or(0);
  }
  for (const char* key :
       {"run", "mode", "status", "coverage", "citations", "cost_usd", "limits_hit", "warnings"}) {
    const Json* value = told.if_contains(key);
    out.dossier[key] = value ? *value : Json();
  }
  if (const Json* error = Find(told, "error"); error && out.dossier["warnings"].is_array()) {
    out.dossier["warnings"].get_array().push_back(
        JsonObject{{"code", "error"}, {"data", TextAt(*error, "message")}});
  }
  if (watch.on_text) watch.on_text(out.text);
  return out;
}

Result<Answered> Answers::Answer(ChatRequest request, const AnswerWatch& watch,
                                 const CancelToken& cancel) {
  const bool engine = request.model == kEngine || request.model.starts_with(kEngineWith);
  const std::string name = request.model == kEngine ? ""
                           : engine                 ? request.model.substr(kEngineWith.size())
                                                    : request.model;
  const auto opened_model = workspace_.Model(name, cancel);
  const auto told = [](ErrorCode code) {
    return code == ErrorCode::kCancelled || code == ErrorCode::kRefused;
  };
  if (!opened_model && !name.empty() && !told(opened_model.error().code)) {
    // The cause is for the server's operator, not for its clients.
    const auto names = ModelNames(cancel);
    return MakeError(ErrorCode::kConfig,
                     "this server has no model {}{}; GET /v1/models lists those it has", name,
                     names ? DidYouMean(name, *names) : "");
  }
  DOSSIER_ASSIGN_OR_RETURN(const app::OpenedModel* model, opened_model);
  const std::int64_t room = RoomOf(model->root, request);
  const bool given = !request.documents.empty() || !request.contexts.empty();
  const bool tools = !request.messages.tools.empty();
  const bool direct = request.mode == ask::Mode::kDirect;
  std::string context;
  if (!given && !direct && request.mode != ask::Mode::kRecursive && engine &&
      CountMessages(request.messages, *model->root.counter) > room) {
    if (!MoveUntilItFits(request, *model->root.counter, room)) {
      return MakeError(ErrorCode::kTooLong, "the request does not fit the window of {} tokens",
                       model->root.entry.capability.window);
    }
    if (!tools) DOSSIER_RETURN_IF_ERROR(MakeQuestion(request));
  }
  const bool documents = !request.documents.empty() || !request.contexts.empty();
  if (documents && tools) {
    DOSSIER_ASSIGN_OR_RETURN(context, OpenDocuments(request, cancel));
    DOSSIER_ASSIGN_OR_RETURN(const auto opened, workspace_.Context(context, cancel));
    request.messages.system.push_back(
        {.text =
             "What is named \"in context\" can be searched and read with the tools dossier_*.\n" +
             opened->hint});
  } else if ((documents || request.mode == ask::Mode::kRecursive) && engine && !direct) {
    return AskEngine(request, name, watch, cancel);
  } else if (documents) {
    return AskEngine(request, name, watch, cancel);
  }
  return CallDirectly(request, model->root, std::move(context), watch, cancel);
}

// Within the limits of the server, the configuration's window, and the days of caller and server.
Result<Answered> Answers::CallDirectly(const ChatRequest& request, const driver::BoundModel& model,
                                       std::string context, const AnswerWatch& watch,
                                       const CancelToken& cancel) {
  const WorkspaceOptions& options = workspace_.options();
  ask::AskLimits limits{
      .calls = std::min(options.max_calls, request.max_calls.value_or(options.max_calls)),
      .usd = request.max_usd,
      .time = TimeLimitOf(request)};
  if (options.max_usd)
    limits.usd = std::min(limits.usd.value_or(*options.max_usd), *options.max_usd);
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, workspace_.Journal());
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, workspace_.Config());
  DOSSIER_RETURN_IF_ERROR(app::ApplyWindow(config->limits, *journal, &limits));
  std::optional<double> of_caller;  // held, as is of_day
  if (purse_) {
    DOSSIER_ASSIGN_OR_RETURN(of_caller, purse_->Hold(limits.usd, cancel));
    limits.usd = of_caller;
  }
  DayBudget day(options.data_folder, options.max_usd_day, options.clock);
  const auto of_day = day.Hold(limits.usd, cancel);
  if (!of_day || (*of_day && **of_day <= 0)) {
    if (purse_) purse_->budget->Settle(of_caller, 0);
    if (!of_day) return tl::unexpected(of_day.error());
    return MakeError(ErrorCode::kRateLimited, "{}", day.NothingLeft("this day"));
  }
  limits.usd = *of_day;
  DirectCall call(workspace_, model, request, limits, std::move(context), watch, cancel, journal);
  auto answered = call.Run();
  day.Settle(*of_day, call.cost());
  if (purse_) purse_->budget->Settle(of_caller, call.cost());
  return answered;
}

Result<std::vector<std::string>> Answers::ModelNames(const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const app::OpenedModel* model, workspace_.Model("", cancel));
  std::vector<std::string> names{std::string(kEngine), std::string(kEngineWith) + model->root.name,
                                 model->root.name};
  if (model->sub.name != model->root.name) names.push_back(model->sub.name);
  return names;
}

}  // namespace dossier::server
