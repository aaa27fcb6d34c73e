// Ends a call: with an answer, with the closing request, or with what was kept.

#include "ask/documents/served_document.h"
#include "ask/loop/call_loop.h"
#include "ask/loop/feedback.h"
#include "ask/loop/root_request.h"
#include "ask/reply/citations.h"
#include "ask/reply/reply_text.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kVariablesAtEnd = 50;
// The reserve for the closing request: a share of each limit, at least what the bare prompt and a
// short reply need, and at most what a few outputs and a long reply need.
constexpr std::int64_t kClosingShare = 4;
constexpr std::int64_t kClosingReply = 256, kClosingResults = 3'000;  // tokens
constexpr int kClosingTimeShare = 10;
constexpr Millis kLongestClosing{20'000};
constexpr Millis kShortestClosing{400};  // code that does not stop uses half of it
// How many files with unreadable rows are named one by one, and code points of the reasons.
constexpr int kSkippedFilesTold = 5;
constexpr std::size_t kReasonsTold = 160;

// Returns "200 of 400 rows", or "1 row" if the total is unknown.
std::string RowsSkipped(const inspect::Description& description) {
  const std::uint64_t skipped = SkippedRowsOf(description).count;
  const auto found = description.records.value_or(inspect::RecordSummary{});
  if (found.exactness == inspect::Exactness::kExact) {
    return fmt::format("{} of {} rows", GroupDigits(skipped), GroupDigits(found.records + skipped));
  }
  return fmt::format("{} {}", GroupDigits(skipped), skipped == 1 ? "row" : "rows");
}

// A limit that prevents a closing request is reported in `limits_hit`, not as a failure.
std::optional<Error> UnlessLimit(const Error& error) {
  return error.code == ErrorCode::kLimit ? std::nullopt : std::optional<Error>(error);
}

// What a closing reply says. A fence is part of it beside prose, and alone it is all of it; but no
// block runs any more, so code alone says nothing, nor does code that would hand an answer in, nor
// half a block at the end of a reply that was cut.
std::string ClosingText(const Extraction& extraction, ModelSize size) {
  const auto said = [](std::string_view text) {
    return std::string(TrimSpace(WithoutFinalLines(text)));
  };
  std::string outside = said(extraction.text_outside);
  const std::string plain = WithoutFenceLines(extraction.text);
  if (FindBareAnswer(plain, size).form != BareAnswer::Form::kNone) return outside;
  if (!outside.empty()) return said(extraction.text);
  return extraction.blocks.empty() && !extraction.half_block ? said(plain) : std::string();
}

}  // namespace

bool CallLoop::LastChance() const {
  return turn_ >= run_.iterations() || !run_.ledger.exhausted().empty();
}

// Returns the reason to stop asking, if a limit of the tree is used up.
std::optional<std::string> CallLoop::Exhausted() const {
  const std::vector<std::string> names = run_.ledger.exhausted();
  if (names.empty()) return std::nullopt;
  for (const std::string& name : names) run_.ledger.NoteHit(name);  // it prevents the next step
  return fmt::format("the limit of {} is reached", Join(names, " and "));
}

// Warns the user, whatever code did about it, that counts do not include unreadable rows. This is
// not a doubt: what was found in the other rows is still right.
void CallLoop::WarnOfSkippedRows() {
  const auto& documents = run_.request.context->documents();
  std::uint64_t more_files = 0, more_rows = 0;
  int told = 0;
  for (const std::size_t index : std::exchange(records_used_, {})) {
    if (index >= documents.size()) continue;
    const auto stored = run_.request.context->Stored(index);
    const inspect::Description& description =
        stored && (*stored)->description ? *(*stored)->description : documents[index].description;
    const SkippedRows skipped = SkippedRowsOf(description);
    if (skipped.count == 0 || !inspect::HasRecords(description)) continue;
    if (++told > kSkippedFilesTold) {
      ++more_files;
      more_rows += skipped.count;
      continue;
    }
    const std::string_view reasons = utf8::Prefix(skipped.reasons, kReasonsTold);
    run_.log.Warn("records_skipped",
                  Json(fmt::format("{} of {} {}: {}{}", RowsSkipped(description),
                                   documents[index].name, skipped.fate, reasons,
                                   reasons.size() < skipped.reasons.size() ? "…" : "")));
  }
  if (more_files > 0) {
    run_.log.Warn("records_skipped",
                  Json(fmt::format("{} rows of {} more files could not be read",
                                   GroupDigits(more_rows), GroupDigits(more_files))));
  }
}

// The part that every end has in common.
CallResult CallLoop::Ended(RunStatus status) {
  TakeTally();
  WarnOfSkippedRows();
  if (all_subcalls_.failed() > 0) {
    JsonObject kinds;
    for (const auto& [kind, count] : all_subcalls_.failures) {
      if (count > 0) kinds[kind] = count;
    }
    run_.log.Warn("subcalls_failed", Json(JsonObject{{"sent", all_subcalls_.made},
                                                     {"failed", all_subcalls_.failed()},
                                                     {"kinds", std::move(kinds)}}));
  }
  return {.status = status,
          .turns = turns_replied_,
          .limits_hit = std::move(limits_hit_),
          .compactions = room_.done(),
          .printed = evidence_.shown()};
}

void MarkNotAsRequired(std::string_view gate, const std::string& complaint, CallResult* result) {
  result->status = RunStatus::kPartial;
  result->error =
      Error{FailureOf(gate), fmt::format("the answer is not as required. {}", complaint)};
}

CallResult CallLoop::Finish(Offer offer, RunStatus status) {
  // Here, not when it was offered: a refused answer is never reported.
  if (offer.value && offer.numbers_as_text) WarnOfTexts(run_.log);
  CallResult result = Ended(status);
  NoteDoubt(offer, &result);
  run_.log.Add("answer.accepted",
               {{"source", SourceName(offer.source)}, {"status", RunStatusName(result.status)}});
  result.source = offer.source;
  result.text = std::move(offer.text);
  result.value = std::move(offer.value);
  return result;
}

// Ends the vote with the answers so far.
CallResult CallLoop::FinishVotes(std::string_view why) {
  run_.log.Warn("votes_incomplete", Json(why));
  return Finish(ballot_.CutShort(), RunStatus::kPartial);
}

// An answer that failed a check is printed, but never as final.
void CallLoop::NoteDoubt(const Offer& offer, CallResult* result) const {
  static constexpr std::pair<std::string_view, std::string_view> kCodes[] = {
      {"unexplored", "unexplored"},         {"subcalls", "answer_lacks_subcalls"},
      {"kind", "answer_of_wrong_kind"},     {"empty", "answer_empty"},
      {"grounding", "answer_not_grounded"}, {"near", "answer_not_near"},
      {"searched", "answer_not_asked"},     {"left_out", "value_left_out"},
      {"reading", "reading_unclear"},       {"labels", "labels_unsure"},
      {"gaps", "answer_leaves_out"},        {"error_text", "answer_is_error"},
      {"part", "answer_from_part"},         {"final", "answer_without_value"}};
  result->attempts = std::max(1, static_cast<int>(ballot_.size()));
  result->agreeing = ballot_.agreeing();
  if (offer.doubt.empty()) return;
  if (IsRequirement(offer.failed_check)) {
    return MarkNotAsRequired(offer.failed_check, offer.doubt, result);
  }
  const bool whole = result->status == RunStatus::kFinal || result->status == RunStatus::kExtracted;
  if (whole) result->status = RunStatus::kPartial;
  result->doubts.push_back(offer.doubt);
  for (const auto& [check, code] : kCodes) {
    if (offer.failed_check == check) run_.log.Warn(std::string(code), Json(offer.doubt));
  }
}

CallResult CallLoop::Interrupted(Error error) {
  if (ballot_.empty()) return KeepDraft(RunStatus::kInterrupted, std::move(error));
  CallResult result = Finish(ballot_.CutShort(), RunStatus::kInterrupted);
  result.error = std::move(error);
  return result;
}

CallResult CallLoop::KeepDraft(RunStatus status, std::optional<Error> error) {
  CallResult result = Ended(status);
  result.error = std::move(error);
  if (!evidence_.shown().empty()) result.last_output = TrimSpace(evidence_.shown().back());
  if (draft_ && !draft_->text.empty()) {
    result.source = Source::kDraft;
    result.text = std::move(draft_->text);
    if (status != RunStatus::kInterrupted) result.status = RunStatus::kPartial;
    if (IsRequirement(draft_->failed_check) && !result.error) {
      MarkNotAsRequired(draft_->failed_check, draft_->doubt, &result);
    } else if (!draft_->doubt.empty()) {
      result.doubts.push_back(std::move(draft_->doubt));
    }
  }
  return result;
}

// Before the first request: reserves what the closing one will need. Its prompt is as long as that
// of the first turn, plus as much of the turns as fits. If there is not room for both requests,
// nothing is reserved: the first turn may give the answer.
void CallLoop::KeepClosing() {
  const model::LedgerLimits& limits = run_.ledger.limits();
  model::FinishReserve keep;
  if (limits.calls) keep.calls = *limits.calls > 1 ? 1 : 0;
  if (const auto limit = run_.request.limits.time) {
    const Millis least = std::min(kShortestClosing, *limit * 2 / 5);
    keep.time = std::clamp(*limit / kClosingTimeShare, least, kLongestClosing);
  }
  if (limits.tokens || limits.nano_usd) {
    if (const auto empty = ClosingPrompt("")) KeepClosingTokens(*empty, &keep);
  }
  kept_ = keep;
  KeepBack(keep);
}

// The run's reserve is for its answer, which the root gives: a child has no reserve.
void CallLoop::KeepBack(const model::FinishReserve& keep) {
  if (run_.place.depth == 0) run_.ledger.KeepBack(keep);
}

void CallLoop::KeepClosingTokens(const assembly::Assembled& empty,
                                 model::FinishReserve* keep) const {
  const model::LedgerLimits& limits = run_.ledger.limits();
  const driver::BoundModel& root = run_.root;
  const std::int64_t prompt = root.gate->MostInput(empty.tokens);
  const auto keep_of = [&](std::int64_t limit, const model::TokenPrice& price) {
    const std::int64_t least = prompt * price.input + kClosingReply * price.output;
    const std::int64_t most =
        (prompt + kClosingResults) * price.input + run_.reserve_output() * price.output;
    // Once the first turn is paid for, its cost is no longer kept free.
    if (limit < 2 * least) return turns_replied_ > 0 && limit >= least ? least : 0;
    return std::max(least, std::min(limit / kClosingShare, most));
  };
  keep->prompt = empty.tokens;
  keep->prompt_held = prompt;
  if (limits.tokens) keep->tokens = keep_of(*limits.tokens, {.input = 1, .output = 1});
  const auto price = WorstPriceOf(root.entry, {.messages = empty.messages});
  if (limits.nano_usd && price) {
    keep->prompt_price = price->input;
    keep->nano_usd = keep_of(*limits.nano_usd, *price);
  }
}

// Returns the tokens available for the closing prompt: what the limits leave besides a short reply.
std::int64_t CallLoop::ClosingRoom(const assembly::Assembled& prompt) const {
  const model::Ledger& ledger = run_.ledger;
  std::int64_t room = run_.root.entry.capability.window;
  if (const auto tokens = ledger.tokens_left(run_.closing_stage())) {
    room = std::min(room, *tokens - kClosingReply);
  }
  const auto price = WorstPriceOf(run_.root.entry, {.messages = prompt.messages});
  const auto nano_usd = ledger.nano_usd_left(run_.closing_stage());
  if (nano_usd && price && price->input > 0) {
    room = std::min(room, (*nano_usd - kClosingReply * price->output) / price->input);
  }
  return room;
}

// The last call is reserved for the answer, so no summary is requested.
Result<assembly::Assembled> CallLoop::ClosingPrompt(const std::string& reason) {
  std::map<std::string, std::string> values = Values();
  values["results"] = results_;
  values["reason"] = reason;
  const std::string variables = VariablesLine(variables_, kVariablesAtEnd);
  if (results_.find(variables) == std::string::npos) values["variables"] = variables;
  DOSSIER_ASSIGN_OR_RETURN(
      assembly::Assembled prompt,
      room_.Assemble(
          "extract", values,
          {.turn = turn_, .attempt = attempt_, .summaries = PromptRoom::TurnInfo::Summaries::kNo}));
  const driver::BoundModel& root = run_.root;
  const std::int64_t room = ClosingRoom(prompt), most = root.gate->MostInput(prompt.tokens);
  if (most <= room) return prompt;
  // Drops the oldest turns and the ends of outputs, as for a small window. Keeps a share of the
  // room for what the provider counts and we do not.
  const std::int64_t own =
      tokens::Count{.tokens = prompt.tokens, .margin = root.counter->margin()}.upper();
  const std::int64_t budget = std::max<std::int64_t>(room, 0) * own / most;
  auto cut = run_.prompts.Assemble("extract", root, values, {transcript_.AsSection()},
                                   run_.boundary, root.entry.capability.window - budget);
  if (cut) return cut;
  return MakeError(ErrorCode::kLimit, "the limits leave no room for the closing request");
}

// Keeps the offer's earlier doubt if there is no other objection.
void CallLoop::NoteClosingDoubt(Offer* offer) {
  const std::string claims = WithoutReferences(
      ClaimsOf({.text = offer->text, .value = offer->value}, run_.request.requirements),
      *run_.request.context);
  if (auto doubt = gates_.Doubt(claims, Situation(claims))) {
    offer->failed_check = std::move(doubt->gate);
    offer->doubt = std::move(doubt->reason);
  }
}

// Makes the closing request.
CallResult CallLoop::Close(const std::string& reason) {
  run_.log.Add("limit.reached", {{"reason", reason}});
  auto prompt = ClosingPrompt(reason);
  if (!prompt) return KeepDraft(RunStatus::kNone, UnlessLimit(prompt.error()));
  const RootRequest about{.purpose = model::Purpose::kExtract,
                          .stage = run_.closing_stage(),
                          .turn = turn_,
                          .attempt = attempt_};
  auto reply = AskRoot(run_, *prompt, about);
  const bool repeats =
      run_.policy.repeats_itself && reply && reply->finish == model::Finish::kLength;
  if (reply && IsCut(*reply) && !repeats) {
    reply = AskAgain(run_, *prompt, about, std::move(*reply));
  }
  if (!reply) {
    if (run_.cancel.cancelled()) return KeepDraft(RunStatus::kInterrupted, reply.error());
    return KeepDraft(RunStatus::kNone, UnlessLimit(reply.error()));
  }
  std::string ended_early;
  if (IsCut(*reply)) ended_early = WarnOfCut(run_, *reply, "the closing reply: {}");
  if (reply->finish == model::Finish::kFilter || reply->finish == model::Finish::kRefused) {
    // The words of a refusal, or what a filter left, are not an answer.
    return KeepDraft(RunStatus::kNone, Error{ErrorCode::kFailed, std::move(ended_early)});
  }
  auto offer = ReadClosing(*reply);
  if (!offer) return KeepDraft(RunStatus::kNone, std::nullopt);
  offer->source = Source::kExtract;
  NoteClosingDoubt(&*offer);
  Require(&*offer, Repairs::kNoMore);
  // A closing reply without support does not replace a draft that the data support.
  if (!offer->doubt.empty() && draft_ && !draft_->text.empty()) {
    Offer draft = *draft_;
    draft.failed_check.clear();
    draft.doubt.clear();
    NoteClosingDoubt(&draft);
    if (draft.doubt.empty()) return KeepDraft(RunStatus::kNone, std::nullopt);
  }
  if (ended_early.empty()) return Finish(std::move(*offer), RunStatus::kExtracted);
  CallResult result = Finish(std::move(*offer), RunStatus::kPartial);
  result.doubts.push_back(std::move(ended_early));
  return result;
}

// Plain text is the answer, and a final form in it is resolved, though no more blocks run. If the
// reply is only code, just a value that it hands in counts.
std::optional<Offer> CallLoop::ReadClosing(const model::Reply& reply) {
  const Extraction extraction =
      ExtractCode(reply.text, {.dialect = run_.dialect(),
                               .finish = FinishOf(reply),
                               .model = tolerance(),
                               .compiles = [](std::string_view) { return false; }});
  if (const auto submission = SubmissionOf(reply, extraction)) {
    const auto result = RunSubmission(submission->code);
    if (result && result->answer) return Offer{.text = result->answer->text};
  }
  BareAnswer bare = FindBareAnswer(extraction.text_outside, tolerance());
  const std::string text = ClosingText(extraction, tolerance());
  const bool tolerant = tolerance() == ModelSize::kSmall;
  if (bare.form == BareAnswer::Form::kNone && (tolerant || text.empty())) {
    bare = FindBareAnswer(WithoutFenceLines(reply.text), tolerance());
    if (!tolerant && !bare.names_value()) bare = {};
  }
  Feedback ignored;
  if (bare.form != BareAnswer::Form::kNone) {
    if (auto offer = Resolve(bare, &ignored)) return offer;
  }
  if (text.empty()) return std::nullopt;
  return Offer{.text = text};
}

}  // namespace dossier::ask
