#include "ask/loop/call_loop.h"

#include <algorithm>

#include "ask/loop/direct_check.h"
#include "ask/loop/root_request.h"
#include "base/text/text.h"
#include "inspect/description/description.h"

namespace dossier::ask {
namespace {

// A closing request takes about as long as a turn's.
constexpr int kClosingReplies = 2;
constexpr Millis kLeastClosing{50};

// Returns "" without memory: then no prompt mentions it.
std::string MemoryText(const RunState& run) {
  if (!run.memory) return {};
  return run.shown_memory.text.empty() ? "(nothing yet)" : run.shown_memory.text;
}

// Returns how code asks about an image, in its language.
std::string MediaCall(sandbox::Dialect dialect) {
  return dialect == sandbox::Dialect::kPython ? "llm_query(prompt, media=\"NAME\")"
                                              : "await llm_query_with_media(prompt, \"NAME\")";
}

// Returns "" if no child may start: then no prompt mentions children.
std::string ChildrenWord(const RunState& run) {
  if (run.depth_left() < 2) return {};
  return run.dialect() == sandbox::Dialect::kPython ? "rlm_query" : "llm_query";
}

// Of a database only the schema is text, however short it is.
std::uint64_t CharactersToRead(const RunState& run, const Metadata& metadata) {
  std::uint64_t characters = metadata.characters;
  for (const ContextDocument& document : run.request.context->documents()) {
    if (document.database_file) characters += document.database_file->counts.bytes;
  }
  return characters;
}

GateContext MakeGateContext(const RunState& run, const Metadata& metadata) {
  return {.forcing = run.request.forcing,
          .checked = run.policy.checked,
          .question = run.request.question,
          .hint_values = metadata.hint_values,
          .context_chars = CharactersToRead(run, metadata)};
}

TranscriptStyle MakeTranscriptStyle(const RunState& run) {
  const driver::BoundModel& root = run.root;
  return {.counter = *root.counter,
          .tokens_per_message = root.entry.capability.tokens_per_message,
          .summary_tokens = SummaryTokens(root.entry.capability.window),
          .boundary = run.boundary};
}

// Returns true for a provider's permanent refusal: a retry of the same run would fail as well. A
// cut-off reply is not a refusal: the closing request may still be answered.
bool EndsRun(const Error& error) {
  return error.code != ErrorCode::kLimit && error.code != ErrorCode::kTooLong &&
         error.code != ErrorCode::kDied && error.code != ErrorCode::kPartial;
}

// Tells that code may write files, if it may.
std::string OutText(const RunState& run) {
  if (!run.request.out) return "";
  return run.dialect() == sandbox::Dialect::kPython
             ? "\n- Files for the user are written by code: save_file(\"table.csv\", text), or "
               "open(\"/out/table.csv\", \"w\"). They cannot be read back."
             : "\n- Files for the user are written by code: save_file(\"table.csv\", text). They "
               "cannot be read back.";
}

// In Python the fields of the wanted object are arguments, which its description explains.
std::string SubmitText(const RunState& run) {
  if (run.dialect() == sandbox::Dialect::kPython || !SchemaOf(run.request.requirements)) return "";
  return "\n- It is handed in as data: SUBMIT({value: data}), or SUBMIT({variable: \"name\"}).";
}

}  // namespace

CallLoop::CallLoop(RunState& run, const Metadata& metadata, MovedTurns& moved, OpenWorkbench open)
    : run_(run),
      metadata_(metadata),
      open_(std::move(open)),
      gates_(MakeGateContext(run, metadata)),
      ballot_(run.votes(), run.request.question),
      evidence_(run.request.question, metadata.hint_values),
      transcript_(MakeTranscriptStyle(run), moved),
      room_(run, transcript_),
      reader_(run, metadata.passages, metadata.hint) {}

CallResult CallLoop::Run() {
  KeepClosing();
  CountPlainAnswer();
  if (auto result = ReadFirst()) return std::move(*result);
  for (turn_ = 1; turn_ <= run_.iterations(); ++turn_) {
    if (auto reason = Exhausted()) return ballot_.empty() ? Close(*reason) : FinishVotes(*reason);
    if (run_.cancel.cancelled()) {
      return Interrupted(Error{ErrorCode::kCancelled, run_.cancel.reason()});
    }
    StartTurn();
    if (auto result = EndOfTurn(Turn())) return std::move(*result);
  }
  if (!ballot_.empty()) return FinishVotes("all turns are used");
  turn_ = run_.iterations();
  limits_hit_.push_back({"iterations", Json(run_.iterations()), Json(turn_)});
  return Close("all turns are used");
}

// The seconds left are those recorded for the turn when it is replayed from the journal.
void CallLoop::StartTurn() {
  if (const auto recorded = run_.log.Reuse("turn.started")) {
    seconds_left_ = FindInt(Json(*recorded), "seconds_left");
    return;
  }
  const auto left = run_.ledger.time_left(model::Stage::kNormal);
  seconds_left_ = left ? std::optional(left->count() / 1000) : std::nullopt;
  JsonObject data{
      {"turn", turn_}, {"turns", run_.iterations()}, {"calls", run_.ledger.use().calls}};
  if (seconds_left_) data["seconds_left"] = *seconds_left_;
  run_.log.Add("turn.started", std::move(data));
}

// A plain call's answer counts as an attempt if most readings agree, and always as a draft.
void CallLoop::CountPlainAnswer() {
  if (!run_.plain) return;
  draft_ = Offer{.text = run_.plain->text, .source = Source::kDirect, .doubt = run_.plain->doubt};
  if (run_.plain->leading.empty() || run_.votes() < 2) return;
  ballot_.Count({.text = run_.plain->leading, .source = Source::kDirect}, run_.plain->leading,
                Ballot::Chance::kMore);
}

// If the context is only text, where code finds no more than a reader would, a passage that states
// the answer ends the call before any code is written. It must pass every check on that passage
// alone.
std::optional<CallResult> CallLoop::ReadFirst() {
  // A fragment cut from a JSON value states nothing by itself.
  const bool data =
      std::ranges::any_of(run_.request.context->documents(), [](const ContextDocument& d) {
        return inspect::HasRecords(d.description) || d.description.format == inspect::Format::kJson;
      });
  // A plain call has already read everything without settling the question.
  if (data || run_.plain || !reader_.possible()) return std::nullopt;
  if (!run_.request.requirements.empty()) return std::nullopt;  // a sentence of the text is prose
  auto reading = reader_.Read();
  if (!reading) return std::nullopt;
  Offer offer{.text = std::move(reading->answer), .source = Source::kPassage};
  run_.log.Add("answer.offered",
               {{"source", SourceName(offer.source)}, {"value", run_.log.Body(offer.text)}});
  GateSituation situation = Situation(offer.text);
  situation.passages = reading->passage;
  situation.explored = GateSituation::Explored::kYes;
  // The model read the passage and judged what it is about, whatever its wording. The words of the
  // question decide only for a passage that it half believes.
  if (reading->clear) situation.rarity = nullptr;
  situation.passages_read = GateSituation::Passages::kNotRead;  // this one ranks clearly first
  if (const auto doubt = gates_.Doubt(offer.text, situation)) {
    run_.log.Add("answer.refused", {{"gate", doubt->gate}, {"reason", doubt->reason}});
    return std::nullopt;
  }
  const bool again = ChecksDirect(run_, offer.text);
  if (again ? !SaidAgain(offer.text) : !reading->clear) return std::nullopt;
  return Finish(std::move(offer), RunStatus::kFinal);
}

// Read alone, a passage on something similar looks right. So all passages are read together like a
// short context: most readings, which first copy their sentence, must give the same answer.
bool CallLoop::SaidAgain(const std::string& answer) {
  const DirectCheck check = CheckDirect(run_, metadata_.passages.text, answer);
  return check.settled &&
         LargestAgreeing({*check.settled, answer}, run_.request.question).size() == 2;
}

const std::vector<Passage>& CallLoop::passages_shown() const {
  return turns_replied_ > 0 ? metadata_.passages.places : reader_.passages_read();
}

// Returns the result that `end` implies, or none if another turn follows.
std::optional<CallResult> CallLoop::EndOfTurn(TurnEnd end) {
  if (end.accepted) {
    if (end.accepted->source != Source::kPartial) return TakeVote(std::move(*end.accepted));
    return Finish(std::move(*end.accepted), RunStatus::kPartial);
  }
  if (!end.stalled.empty()) {
    if (MayStartAfresh()) {
      StartAfresh();
      return std::nullopt;
    }
    run_.log.Warn("stalled", Json(end.stalled));
    end.stop_reason = std::move(end.stalled);
  }
  if (end.error && end.error->code == ErrorCode::kCancelled && !Exhausted()) {
    return Interrupted(std::move(*end.error));
  }
  // A vote that cannot continue loses nothing: the answers so far count.
  if (!ballot_.empty() && (end.error || !end.stop_reason.empty())) {
    return FinishVotes(end.error ? end.error->message : end.stop_reason);
  }
  if (end.error && EndsRun(*end.error) && end.error->code != ErrorCode::kCancelled) {
    return KeepDraft(RunStatus::kFailed, std::move(end.error));
  }
  if (end.error) return Close(end.error->message);
  if (!end.stop_reason.empty()) return Close(end.stop_reason);
  if (run_.policy.failed_turns && failed_turns_ >= *run_.policy.failed_turns) StartAfresh();
  return std::nullopt;
}

// Returns the result if the vote is decided; otherwise starts another attempt.
std::optional<CallResult> CallLoop::TakeVote(Offer offer) {
  auto decided = ballot_.Count(std::move(offer), Join(evidence_.shown(), "\n"),
                               LastChance() ? Ballot::Chance::kLast : Ballot::Chance::kMore);
  if (!decided) {
    StartAfresh();
    return std::nullopt;
  }
  RunStatus status = RunStatus::kFinal;
  if (ballot_.end() == Ballot::End::kDisagreed) {
    run_.log.Warn("votes_disagree",
                  Json(fmt::format("{0} attempts gave {0} different answers", ballot_.size())));
    status = RunStatus::kPartial;
  } else if (ballot_.end() == Ballot::End::kCutShort) {
    run_.log.Warn("votes_incomplete", Json("no turn is left for another attempt"));
    status = RunStatus::kPartial;
  } else if (ContradictsReadings(*decided)) {
    run_.log.Warn("votes_disagree",
                  Json(fmt::format("most readings of the context say: {}", run_.plain->leading)));
    status = RunStatus::kPartial;
  }
  return Finish(std::move(*decided), status);
}

bool CallLoop::ContradictsReadings(const Offer& decided) const {
  if (!run_.plain || run_.plain->leading.empty()) return false;
  return LargestAgreeing({run_.plain->leading, decided.text}, run_.request.question).size() < 2;
}

// Returns true if an attempt without progress may be replaced by a new one: for models that support
// it, while the temperature still rises and enough turns for code and an answer are left.
bool CallLoop::MayStartAfresh() const {
  return run_.policy.failed_turns && !Exhausted() && turn_ + 2 <= run_.iterations() &&
         attempt_ < static_cast<int>(run_.policy.temperatures.size());
}

// A model that fails repeatedly repeats itself in new words: the failed turns are removed from the
// history, the temperature rises, and the question is asked anew. The session keeps its variables.
void CallLoop::StartAfresh() {
  run_.log.Add("attempt.started", {{"attempt", ++attempt_}});
  transcript_.Clear();
  results_.clear();
  short_results_.clear();
  request_note_.clear();
  evidence_.StartAfresh();
  gates_.StartAfresh();
  all_subcalls_.unsure_labels = 0;
  newest_block_ = {};
  untold_ = {};
  asked_is_it_ = false;
  failed_turns_ = 0;
  errors_in_a_row_ = 0;
  stall_ = StallWatch();
  cut_replies_ = StallWatch();
}

CallLoop::TurnEnd CallLoop::Turn() {
  auto prompt = AssembleTurn();
  if (!prompt) return {.error = prompt.error()};
  auto reply = AskTurn(*prompt);
  if (!reply) return {.error = reply.error()};
  if (++turns_replied_ == 1) KeepClosing();
  if (!results_.empty()) shown_results_.push_back(results_);
  // Sent messages join the history unchanged, so that prefixes stay equal.
  if (!transcript_.empty() && !prompt->messages.turns.empty()) {
    transcript_.AddOutput(turn_ - 1, prompt->messages.turns.back().Text(), short_results_);
  }
  std::string said = reply->text;
  if (run_.dialect() == Dialect::kJavaScript) {
    // Without the call itself the history needs no result for it.
    for (const model::ToolCall& call : reply->tool_calls) {
      said += fmt::format("{}{}", said.empty() ? "" : "\n", SubmissionCode(call));
    }
  }
  transcript_.AddReply(turn_, TrimSpace(said).empty() ? "(empty reply)" : std::move(said));
  return Act(*reply);
}

// A model that repeats itself gets another turn instead of more room. While waiting for a reply,
// only the time that a closing request has been seen to need is reserved: a final answer may come
// late, code that still has to run may not.
Result<model::Reply> CallLoop::AskTurn(const assembly::Assembled& prompt) {
  std::string partial;
  const RootRequest about{.turn = turn_,
                          .attempt = attempt_,
                          .grammar = ReplyGrammar(),
                          .hint = turn_ == 1 ? metadata_.hint : std::string_view(),
                          .partial = &partial};
  model::FinishReserve kept = kept_;
  kept.time = TimeBehindReply();
  KeepBack(kept);
  const auto left = run_.ledger.time_left(model::Stage::kFinish);
  Result<model::Reply> reply = AskRoot(run_, prompt, about);
  if (reply && IsCut(*reply) && !run_.policy.repeats_itself) {
    reply = AskAgain(run_, prompt, about, std::move(*reply));
  }
  KeepBack(kept_);
  if (reply && left) {
    longest_reply_ =
        std::max(longest_reply_, *left - *run_.ledger.time_left(model::Stage::kFinish));
  }
  if (!reply && reply.error().code == ErrorCode::kLimit) {
    if (auto arrived = ArrivedFinal(std::move(partial))) return std::move(*arrived);
  }
  return reply;
}

// Returns the time reserved for the closing request while waiting for a reply. Before the first
// reply there is no evidence that a closing one would be faster.
Millis CallLoop::TimeBehindReply() const {
  if (turns_replied_ == 0) return Millis(0);
  return std::min(kept_.time, std::max(kClosingReplies * longest_reply_, kLeastClosing));
}

// Returns the part of a reply that had arrived when time ran out, if it contains the answer.
std::optional<model::Reply> CallLoop::ArrivedFinal(std::string partial) const {
  // The last line may be incomplete.
  if (!partial.ends_with(')')) partial.resize(partial.find_last_of('\n') + 1);
  const Extraction extraction =
      ExtractCode(partial, {.finish = ReplyFinish::kLength,
                            .model = tolerance(),
                            .compiles = [](std::string_view) { return false; }});
  if (!extraction.blocks.empty()) return std::nullopt;
  const BareAnswer bare = FindBareAnswer(extraction.text_outside, tolerance());
  if (bare.form == BareAnswer::Form::kNone) return std::nullopt;
  return model::Reply{.text = std::move(partial)};
}

Result<assembly::Assembled> CallLoop::FirstPrompt() {
  turn_ = 1;
  return AssembleTurn();
}

std::map<std::string, std::string> CallLoop::Values() const {
  return {{"children", ChildrenWord(run_)},
          {"max_subcall_chars", std::to_string(run_.max_subcall_chars)},
          {"documents", metadata_.documents},
          {"doc_count", metadata_.doc_count},
          {"total_chars", metadata_.total_chars},
          {"doc_sizes_list", metadata_.doc_sizes},
          {"doc_unlisted", metadata_.doc_unlisted},
          {"hint", metadata_.hint},
          {"passages", metadata_.passages.text},
          {"access", metadata_.access},
          {"memory", MemoryText(run_)},
          {"requirements",
           RequirementsText(run_.request.requirements) + SubmitText(run_) + OutText(run_)},
          {"caller_tools", DescribeTools(run_.request.tools)},
          {"media", run_.depth_left() > 0 ? DescribeMedia(run_.request.media) : ""},
          {"media_call", MediaCall(run_.dialect())},
          {"question", run_.request.question}};
}

Result<assembly::Assembled> CallLoop::AssembleTurn() {
  std::map<std::string, std::string> values = Values();
  if (!transcript_.empty()) {
    std::string reminder = request_note_;
    if (reminder.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(
          reminder, run_.prompts.Text(failed_turns_ > 0 ? "reminder_retry" : "reminder", values,
                                      run_.boundary));
    }
    const bool last = turn_ == run_.iterations();
    DOSSIER_ASSIGN_OR_RETURN(const std::string last_turn,
                             run_.prompts.Text("last_turn", {}, run_.boundary));
    // A large model is not told to continue and to stop at the same time.
    if (last && run_.policy.tolerance == ModelSize::kLarge) reminder.clear();
    if (last) reminder += fmt::format("{}{}", reminder.empty() ? "" : "\n", TrimSpace(last_turn));
    values["results"] = results_;
    values["reminder"] = std::string(TrimSpace(reminder));
    values["turn"] = std::to_string(turn_);
    values["turns"] = std::to_string(run_.iterations());
    values["budget"] = BudgetLine();
  }
  request_note_.clear();
  return room_.Assemble("turn", values, {.turn = turn_, .attempt = attempt_});
}

// With a grammar, the first reply must be one code block, later ones a block or a final line:
// otherwise the model guesses before it has seen anything, or writes about the task. The passages
// may contain the answer.
std::string CallLoop::ReplyGrammar() const {
  if (!HoldsToGrammar()) return {};
  constexpr std::string_view kBlock =
      "block ::= \"```python\\n\" line+ \"```\"\n"
      "line ::= [^`\\n] [^\\n]* \"\\n\" | \"\\n\"\n";
  if (!evidence_.printed_anything() && metadata_.passages.text.empty()) {
    return fmt::format("root ::= block\n{}", kBlock);
  }
  return fmt::format("root ::= block | final\nfinal ::= \"FINAL: \" [^\\n]+\n{}", kBlock);
}

std::string CallLoop::BudgetLine() const {
  std::string line;
  // A default limit is mentioned once half of it is used.
  const std::int64_t limit = run_.request.limits.calls;
  const auto calls = run_.ledger.calls_left();
  if (calls && (limit != AskLimits().calls || *calls <= limit / 2)) {
    line += fmt::format("Calls left: {}.", *calls);
  }
  if (const auto tokens = run_.ledger.tokens_left()) {
    line += fmt::format(" Tokens left: {}.", *tokens);
  }
  if (seconds_left_) line += fmt::format(" Seconds left: {}.", *seconds_left_);
  if (const auto usd = UsdLeft(run_.ledger)) {
    line += fmt::format(" US dollars left: {:.4f}.", *usd);
  }
  return std::string(TrimSpace(line));
}

}  // namespace dossier::ask
