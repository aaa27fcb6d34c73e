#include "recursion/call_loop.h"

#include <limits>

#include "base/text.h"
#include "base/utf8.h"
#include "recursion/grounding.h"

namespace dossier::recursion {
namespace {

constexpr double kTemperatures[] = {0.2, 0.4, 0.7};  // of fresh starts (small-models 14)
constexpr int kFailedTurns = 2;                      // of a small model before it starts afresh
constexpr std::size_t kLongestProse = 600;           // characters of a reply that is only an answer

ReplyFinish FinishOf(const model::Reply& reply) {
  switch (reply.finish) {
    case model::Finish::kStop:
    case model::Finish::kToolCalls:
      return ReplyFinish::kStop;
    case model::Finish::kLength:
      return ReplyFinish::kLength;
    default:
      return ReplyFinish::kOther;
  }
}

Source SourceOf(sandbox::HandedAnswer::Form form) {
  switch (form) {
    case sandbox::HandedAnswer::Form::kAnswerDict:
      return Source::kAnswerDict;
    case sandbox::HandedAnswer::Form::kSubmit:
      return Source::kSubmit;
    case sandbox::HandedAnswer::Form::kFinal:
      return Source::kFinal;
    case sandbox::HandedAnswer::Form::kFinalVar:
      return Source::kFinalVar;
    case sandbox::HandedAnswer::Form::kPartial:
      return Source::kPartial;
  }
  return Source::kFinal;
}

assembly::Turn TextTurn(assembly::Role role, std::string text) {
  assembly::Turn turn{.role = role};
  turn.blocks.push_back({.text = std::move(text), .section = "history"});
  return turn;
}

GateContext MakeGateContext(const RunState& run, const Metadata& metadata) {
  QuestionKind kind = Classify(run.request.question);
  switch (run.request.question_kind) {
    case QuestionHint::kAuto:
      break;
    case QuestionHint::kLookup:
      kind = QuestionKind::kLookup;
      break;
    case QuestionHint::kAggregate:
      kind = QuestionKind::kAggregate;
      break;
    case QuestionHint::kOpen:
      kind = QuestionKind::kOpen;
      break;
  }
  return {.forcing = run.request.forcing,
          .profile = run.profile,
          .kind = kind,
          .question = run.request.question,
          .hint_values = metadata.hint_values,
          .context_chars = metadata.characters,
          .context_records = metadata.records,
          .depth = run.request.limits.depth};
}

// Small models put a final into a fence; as it is no code, it counts like one outside.
std::string WithoutFenceLines(std::string_view reply) {
  std::string out;
  const CleanReply clean = StripThinking(reply);
  for (const std::string_view line : Split(clean.text, '\n')) {
    if (!TrimSpace(line).starts_with("```")) out.append(line).append("\n");
  }
  return out;
}

// `FINAL: 11` alone in a fence is valid Python, but was meant as the answer.
bool IsOnlyFinal(const Extraction& extraction) {
  if (extraction.blocks.size() != 1) return false;
  const std::string_view code = TrimSpace(extraction.blocks[0].code);
  return code.starts_with("FINAL:") && code.find('\n') == std::string_view::npos;
}

// A provider that refused for good; a retry of the same run would fail alike.
bool EndsRun(const Error& error) {
  return error.code != ErrorCode::kLimit && error.code != ErrorCode::kTooLong &&
         error.code != ErrorCode::kDied;
}

}  // namespace

CallLoop::CallLoop(RunState& run, const Metadata& metadata, OpenWorkbench open)
    : run_(run),
      metadata_(metadata),
      open_(std::move(open)),
      gates_(MakeGateContext(run, metadata)) {}

Status CallLoop::NeedWorkbench() {
  if (bench_) return {};
  DOSSIER_ASSIGN_OR_RETURN(bench_, open_());
  return {};
}

CallResult CallLoop::Run() {
  for (turn_ = 1; turn_ <= run_.iterations(); ++turn_) {
    if (auto reason = Exhausted()) {
      return candidates_.empty() ? Extract(*reason) : FinishVotes(*reason);
    }
    if (run_.cancel.cancelled()) {
      return KeepDraft(RunStatus::kInterrupted, Error{ErrorCode::kCancelled, run_.cancel.reason()});
    }
    run_.log.Add(0, "turn.started",
                 {{"turn", turn_}, {"turns", run_.iterations()}, {"calls", run_.ledger.use().calls}});
    TurnEnd end = Turn();
    if (end.accepted) {
      if (end.accepted->source == Source::kPartial) {
        return Finish(std::move(*end.accepted), RunStatus::kPartial);
      }
      auto decided = CountVote(std::move(*end.accepted));
      if (decided) return Finish(std::move(*decided), RunStatus::kFinal);
      StartAfresh();
      continue;
    }
    // A vote that cannot be taken loses nothing: the answers so far stand.
    if (!candidates_.empty() && (end.error || !end.stop_reason.empty())) {
      return FinishVotes(end.error ? end.error->message : end.stop_reason);
    }
    if (end.error && end.error->code == ErrorCode::kCancelled && !Exhausted()) {
      return KeepDraft(RunStatus::kInterrupted, std::move(end.error));
    }
    if (end.error && EndsRun(*end.error) && end.error->code != ErrorCode::kCancelled) {
      return KeepDraft(RunStatus::kFailed, std::move(end.error));
    }
    if (end.error) return Extract(end.error->message);
    if (!end.stop_reason.empty()) return Extract(end.stop_reason);
    if (run_.small() && failed_turns_ >= kFailedTurns) StartAfresh();
  }
  if (!candidates_.empty()) return FinishVotes("all turns are used");
  turn_ = run_.iterations();
  limits_hit_.push_back({"iterations", Json(run_.iterations()), Json(turn_)});
  return Extract("all turns are used");
}

CallLoop::TurnEnd CallLoop::Turn() {
  auto prompt = AssembleTurn();
  if (!prompt) return {.error = prompt.error()};
  auto reply = Ask(*prompt, model::Purpose::kRoot, model::Stage::kNormal);
  if (!reply) return {.error = reply.error()};
  // What was sent joins the history as it was sent: prefixes stay equal (REC-9, REC-74).
  if (!history_.empty() && !prompt->messages.turns.empty()) {
    history_.push_back(
        TextTurn(assembly::Role::kUser, prompt->messages.turns.back().Text()));
  }
  history_.push_back(TextTurn(assembly::Role::kAssistant,
                              TrimSpace(reply->text).empty() ? "(empty reply)" : reply->text));
  return Act(*reply);
}

Result<assembly::Assembled> CallLoop::FirstPrompt() {
  turn_ = 1;
  return AssembleTurn();
}

std::map<std::string, std::string> CallLoop::Values() const {
  return {{"max_subcall_chars", std::to_string(run_.max_subcall_chars)},
          {"doc_count", metadata_.doc_count},
          {"total_chars", metadata_.total_chars},
          {"doc_sizes_list", metadata_.doc_sizes},
          {"hint", metadata_.hint},
          {"passages", metadata_.passages},
          {"access", metadata_.access},
          {"question", run_.request.question}};
}

Result<assembly::Assembled> CallLoop::AssembleTurn() {
  std::map<std::string, std::string> values = Values();
  if (!history_.empty()) {
    std::string reminder = request_note_;
    if (reminder.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(
          reminder, run_.prompts.Text(failed_turns_ > 0 ? "reminder_retry" : "reminder", values,
                                      run_.boundary));
    }
    values["results"] = results_;
    values["reminder"] = std::string(TrimSpace(reminder));
    values["turn"] = std::to_string(turn_);
    values["turns"] = std::to_string(run_.iterations());
    values["budget"] = BudgetLine();
  }
  request_note_.clear();
  std::vector<assembly::Section> sections;
  sections.push_back({.name = "history", .turns = history_});
  return run_.prompts.Assemble("turn", run_.options.root, values, sections, run_.boundary,
                               run_.reserve_output());
}

std::string CallLoop::BudgetLine() const {
  std::string line;
  if (const auto calls = run_.ledger.calls_left()) line += fmt::format("Calls left: {}.", *calls);
  if (const auto tokens = run_.ledger.tokens_left()) {
    line += fmt::format(" Tokens left: {}.", *tokens);
  }
  if (const auto time = run_.ledger.time_left(model::Stage::kNormal)) {
    line += fmt::format(" Seconds left: {}.", time->count() / 1000);
  }
  if (turn_ == run_.iterations()) {
    if (auto last = run_.prompts.Text("last_turn", {}, run_.boundary)) {
      line += fmt::format(" {}", TrimSpace(*last));
    }
  }
  return std::string(TrimSpace(line));
}

Result<model::Reply> CallLoop::Ask(const assembly::Assembled& prompt, model::Purpose purpose,
                                   model::Stage stage) {
  model::Request request;
  const BoundModel& root = run_.options.root;
  request.model = root.name;
  request.messages = prompt.messages;
  request.sampling = run_.request.sampling;
  request.sampling.max_output = request.sampling.max_output.value_or(run_.reserve_output());
  if (run_.request.temperature) request.sampling.temperature = run_.request.temperature;
  if (run_.small()) {
    const double base = run_.request.temperature.value_or(kTemperatures[0]);
    request.sampling.temperature =
        attempt_ == 0 ? base : std::max(base, kTemperatures[std::min(attempt_, 2)]);
    // The reply ends where its first code block does (small-models 3).
    if (purpose == model::Purpose::kRoot && root.stops == BoundModel::Stops::kHonoured) {
      request.sampling.stop.push_back("\n```\n");
    }
  }
  if (!request.sampling.seed) request.sampling.seed = run_.request.seed + static_cast<std::uint64_t>(turn_);
  request.purpose = purpose;
  request.turn = turn_;
  request.deadline = run_.request.deadline;
  request.idle_limit = run_.request.idle_limit;
  // The first reply always comes: an answer in the reply that crosses a limit wins (REC-31).
  const bool first = run_.ledger.use().calls == 0;
  request.estimated_tokens = first ? 0 : prompt.tokens + *request.sampling.max_output;
  run_.log.Add(0, "request.sent",
               {{"purpose", model::PurposeName(purpose)},
                {"turn", turn_},
                {"model", root.name},
                {"messages", run_.log.Body(ToJson(assembly::ToCanonicalJson(prompt.messages)))},
                {"tokens", prompt.tokens}});
  // A model that writes the same line for ever is stopped; what it wrote so far is its reply.
  CancelSource stop(run_.cancel);
  std::string so_far;
  bool stuck = false;
  const auto started = run_.options.clock->Now();
  auto reply = run_.options.root.gate->Complete(
      std::move(request), run_.ledger, stage, stop.token(), [&](std::string_view delta) {
        run_.log.Delta(delta);
        so_far += delta;
        if (run_.small() && !stuck && delta.find('\n') != std::string_view::npos &&
            RepeatsLine(so_far)) {
          stuck = true;
          stop.Cancel("the reply repeats itself");
        }
      });
  if (!reply && stuck && !run_.cancel.cancelled()) {
    reply = model::Reply{.text = so_far, .finish = model::Finish::kLength};
  }
  const auto ms = std::chrono::duration_cast<Millis>(run_.options.clock->Now() - started).count();
  if (!reply) {
    run_.log.Add(0, "request.failed",
                 {{"turn", turn_},
                  {"kind", ErrorName(reply.error().code)},
                  {"message", reply.error().message},
                  {"ms", ms}});
    return reply;
  }
  run_.log.Add(0, "reply.received",
               {{"purpose", model::PurposeName(purpose)},
                {"turn", turn_},
                {"body", run_.log.Body(reply->text)},
                {"finish", model::FinishName(reply->finish)},
                {"input", reply->usage.input},
                {"output", reply->usage.output},
                {"cached", reply->usage.cached},
                {"attempts", reply->attempts},
                {"ms", ms}});
  for (const std::string& warning : reply->warnings) run_.log.Warn(0, "model", Json(warning));
  return reply;
}

CallLoop::TurnEnd CallLoop::Act(const model::Reply& reply) {
  ExtractionOptions options;
  options.finish = FinishOf(reply);
  options.model = run_.small() ? ModelSize::kSmall : ModelSize::kLarge;
  options.compiles = [this](std::string_view code) {
    if (!NeedWorkbench()) return true;  // the block itself will report why there is no session
    const auto checked = bench_->session().Check(code);
    return checked && checked->ok;
  };
  Extraction extraction = ExtractCode(reply.text, options);
  if (run_.small() && IsOnlyFinal(extraction)) extraction.blocks.clear();
  BareAnswer bare = FindBareAnswer(extraction.text_outside, options.model);
  if (run_.small() && bare.form == BareAnswer::Form::kNone && extraction.blocks.empty()) {
    bare = FindBareAnswer(WithoutFenceLines(reply.text), options.model);
  }
  JsonArray blocks;
  for (const CodeBlock& block : extraction.blocks) {
    blocks.push_back(JsonObject{{"code", run_.log.Body(block.code)}, {"tag", block.tag}});
  }
  run_.log.Add(0, "code.extracted",
               {{"turn", turn_},
                {"blocks", std::move(blocks)},
                {"repairs", boost::json::value_from(extraction.repairs)},
                {"ignored", boost::json::value_from(extraction.ignored_tags)}});
  const bool stalled = stall_.Note({.characters = utf8::CodePoints(StripThinking(reply.text).text),
                                    .has_code = !extraction.blocks.empty()});
  TurnEnd end = extraction.blocks.empty() ? WithoutCode(extraction, bare)
                                          : RunBlocks(extraction, bare);
  if (stalled && !end.accepted && !end.error && end.stop_reason.empty()) {
    run_.log.Warn(0, "stalled");
    end.stop_reason = "three replies in a row brought the work no further";
  }
  return end;
}

// A small model that failed twice repeats itself in ever new words: the failed turns leave the
// history, the temperature rises, and the question is asked anew (small-models 14). The session
// keeps its names.
void CallLoop::StartAfresh() {
  run_.log.Add(0, "attempt.started", {{"attempt", ++attempt_}});
  history_.clear();
  results_.clear();
  request_note_.clear();
  printed_.clear();
  printed_value_.reset();
  clean_code_.clear();
  asked_is_it_ = false;
  failed_turns_ = 0;
  errors_in_a_row_ = 0;
  stall_ = StallWatch();
  old_names_.insert(names_.begin(), names_.end());
}

// The answer that `offer` decides, or none while another attempt is wanted.
std::optional<CallLoop::Offer> CallLoop::CountVote(Offer offer) {
  const int wanted = run_.votes();
  if (wanted <= 1 || LastChance()) return offer;
  const std::string printed = Join(printed_, "\n");
  Candidate candidate{std::move(offer), {}};
  candidate.vote = MakeVote(candidate.offer.text, printed, run_.request.question);
  for (const Candidate& other : candidates_) {
    if (Agree(other.vote, candidate.vote)) return other.offer;
  }
  candidates_.push_back(std::move(candidate));
  if (static_cast<int>(candidates_.size()) < wanted) return std::nullopt;
  run_.log.Warn(0, "votes_disagree", Json(fmt::format("{} attempts gave {} different answers",
                                                      wanted, candidates_.size())));
  return candidates_.front().offer;
}

// Ends the vote with the answers there are.
CallResult CallLoop::FinishVotes(std::string_view why) {
  run_.log.Warn(0, "votes_incomplete", Json(why));
  return Finish(std::move(candidates_.front().offer), RunStatus::kFinal);
}

CallLoop::TurnEnd CallLoop::RunBlocks(const Extraction& extraction, const BareAnswer& bare) {
  Feedback feedback;
  if (extraction.blocks.size() > 1 || !extraction.repairs.empty()) {
    feedback.echo = run_.request.forcing == Forcing::kFull ? Feedback::Echo::kYes
                                                           : Feedback::Echo::kNo;
  }
  if (!extraction.feedback.empty()) feedback.messages.push_back(extraction.feedback);
  bool raised = false;
  std::size_t index = 0;
  std::optional<TurnEnd> end;
  for (; index < extraction.blocks.size() && !end; ++index) {
    end = RunBlock(extraction.blocks[index], &feedback);
    if (end) break;
    raised = raised || feedback.blocks.back().result.error.has_value();
    if (raised && run_.request.blocks == BlockPolicy::kUntilError) break;
    if (run_.request.blocks == BlockPolicy::kFirst) break;
  }
  feedback.blocks_not_run = extraction.blocks.size() - std::min(index + 1, extraction.blocks.size());
  if (feedback.blocks_not_run > 0) {
    run_.log.Warn(0, "blocks_not_run", Json(JsonObject{{"count", feedback.blocks_not_run}}));
  }
  if (end) return std::move(*end);
  errors_in_a_row_ = raised ? errors_in_a_row_ + 1 : 0;
  const sandbox::BlockResult& last = feedback.blocks.back().result;
  const bool failed = raised || last.status != sandbox::BlockStatus::kOk;
  failed_turns_ = failed ? failed_turns_ + 1 : 0;
  if (bare.form != BareAnswer::Form::kNone) {
    const bool honoured = bare.form == BareAnswer::Form::kFinalVar && !raised && !run_.small();
    if (honoured) {
      if (auto offer = Resolve(bare, &feedback)) return Decide(std::move(*offer), &feedback);
    } else {
      // It was written before the output existed (REC-30).
      run_.log.Warn(0, "final_ignored");
      feedback.messages.push_back(
          "The final answer in the same reply as code was ignored: it was written before the output "
          "existed.");
    }
  }
  return Continue(std::move(feedback));
}

// Runs one block; a value ends the turn.
std::optional<CallLoop::TurnEnd> CallLoop::RunBlock(const CodeBlock& block, Feedback* feedback) {
  if (Status ready = NeedWorkbench(); !ready) return TurnEnd{.error = ready.error()};
  if (auto offer = RepeatedAnswer(block.code)) return Decide(std::move(*offer), feedback);
  RanBlock ran{.code = block.code};
  const int number = ++blocks_run_;
  code_.push_back(block.code);
  if (failed_.Holds(block.code)) {
    ran.result.status = sandbox::BlockStatus::kNotRun;
    ran.result.refused =
        "This block equals one that failed, so it was not run again. Write it another way.";
  } else {
    run_.log.Add(0, "block.started", {{"block", number}, {"code", run_.log.Body(block.code)}});
    sandbox::RunOptions options{.cancel = run_.cancel};
    if (run_.ledger.limits().deadline) options.deadline = run_.ledger.limits().deadline;
    auto result = bench_->session().Run(block.code, options, bench_->handler());
    if (!result) return TurnEnd{.error = result.error()};
    ran.result = std::move(*result);
  }
  const sandbox::BlockResult& result = ran.result;
  JsonObject done{{"block", number},
                  {"status", sandbox::BlockStatusName(result.status)},
                  {"output", run_.log.Body(result.out + result.last)},
                  {"wall_ms", result.wall.count()},
                  {"cpu_ms", result.cpu.count()},
                  {"peak_bytes", result.peak_bytes}};
  if (result.error) done["error"] = RenderError(*result.error);
  run_.log.Add(0, "block.done", std::move(done));

  if (result.error) failed_.Add(block.code);
  if (result.status == sandbox::BlockStatus::kDied) {
    run_.log.Add(0, "sandbox.restarted", {{"reason", result.death_reason}});
    if (auto text = run_.prompts.Text("worker_restarted",
                                      {{"reason", result.death_reason},
                                       {"kept", Join(result.names_kept, ", ")},
                                       {"lost", Join(result.names_lost, ", ")}},
                                      run_.boundary)) {
      feedback->messages.emplace_back(TrimSpace(*text));
    }
  }
  const bool clean = result.status == sandbox::BlockStatus::kOk ||
                     result.status == sandbox::BlockStatus::kFinal;
  if (clean && !result.error) {
    ++clean_blocks_;
    clean_code_ = CodeKey(block.code);
    printed_.push_back(result.out + "\n" + result.last);
    printed_value_ = PrintedAnswer(printed_.back(), run_.request.question);
  }
  if (result.draft && !result.draft->empty()) draft_ = Offer{*result.draft, Source::kDraft, {}};
  std::optional<Offer> offer;
  if (result.answer) {
    offer = Offer{result.answer->text, SourceOf(result.answer->form), result.answer->value};
  }
  for (const auto& variable : ran.result.variables) names_.insert(variable.name);
  // An attempt that sees the results of another is no independent one.
  std::erase_if(ran.result.variables, [this](const sandbox::VariableInfo& variable) {
    return old_names_.contains(variable.name);
  });
  feedback->blocks.push_back(std::move(ran));
  if (!offer) return std::nullopt;
  return Decide(std::move(*offer), feedback);
}

CallLoop::TurnEnd CallLoop::WithoutCode(const Extraction& extraction, const BareAnswer& bare) {
  Feedback feedback;
  if (!extraction.feedback.empty()) feedback.messages.push_back(extraction.feedback);
  if (clean_blocks_ == 0 || printed_.empty()) ++failed_turns_;
  if (bare.form != BareAnswer::Form::kNone) {
    auto offer = Resolve(bare, &feedback);
    if (offer) return Decide(std::move(*offer), &feedback);
    return Continue(std::move(feedback));
  }
  if (auto offer = ProseAnswer(extraction.text_outside)) return Decide(std::move(*offer), &feedback);
  if (run_.small() && printed_value_ && !asked_is_it_) {
    asked_is_it_ = true;
    draft_ = Offer{*printed_value_, Source::kDraft, {}};
    if (auto text = run_.prompts.Text(
            "is_it", {{"question", run_.request.question}, {"value", *printed_value_}},
            run_.boundary)) {
      request_note_ = *text;
    }
    return Continue(std::move(feedback));
  }
  if (feedback.messages.empty()) {
    if (auto text = run_.prompts.Text("code_required", {}, run_.boundary)) {
      feedback.messages.emplace_back(TrimSpace(*text));
    }
  }
  return Continue(std::move(feedback));
}

// The value that a bare FINAL, FINAL_VAR or PARTIAL stands for.
std::optional<CallLoop::Offer> CallLoop::Resolve(const BareAnswer& bare, Feedback* feedback) {
  using Form = BareAnswer::Form;
  const auto variable = [&](const std::string& name) -> Result<std::string> {
    if (!bench_) return MakeError(ErrorCode::kNotFound, "no code has run yet");
    return bench_->session().Get(name, 10u << 20);
  };
  const Source source = bare.form == Form::kPartial ? Source::kPartial : Source::kFinal;
  bool by_name = bare.form == Form::kFinalVar;
  if (!by_name && bare.looks_like_name) {
    const NameMeaning meaning = ResolveName(
        bare.text, [&](std::string_view name) { return variable(std::string(name)).has_value(); },
        code_);
    by_name = meaning != NameMeaning::kLiteral;
  }
  if (!by_name) return Offer{bare.text, source, {}};
  auto value = variable(bare.text);
  if (value) {
    return Offer{*value, source == Source::kPartial ? source : Source::kFinalVar, {}};
  }
  feedback->messages.push_back(
      fmt::format("The answer names the variable {}: {}", bare.text, value.error().message));
  return std::nullopt;
}

// A small model often states the answer in a sentence instead of the asked form. If every number,
// quote and example value in it stands in what code printed, it is an answer (small-models 16).
std::optional<CallLoop::Offer> CallLoop::ProseAnswer(std::string_view text) const {
  const std::string_view prose = TrimSpace(text);
  if (!run_.small() || clean_blocks_ == 0 || printed_.empty() || prose.empty()) return std::nullopt;
  if (errors_in_a_row_ > 0 || prose.size() > kLongestProse) return std::nullopt;
  if (prose.find('?') != std::string_view::npos) return std::nullopt;
  const Grounding grounding =
      CheckGrounded(prose, run_.request.question, metadata_.hint_values, printed_);
  if (!grounding.grounded) return std::nullopt;
  return Offer{std::string(prose), Source::kBareText, {}};
}

// A small model that was shown an output and writes the same program again has nothing to add: the
// output is its answer (small-models 14, 16).
std::optional<CallLoop::Offer> CallLoop::RepeatedAnswer(std::string_view code) const {
  if (!run_.small() || printed_.empty() || CodeKey(code) != clean_code_) return std::nullopt;
  const std::string_view output = TrimSpace(printed_.back());
  if (output.empty() || output.size() > kLongestProse) return std::nullopt;
  return Offer{std::string(output), Source::kBareText, {}};
}

bool CallLoop::LastChance() const {
  return turn_ >= run_.iterations() || !run_.ledger.exhausted().empty();
}

GateSituation CallLoop::Situation() const {
  return {.clean_blocks = clean_blocks_,
          .last_chance = LastChance() ? GateSituation::LastChance::kYes
                                      : GateSituation::LastChance::kNo,
          .coverage = bench_ ? bench_->coverage().Share() : 0.0,
          .subcalls = bench_ && bench_->coverage().used() ? GateSituation::SubcallsUsed::kYes
                                                          : GateSituation::SubcallsUsed::kNo,
          .printed = &printed_};
}

CallLoop::TurnEnd CallLoop::Decide(Offer offer, Feedback* feedback) {
  run_.log.Add(0, "answer.offered",
               {{"source", SourceName(offer.source)}, {"value", run_.log.Body(offer.text)}});
  if (offer.source != Source::kPartial) {
    GateSituation situation = Situation();
    // A value that code hands over stands on the data it was computed from.
    std::vector<std::string> printed = printed_;
    if (offer.source != Source::kFinal || !feedback->blocks.empty()) {
      if (offer.source == Source::kFinalVar || offer.source == Source::kAnswerDict ||
          offer.source == Source::kSubmit) {
        printed.push_back(offer.text);
      }
    }
    situation.printed = &printed;
    if (auto refusal = gates_.Check(offer.text, situation)) {
      run_.log.Add(0, "answer.refused", {{"gate", refusal->gate}, {"reason", refusal->reason}});
      draft_ = std::move(offer);
      draft_->source = Source::kDraft;
      ++failed_turns_;
      if (auto text = run_.prompts.Text("final_refused", {{"reason", refusal->reason}},
                                        run_.boundary)) {
        feedback->messages.emplace_back(TrimSpace(*text));
      }
      return Continue(std::move(*feedback));
    }
  }
  return {.accepted = std::move(offer)};
}

FeedbackStyle CallLoop::Style() const {
  return {.profile = run_.profile,
          .depth = run_.request.limits.depth,
          .output_chars = run_.request.forcing == Forcing::kNone
                              ? std::numeric_limits<std::size_t>::max()
                              : run_.output_chars(),
          .share = run_.request.forcing == Forcing::kFull ? FeedbackStyle::Share::kLimited
                                                          : FeedbackStyle::Share::kWhole,
          .context_chars = metadata_.characters,
          .boundary = run_.boundary};
}

CallLoop::TurnEnd CallLoop::Continue(Feedback feedback) {
  if (bench_) feedback.failed_subcalls = bench_->subcalls().TakeFailures();
  if (!feedback.failed_subcalls.empty()) run_.log.Warn(0, "subcalls_failed");
  results_ = RenderFeedback(feedback, Style());
  if (results_.empty()) results_ = "No output.";
  if (errors_in_a_row_ >= run_.request.limits.errors) {
    limits_hit_.push_back(
        {"errors", Json(run_.request.limits.errors), Json(errors_in_a_row_)});
    return {.stop_reason = fmt::format("code failed in {} turns in a row", errors_in_a_row_)};
  }
  return {};
}

// The reason to stop asking, if a limit of the tree is used up.
std::optional<std::string> CallLoop::Exhausted() {
  const std::vector<std::string> names = run_.ledger.exhausted();
  if (names.empty()) return std::nullopt;
  return fmt::format("the limit of {} is reached", Join(names, " and "));
}

CallResult CallLoop::Finish(Offer offer, RunStatus status) {
  run_.log.Add(0, "answer.accepted",
               {{"source", SourceName(offer.source)}, {"status", RunStatusName(status)}});
  return {.status = status,
          .source = offer.source,
          .text = std::move(offer.text),
          .value = std::move(offer.value),
          .turns = std::min(turn_, run_.iterations()),
          .limits_hit = std::move(limits_hit_),
          .coverage_gate = gates_.coverage_state()};
}

CallResult CallLoop::KeepDraft(RunStatus status, std::optional<Error> error) {
  CallResult result{.status = status,
                    .turns = std::min(turn_, run_.iterations()),
                    .limits_hit = std::move(limits_hit_),
                    .error = std::move(error),
                    .coverage_gate = gates_.coverage_state()};
  if (!draft_ && printed_value_) draft_ = Offer{*printed_value_, Source::kDraft, {}};
  if (draft_ && !draft_->text.empty()) {
    result.source = Source::kDraft;
    result.text = std::move(draft_->text);
    if (status != RunStatus::kInterrupted) result.status = RunStatus::kPartial;
  }
  return result;
}

// The closing request (REC-59): plain text is the answer, code alone is none.
CallResult CallLoop::Extract(const std::string& reason) {
  run_.log.Add(0, "limit.reached", {{"reason", reason}});
  std::map<std::string, std::string> values = Values();
  values["results"] = results_;
  values["reason"] = reason;
  auto prompt = run_.prompts.Assemble("extract", run_.options.root, values,
                                      {{.name = "history", .turns = history_}}, run_.boundary,
                                      run_.reserve_output());
  if (!prompt) return KeepDraft(RunStatus::kNone, prompt.error());
  auto reply = Ask(*prompt, model::Purpose::kExtract, model::Stage::kFinish);
  if (!reply) {
    if (run_.cancel.cancelled()) return KeepDraft(RunStatus::kInterrupted, reply.error());
    return KeepDraft(RunStatus::kNone, reply.error().code == ErrorCode::kLimit
                                        ? std::nullopt
                                        : std::optional<Error>(reply.error()));
  }
  const Extraction extraction = ExtractCode(
      reply->text, {.finish = FinishOf(*reply),
                    .model = run_.small() ? ModelSize::kSmall : ModelSize::kLarge,
                    .compiles = [](std::string_view) { return false; }});
  const BareAnswer bare = FindBareAnswer(
      extraction.text_outside, run_.small() ? ModelSize::kSmall : ModelSize::kLarge);
  Feedback ignored;
  std::optional<Offer> offer;
  if (bare.form != BareAnswer::Form::kNone) offer = Resolve(bare, &ignored);
  if (!offer && !TrimSpace(extraction.text_outside).empty()) {
    offer = Offer{std::string(TrimSpace(extraction.text_outside)), Source::kExtract, {}};
  }
  if (!offer) return KeepDraft(RunStatus::kNone, std::nullopt);
  offer->source = Source::kExtract;
  return Finish(std::move(*offer), RunStatus::kExtracted);
}

}  // namespace dossier::recursion
