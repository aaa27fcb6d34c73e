// Processes one reply of a call: runs its code, checks its answer, writes the feedback.

#include <algorithm>
#include <limits>
#include <set>

#include "ask/claims/shown_texts.h"
#include "ask/loop/call_loop.h"
#include "ask/loop/direct.h"
#include "ask/loop/root_request.h"
#include "ask/policy/counted_text.h"
#include "ask/reply/reply_text.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr Millis kLongestBehindCalls{1'000};
constexpr std::uint64_t kLookedAt = 1u << 20;  // bytes of a variable named by a final answer

// Returns true if a value shown this way may be other than text: a number, a list, a dict.
bool IsStructured(std::string_view text) {
  return !text.empty() && (std::string_view("[{(-").find(text[0]) != text.npos || IsDigit(text[0]));
}

// Returns the names for the journal, up to a limit, with the beginning of each value.
JsonArray VariablesJson(const std::vector<sandbox::VariableInfo>& variables) {
  constexpr std::size_t kMost = 50;
  JsonArray list;
  for (const sandbox::VariableInfo& one : variables) {
    if (list.size() == kMost) break;
    list.push_back(JsonObject{
        {"name", one.name}, {"type", one.type}, {"size", one.size}, {"preview", one.preview}});
  }
  return list;
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

// `FINAL: 11` alone in a fence is valid Python, but was meant as the answer.
bool IsOnlyFinal(const Extraction& extraction) {
  if (extraction.blocks.size() != 1) return false;
  const std::string_view code = TrimSpace(extraction.blocks[0].code);
  return code.starts_with("FINAL:") && code.find('\n') == std::string_view::npos;
}

// Passes calls on and notes the documents whose records code requests: a session asks for the
// number and the fields of the rows once, before the first of them.
class RecordsWatch final : public sandbox::BridgeHandler {
 public:
  RecordsWatch(sandbox::BridgeHandler& handler, std::set<std::size_t>& used)
      : handler_(handler), used_(used) {}

  void OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) override {
    if (call.method == "records_info") {
      const Json* document = call.args.if_contains("ctx");
      const std::int64_t index = document && document->is_int64() ? document->get_int64() : 0;
      if (index >= 0) used_.insert(static_cast<std::size_t>(index));
    }
    handler_.OnCall(std::move(call), std::move(reply));
  }

 private:
  sandbox::BridgeHandler& handler_;
  std::set<std::size_t>& used_;
};

// For old output: its first and last 300 characters.
FeedbackStyle ShortStyle(FeedbackStyle style) {
  style.output_chars = 600;
  style.cut = Cut::kMiddle;
  return style;
}

}  // namespace

Status CallLoop::NeedWorkbench() {
  if (bench_) return {};
  DOSSIER_ASSIGN_OR_RETURN(bench_, open_());
  return {};
}

bool CallLoop::MayHoldNames() const { return bench_ || !run_.request.session.past.empty(); }

Extraction CallLoop::Extract(const model::Reply& reply) {
  ExtractionOptions options;
  options.dialect = run_.dialect();
  options.finish = FinishOf(reply);
  options.model = tolerance();
  options.compiles = [this](std::string_view code) {
    if (!NeedWorkbench()) return true;  // the block itself reports why there is no session
    const auto checked = bench_->session().Check(code);
    return checked && checked->ok;
  };
  Extraction extraction = ExtractCode(reply.text, options);
  if (tolerance() == ModelSize::kSmall && IsOnlyFinal(extraction)) extraction.blocks.clear();
  JsonArray blocks;
  for (const CodeBlock& block : extraction.blocks) {
    blocks.push_back(JsonObject{{"code", run_.log.Body(block.code)}, {"tag", block.tag}});
  }
  run_.log.Add("code.extracted", {{"turn", turn_},
                                  {"blocks", std::move(blocks)},
                                  {"repairs", boost::json::value_from(extraction.repairs)},
                                  {"ignored", boost::json::value_from(extraction.ignored_tags)}});
  return extraction;
}

CallLoop::TurnEnd CallLoop::Act(const model::Reply& reply) {
  const Extraction extraction = Extract(reply);
  evidence_.NoteAsked(reply.text);
  if (const auto submission = SubmissionOf(reply, extraction)) {
    return TakeSubmission(*submission, extraction.blocks.size());
  }
  BareAnswer bare = FindBareAnswer(extraction.text_outside, tolerance());
  if (IsCut(reply)) {
    if (extraction.blocks.empty() && !run_.policy.repeats_itself) return CutTwice(reply, bare);
    bare = {};  // its end is missing
  } else if (tolerance() == ModelSize::kSmall && bare.form == BareAnswer::Form::kNone &&
             extraction.blocks.empty()) {
    bare = FindBareAnswer(WithoutFenceLines(reply.text), tolerance());
  }
  const int ran_before = blocks_run_;
  TurnEnd end =
      extraction.blocks.empty() ? WithoutCode(extraction, bare) : RunBlocks(extraction, bare);
  if (end.accepted || end.error || !end.stop_reason.empty()) return end;
  end.stalled = Stalled(
      reply, blocks_run_ > ran_before ? StallWatch::Ran::kBlocks : StallWatch::Ran::kNothing);
  return end;
}

std::optional<Submission> CallLoop::SubmissionOf(const model::Reply& reply,
                                                 const Extraction& extraction) const {
  if (run_.dialect() != Dialect::kJavaScript) return std::nullopt;
  if (IsCut(reply) && reply.tool_calls.empty()) return std::nullopt;
  return FindSubmission(reply.tool_calls, extraction.text_outside,
                        run_.root.entry.tools ? ToolUse::kOffered : ToolUse::kNotOffered);
}

void WarnOfTexts(const CallLog& log) {
  log.Warn("numbers_as_text",
           Json("numbers that JSON cannot hold are texts in the answer's value"));
}

Offer CallLoop::OfferOf(const sandbox::HandedAnswer& answer, Source source) {
  return {.text = answer.text,
          .source = source,
          .value = answer.value,
          .numbers_as_text = answer.numbers_as_text};
}

// The session knows what may be handed in and reports what is wrong with anything else.
Result<sandbox::BlockResult> CallLoop::RunSubmission(const std::string& code) {
  DOSSIER_RETURN_IF_ERROR(NeedWorkbench());
  const sandbox::BlockOptions options{
      .times =
          [this] {
            return sandbox::BlockTimes{.deadline = run_.ledger.deadline(run_.closing_stage())};
          },
      .cancel = run_.cancel};
  return bench_->session().Run(code, options, bench_->handler());
}

CallLoop::TurnEnd CallLoop::TakeSubmission(const Submission& submission, std::size_t blocks) {
  Feedback feedback;
  if (blocks > 0) {
    run_.log.Warn("mixed_submit_and_code", Json(JsonObject{{"count", blocks}}));
    feedback.messages.emplace_back(
        "The code in your reply was not run: SUBMIT in the same reply goes before it.");
  }
  if (submission.count > 1) {
    feedback.messages.push_back(
        fmt::format("Your reply held {} SUBMITs, and none was taken. Send the one that counts.",
                    submission.count));
    return Continue(std::move(feedback));
  }
  auto result = RunSubmission(submission.code);
  if (!result) return {.error = result.error()};
  if (result->answer) {
    evidence_.AddHanded(submission.code, *result);
    return Decide(OfferOf(*result->answer, Source::kSubmit), &feedback);
  }
  const std::string reason = result->error ? result->error->message : result->refused;
  run_.log.Add("answer.refused", {{"gate", "submit"}, {"reason", reason}});
  feedback.messages.push_back(reason.empty() ? "SUBMIT handed nothing in." : reason);
  return Continue(std::move(feedback));
}

std::string CallLoop::Stalled(const model::Reply& reply, StallWatch::Ran ran) {
  std::string stalled(stall_.Note({.ran = ran, .output = results_}));
  if (!IsCut(reply)) {
    cut_replies_ = StallWatch();
    return stalled;
  }
  const auto same = cut_replies_.Note({.ran = StallWatch::Ran::kBlocks, .output = reply.text});
  if (!stalled.empty() || same.empty()) return stalled;
  return "three replies in a row were cut, all at the same text";
}

// The reply was cut off again despite more room: what it has of an answer is handed in as partial.
CallLoop::TurnEnd CallLoop::CutTwice(const model::Reply& reply, const BareAnswer& bare) {
  std::string said = WarnOfCut(run_, reply, fmt::format("turn {}, asked twice: {{}}", turn_));
  if (bare.form != BareAnswer::Form::kNone && bare.form != BareAnswer::Form::kFinalVar) {
    draft_ = Offer{.text = bare.text, .source = Source::kDraft, .doubt = said};
  }
  return {.error = Error{ErrorCode::kPartial, std::move(said)}};
}

CallLoop::TurnEnd CallLoop::RunBlocks(const Extraction& extraction, const BareAnswer& bare) {
  Feedback feedback;
  const bool unclear = extraction.blocks.size() > 1 || !extraction.repairs.empty();
  if (unclear && run_.request.forcing == Forcing::kFull) feedback.echo = Feedback::Echo::kYes;
  if (!extraction.feedback.empty()) feedback.messages.push_back(extraction.feedback);
  bool raised = false;
  std::size_t index = 0;
  BlockEnd end;
  for (; index < extraction.blocks.size(); ++index) {
    end = RunBlock(extraction.blocks[index], &feedback);
    raised = raised || end.kind == BlockEnd::Kind::kRaised;
    if (end.offer || end.error || run_.request.blocks == BlockPolicy::kFirst) break;
    const bool whole = end.kind == BlockEnd::Kind::kWhole;
    if (!whole && run_.request.blocks == BlockPolicy::kUntilError) break;
  }
  feedback.blocks_not_run =
      extraction.blocks.size() - std::min(index + 1, extraction.blocks.size());
  if (feedback.blocks_not_run > 0) {
    run_.log.Warn("blocks_not_run", Json(JsonObject{{"count", feedback.blocks_not_run}}));
  }
  if (end.error) return {.error = std::move(end.error)};
  errors_in_a_row_ = raised ? errors_in_a_row_ + 1 : 0;
  if (end.offer) return Decide(std::move(*end.offer), &feedback);
  return AfterAllBlocks(bare, std::move(feedback));
}

// All blocks ran and none handed in an answer.
CallLoop::TurnEnd CallLoop::AfterAllBlocks(const BareAnswer& bare, Feedback feedback) {
  const bool raised = errors_in_a_row_ > 0;
  const bool ran = feedback.blocks.back().result.status == sandbox::BlockStatus::kOk;
  failed_turns_ = raised || !ran ? failed_turns_ + 1 : 0;
  if (bare.form == BareAnswer::Form::kNone) return Continue(std::move(feedback));
  if (bare.form == BareAnswer::Form::kFinalVar && !raised && ran &&
      run_.policy.takes_final_beside_code) {
    if (auto offer = Resolve(bare, &feedback)) return Decide(std::move(*offer), &feedback);
  } else {
    // It was written before the output existed.
    run_.log.Warn("final_ignored");
    feedback.messages.push_back(
        "The final answer in the same reply as code was ignored: it was written before the output "
        "existed.");
  }
  return Continue(std::move(feedback));
}

CallLoop::BlockEnd CallLoop::RunBlock(const CodeBlock& block, Feedback* feedback) {
  if (Status ready = NeedWorkbench(); !ready) return {.error = ready.error()};
  if (run_.policy.finds_answers_in_outputs) {
    if (auto offer = evidence_.RepeatedAnswer(block.code)) return {.offer = std::move(offer)};
  }
  TakeTally();
  auto result = Execute(block.code);
  newest_block_ = TakeTally();
  if (!result) return {.error = result.error()};
  NoteResult(block.code, *result, feedback);
  BlockEnd end{.kind = KindOf(*result)};
  if (result->answer) {
    evidence_.AddHanded(block.code, *result);
    end.offer = OfferOf(*result->answer, SourceOf(result->answer->form));
  }
  evidence_.NoteNames(&result->variables);
  variables_ = result->variables;
  feedback->blocks.push_back({.code = block.code, .result = std::move(*result)});
  return end;
}

// A block that was stopped or that killed its worker did not run to its end either.
CallLoop::BlockEnd::Kind CallLoop::KindOf(const sandbox::BlockResult& result) {
  using Status = sandbox::BlockStatus;
  if (result.status == Status::kNotRun) return BlockEnd::Kind::kRefused;
  const bool ended = result.status == Status::kOk || result.status == Status::kFinal;
  return ended && !result.error ? BlockEnd::Kind::kWhole : BlockEnd::Kind::kRaised;
}

Result<sandbox::BlockResult> CallLoop::Execute(const std::string& code) {
  const int number = ++blocks_run_;
  evidence_.AddCode(code);
  sandbox::BlockResult result;
  if (failed_.Holds(code)) {
    result.status = sandbox::BlockStatus::kNotRun;
    result.refused =
        "This block equals one that failed, so it was not run again. Write it another way.";
  } else {
    run_.log.Add("block.started", {{"block", number}, {"code", run_.log.Body(code)}});
    // When the time for sub-calls ends, code still gets what they gave, and prints or names it.
    const Millis behind_calls = std::min(kLongestBehindCalls, kept_.time / 4);
    const sandbox::BlockOptions options{
        .times =
            [this, behind_calls] {
              auto deadline = run_.ledger.deadline(model::Stage::kNormal);
              if (deadline) *deadline += behind_calls;
              return sandbox::BlockTimes{.deadline = deadline,
                                         .end = run_.ledger.deadline(model::Stage::kFinish)};
            },
        .cancel = run_.cancel};
    RecordsWatch watch(bench_->handler(), records_used_);
    DOSSIER_ASSIGN_OR_RETURN(result, bench_->session().Run(code, options, watch));
  }
  JsonObject done{{"block", number},
                  {"status", sandbox::BlockStatusName(result.status)},
                  {"output", run_.log.Body(result.out + result.last)},
                  {"wall_ms", result.wall.count()},
                  {"cpu_ms", result.cpu.count()},
                  {"peak_bytes", result.peak_bytes}};
  if (result.error) done["error"] = RenderError(*result.error);
  if (!result.refused.empty()) done["refused"] = result.refused;
  if (!result.stopped.empty()) done["stopped"] = result.stopped;
  if (!result.variables.empty()) done["variables"] = VariablesJson(result.variables);
  run_.log.Add("block.done", std::move(done));
  return result;
}

// Updates the state for later turns from a block's result.
void CallLoop::NoteResult(const std::string& code, const sandbox::BlockResult& result,
                          Feedback* feedback) {
  if (result.error) failed_.Add(code);
  if (result.status == sandbox::BlockStatus::kDied) {
    run_.log.Add("sandbox.restarted", {{"reason", result.death_reason}});
    if (auto text = run_.prompts.Text("worker_restarted",
                                      {{"reason", result.death_reason},
                                       {"kept", Join(result.names_kept, ", ")},
                                       {"lost", Join(result.names_lost, ", ")}},
                                      run_.boundary)) {
      feedback->messages.emplace_back(TrimSpace(*text));
    }
  }
  const bool clean =
      result.status == sandbox::BlockStatus::kOk || result.status == sandbox::BlockStatus::kFinal;
  if (clean && !result.error) {
    evidence_.AddClean(code, result, SeenOutput(result, Style()));
  } else if (run_.policy.checked == ModelPolicy::Checked::kNumbers) {
    // A small model mistakes output next to an error for an answer.
    evidence_.AddRaised(result, SeenOutput(result, Style()));
  }
  for (const sandbox::ReadPart& part : result.read) {
    bench_->coverage().AddReadByCode(part.context, part.at, part.length);
  }
  if (result.draft && !result.draft->empty()) {
    draft_ = Offer{.text = *result.draft, .source = Source::kDraft};
  }
}

CallLoop::TurnEnd CallLoop::WithoutCode(const Extraction& extraction, const BareAnswer& bare) {
  Feedback feedback;
  if (!extraction.feedback.empty()) feedback.messages.push_back(extraction.feedback);
  if (!evidence_.printed_anything()) ++failed_turns_;
  if (bare.form != BareAnswer::Form::kNone) {
    if (auto offer = Resolve(bare, &feedback)) return Decide(std::move(*offer), &feedback);
    return Continue(std::move(feedback));
  }
  if (FitsSchema(extraction.text, run_.request.requirements)) {
    return Decide({.text = extraction.text, .source = Source::kFinal}, &feedback);
  }
  if (run_.policy.finds_answers_in_outputs && errors_in_a_row_ == 0) {
    if (auto offer = evidence_.ProseAnswer(extraction.text_outside)) {
      return Decide(std::move(*offer), &feedback);
    }
  }
  const auto value = run_.policy.finds_answers_in_outputs && !asked_is_it_
                         ? evidence_.PrintedValue(WantedKind())
                         : std::optional<std::string>();
  if (value) {
    asked_is_it_ = true;
    if (auto text = run_.prompts.Text(
            "is_it", {{"question", run_.request.question}, {"value", *value}}, run_.boundary)) {
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

// Returns true if a final is code that computes something from the session's variables: f"{n}
// jobs", len(rows). Prose that merely parses ("red, blue") does not count.
bool CallLoop::Computes(const BareAnswer& bare) {
  using Form = BareAnswer::Form;
  if ((bare.form != Form::kFinal && bare.form != Form::kPartial) || bare.names_value())
    return false;
  if (bare.text.find_first_of("([{'\"") == std::string::npos && !MayHoldNames()) return false;
  if (!NeedWorkbench()) return false;  // then no code has run either
  const auto checked = bench_->session().Check(fmt::format("({})", bare.text));
  return checked && checked->ok && checked->computes;
}

std::optional<Offer> CallLoop::RunAnswer(const BareAnswer& bare, Feedback* feedback) {
  const bool partial = bare.form == BareAnswer::Form::kPartial;
  const std::size_t before = feedback->blocks.size();
  BlockEnd end =
      RunBlock({.code = fmt::format("{}({})", partial ? "PARTIAL" : "FINAL", bare.text)}, feedback);
  if (end.offer) return end.offer;
  std::string reason = "The final answer is code, which gave no value.";
  if (end.error) reason = fmt::format("The final answer could not be run: {}", end.error->message);
  if (feedback->blocks.size() > before && feedback->blocks.back().result.error) {
    const sandbox::BlockError& error = *feedback->blocks.back().result.error;
    reason = fmt::format("The final answer was run as code, which raised {}: {}", error.type,
                         error.message);
  }
  return RefuseOnce(bare, std::move(reason), feedback);
}

// Sends a final without a value back once. The second time its text is the answer, with a doubt.
std::optional<Offer> CallLoop::RefuseOnce(const BareAnswer& bare, std::string reason,
                                          Feedback* feedback) {
  if (refused_final_) {
    return Offer{.text = bare.text,
                 .source = Source::kFinal,
                 .failed_check = "final",
                 .doubt = std::move(reason)};
  }
  refused_final_ = true;
  run_.log.Add("answer.refused", {{"gate", "final"}, {"reason", reason}});
  feedback->messages.push_back(std::move(reason));
  return std::nullopt;
}

// Returns the value that a bare FINAL, FINAL_VAR or PARTIAL means.
std::optional<Offer> CallLoop::Resolve(const BareAnswer& bare, Feedback* feedback) {
  using Form = BareAnswer::Form;
  if (bare.form == Form::kFinal && bare.text == "None" && !bare.quoted) {
    return RefuseOnce(bare,
                      "FINAL(None) is not an answer. If nothing was found, say so in words, or in "
                      "quotes: FINAL(\"None\").",
                      feedback);
  }
  if (Computes(bare)) return RunAnswer(bare, feedback);
  const auto variable = [&](const std::string& name) -> Result<std::string> {
    if (!MayHoldNames()) return MakeError(ErrorCode::kNotFound, "no code has run yet");
    DOSSIER_RETURN_IF_ERROR(NeedWorkbench());
    return bench_->session().Get(name, kLookedAt);
  };
  const Source source = bare.form == Form::kPartial ? Source::kPartial : Source::kFinal;
  bool by_name = bare.form == Form::kFinalVar;
  if (!by_name && bare.looks_like_name) {
    const NameMeaning meaning = ResolveName(
        bare.text, [&](std::string_view name) { return variable(std::string(name)).has_value(); },
        evidence_.code());
    by_name = meaning != NameMeaning::kLiteral;
  }
  if (!by_name) {
    // In FINAL("…") the quotation marks belong to the code.
    const bool quoted = bare.quoted && bare.form == Form::kFinalText;
    return Offer{.text = bare.text,
                 .source = source,
                 .quoted = quoted ? Offer::Quoted::kYes : Offer::Quoted::kNo};
  }
  auto value = variable(bare.text);
  if (!value) {
    return RefuseOnce(
        bare, fmt::format("The answer names the variable {}: {}", bare.text, value.error().message),
        feedback);
  }
  if (TrimSpace(*value).empty()) {
    return RefuseOnce(bare, fmt::format("The variable {} holds an empty text.", bare.text),
                      feedback);
  }
  Offer offer{.text = *value, .source = source == Source::kPartial ? source : Source::kFinalVar};
  // The session hands in a value that is not text, or too long to examine, whole and with its type.
  // Also one of an earlier question, since the session knows what it was made from.
  if (value->size() >= kLookedAt || IsStructured(*value) ||
      (bench_->read_before() && !evidence_.touched_data())) {
    Feedback unused;
    // By name, as the value may be a text; and used, so that the worker sees where it comes from.
    const std::string code = fmt::format("{0}; FINAL_VAR(\"{0}\")", bare.text);
    const BlockEnd end = RunBlock({.code = code}, &unused);
    if (end.offer) {
      offer.text = end.offer->text;
      offer.value = end.offer->value;
    } else if (value->size() >= kLookedAt) {
      return RefuseOnce(bare,
                        fmt::format("The variable {} cannot be handed over: {}", bare.text,
                                    end.error ? end.error->message : "it is too large"),
                        feedback);
    }
  }
  return offer;
}

FeedbackStyle CallLoop::Style() const {
  return {.depth = run_.depth_left(),
          .output_chars = run_.request.forcing == Forcing::kNone
                              ? std::numeric_limits<std::size_t>::max()
                              : run_.output_chars(),
          .cut = run_.policy.output_cut,
          .share = run_.request.forcing == Forcing::kFull ? FeedbackStyle::Share::kLimited
                                                          : FeedbackStyle::Share::kWhole,
          .context_chars = metadata_.characters,
          .observe = run_.request.observe,
          .boundary = run_.boundary,
          .dialect = run_.dialect()};
}

CallLoop::TurnEnd CallLoop::Continue(Feedback feedback) {
  TakeTally();
  feedback.subcalls = std::exchange(untold_, {});
  results_ = RenderFeedback(feedback, Style());
  if (results_.empty()) results_ = "No output.";
  short_results_ = RenderFeedback(feedback, ShortStyle(Style()));
  if (errors_in_a_row_ >= run_.request.limits.errors) {
    limits_hit_.push_back({"errors", Json(run_.request.limits.errors), Json(errors_in_a_row_)});
    return {.stop_reason = fmt::format("code failed in {} turns in a row", errors_in_a_row_)};
  }
  return {};
}

}  // namespace dossier::ask
