#include "ask/subcalls/workbench.h"

#include <limits>

#include "ask/documents/document_arguments.h"
#include "inspect/description/hint.h"

namespace dossier::ask {
namespace {

sandbox::SessionSpec MakeSpec(const RunState& run) {
  sandbox::SessionSpec spec;
  spec.seed = run.request.seed;
  spec.limits = run.request.cell;
  spec.context_string_max = run.request.context_string_max;
  spec.named_models = {run.options.sub.name};
  spec.features = {{"profile", run.policy.name},
                   {"depth", run.request.limits.depth},
                   {"max_subcall_chars", run.max_subcall_chars},
                   {"question", run.request.question},
                   {"memory", run.memory != nullptr}};
  if (!run.request.tools.empty()) spec.features["tools"] = ToolFeatures(run.request.tools);
  if (const Json* schema = SchemaOf(run.request.requirements)) spec.features["schema"] = *schema;
  return spec;
}

void LogContext(const RunState& run, const std::string& name, const StoredText& stored) {
  if (!stored.named) {
    return run.log.Add(0, "context.stored", {{"name", name}, {"sha256", stored.sha256}});
  }
  run.log.Add(0, "context.named",
              {{"name", name},
               {"path", stored.named->path},
               {"bytes", stored.named->bytes},
               {"modified_ns", stored.named->modified_ns},
               {"sha256", stored.sha256},
               {"text_bytes", stored.map.bytes().size()}});
}

bool AsksModel(std::string_view method) {
  return method == "llm" || method == "llm_batch" || method == "rlm" || method == "rlm_batch" ||
         method == "map" || method == "estimate";
}

}  // namespace

void Bridge::OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  if (call.method == "budget") return reply->Ok(BudgetValue());
  if (call.method == "history") return History(call, *reply);
  if (run_.memory && RunMemory::Knows(call.method))
    return Memory(std::move(call), std::move(reply));
  if (call.method == "tool") return CallerTool(std::move(call), std::move(reply));
  if (!AsksModel(call.method)) return Document(std::move(call), std::move(reply));
  if (run_.request.limits.depth == 0) {
    return reply->Fail("denied", "sub-calls are switched off in this run (--max-depth 0)");
  }
  run_.log.Add(0, "bridge.call", {{"id", call.id}, {"method", call.method}});
  if (call.method == "map") return map_.Start(std::move(call), std::move(reply), tasks_);
  if (call.method == "estimate") {
    return tasks_.Run([this, call = std::move(call), reply = std::move(reply)] {
      const auto all = subcalls_.Estimate(call);
      if (all) return reply->Ok(all->ToJson());
      reply->Fail(FailureOf(all.error()).code, all.error().message);
    });
  }
  if (call.method == "llm_batch" || call.method == "rlm_batch") {
    // Thousands of prompts take their time to count and assemble: not on the session's thread,
    // which hears of Ctrl-C and deadlines.
    return tasks_.Run(
        [this, call = std::move(call), reply = std::move(reply)] { subcalls_.Batch(call, reply); });
  }
  // A person may be asked: not on the session's thread, which hears of Ctrl-C and deadlines.
  if (!run_.guard.armed()) return subcalls_.Query(call, std::move(reply));
  tasks_.Run([this, call = std::move(call), reply = std::move(reply)]() mutable {
    subcalls_.Query(call, std::move(reply));
  });
}

// A tool may take its time. What it answered is in the journal, as no second call may give the same.
void Bridge::CallerTool(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  const std::string name = TextAt(Json(call.args), "name");
  const auto& tools = run_.request.tools;
  const auto tool = std::ranges::find(tools, name, &Tool::name);
  const Json* given = Find(call.args, "args");
  if (tool == tools.end() || !given || !given->is_object()) {
    return reply->Fail("bad_argument", "there is no such tool, or its arguments are no object");
  }
  run_.log.Add(0, "bridge.call", {{"id", call.id}, {"method", "tool"}, {"name", name}});
  tasks_.Run([this, &tool = *tool, arguments = given->get_object(), id = call.id,
              reply = std::move(reply)] {
    const auto value =
        CallTool(tool, arguments, reply->cancel(), [&](const Error& error) {
          run_.log.Warn(0, "tool_retry", Json(error.message));
        });
    run_.log.Add(0, "tool.done",
                 {{"id", id},
                  {"name", tool.name},
                  {"arguments", run_.log.Body(ToJson(arguments))},
                  {"result", value ? run_.log.Body(ToJson(*value)) : Json(nullptr)},
                  {"error", value ? Json(nullptr) : Json(value.error().message)}});
    if (!value) return reply->Fail(FailureOf(value.error()).code, value.error().message);
    const auto* text = value->if_string();
    if (!text) return reply->Ok(JsonObject{{"value", *value}});
    JsonArray blob{0, text->size()};
    reply->Ok(JsonObject{{"text", JsonObject{{"blob", std::move(blob)}}}}, std::string(*text));
  });
}

void Bridge::Document(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  const bool quick = documents_.IsQuick(call.method, call.args);
  auto serve = [this, call = std::move(call), reply = std::move(reply)] {
    std::string raw;
    auto value = documents_.Handle(call.method, call.args, &raw, reply->cancel());
    if (value) {
      NoteRead(call.method, call.args);
      reply->Ok(std::move(*value), std::move(raw));
    } else {
      const SubcallFailure failure = FailureOf(value.error());
      reply->Fail(failure.code, value.error().message);
    }
  };
  if (quick) return serve();
  tasks_.Run(std::move(serve));
}

void Bridge::NoteRead(std::string_view method, const JsonObject& args) {
  const auto document = static_cast<std::size_t>(FindInt(Json(args), "ctx").value_or(0));
  // Of records the worker says which of them code got: it fetches ahead.
  if (method == "grep" || method == "search" || method == "count") {
    coverage_.AddReadByCode(document, 0, std::numeric_limits<std::uint64_t>::max());
  }
}

// A write may wait for another process: not on the session's thread.
void Bridge::Memory(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  run_.log.Add(0, "bridge.call", {{"id", call.id}, {"method", call.method}});
  tasks_.Run([this, call = std::move(call), reply = std::move(reply)] {
    auto value = run_.memory->Handle(call.method, call.args);
    JsonObject details = call.args;
    if (!value) details["error"] = value.error().message;
    run_.LogMemory({.op = call.method,
                    .layer = "bridge",
                    .memory_type = call.method == "memory_write" ? "archival" : "store",
                    .details = std::move(details)});
    if (value) return reply->Ok(std::move(*value));
    reply->Fail(FailureOf(value.error()).code, value.error().message);
  });
}

// Without `at`: how many messages there are.
void Bridge::History(const sandbox::BridgeCall& call, sandbox::BridgeReply& reply) const {
  const Arguments arguments("history", call.args);
  if (Status known = arguments.Only({"at"}); !known) {
    return reply.Fail("bad_argument", known.error().message);
  }
  if (!call.args.contains("at")) return reply.Ok(JsonObject{{"count", moved_.size()}});
  const auto at = arguments.Whole("at");
  if (!at) return reply.Fail("bad_argument", at.error().message);
  std::optional<std::string> text = moved_.At(*at);
  if (!text) {
    return reply.Fail("bad_argument",
                      fmt::format("history[{}]: it holds {} messages", *at, moved_.size()));
  }
  JsonArray blob{0, text->size()};
  reply.Ok(JsonObject{{"text", JsonObject{{"blob", std::move(blob)}}}}, std::move(*text));
}

Json Bridge::BudgetValue() const {
  const auto number = [](std::optional<std::int64_t> value) {
    return value ? Json(*value) : Json(nullptr);
  };
  const auto time = run_.ledger.time_left(model::Stage::kNormal);
  const auto usd = UsdLeft(run_.ledger);
  return JsonObject{
      {"iterations_left", std::max(0, run_.iterations() - turn_())},
      {"calls_left", number(run_.ledger.calls_left())},
      {"tokens_left", number(run_.ledger.tokens_left())},
      {"seconds_left", time ? Json(static_cast<double>(time->count()) / 1000) : Json(nullptr)},
      {"usd_left", usd ? Json(*usd) : Json(nullptr)},
      {"depth", 0},
      {"max_depth", run_.request.limits.depth}};
}

Result<std::unique_ptr<Workbench>> Workbench::Open(RunState& run, sandbox::Pool& pool,
                                                   const MovedTurns& moved,
                                                   std::function<int()> turn) {
  sandbox::SessionSpec spec = MakeSpec(run);
  std::vector<std::string_view> texts;
  std::vector<TextDocument> documents;
  const ContextSet& context = *run.request.context;
  const auto deadline = run.ledger.deadline(model::Stage::kNormal);
  if (deadline && !context.WaitForCopies(*deadline)) {
    return MakeError(ErrorCode::kLimit, "time: it was used up while the context was copied");
  }
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    const std::string_view text = stored->map.bytes();
    LogContext(run, document.name, *stored);
    if (!stored->changed.empty() && document.warnings.empty()) {
      run.log.Warn(0, "context_changed", Json(stored->changed));
    }
    const inspect::Description& description =
        stored->description ? *stored->description : document.description;
    spec.contexts.push_back(
        {.name = document.name,
         .fd = stored->fd.get(),
         .bytes = text.size(),
         .characters = description.counts.chars,
         .meta = inspect::ContextMeta(description, run.dialect() == sandbox::Dialect::kPython
                                                       ? inspect::Runtime::kPython
                                                       : inspect::Runtime::kJavascript)});
    texts.push_back(text);
    documents.push_back({document.name, text, description});
  }
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<sandbox::Session> session,
                           pool.Open(std::move(spec), run.cancel));
  run.log.Add(0, "sandbox.started",
              {{"report", session->report().ToJson()}, {"ms", session->start_time().count()}});
  return std::unique_ptr<Workbench>(new Workbench(run, std::move(texts), std::move(documents),
                                                  moved, std::move(turn), std::move(session)));
}

}  // namespace dossier::ask
