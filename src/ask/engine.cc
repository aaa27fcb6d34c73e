#include "ask/engine.h"

#include <mutex>

#include "ask/loop/call_run.h"
#include "ask/loop/direct.h"
#include "ask/loop/metadata.h"
#include "ask/loop/root_request.h"
#include "ask/run/run_facts.h"
#include "ask/subcalls/session_restore.h"
#include "ask/subcalls/subcalls.h"
#include "ask/subcalls/workbench.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "sandbox/session/session.h"

namespace dossier::ask {
namespace {

constexpr std::int64_t kMemoryShare = 8;  // maximum part of the window, besides memory_budget_chars

// The prompts and checks for small models are about Python.
Profile ResolveProfile(const AskRequest& request, const EngineOptions& options) {
  if (request.profile != Profile::kAuto) return request.profile;
  if (options.pool_options.dialect != sandbox::Dialect::kPython) return Profile::kLarge;
  return options.root.entry.capability.profile == "small" ? Profile::kSmall : Profile::kLarge;
}

// Returns the longest text that fits a sub-call, in characters of ordinary text.
std::int64_t SubcallChars(const driver::BoundModel& sub) {
  const auto tokens = static_cast<double>(SubcallTokens(sub));
  const double chars = tokens * sub.entry.bytes_per_token / (1.0 + sub.entry.margin);
  return std::max<std::int64_t>(static_cast<std::int64_t>(chars) / 1000 * 1000, 1000);
}

std::optional<Demand> DemandOf(CitationCheck check) {
  if (check == CitationCheck::kHeld) return Demand::kHeld;
  return check == CitationCheck::kAll ? std::optional(Demand::kAll) : std::nullopt;
}

// Returns the request with the requirement that its citation check stands for.
AskRequest WithEvidence(AskRequest request) {
  if (const auto demand = DemandOf(request.citations)) {
    request.requirements.push_back(RequireEvidence(*demand, request.question, request.context));
  }
  return request;
}

// Estimates reading the whole context once, in tokens of the model that reads it.
Result<CallEstimate> EstimateReading(const RunState& run) {
  if (run.request.limits.depth == 0) return CallEstimate();
  const driver::BoundModel& sub = run.options.sub;
  DOSSIER_ASSIGN_OR_RETURN(const ContextTokens size,
                           CountContext(*run.request.context, *sub.counter, *run.options.clock));
  const std::int64_t most = std::max<std::int64_t>(SubcallTokens(sub), 1);
  model::Request request;
  request.sampling.max_output = run.request.sub_max_output;
  CallEstimate all;
  for (std::int64_t left = size.most; left > 0; left -= most) {
    all.Add(EstimateOf(sub.entry, request, std::min(left, most)));
  }
  all.estimated = !size.exact;
  return all;
}

// The loop reserves what its closing request needs (CallLoop::KeepClosing).
model::LedgerLimits MakeLimits(const AskLimits& limits, const Clock& clock) {
  model::LedgerLimits out;
  out.calls = limits.calls;
  out.tokens = limits.tokens;
  if (limits.usd) out.nano_usd = model::NanoUsdLimit(*limits.usd);
  if (limits.time) out.deadline = clock.Now() + *limits.time;
  return out;
}

// Reports time in seconds, cost in US dollars.
void AddLedgerLimits(const model::Ledger& ledger, const AskLimits& given, Millis elapsed,
                     std::vector<LimitHit>* hits) {
  const auto part = [](std::int64_t number, double whole) {
    return Json(static_cast<double>(number) / whole);
  };
  const model::LedgerUse use = ledger.use();
  const model::LedgerLimits& limits = ledger.limits();
  for (const std::string& limit : ledger.hit()) {
    LimitHit hit{.limit = limit};
    if (limit == "calls") {
      hit.max = *limits.calls;
      hit.used = use.calls;
    } else if (limit == "tokens") {
      hit.max = *limits.tokens;
      hit.used = use.spent.tokens();
    } else if (limit == "cost") {
      hit.max = part(*limits.nano_usd, 1e9);
      hit.used = part(ledger.nano_usd_spent(), 1e9);
    } else {
      hit.max = part(given.time.value_or(Millis(0)).count(), 1e3);
      hit.used = part(elapsed.count(), 1e3);
    }
    hits->push_back(std::move(hit));
  }
}

// Counts unanswered requests, which may have been billed, with their prompts.
void CountUnanswered(const Replay& replay, const EngineOptions& options, model::Ledger* ledger) {
  model::Request request;
  request.sampling.max_output = 0;
  for (const Replay::Unanswered& one : replay.unanswered()) {
    const bool loop = one.by == Replay::Unanswered::By::kLoop;
    const model::Entry& entry = loop ? options.root.entry : options.sub.entry;
    const CallEstimate cost = EstimateOf(entry, request, one.tokens);
    ledger->CountEarlier(
        {.input = one.tokens, .reasoning = 0, .estimated = true, .cost_nano_usd = cost.nano_usd},
        /*attempts=*/1, /*failed=*/1);
  }
}

// `parents` is a part of what `use` counts.
void TakeOff(const model::LedgerUse& parents, model::LedgerUse* use) {
  const model::Usage& part = parents.spent.total;
  model::Usage& whole = use->spent.total;
  const auto less = [](const auto& off, auto* from) {
    if (off && *from) **from -= *off;
  };
  use->calls -= parents.calls;
  use->failed_calls -= parents.failed_calls;
  use->cached_calls -= parents.cached_calls;
  use->spent.calls -= parents.spent.calls;
  whole.input -= part.input;
  whole.output -= part.output;
  whole.cached -= part.cached;
  whole.cache_write -= part.cache_write;
  less(part.reasoning, &whole.reasoning);
  less(part.cost_nano_usd, &whole.cost_nano_usd);
}

}  // namespace

class Engine::Impl {
 public:
  explicit Impl(EngineOptions options) : options_(std::move(options)) {
    if (!options_.clock) options_.clock = SystemClock();
  }

  // `how` is null for a new run.
  Result<Outcome> Run(const AskRequest& request, const CancelToken& cancel, EventSink& events,
                      const Continuation* how);
  Result<Plan> DryRun(const AskRequest& request, const CancelToken& cancel);

 private:
  Status CheckMedia(const AskRequest& request) const;
  Result<PromptBook> Prompts(const AskRequest& request);
  Result<std::vector<std::string>> ReadUserSections(const AskRequest& request,
                                                    const CancelToken& cancel,
                                                    PromptBook* prompts) const;
  Result<std::shared_ptr<Replay>> ReadRecord(const AskRequest& request,
                                             const Continuation& how) const;
  // State that all calls of a run share.
  struct Shared {
    const PromptBook& prompts;
    model::Ledger& ledger;
    AskLog& log;
    driver::Caller& caller;
    CallTree& tree;
    SpendGuard& guard;
  };
  RunState MakeState(const EngineOptions& options, const AskRequest& request, const Shared& shared,
                     CancelToken cancel) const;
  Result<sandbox::Pool*> GetPool();
  std::unique_ptr<BegunSession> BeginCode(const RunState& run);
  CallResult Recursive(RunState& run, std::unique_ptr<BegunSession> begun, Outcome* outcome);
  void Start(RunState& run, const ModeDecision& decision);
  Status ShowMemory(RunState& run, RunMemory::Writes writes, const Replay* replay = nullptr) const;
  void KeepAnswer(RunState& run, const CallResult& result) const;
  static void CollectFiles(RunState& run, Outcome* outcome);
  void Fill(RunState& run, CallResult result, const Replay* replay, Outcome* outcome);

  EngineOptions options_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, PromptBook> prompts_;
  std::shared_ptr<sandbox::Pool> made_pool_;
};

// Reads what a user's layouts add to the prompts, once per run, so that all its prompts agree.
Result<std::vector<std::string>> Engine::Impl::ReadUserSections(const AskRequest& request,
                                                                const CancelToken& cancel,
                                                                PromptBook* prompts) const {
  return prompts->ReadUserSections({.makers = options_.makers,
                                    .values = {{"question", request.question}},
                                    .counter = options_.root.counter,
                                    .cancel = cancel});
}

// Reads and checks the record: the run may continue with this request.
Result<std::shared_ptr<Replay>> Engine::Impl::ReadRecord(const AskRequest& request,
                                                         const Continuation& how) const {
  if (!options_.journal) return MakeError(ErrorCode::kInvalidArgument, "resume needs a journal");
  DOSSIER_ASSIGN_OR_RETURN(auto replay, Replay::Read(*options_.journal, how.run));
  DOSSIER_RETURN_IF_ERROR(CheckSameContexts(*request.context, *replay));
  if (!how.code.empty() && replay->lacks_code()) {
    const bool python = options_.pool_options.dialect == sandbox::Dialect::kPython;
    replay->Inject(fmt::format("```{}\n{}\n```", python ? "repl" : "js", how.code));
  }
  return replay;
}

RunState Engine::Impl::MakeState(const EngineOptions& options, const AskRequest& request,
                                 const Shared& shared, CancelToken cancel) const {
  return {.options = options,
          .request = request,
          .policy = PolicyOf(ResolveProfile(request, options_)),
          .root = options.root,
          .boundary = assembly::MakeBoundary(request.seed),
          .prompts = shared.prompts,
          .ledger = shared.ledger,
          .log = CallLog(shared.log, 0),
          .caller = shared.caller,
          .guard = shared.guard,
          .tree = shared.tree,
          .place = {},
          .cancel = std::move(cancel),
          .max_subcall_chars = SubcallChars(options_.sub)};
}

Result<PromptBook> Engine::Impl::Prompts(const AskRequest& request) {
  const PromptStyle style{ResolveProfile(request, options_), request.limits.depth,
                          options_.pool_options.dialect};
  std::lock_guard lock(mutex_);
  const auto key = std::make_pair(static_cast<int>(style.profile), style.depth == 0 ? 0 : 1);
  if (const auto found = prompts_.find(key); found != prompts_.end()) return found->second;
  DOSSIER_ASSIGN_OR_RETURN(PromptBook book, PromptBook::Load(style, options_.folders));
  return prompts_.emplace(key, std::move(book)).first->second;
}

Result<sandbox::Pool*> Engine::Impl::GetPool() {
  if (options_.pool) return options_.pool.get();
  std::lock_guard lock(mutex_);
  if (!made_pool_) {
    DOSSIER_ASSIGN_OR_RETURN(made_pool_, sandbox::Pool::Make(options_.pool_options));
  }
  return made_pool_.get();
}

void Engine::Impl::Start(RunState& run, const ModeDecision& decision) {
  const AskRequest& request = run.request;
  JsonObject started{{"question", request.question},
                     {"argv", request.argv},
                     {"folder", request.folder},
                     {"model", options_.root.name},
                     {"sub_model", options_.sub.name},
                     {"profile", run.policy.name},
                     {"dialect", sandbox::DialectName(options_.pool_options.dialect)},
                     {"seed", request.seed},
                     {"limits", DescribeLimits(run)},
                     {"contexts", DescribeContexts(*request.context)},
                     {"version", options_.version},
                     {"build", BuildId()},
                     {"manifest", MakeManifest(run)}};
  if (!request.session.name.empty()) started["session"] = request.session.name;
  if (!request.media.empty()) started["media"] = MediaJson(request.media);
  if (run.memory) started["memory"] = run.log.Body(run.shown_memory.text);
  run.log.log().Start(std::move(started));
  run.log.Add("mode.decided", {{"mode", ModeName(decision.mode)},
                               {"tokens", decision.size.tokens},
                               {"estimated", !decision.size.exact},
                               {"threshold", decision.threshold},
                               {"reason", decision.reason}});
  for (const ContextDocument& document : request.context->documents()) {
    for (const std::string& warning : document.warnings) {
      run.log.Warn("context_changed", Json(warning));
    }
  }
  for (const std::string& note : request.context->notes()) {
    run.log.Warn("context_noted", Json(note));
  }
  if (!run.memory || run.log.log().repeats()) return;
  JsonObject shown = memory::AccountingJson(run.shown_memory.accounting);
  run.LogMemory({.op = "show", .layer = "prompt", .memory_type = "store", .details = shown});
  run.log.Add("memory.shown", std::move(shown));
  for (const std::string& said : run.shown_memory.said) run.log.Warn("memory", Json(said));
}

// Renders memory once per run: all its prompts show the same, so that the provider's cache works.
Status Engine::Impl::ShowMemory(RunState& run, RunMemory::Writes writes,
                                const Replay* replay) const {
  if (!run.request.memory.store) return {};
  DOSSIER_ASSIGN_OR_RETURN(RunMemory memory, RunMemory::Open(run.request.memory));
  run.memory = std::make_shared<const RunMemory>(std::move(memory));
  if (const Json* shown = replay ? Find(replay->started().data, "memory") : nullptr) {
    DOSSIER_ASSIGN_OR_RETURN(run.shown_memory.text, run.log.ReadBody(shown));
    return {};
  }
  const driver::BoundModel& root = options_.root;
  DOSSIER_ASSIGN_OR_RETURN(run.shown_memory,
                           run.memory->Show(run.request.question, *root.counter,
                                            root.entry.capability.window / kMemoryShare, writes));
  return {};
}

// Stores the answer unless a limit left it unfinished. A failure to write does not lose the answer.
void Engine::Impl::KeepAnswer(RunState& run, const CallResult& result) const {
  const bool answered =
      result.status == RunStatus::kFinal || result.status == RunStatus::kExtracted;
  if (!run.memory || !answered || result.text.empty()) return;
  RunMemory::Answer answer{.run = run.log.run(),
                           .question = run.request.question,
                           .text = result.text,
                           .status = std::string(RunStatusName(result.status))};
  const ContextSet& context = *run.request.context;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    JsonObject source{{"name", context.documents()[i].name}};
    if (const auto stored = context.Stored(i)) source["sha256"] = (*stored)->sha256;
    answer.sources.push_back(std::move(source));
  }
  if (const Status kept = run.memory->Keep(answer); !kept) {
    return run.log.Warn("not_in_memory", Json(kept.error().message));
  }
  run.LogMemory({.op = "recall_append",
                 .layer = "turn",
                 .memory_type = "recall",
                 .details = {{"kind", "answer"}, {"ref", answer.run}}});
}

// Images that no model will be shown are the caller's mistake. A continued run was checked when it
// started.
Status Engine::Impl::CheckMedia(const AskRequest& request) const {
  if (request.media.empty()) return {};
  DOSSIER_RETURN_IF_ERROR(CheckNamesDiffer(request.media));
  if (request.mode == Mode::kDirect) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "only code can show images to a model, and mode direct runs none: leave it "
                     "out, or the images");
  }
  if (request.limits.depth == 0) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "at depth 0 code asks no model, so it can show no image: allow a depth of 1, "
                     "or leave the images out");
  }
  std::vector<const driver::BoundModel*> asked{&options_.sub};
  if (options_.child) asked.push_back(&*options_.child);
  for (const auto& [name, model] : options_.named) asked.push_back(&model);
  return CheckSomeTakesImages(asked);
}

Result<Outcome> Engine::Impl::Run(const AskRequest& request, const CancelToken& cancel,
                                  EventSink& events, const Continuation* how) {
  if (!how) {
    DOSSIER_RETURN_IF_ERROR(CheckMedia(request));
    if (options_.journal && !request.media.empty()) {
      DOSSIER_RETURN_IF_ERROR(StoreMedia(request.media, options_.journal->content()));
    }
  }
  auto started = options_.clock->Now();
  const bool compared = how && how->how == Continuation::How::kCompared;
  std::shared_ptr<Replay> replay;
  EngineOptions options = options_;
  if (how) {
    DOSSIER_ASSIGN_OR_RETURN(replay, ReadRecord(request, *how));
    started -= replay->elapsed() - replay->shared_elapsed();
    const Beyond beyond = compared ? Beyond::kRefused : Beyond::kAsked;
    const auto wrap = [&](driver::BoundModel& model, const std::string& to) {
      model.gate = ReplayGate(model.gate, replay, beyond, to);
    };
    wrap(options.root, "");
    wrap(options.sub, "");
    if (options.child) wrap(*options.child, "");
    for (auto& [name, model] : options.named) wrap(model, name);
  }
  DOSSIER_ASSIGN_OR_RETURN(PromptBook prompts, Prompts(request));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> told,
                           ReadUserSections(request, cancel, &prompts));
  model::LedgerLimits limits = MakeLimits(request.limits, *options_.clock);
  // Replaying uses none of the run's time.
  if (replay) limits.deadline.reset();
  model::Ledger ledger(limits, options_.clock);
  if (replay) {
    replay->OnLive([&] {
      if (!compared) CountUnanswered(*replay, options, &ledger);
      if (!request.limits.time) return;
      const Millis left = std::max(Millis(0), *request.limits.time - replay->elapsed());
      ledger.SetDeadline(options_.clock->Now() + left);
    });
  }
  AskLog log(options_.journal, events, options_.clock, replay,
             compared ? AskLog::Writes::kNot : AskLog::Writes::kAll);
  // The deadline of the run cancels requests in flight and interrupts code.
  CancelSource stop(cancel);
  driver::Caller caller(ledger, options_.clock);
  SpendGuard guard(request.confirm_above, ledger);
  CallTree tree(options_.most_children, ChildRunner([this] { return GetPool(); }),
                replay ? replay->last_call() : 0);
  RunState run =
      MakeState(options, request, {prompts, ledger, log, caller, tree, guard}, stop.token());
  DOSSIER_RETURN_IF_ERROR(ShowMemory(run, RunMemory::Writes::kYes, replay.get()));
  std::unique_ptr<BegunSession> begun;
  if (request.mode == Mode::kRecursive) begun = BeginCode(run);
  DOSSIER_ASSIGN_OR_RETURN(ModeDecision decision, DecideMode(run));
  if (how && how->how == Continuation::How::kResumed) {
    log.Continue("run.resumed", {{"from", replay->last_seq()}, {"turn", replay->turn()}});
  }
  Start(run, decision);
  for (const std::string& warning : told) run.log.Warn("layout", Json(warning));
  Outcome outcome;
  outcome.mode = decision.mode;
  outcome.mode_tokens = decision.size.tokens;
  outcome.mode_estimated = !decision.size.exact;
  outcome.mode_threshold = decision.threshold;
  CallResult result;
  bool done = false;
  if (decision.mode == Mode::kDirect) {
    auto direct = AnswerDirectly(run);
    done = direct.has_value() || request.mode == Mode::kDirect ||
           direct.error().code != ErrorCode::kTooLong;
    if (direct && direct->unsettled && request.mode != Mode::kDirect) {
      run.plain = std::move(direct->unsettled);
      outcome.mode = Mode::kRecursive;
      done = false;
    } else if (direct) {
      if (direct->unsettled) run.log.Warn("direct_unsettled", Json(direct->unsettled->doubt));
      result = std::move(direct->result);
      DoubtChangedContexts(run, &result);
      outcome.evidence.read_by_models = 1;  // the model was shown all of it
    } else if (done) {
      result = {.status = direct.error().code == ErrorCode::kCancelled ? RunStatus::kInterrupted
                                                                       : RunStatus::kFailed,
                .error = direct.error()};
    } else {
      run.log.Warn("direct_too_long", Json(direct.error().message));
      outcome.mode = Mode::kRecursive;
    }
  }
  if (!done) result = Recursive(run, std::move(begun), &outcome);
  if (!compared) KeepAnswer(run, result);
  outcome.elapsed = std::chrono::duration_cast<Millis>(options_.clock->Now() - started);
  Fill(run, std::move(result), replay.get(), &outcome);
  if (!compared) return outcome;
  outcome.differences = replay->differences();
  if (const std::size_t left = replay->left(); left > 0) {
    outcome.differences.push_back(fmt::format("{} recorded steps did not come", left));
  }
  return outcome;
}

// Null if there is no sandbox; the error is reported when one is needed.
std::unique_ptr<BegunSession> Engine::Impl::BeginCode(const RunState& run) {
  const auto pool = GetPool();
  return pool ? BeginSession(run, **pool) : nullptr;
}

CallResult Engine::Impl::Recursive(RunState& run, std::unique_ptr<BegunSession> begun,
                                   Outcome* outcome) {
  auto pool = GetPool();
  if (!pool) return {.status = RunStatus::kFailed, .error = pool.error()};
  CallEnd end = RunCall(run, **pool, std::move(begun));
  // A plain call read all of it.
  outcome->evidence.read_by_models = run.plain ? 1 : end.read.by_models;
  outcome->evidence.read_by_code = end.read.by_code;
  outcome->sandbox = std::move(end.sandbox);
  return std::move(end.result);
}

void Engine::Impl::CollectFiles(RunState& run, Outcome* outcome) {
  if (!run.request.out) return;
  std::vector<std::string> lost;
  outcome->files = run.request.out->Collect(&lost);
  run.log.Add("files.collected", {{"files", OutFilesJson(*outcome->files)}});
  for (const std::string& file : lost) run.log.Warn("file_lost", Json(file));
}

void Engine::Impl::Fill(RunState& run, CallResult result, const Replay* replay, Outcome* outcome) {
  outcome->status = result.status;
  outcome->source = result.source;
  outcome->text = std::move(result.text);
  outcome->value = std::move(result.value);
  outcome->turns = result.turns;
  outcome->limits_hit = std::move(result.limits_hit);
  const Millis shared = replay ? replay->shared_elapsed() : Millis(0);
  AddLedgerLimits(run.ledger, run.request.limits, outcome->elapsed + shared, &outcome->limits_hit);
  outcome->compactions = std::move(result.compactions);
  outcome->error = std::move(result.error);
  outcome->evidence.attempts = result.attempts;
  outcome->evidence.agreeing = result.agreeing;
  outcome->evidence.doubts = std::move(result.doubts);
  outcome->evidence.files_left_out = run.request.context->files_left_out();
  if (run.request.citations != CitationCheck::kOff) {
    outcome->citations = CheckCitations(outcome->text, *run.request.context, run.cancel);
  }
  if (DemandOf(run.request.citations)) {
    outcome->proofs = FindEvidence({.answer = outcome->text,
                                    .question = run.request.question,
                                    .context = run.request.context.get(),
                                    .printed = result.printed},
                                   run.cancel);
  }
  outcome->last_output = std::move(result.last_output);
  CollectFiles(run, outcome);
  outcome->usage = run.ledger.use();
  if (replay && replay->is_fork()) {
    const model::LedgerUse parents = replay->shared();
    outcome->shared_calls = parents.calls;
    TakeOff(parents, &outcome->usage);
  }
  const std::optional<std::int64_t>& cost = outcome->usage.spent.total.cost_nano_usd;
  JsonObject finished{{"status", RunStatusName(outcome->status)},
                      {"source", SourceName(outcome->source)},
                      {"answer", run.log.Body(outcome->text)},
                      {"turns", outcome->turns},
                      {"calls", outcome->usage.calls},
                      {"input", outcome->usage.spent.total.input},
                      {"output", outcome->usage.spent.total.output},
                      {"cached", outcome->usage.spent.total.cached},
                      {"cache_write", outcome->usage.spent.total.cache_write},
                      {"failed_calls", outcome->usage.failed_calls},
                      {"cached_calls", outcome->usage.cached_calls},
                      {"nano_usd", cost ? Json(*cost) : Json(nullptr)},
                      {"evidence", outcome->evidence.ToJson()},
                      {"citations", CitationsJson(outcome->citations)},
                      {"ms", outcome->elapsed.count()}};
  if (outcome->error) finished["error"] = outcome->error->message;
  if (outcome->sandbox) finished["sandbox"] = outcome->sandbox->ToJson();
  run.log.Add("run.finished", std::move(finished));
  outcome->run = run.log.run();
  outcome->warnings = run.log.warnings();
}

Result<Plan> Engine::Impl::DryRun(const AskRequest& request, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckMedia(request));
  DOSSIER_ASSIGN_OR_RETURN(PromptBook prompts, Prompts(request));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> told,
                           ReadUserSections(request, cancel, &prompts));
  model::Ledger ledger(MakeLimits(request.limits, *options_.clock), options_.clock);
  class Nobody final : public EventSink {
    void OnEvent(const store::Event&) override {}
  } nobody;
  AskLog log(nullptr, nobody, options_.clock);
  driver::Caller caller(ledger, options_.clock);
  SpendGuard guard({}, ledger);
  CallTree tree(0, {});  // no code runs
  RunState run = MakeState(options_, request, {prompts, ledger, log, caller, tree, guard}, cancel);
  DOSSIER_RETURN_IF_ERROR(ShowMemory(run, RunMemory::Writes::kNo));
  DOSSIER_ASSIGN_OR_RETURN(const ModeDecision decision, DecideMode(run));
  Plan plan{.mode = decision.mode,
            .tokens = decision.size.tokens,
            .threshold = decision.threshold,
            .estimated = !decision.size.exact,
            .reason = decision.reason,
            .warnings = std::move(told)};
  if (decision.mode == Mode::kDirect) {
    DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt, AssembleDirect(run));
    plan.first = EstimateRoot(run, prompt, {.purpose = model::Purpose::kDirect});
    plan.messages = std::move(prompt.messages);
    plan.report = std::move(prompt.report);
    return plan;
  }
  Metadata metadata = MakeMetadata(run);
  metadata.passages = FindPassagesFor(run);
  MovedTurns moved;
  CallLoop loop(run, metadata, moved, [] { return MakeError(ErrorCode::kInternal, "a dry run"); });
  DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt, loop.FirstPrompt());
  plan.first = EstimateRoot(run, prompt, {});
  DOSSIER_ASSIGN_OR_RETURN(plan.reading, EstimateReading(run));
  plan.messages = std::move(prompt.messages);
  plan.report = std::move(prompt.report);
  return plan;
}

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Engine::~Engine() = default;

Result<Outcome> Engine::Run(const AskRequest& request, const CancelToken& cancel,
                            EventSink& events) {
  return impl_->Run(WithEvidence(request), cancel, events, nullptr);
}

Result<Outcome> Engine::Resume(const Continuation& how, const AskRequest& request,
                               const CancelToken& cancel, EventSink& events) {
  return impl_->Run(WithEvidence(request), cancel, events, &how);
}

Result<Plan> Engine::DryRun(const AskRequest& request, const CancelToken& cancel) {
  return impl_->DryRun(WithEvidence(request), cancel);
}

}  // namespace dossier::ask
