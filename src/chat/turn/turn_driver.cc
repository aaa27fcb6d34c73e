#include "chat/turn/turn_driver.h"

#include <algorithm>

#include "chat/context/compact.h"
#include "chat/context/frozen.h"
#include "chat/document/wire.h"
#include "chat/turn/refresh_now.h"

namespace dossier::chat {
namespace {

constexpr std::int64_t kContextShare = 4;  // of the window

// Returns the run's status for the journal.
std::string_view StatusOf(const TurnOutcome& outcome, TurnRecord::Reply completeness) {
  if (completeness == TurnRecord::Reply::kIncomplete) return "partial";
  if (!outcome.error) return "final";
  return outcome.error->code == ErrorCode::kCancelled ? "interrupted" : "failed";
}

}  // namespace

std::int64_t ContextLimit(const TurnRequest& request, const driver::BoundModel& model) {
  return request.context_max_tokens.value_or(model.entry.capability.window / kContextShare);
}

TurnOutcome Chat::Send(const TurnRequest& request, ChatEvents& events,
                       const CancelToken& cancel) const {
  model::LedgerLimits limits;
  if (parts_.limits && request.action == TurnRequest::Action::kSend) {
    auto found = parts_.limits();
    if (!found) {
      TurnOutcome refused;
      refused.exit = ExitCode(found.error().code);
      refused.error = std::move(found.error());
      return refused;
    }
    limits = *found;
  }
  return TurnDriver(parts_, request, limits, events, cancel).Run();
}

TurnDriver::TurnDriver(const ChatParts& parts, const TurnRequest& request,
                       const model::LedgerLimits& limits, ChatEvents& events,
                       const CancelToken& cancel)
    : parts_(parts),
      request_(request),
      events_(events),
      cancel_(cancel),
      begun_(parts.clock->Now()),
      log_({.journal = request.action == TurnRequest::Action::kSend ? parts.journal : nullptr,
            .bodies = parts.bodies}),
      ledger_(limits, parts.clock),
      caller_(ledger_, parts.clock) {
  input_.options = request.options;
  input_.prompt = request.prompt;
  input_.system_text = request.system_text;
  input_.id = request.id;
  input_.now = FormatMicros(parts.clock->WallNow());
  input_.keep_turns = request.compaction.keep_turns;
  input_.images = request.images;
}

TurnOutcome TurnDriver::Run() {
  const Status done = Steps();
  if (!done) Fail(done.error());
  Finish();
  return std::move(outcome_);
}

Status TurnDriver::Steps() {
  DOSSIER_RETURN_IF_ERROR(Load());
  if (request_.resume != TurnRequest::Resume::kNo) DOSSIER_RETURN_IF_ERROR(FindWhatIsLeft());
  DOSSIER_RETURN_IF_ERROR(OpenModel());
  DOSSIER_RETURN_IF_ERROR(GatherContext());
  DOSSIER_RETURN_IF_ERROR(OpenMemory());
  DOSSIER_RETURN_IF_ERROR(MakePlan());
  if (request_.action == TurnRequest::Action::kPlan) return Preview();
  if (!answer_) DOSSIER_RETURN_IF_ERROR(Converse());
  return Save();
}

// Loads the conversation, or takes the right to create it. A preview takes none, leaves no file.
Status TurnDriver::Load() {
  if (stateless()) return {};
  if (!parts_.store) return MakeError(ErrorCode::kInternal, "there is no store of conversations");
  const ConversationStore& store = *parts_.store;
  outcome_.conversation = request_.id;
  if (request_.options.store == TurnOptions::Store::kReadOnly) {
    DOSSIER_ASSIGN_OR_RETURN(loaded_, store.Load(request_.id));
  } else if (request_.action == TurnRequest::Action::kPlan) {
    DOSSIER_ASSIGN_OR_RETURN(loaded_, store.Find(request_.id));
  } else {
    DOSSIER_ASSIGN_OR_RETURN(Begun begun, store.BeginCreate(request_.id, cancel_));
    creation_ = std::move(begun.creation);
    unwritable_ = std::move(begun.unwritable);
    loaded_ = std::move(begun.existing);
    if (loaded_ && request_.hold == TurnRequest::Hold::kYes) {
      DOSSIER_ASSIGN_OR_RETURN(held_, store.Hold(request_.id, cancel_));
      // It may have grown while we waited for the lock.
      DOSSIER_ASSIGN_OR_RETURN(loaded_, store.Load(request_.id));
    }
  }
  if (!loaded_) return {};
  stored_ = loaded_->stored;
  for (const std::string& warning : stored_->warnings) Warn(warning);
  return {};
}

Status TurnDriver::OpenModel() {
  const std::string name =
      ChooseModel(stored_ ? stored_->model : "", request_.asked_model, request_.configured_model);
  DOSSIER_ASSIGN_OR_RETURN(model_, parts_.open_model(name));
  DOSSIER_ASSIGN_OR_RETURN(layout_, assembly::FindLayout("chat", parts_.folders));
  outcome_.model = model_.stored;
  input_.model = model_.stored;
  input_.reserve_output = model_.sampling.max_output;
  DOSSIER_RETURN_IF_ERROR(ReadUserSections());
  for (const ChatTool* tool : parts_.tools) input_.tools.push_back(tool->Spec());
  if (log_.run().empty()) {
    const bool kept = parts_.bodies == driver::RunLogSetting::Bodies::kKept;
    JsonObject start{{"conversation", request_.id},
                     {"folder", parts_.store ? parts_.store->folder() : ""},
                     {"model", model_.stored},
                     {"question", kept ? TitleOf(input_.prompt) : ""},
                     {"prompt", log_.Body(input_.prompt)},
                     {"kind", kChatRun}};
    if (!input_.images.empty()) {
      start["images"] = log_.Body(dossier::ToJson(ImagesJson(input_.images)));
    }
    DOSSIER_RETURN_IF_ERROR(log_.Start(std::move(start)));
  }
  outcome_.run = log_.run();
  return {};
}

Status TurnDriver::ReadUserSections() {
  DOSSIER_ASSIGN_OR_RETURN(
      input_.user_sections,
      driver::ReadUserSections(layout_, {.makers = parts_.makers,
                                         .values = {{"question", input_.prompt}},
                                         .counter = model_.counter,
                                         .cancel = cancel_}));
  for (const std::string& warning : input_.user_sections.warnings) Warn(warning);
  return {};
}

Status TurnDriver::GatherContext() {
  const Clock::Steady begun = parts_.clock->Now();
  const bool known = gathered_.has_value();
  if (!known) {
    DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need,
                             NeedOf(stored(), parts_.context->Declared(), request_.options));
    const GatherLimits limits{.counter = *model_.counter,
                              .max_tokens = ContextLimit(request_, model_)};
    LogPrograms(need);
    DOSSIER_ASSIGN_OR_RETURN(gathered_, parts_.context->Gather(need.run, limits, cancel_));
    LogContext();
  }
  // A repeated turn has its own run, which must contain everything it needs.
  if (known && request_.resume == TurnRequest::Resume::kAgain) LogContext();
  input_.commands = gathered_->commands;
  outcome_.times.context = Since(begun);
  for (const std::string& warning : gathered_->warnings) Warn(warning);
  return {};
}

// Logged before any of them runs: a turn that is killed between here and context.ready may have run
// them, and a resumed one must not run them again.
void TurnDriver::LogPrograms(const ContextNeed& need) {
  const std::vector<DeclaredCommand> declared = parts_.context->Declared();
  JsonArray names;
  for (const std::size_t index : need.run) {
    if (declared[index].kind == DeclaredCommand::Kind::kProgram) {
      names.push_back(Json(declared[index].name));
    }
  }
  if (!names.empty()) Log("context.started", {{"commands", std::move(names)}});
}

void TurnDriver::LogContext() {
  Log("context.ready", {{"context", log_.Body(dossier::ToJson(ToJson(*gathered_)))}});
}

// Plans the turn, and plans it again if the history had to be compacted.
Status TurnDriver::MakePlan() {
  const auto plan = [&]() -> Status {
    DOSSIER_RETURN_IF_ERROR(RenderMemory());
    DOSSIER_ASSIGN_OR_RETURN(plan_, PlanTurn(input_, stored(), gathered_->blocks, layout_,
                                             model_.entry.capability, *model_.counter));
    return {};
  };
  const Status fits = plan();
  if (!fits && fits.error().code != ErrorCode::kTooLong) return fits;
  std::optional<Error> too_long;
  if (!fits) too_long = fits.error();
  if (stored_ && !answer_) DOSSIER_RETURN_IF_ERROR(Compact(too_long));
  if (!input_.compaction.empty()) {
    DOSSIER_RETURN_IF_ERROR(plan());
  } else if (too_long) {
    return tl::unexpected(*too_long);
  }
  outcome_.turn = plan_->turn;
  outcome_.context = plan_->context;
  outcome_.saving = SavedBy(plan_->frozen_tokens, plan_->turn);
  for (const std::string& warning : plan_->warnings) Warn(warning);
  if (plan_->hint) Warn(*plan_->hint);
  events_.OnStart(outcome_.conversation, outcome_.turn, outcome_.model);
  events_.OnContext(outcome_.context);
  return {};
}

Status TurnDriver::Preview() {
  outcome_.wire = model_.wire(MakeRequest(plan_->request, model::Purpose::kRoot));
  // The cost of the input if none of it is read from a cache.
  outcome_.usage.cost_nano_usd = model::CostOf({.input = plan_->request.tokens}, model_.entry);
  outcome_.plan = std::move(plan_);
  outcome_.blocks = gathered_->blocks;
  return {};
}

// Never cancelled: the reply has been paid for.
Status TurnDriver::Save() {
  outcome_.text = answer_->text;
  if (plan_->save.kind == TurnSave::Kind::kNothing) {
    if (stateless()) RememberStateless();
    return {};
  }
  FinishedTurn finished{.messages = answer_->messages,
                        .now = FormatMicros(parts_.clock->WallNow()),
                        .replaces = replaces_,
                        .seen = loaded_ ? loaded_->document.message_count() : 0};
  for (const JsonObject& message : finished.messages) {
    finished.tokens +=
        model_.counter->CountText(FindString(Json(message), "content").value_or("")).tokens;
  }
  finished.record = {.model = answer_->model,
                     .usage = answer_->usage,
                     .tools = answer_->tools,
                     .reply = completeness_,
                     .run = log_.run()};
  if (memory_) {
    finished.keep = [this](std::string_view conversation, std::int64_t number) {
      return Remember(conversation, number);
    };
  }
  const auto save = [&]() -> Result<Saved> {
    if (unwritable_) return tl::unexpected(*unwritable_);
    DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(parts_.content_folder, plan_->save.replaced));
    if (creation_) return parts_.store->Create(std::move(*creation_), plan_->save, finished);
    return parts_.store->Append(*loaded_, plan_->save, finished, CancelToken(),
                                held_ ? &*held_ : nullptr);
  };
  const Result<Saved> saved = save();
  if (!saved) {
    // The answer is still printed.
    const bool locked = saved.error().code == ErrorCode::kLocked;
    outcome_.error = Rescue(saved.error(), std::move(finished));
    outcome_.exit = ExitCode(locked ? ErrorCode::kLocked : ErrorCode::kFailed);
    return {};
  }
  outcome_.conversation = saved->id;
  outcome_.turn = saved->turn;
  for (const std::string& warning : saved->warnings) Warn(warning);
  Log("turn.saved", {{"conversation", saved->id}, {"turn", saved->turn}});
  MakeRoomAfterBlock();
  return {};
}

// The reply has been paid for: if the conversation's folder cannot be written, another one may.
Error TurnDriver::Rescue(const Error& why, FinishedTurn finished) const {
  finished.keep = {};  // memory has it already, or never will
  const auto kept = [&]() -> Result<std::string> {
    Document document =
        loaded_ ? loaded_->document : Document::Make(request_.id, plan_->save.model, finished.now);
    DOSSIER_RETURN_IF_ERROR(ApplyTurn(plan_->save, finished, &document));
    return KeepElsewhere(parts_.rescue_folder, request_.id, document);
  }();
  if (!kept) return why;
  return {why.code, fmt::format("{}; the conversation is kept in {}, and `dossier conversations "
                                "import FILE` takes it from there",
                                why.message, *kept)};
}

void TurnDriver::Fail(const Error& error) {
  outcome_.error = error;
  outcome_.exit = ExitCode(error.code);
}

void TurnDriver::Finish() {
  if (completeness_ == TurnRecord::Reply::kIncomplete && outcome_.exit == 0) {
    outcome_.exit = ExitCode(cancel_.cancelled() ? ErrorCode::kCancelled : ErrorCode::kPartial);
  }
  if (outcome_.exit == 0 && tools_ && tools_->limit()) {
    outcome_.exit = ExitCode(ErrorCode::kLimit);
  }
  outcome_.times.total = Since(begun_);
  if (!log_.run().empty()) {
    JsonObject end{{"status", StatusOf(outcome_, completeness_)},
                   {"answer", log_.Body(outcome_.text)},
                   {"usage", UsageJson(outcome_.usage)},
                   {"ms", outcome_.times.total.count()},
                   {"exit", outcome_.exit}};
    if (outcome_.error) end["error"] = outcome_.error->message;
    Log("run.finished", std::move(end));
  }
  if (const auto failure = log_.failure()) {
    Warn("the journal could not be written: " + failure->message);
  }
}

void TurnDriver::Log(std::string_view type, JsonObject data) {
  if (!log_.run().empty()) static_cast<void>(log_.Add(type, std::move(data)));
}

void TurnDriver::Warn(std::string_view sentence) {
  auto& said = outcome_.warnings;
  if (std::find(said.begin(), said.end(), sentence) != said.end()) return;
  said.emplace_back(sentence);
  events_.OnWarning(sentence);
}

Millis TurnDriver::Since(Clock::Steady from) const {
  return std::chrono::duration_cast<Millis>(parts_.clock->Now() - from);
}

// Decides before every call whether the history has to be compacted.

Status TurnDriver::Compact(const std::optional<Error>& too_long) {
  const bool asked_for = request_.compacting == TurnRequest::Compacting::kNow;
  if (request_.compaction.mode == CompactionLimits::Mode::kOff && !asked_for) return {};
  const assembly::Capability& capability = model_.entry.capability;
  const RequestTokens size{// What did not fit has no size; it is over the window.
                           .whole = too_long ? capability.window + 1 : plan_->request.tokens,
                           .reserved_output = input_.reserve_output.value_or(
                               std::min(capability.max_output, capability.window / 2)),
                           .window = capability.window};
  DOSSIER_ASSIGN_OR_RETURN(
      const CompactionDecision plan,
      PlanCompaction(*stored_, request_.compaction, CachePricesOf(model_.entry), size,
                     *model_.counter, asked_for ? ByHand::kYes : ByHand::kNo));
  if (plan.trigger == CompactionDecision::Trigger::kNone) return {};
  if (request_.action == TurnRequest::Action::kPlan) {
    Warn("this turn would compact the history first; the request shown is without that");
    return {};
  }
  std::optional<std::string> summary;
  if (plan.summary) summary = Summarize(plan);
  if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
  const CompactedHistory done =
      FinishCompaction(plan, summary, request_.id, model_.stored,
                       FormatMicros(parts_.clock->WallNow()), *model_.counter);
  for (const std::string& warning : done.warnings) Warn(warning);
  if (done.records.empty()) return {};
  input_.compaction = done.records;
  ReportCompaction(done);
  return {};
}

// Returns nullopt if the call failed; FinishCompaction then decides what to do.
std::optional<std::string> TurnDriver::Summarize(const CompactionDecision& plan) {
  const auto ask = [&]() -> Result<std::string> {
    driver::BoundModel other;
    const driver::BoundModel* model = &model_;
    if (!request_.compaction_model.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(other, parts_.open_model(request_.compaction_model));
      model = &other;
    }
    auto written = driver::AskByLayout(SummaryCall(plan), {parts_.folders, parts_.makers}, *model,
                                       caller_, cancel_);
    NoteUsage();
    if (!written) return tl::unexpected(written.error());
    return std::move(written->text);
  };
  auto summary = ask();
  if (!summary) {
    Warn("the summary of old turns failed: " + summary.error().message);
    return std::nullopt;
  }
  return std::move(*summary);
}

void TurnDriver::ReportCompaction(const CompactedHistory& done) {
  JsonObject report = ToJson(done.figures);
  report["line"] = done.line;
  report["method"] = done.records.back().method;
  outcome_.compaction = report;
  Log("compaction.done", std::move(report));
  events_.OnCompaction(done.line);
}

}  // namespace dossier::chat
