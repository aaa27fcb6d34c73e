#include "ask/engine.h"

#include <mutex>

#include "ask/loop/call_loop.h"
#include "ask/loop/direct.h"
#include "ask/loop/metadata.h"
#include "ask/loop/root_request.h"
#include "ask/subcalls/workbench.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "sandbox/session/session.h"

namespace dossier::ask {
namespace {

constexpr std::int64_t kMemoryShare = 8;  // of the window, at most, beside memory_budget_chars

// The prompts and checks for small models are about Python.
Profile ResolveProfile(const Request& request, const EngineOptions& options) {
  if (request.profile != Profile::kAuto) return request.profile;
  if (options.pool_options.dialect != sandbox::Dialect::kPython) return Profile::kLarge;
  return options.root.entry.capability.profile == "small" ? Profile::kSmall : Profile::kLarge;
}

// What fits the sub-model's window beside its reply. The rest is for roles and fences.
std::int64_t SubcallTokens(const driver::BoundModel& sub) {
  const auto& capability = sub.entry.capability;
  const std::int64_t reserve = std::min<std::int64_t>(capability.max_output, 1024);
  return capability.window - reserve - 256;
}

// The same in characters of ordinary text.
std::int64_t SubcallChars(const driver::BoundModel& sub) {
  const auto tokens = static_cast<double>(SubcallTokens(sub));
  const double chars = tokens * sub.entry.bytes_per_token / (1.0 + sub.entry.margin);
  return std::max<std::int64_t>(static_cast<std::int64_t>(chars) / 1000 * 1000, 1000);
}

std::optional<Demand> DemandOf(CitationCheck check) {
  if (check == CitationCheck::kHeld) return Demand::kHeld;
  return check == CitationCheck::kAll ? std::optional(Demand::kAll) : std::nullopt;
}

// The request with the requirement that its check of citations stands for.
Request WithEvidence(Request request) {
  if (const auto demand = DemandOf(request.citations)) {
    request.requirements.push_back(RequireEvidence(*demand, request.question, request.context));
  }
  return request;
}

// `tokens`: of the whole context.
CallEstimate EstimateReading(const RunState& run, std::int64_t tokens) {
  if (run.request.limits.depth == 0) return {};
  const driver::BoundModel& sub = run.options.sub;
  const std::int64_t most = std::max<std::int64_t>(run.max_subcall_tokens, 1);
  model::Request request;
  request.sampling.max_output = run.request.sub_max_output;
  CallEstimate all;
  for (std::int64_t left = tokens; left > 0; left -= most) {
    all.Add(EstimateOf(sub.entry, request, std::min(left, most)));
  }
  return all;
}

// What the closing request needs is kept back by the loop that makes it (CallLoop::KeepClosing).
model::LedgerLimits MakeLimits(const Limits& limits, const Clock& clock) {
  model::LedgerLimits out;
  out.calls = limits.calls;
  out.tokens = limits.tokens;
  if (limits.usd) out.nano_usd = static_cast<std::int64_t>(*limits.usd * 1e9);
  if (limits.time) out.deadline = clock.Now() + *limits.time;
  return out;
}

// Time in seconds, cost in US dollars.
void AddLedgerLimits(const model::Ledger& ledger, const Limits& given, Millis elapsed,
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

JsonArray DescribeContexts(const ContextSet& context) {
  JsonArray list;
  for (const ContextDocument& document : context.documents()) {
    list.push_back(JsonObject{{"name", document.name},
                              {"bytes", document.description.counts.bytes},
                              {"characters", document.description.counts.chars}});
  }
  return list;
}

JsonObject DescribeModel(const driver::BoundModel& model) {
  const auto& capability = model.entry.capability;
  return {{"name", model.name},
          {"origin", model.origin},
          {"window", capability.window},
          {"max_output", capability.max_output},
          {"profile", capability.profile},
          {"tokenizer", model.entry.tokenizer},
          {"as_of", model.entry.as_of}};
}

JsonObject DescribeLimits(const RunState& run) {
  const Limits& limits = run.request.limits;
  const auto or_null = [](const auto& limit) { return limit ? Json(*limit) : Json(nullptr); };
  return {{"iterations", run.iterations()},
          {"calls", limits.calls},
          {"depth", limits.depth},
          {"tokens", or_null(limits.tokens)},
          {"usd", or_null(limits.usd)},
          {"ms", limits.time ? Json(limits.time->count()) : Json(nullptr)},
          {"errors", limits.errors},
          {"output_chars", run.output_chars()}};
}

// Hash or build of everything that can change what a run does.
JsonObject MakeManifest(const RunState& run) {
  const auto worker = sandbox::WorkerBuild(run.options.pool_options);
  JsonObject manifest = run.prompts.manifest();
  manifest["models"] = JsonObject{{"root", DescribeModel(run.options.root)},
                                  {"sub", DescribeModel(run.options.sub)}};
  manifest["worker"] = worker ? Json(*worker) : Json(nullptr);
  manifest["program"] = BuildId();
  return manifest;
}

}  // namespace

class Engine::Impl {
 public:
  explicit Impl(EngineOptions options) : options_(std::move(options)) {
    if (!options_.clock) options_.clock = SystemClock();
  }

  Result<Outcome> Run(const Request& request, const CancelToken& cancel, EventSink& events);
  Result<Plan> DryRun(const Request& request, const CancelToken& cancel);

 private:
  Result<PromptBook> Prompts(const Request& request);
  Result<std::vector<std::string>> ReadUserSections(const Request& request,
                                                    const CancelToken& cancel,
                                                    PromptBook* prompts) const;
  RunState MakeState(const Request& request, PromptBook prompts, model::Ledger& ledger, RunLog& log,
                     driver::Caller& caller, SpendGuard& guard, CancelToken cancel) const;
  Result<sandbox::Pool*> GetPool();
  CallResult Recursive(RunState& run, Outcome* outcome);
  void Start(RunState& run, const ModeDecision& decision);
  Status ShowMemory(RunState& run, RunMemory::Writes writes) const;
  void KeepAnswer(RunState& run, const CallResult& result) const;
  void Fill(RunState& run, CallResult result, Outcome* outcome);

  EngineOptions options_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, PromptBook> prompts_;
  std::shared_ptr<sandbox::Pool> made_pool_;
};

// What a user's layouts add to the prompts: read once a run, so that all its prompts hold the same.
Result<std::vector<std::string>> Engine::Impl::ReadUserSections(const Request& request,
                                                                const CancelToken& cancel,
                                                                PromptBook* prompts) const {
  return prompts->ReadUserSections({.makers = options_.makers,
                                    .values = {{"question", request.question}},
                                    .counter = options_.root.counter,
                                    .cancel = cancel});
}

RunState Engine::Impl::MakeState(const Request& request, PromptBook prompts, model::Ledger& ledger,
                                 RunLog& log, driver::Caller& caller, SpendGuard& guard,
                                 CancelToken cancel) const {
  return {.options = options_,
          .request = request,
          .policy = PolicyOf(ResolveProfile(request, options_)),
          .boundary = assembly::MakeBoundary(request.seed),
          .prompts = std::move(prompts),
          .ledger = ledger,
          .log = log,
          .caller = caller,
          .guard = guard,
          .cancel = std::move(cancel),
          .max_subcall_chars = SubcallChars(options_.sub),
          .max_subcall_tokens = SubcallTokens(options_.sub)};
}

Result<PromptBook> Engine::Impl::Prompts(const Request& request) {
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
  const Request& request = run.request;
  run.log.Start({{"question", request.question},
                 {"argv", request.argv},
                 {"model", options_.root.name},
                 {"sub_model", options_.sub.name},
                 {"profile", run.policy.name},
                 {"dialect", sandbox::DialectName(options_.pool_options.dialect)},
                 {"seed", request.seed},
                 {"limits", DescribeLimits(run)},
                 {"contexts", DescribeContexts(*request.context)},
                 {"version", options_.version},
                 {"build", BuildId()},
                 {"manifest", MakeManifest(run)}});
  run.log.Add(0, "mode.decided",
              {{"mode", ModeName(decision.mode)},
               {"tokens", decision.tokens},
               {"threshold", decision.threshold},
               {"reason", decision.reason}});
  for (const ContextDocument& document : request.context->documents()) {
    for (const std::string& warning : document.warnings) {
      run.log.Warn(0, "context_changed", Json(warning));
    }
  }
  for (const std::string& note : request.context->notes()) {
    run.log.Warn(0, "context_noted", Json(note));
  }
  if (!run.memory) return;
  JsonObject shown = memory::AccountingJson(run.shown_memory.accounting);
  run.LogMemory({.op = "show", .layer = "prompt", .memory_type = "store", .details = shown});
  run.log.Add(0, "memory.shown", std::move(shown));
  for (const std::string& said : run.shown_memory.said) run.log.Warn(0, "memory", Json(said));
}

// Once a run: every prompt of it shows the same, so that the provider's cache holds.
Status Engine::Impl::ShowMemory(RunState& run, RunMemory::Writes writes) const {
  if (!run.request.memory.store) return {};
  DOSSIER_ASSIGN_OR_RETURN(RunMemory memory, RunMemory::Open(run.request.memory));
  run.memory = std::make_shared<const RunMemory>(std::move(memory));
  const driver::BoundModel& root = options_.root;
  DOSSIER_ASSIGN_OR_RETURN(run.shown_memory,
                           run.memory->Show(run.request.question, *root.counter,
                                            root.entry.capability.window / kMemoryShare, writes));
  return {};
}

// What a limit did not leave unfinished. A memory that cannot be written costs no answer.
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
    return run.log.Warn(0, "not_in_memory", Json(kept.error().message));
  }
  run.LogMemory({.op = "recall_append",
                 .layer = "turn",
                 .memory_type = "recall",
                 .details = {{"kind", "answer"}, {"ref", answer.run}}});
}

namespace {

// An answer over a file of which no copy is kept, and which changed while it was read, may be of no
// state that the file ever had. Waits for copies; called where all of them were needed.
void DoubtChangedContexts(const RunState& run, CallResult* result) {
  const ContextSet& context = *run.request.context;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const auto stored = context.Stored(i);
    if (!stored || !(*stored)->named) continue;
    const std::vector<std::string>& seen = context.documents()[i].warnings;
    if ((*stored)->changed.empty() && seen.empty()) continue;
    result->doubts.push_back(seen.empty() ? (*stored)->changed : seen.front());
    const bool whole =
        result->status == RunStatus::kFinal || result->status == RunStatus::kExtracted;
    if (whole) result->status = RunStatus::kPartial;
  }
}

}  // namespace

Result<Outcome> Engine::Impl::Run(const Request& request, const CancelToken& cancel,
                                  EventSink& events) {
  const auto started = options_.clock->Now();
  DOSSIER_ASSIGN_OR_RETURN(PromptBook prompts, Prompts(request));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> told,
                           ReadUserSections(request, cancel, &prompts));
  model::Ledger ledger(MakeLimits(request.limits, *options_.clock), options_.clock);
  RunLog log(options_.journal, events, options_.clock);
  // The deadline of the run cancels requests in flight and interrupts code.
  CancelSource stop(cancel);
  driver::Caller caller(ledger, options_.clock);
  SpendGuard guard(request.confirm_above, ledger);
  RunState run = MakeState(request, std::move(prompts), ledger, log, caller, guard, stop.token());
  DOSSIER_RETURN_IF_ERROR(ShowMemory(run, RunMemory::Writes::kYes));
  DOSSIER_ASSIGN_OR_RETURN(ModeDecision decision, DecideMode(run));
  Start(run, decision);
  for (const std::string& warning : told) run.log.Warn(0, "layout", Json(warning));
  Outcome outcome;
  outcome.mode = decision.mode;
  outcome.mode_tokens = decision.tokens;
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
      if (direct->unsettled) run.log.Warn(0, "direct_unsettled", Json(direct->unsettled->doubt));
      result = std::move(direct->result);
      DoubtChangedContexts(run, &result);
      outcome.evidence.read_by_models = 1;  // the model was shown all of it
    } else if (done) {
      result = {.status = direct.error().code == ErrorCode::kCancelled ? RunStatus::kInterrupted
                                                                       : RunStatus::kFailed,
                .error = direct.error()};
    } else {
      run.log.Warn(0, "direct_too_long", Json(direct.error().message));
      outcome.mode = Mode::kRecursive;
    }
  }
  if (!done) result = Recursive(run, &outcome);
  KeepAnswer(run, result);
  outcome.elapsed = std::chrono::duration_cast<Millis>(options_.clock->Now() - started);
  Fill(run, std::move(result), &outcome);
  return outcome;
}

// What of the context was read in the end: beside what sub-calls were shown and code looked at, the
// passages of the first prompt and the results, as far as the model answered.
Coverage::Shares ReadInAll(const RunState& run, Workbench* bench, const CallLoop& loop,
                           const Metadata& metadata) {
  std::optional<Coverage> own;  // where no code ran
  if (!bench) {
    if (metadata.passages.places.empty()) return {};  // what may still be copied is not waited for
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < run.request.context->documents().size(); ++i) {
      const auto stored = run.request.context->Stored(i);
      if (!stored) return {};
      texts.push_back((*stored)->map.bytes());
    }
    own.emplace(std::move(texts));
  }
  Coverage& coverage = bench ? bench->coverage() : *own;
  for (const Passage& place : loop.passages_shown()) {
    coverage.AddSlice(place.document, place.at, place.length);
  }
  for (const std::string& text : loop.shown_results()) coverage.AddText(text);
  return coverage.Read();
}

CallResult Engine::Impl::Recursive(RunState& run, Outcome* outcome) {
  auto pool = GetPool();
  if (!pool) return {.status = RunStatus::kFailed, .error = pool.error()};
  (*pool)->Prepare();  // it starts while the first prompt is made and answered
  Metadata metadata = MakeMetadata(run);
  metadata.passages = FindPassagesFor(run);
  MovedTurns moved;
  std::unique_ptr<Workbench> bench;
  CallLoop* running = nullptr;
  CallLoop loop(run, metadata, moved, [&]() -> Result<Workbench*> {
    DOSSIER_ASSIGN_OR_RETURN(bench, Workbench::Open(run, **pool, moved, [&running] {
                               return running ? running->turn() : 0;
                             }));
    return bench.get();
  });
  running = &loop;
  CallResult result = loop.Run();
  if (bench || !metadata.passages.places.empty()) DoubtChangedContexts(run, &result);
  const Coverage::Shares read = ReadInAll(run, bench.get(), loop, metadata);
  outcome->evidence.read_by_models = run.plain ? 1 : read.by_models;  // a plain call saw all of it
  outcome->evidence.read_by_code = read.by_code;
  if (bench) {
    outcome->sandbox = bench->session().report();
    bench->session().Close();
  }
  return result;
}

void Engine::Impl::Fill(RunState& run, CallResult result, Outcome* outcome) {
  outcome->status = result.status;
  outcome->source = result.source;
  outcome->text = std::move(result.text);
  outcome->value = std::move(result.value);
  outcome->turns = result.turns;
  outcome->limits_hit = std::move(result.limits_hit);
  AddLedgerLimits(run.ledger, run.request.limits, outcome->elapsed, &outcome->limits_hit);
  outcome->compactions = std::move(result.compactions);
  outcome->error = std::move(result.error);
  outcome->evidence.attempts = result.attempts;
  outcome->evidence.agreeing = result.agreeing;
  outcome->evidence.doubts = std::move(result.doubts);
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
  outcome->usage = run.ledger.use();
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
  run.log.Add(0, "run.finished", std::move(finished));
  outcome->run = run.log.run();
  outcome->warnings = run.log.warnings();
}

Result<Plan> Engine::Impl::DryRun(const Request& request, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(PromptBook prompts, Prompts(request));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> told,
                           ReadUserSections(request, cancel, &prompts));
  model::Ledger ledger(MakeLimits(request.limits, *options_.clock), options_.clock);
  class Nobody final : public EventSink {
    void OnEvent(const store::Event&) override {}
  } nobody;
  RunLog log(nullptr, nobody, options_.clock);
  driver::Caller caller(ledger, options_.clock);
  SpendGuard guard({}, ledger);
  RunState run = MakeState(request, std::move(prompts), ledger, log, caller, guard, cancel);
  DOSSIER_RETURN_IF_ERROR(ShowMemory(run, RunMemory::Writes::kNo));
  DOSSIER_ASSIGN_OR_RETURN(const ModeDecision decision, DecideMode(run));
  Plan plan{.mode = decision.mode,
            .tokens = decision.tokens,
            .threshold = decision.threshold,
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
  plan.reading = EstimateReading(run, decision.tokens);
  plan.messages = std::move(prompt.messages);
  plan.report = std::move(prompt.report);
  return plan;
}

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Engine::~Engine() = default;

Result<Outcome> Engine::Run(const Request& request, const CancelToken& cancel, EventSink& events) {
  return impl_->Run(WithEvidence(request), cancel, events);
}

Result<Plan> Engine::DryRun(const Request& request, const CancelToken& cancel) {
  return impl_->DryRun(WithEvidence(request), cancel);
}

}  // namespace dossier::ask
