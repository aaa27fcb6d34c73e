#include "ask/subcalls/workbench.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "ask/documents/document_arguments.h"
#include "ask/subcalls/session_restore.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "inspect/description/hint.h"
#include "inspect/records/record_reader.h"

namespace dossier::ask {
namespace {

// Extends the bytes of records by adjacent text that has no content of its own: line ends,
// brackets, and the header of a table, whose names are in each row.
inspect::ByteRange WithFrame(const TextDocument& document, inspect::ByteRange records) {
  const std::string_view text = document.text;
  const auto is_mark = [text](std::uint64_t at) {
    return !IsAlnum(text[at]) && static_cast<unsigned char>(text[at]) < 0x80;
  };
  const auto grow = [&] {
    while (records.begin > 0 && is_mark(records.begin - 1)) --records.begin;
    while (records.end < text.size() && is_mark(records.end)) ++records.end;
  };
  grow();
  const auto& table = document.description.table;
  if (!table || !table->header || records.begin <= table->start_offset) return records;
  const std::string_view above =
      text.substr(table->start_offset, records.begin - table->start_offset);
  if (above.find('\n') != above.npos) return records;  // rows, or a second header line, precede
  records.begin = table->start_offset;
  grow();
  return records;
}

sandbox::SessionSpec MakeSpec(const RunState& run) {
  sandbox::SessionSpec spec;
  spec.seed = run.request.seed;
  spec.limits = run.request.cell;
  spec.context_string_max = run.request.context_string_max;
  spec.named_models = ModelNames(run.options);
  spec.features = {{"profile", run.policy.name},
                   {"depth", run.depth_left()},
                   {"max_subcall_chars", run.max_subcall_chars},
                   {"question", run.request.question},
                   {"memory", run.memory != nullptr}};
  if (!run.request.tools.empty()) spec.features["tools"] = ToolFeatures(run.request.tools);
  if (const Json* schema = SchemaOf(run.request.requirements)) spec.features["schema"] = *schema;
  if (run.request.out) spec.features["out_dir"] = true;
  return spec;
}

// A child's context is recorded in its call.started, as places in its parent's context.
void LogContext(const RunState& run, const std::string& name, const StoredText& stored) {
  if (run.place.depth > 0) return;
  if (!stored.named) {
    return run.log.Add("context.stored", {{"name", name}, {"sha256", stored.sha256}});
  }
  run.log.Add("context.named", {{"name", name},
                                {"path", stored.named->path},
                                {"bytes", stored.named->bytes},
                                {"modified_ns", stored.named->modified_ns},
                                {"sha256", stored.sha256},
                                {"text_bytes", stored.map.bytes().size()}});
}

// Records the documents of this question; those of earlier questions are in their own journals.
Status LogContexts(const RunState& run, const ContextSet& context) {
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    LogContext(run, document.name, *stored);
    if (!stored->changed.empty() && document.warnings.empty()) {
      run.log.Warn("context_changed", Json(stored->changed));
    }
  }
  return {};
}

Status AddContexts(const RunState& run, const std::shared_ptr<const ContextSet>& context,
                   SessionPlan* plan) {
  for (std::size_t i = 0; i < context->documents().size(); ++i) {
    const ContextDocument& document = context->documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context->Stored(i));
    const std::string_view text = stored->map.bytes();
    const inspect::Description& description =
        stored->description ? *stored->description : document.description;
    plan->spec.contexts.push_back(
        {.name = document.name,
         .fd = stored->fd.get(),
         .owner = context,
         .bytes = text.size(),
         .characters = description.counts.chars,
         .meta = inspect::ContextMeta(description, run.dialect() == sandbox::Dialect::kPython
                                                       ? inspect::Runtime::kPython
                                                       : inspect::Runtime::kJavascript)});
    plan->texts.push_back(text);
    plan->documents.push_back({document.name, text, description});
    if (document.database) {
      plan->documents.back().stands_for = "an SQLite database";
      plan->documents.back().way = "sql(query), which reads its tables";
    }
  }
  return {};
}

// The documents of one question within a session's: {"first", "count", "seed"}.
Json GroupJson(std::size_t first, const ContextSet& context, std::uint64_t seed) {
  return JsonObject{{"first", first}, {"count", context.documents().size()}, {"seed", seed}};
}

Result<SessionPlan> PlanSession(const RunState& run) {
  SessionPlan plan{.spec = MakeSpec(run)};
  const ContextSet& context = *run.request.context;
  // Those of this question come first, so that offsets are the same as without a session.
  DOSSIER_RETURN_IF_ERROR(AddContexts(run, run.request.context, &plan));
  JsonArray groups;
  for (const PastQuestion& past : run.request.session.past) {
    groups.push_back(GroupJson(plan.spec.contexts.size(), *past.context, past.seed));
    DOSSIER_RETURN_IF_ERROR(AddContexts(run, past.context, &plan));
  }
  if (!groups.empty()) {
    groups.push_back(GroupJson(0, context, run.request.seed));
    plan.spec.features["questions"] = std::move(groups);
  }
  JsonArray schemas;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    if (context.documents()[i].database) schemas.push_back(Json(i));
  }
  DOSSIER_ASSIGN_OR_RETURN(std::vector<sandbox::ContextText> databases, DatabasesOf(context));
  std::ranges::move(databases, std::back_inserter(plan.spec.contexts));
  if (!schemas.empty()) plan.spec.features["sql_schemas"] = std::move(schemas);
  return plan;
}

// Returns true if no text of the call is still being copied.
bool AllCopied(const AskRequest& request) {
  static constexpr Clock::Steady kNow{};
  return request.context->WaitForCopies(kNow) &&
         std::ranges::all_of(request.session.past, [](const PastQuestion& past) {
           return past.context->WaitForCopies(kNow);
         });
}

// Returns what distinguishes one call from another in the record.
std::string OfCall(const sandbox::BridgeCall& call) {
  return Sha256Hex(fmt::format("{} {}", call.method, ToJson(call.args)));
}

bool AsksModel(std::string_view method) {
  return method == "llm" || method == "llm_batch" || method == "rlm" || method == "rlm_batch" ||
         method == "map" || method == "estimate";
}

}  // namespace

void Bridge::OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  if (call.method == "budget") return reply->Ok(Budget());
  if (call.method == "history") return History(call, *reply);
  if (call.method == "out_file") return OutFile(std::move(call), std::move(reply));
  if (run_.memory && RunMemory::Knows(call.method))
    return Memory(std::move(call), std::move(reply));
  if (call.method == "tool") return CallerTool(std::move(call), std::move(reply));
  if (!AsksModel(call.method)) return Document(std::move(call), std::move(reply));
  if (run_.depth_left() == 0) {
    return reply->Fail("denied", "sub-calls are switched off in this run (--max-depth 0)");
  }
  run_.log.Add("bridge.call", {{"id", call.id}, {"method", call.method}});
  if (call.method == "map") return map_.Start(std::move(call), std::move(reply), tasks_);
  if (call.method == "estimate") {
    return Aside(std::move(reply), [this, call = std::move(call)](const Reply& to) {
      const auto all = subcalls_.Estimate(call, to->cancel());
      if (all) return to->Ok(all->ToJson());
      to->Fail(FailureOf(all.error()).code, all.error().message);
    });
  }
  if (call.method.starts_with("rlm") && children_.Offered()) {
    auto shared = std::make_shared<const sandbox::BridgeCall>(std::move(call));
    return Aside(std::move(reply),
                 [this, call = std::move(shared)](const Reply& to) { children_.Start(call, to); });
  }
  if (call.method == "llm_batch" || call.method == "rlm_batch") {
    // Counting and assembling thousands of prompts takes time, so it must not block the session's
    // thread, which handles Ctrl-C and deadlines.
    return Aside(std::move(reply),
                 [this, call = std::move(call)](const Reply& to) { subcalls_.Batch(call, to); });
  }
  // A person may be asked: not in the session's thread, which handles Ctrl-C and deadlines.
  if (!run_.guard.armed()) return subcalls_.Query(call, std::move(reply));
  Aside(std::move(reply),
        [this, call = std::move(call)](const Reply& to) { subcalls_.Query(call, to); });
}

// On a thread of its own; without one the call fails.
void Bridge::Aside(Reply reply, std::function<void(const Reply& to)> work) {
  const Status begun = tasks_.Run([reply, work = std::move(work)] { work(reply); });
  if (!begun) reply->Fail(FailureOf(begun.error()).code, begun.error().message);
}

// A tool may take a long time. Its answer is recorded in the journal, because another call might
// return something else.
void Bridge::CallerTool(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  const std::string name = TextAt(Json(call.args), "name");
  const auto& tools = run_.request.tools;
  const auto tool = std::ranges::find(tools, name, &Tool::name);
  const Json* given = Find(call.args, "args");
  if (tool == tools.end() || !given || !given->is_object()) {
    return reply->Fail("bad_argument", "there is no such tool, or its arguments are no object");
  }
  run_.log.Add("bridge.call", {{"id", call.id},
                               {"method", "tool"},
                               {"name", name},
                               {"arguments", run_.log.Body(ToJson(*given))}});
  const std::string of = OfCall(call);
  if (AnswerRecorded(of, *reply)) return;
  Aside(std::move(reply),
        [this, &tool = *tool, arguments = given->get_object(), of](const Reply& to) {
          const auto result = CallTool(tool, arguments, to->cancel(), [&](const Error& error) {
            run_.log.Warn("tool_retry", Json(error.message));
          });
          Result<Json> value = result.map([](const ExactJson& exact) {
            JsonObject told{{"value", exact.with_texts()}};
            if (exact.has_texts())
              told["json"] = ToJson(exact);  // code may hold numbers of any length
            return Json(std::move(told));
          });
          LogReply(of, value);
          if (value) return GiveValue(std::move(*value), *to);
          to->Fail(FailureOf(value.error()).code, value.error().message);
        });
}

// What a tool returns may be larger than a message to code; then it travels beside it.
void Bridge::GiveValue(Json told, sandbox::BridgeReply& reply) const {
  constexpr std::size_t kMostInMessage = 7u << 20;
  const Json* value = told.is_object() ? Find(told, "value") : nullptr;
  const Json* exact = value ? Find(told, "json") : nullptr;
  std::string text;
  if (value && run_.dialect() == sandbox::Dialect::kPython) {
    text = exact ? std::string(exact->get_string()) : ToJson(*value);
  }
  if (text.size() <= kMostInMessage) return reply.Ok(std::move(told));
  const std::size_t size = text.size();
  reply.Ok(JsonObject{{"json", JsonObject{{"blob", JsonArray{0, size}}}}}, std::move(text));
}

void Bridge::Document(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  const bool quick = documents_.IsQuick(call.method, call.args);
  auto serve = [this, call = std::move(call)](const Reply& to) {
    std::string raw;
    auto value = documents_.Handle(call.method, call.args, &raw, to->cancel());
    if (value) {
      NoteRead(call.method, call.args, *value);
      to->Ok(std::move(*value), std::move(raw));
    } else {
      const SubcallFailure failure = FailureOf(value.error());
      to->Fail(failure.code, value.error().message);
    }
  };
  if (quick) return serve(reply);
  Aside(std::move(reply), std::move(serve));
}

// Not in the session's thread, since a disk may be slow. Code waits for the answer, so its writes
// stay in order.
void Bridge::OutFile(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  if (!run_.request.out) {
    return reply->Fail("denied", "no files can be written in this run (--out-dir allows it)");
  }
  Aside(std::move(reply), [this, call = std::move(call)](const Reply& to) {
    const Arguments arguments("out_file", call.args);
    const auto name = arguments.Text("name");
    const auto append = arguments.Flag("append");
    if (!name || !append) {
      return to->Fail("bad_argument", (name ? append.error() : name.error()).message);
    }
    const auto how = *append ? OutFolder::How::kAppend : OutFolder::How::kNew;
    const Status written = run_.request.out->Write(*name, how, call.raw);
    if (written) return to->Ok(JsonObject{{"bytes", call.raw.size()}});
    to->Fail(FailureOf(written.error()).code, written.error().message);
  });
}

void Bridge::NoteRead(std::string_view method, const JsonObject& args, const Json& value) {
  const auto document = static_cast<std::size_t>(FindInt(Json(args), "ctx").value_or(0));
  // The worker reports which records code got, since it reads ahead. A query has read them all.
  if (method == "records" && FindBool(Json(args), "read").value_or(false)) {
    std::string unused;
    const auto span = documents_.Handle(
        "record_span",
        JsonObject{{"ctx", document}, {"from", value.at("first")}, {"to", value.at("next")}},
        &unused, CancelToken());
    if (span) {
      const auto at = span->at("at").to_number<std::uint64_t>();
      const inspect::ByteRange read =
          WithFrame(documents_.documents()[document],
                    {.begin = at, .end = at + span->at("len").to_number<std::uint64_t>()});
      coverage_.AddReadByCode(document, read.begin, read.end - read.begin);
    }
  }
  if (method == "grep" || method == "search" || method == "count") {
    coverage_.AddReadByCode(document, 0, std::numeric_limits<std::uint64_t>::max());
  }
}

// Records values from outside the context, so that the same code gets the same value when the run
// is repeated, and nothing is written to memory twice.
void Bridge::LogReply(const std::string& of, const Result<Json>& value) {
  JsonObject data{{"of", of}};
  if (value) {
    data["value"] = run_.log.Body(ToJson(*value));
  } else {
    data["kind"] = ErrorName(value.error().code);
    data["message"] = value.error().message;
  }
  run_.log.Add("bridge.reply", std::move(data));
}

bool Bridge::AnswerRecorded(const std::string& of, sandbox::BridgeReply& reply) {
  const auto recorded = run_.log.Reuse("bridge.reply", of);
  if (!recorded) return false;
  const Json data(*recorded);
  const auto text = run_.log.ReadBody(Find(data, "value"));
  const auto value = text ? ParseJson(*text) : Result<Json>(tl::unexpected(text.error()));
  const std::string message = TextAt(data, "message");
  if (value) {
    GiveValue(*value, reply);
  } else {
    const bool ours = FindString(data, "kind") == ErrorName(ErrorCode::kInvalidArgument);
    reply.Fail(ours ? "bad_argument" : "failed", message.empty() ? value.error().message : message);
  }
  return true;
}

// The remaining time differs each time; without a time limit the budget is reproducible.
Json Bridge::Budget() {
  constexpr int kMostKept = 1000;  // a block may ask any number of times
  if (!run_.request.limits.time || ++budgets_ > kMostKept) return BudgetValue();
  if (auto recorded = run_.log.Reuse("bridge.reply", "budget")) {
    if (auto value = ParseJson(TextAt(Json(recorded->at("value")), "text"))) return *value;
  }
  Json value = BudgetValue();
  LogReply("budget", value);
  return value;
}

// A write may wait for another process: not in the session's thread.
void Bridge::Memory(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) {
  run_.log.Add("bridge.call", {{"id", call.id}, {"method", call.method}});
  const std::string of = OfCall(call);
  if (AnswerRecorded(of, *reply)) return;
  Aside(std::move(reply), [this, call = std::move(call), of](const Reply& to) {
    auto value = run_.memory->Handle(call.method, call.args);
    LogReply(of, value);
    JsonObject details = call.args;
    if (!value) details["error"] = value.error().message;
    run_.LogMemory({.op = call.method,
                    .layer = "bridge",
                    .memory_type = call.method == "memory_write" ? "archival" : "store",
                    .details = std::move(details)});
    if (value) return to->Ok(std::move(*value));
    to->Fail(FailureOf(value.error()).code, value.error().message);
  });
}

// Without `at`: returns the number of messages.
void Bridge::History(const sandbox::BridgeCall& call, sandbox::BridgeReply& reply) const {
  const Arguments arguments("history", call.args);
  if (Status known = arguments.Only({"at", "question"}); !known) {
    return reply.Fail("bad_argument", known.error().message);
  }
  if (call.args.contains("question")) {
    const auto& past = run_.request.session.past;
    const auto question = arguments.Whole("question");
    if (!question || *question >= past.size()) {
      return reply.Fail("bad_argument", "there is no such question before this one");
    }
    std::string text = past[*question].transcript;
    JsonArray all{0, text.size()};
    return reply.Ok(JsonObject{{"text", JsonObject{{"blob", std::move(all)}}}}, std::move(text));
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
      {"depth", run_.place.depth},
      {"max_depth", run_.request.limits.depth}};
}

std::unique_ptr<BegunSession> BeginSession(const RunState& run, sandbox::Pool& pool) {
  const auto begin = [&]() -> Result<std::unique_ptr<BegunSession>> {
    DOSSIER_ASSIGN_OR_RETURN(SessionPlan plan, PlanSession(run));
    DOSSIER_ASSIGN_OR_RETURN(auto opening, pool.Begin(std::move(plan.spec), run.cancel));
    return std::make_unique<BegunSession>(std::move(plan), std::move(opening));
  };
  if (AllCopied(run.request)) {
    if (auto begun = begin()) return std::move(*begun);
  }
  pool.Prepare();
  return nullptr;  // the problem is reported when code has to run
}

Result<std::unique_ptr<Workbench>> Workbench::Open(RunState& run, sandbox::Pool& pool,
                                                   const MovedTurns& moved,
                                                   std::function<int()> turn,
                                                   std::unique_ptr<BegunSession> begun) {
  const ContextSet& context = *run.request.context;
  const auto deadline = run.ledger.deadline(model::Stage::kNormal);
  if (deadline && !context.WaitForCopies(*deadline)) {
    return MakeError(ErrorCode::kLimit, "time: it was used up while the context was copied");
  }
  DOSSIER_RETURN_IF_ERROR(LogContexts(run, context));
  SessionPlan plan;
  std::unique_ptr<sandbox::Session> session;
  if (begun) {
    plan = std::move(begun->plan);
    DOSSIER_ASSIGN_OR_RETURN(session, begun->opening->Finish());
  } else {
    DOSSIER_ASSIGN_OR_RETURN(plan, PlanSession(run));
    DOSSIER_ASSIGN_OR_RETURN(session, pool.Open(std::move(plan.spec), run.cancel));
  }
  JsonObject started{{"ms", session->start_time().count()}};
  // The same for children: all are forked from one process, with the same rules.
  if (run.place.depth == 0) started["report"] = session->report().ToJson();
  run.log.Add("sandbox.started", std::move(started));
  auto bench = std::unique_ptr<Workbench>(new Workbench(run, std::move(plan.texts),
                                                        std::move(plan.documents), moved,
                                                        std::move(turn), std::move(session)));
  if (!run.request.session.past.empty()) {
    Coverage before(bench->texts_);
    DOSSIER_RETURN_IF_ERROR(
        RestoreSession(run, bench->documents_, bench->texts_, *bench->session_, before));
    bench->coverage_.AddSame(before);
    bench->read_before_ = before.Read().by_any > 0;
  }
  return bench;
}

}  // namespace dossier::ask
