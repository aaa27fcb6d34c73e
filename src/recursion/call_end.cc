// How a call ends: with an answer, with the closing request, or with what was kept.

#include "base/text.h"
#include "recursion/call_loop.h"
#include "recursion/feedback.h"
#include "recursion/reply_text.h"
#include "recursion/root_request.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kVariablesAtEnd = 50;  // REC-59

}  // namespace

bool CallLoop::LastChance() const {
  return turn_ >= run_.iterations() || !run_.ledger.exhausted().empty();
}

// The reason to stop asking, if a limit of the tree is used up.
std::optional<std::string> CallLoop::Exhausted() const {
  const std::vector<std::string> names = run_.ledger.exhausted();
  if (names.empty()) return std::nullopt;
  return fmt::format("the limit of {} is reached", Join(names, " and "));
}

// What every end has in common.
CallResult CallLoop::Ended(RunStatus status) {
  TakeTally();
  if (all_subcalls_.failed() > 0) {
    JsonObject kinds;
    for (const auto& [kind, count] : all_subcalls_.failures) kinds[kind] = count;
    run_.log.Warn(0, "subcalls_failed",
                  Json(JsonObject{{"sent", all_subcalls_.sent},
                                  {"failed", all_subcalls_.failed()},
                                  {"kinds", std::move(kinds)}}));
  }
  return {.status = status,
          .turns = std::min(turn_, run_.iterations()),
          .limits_hit = std::move(limits_hit_),
          .compactions = room_.done()};
}

CallResult CallLoop::Finish(Offer offer, RunStatus status) {
  CallResult result = Ended(status);
  NoteDoubt(offer, &result);
  run_.log.Add(0, "answer.accepted",
               {{"source", SourceName(offer.source)}, {"status", RunStatusName(result.status)}});
  result.source = offer.source;
  result.text = std::move(offer.text);
  result.value = std::move(offer.value);
  return result;
}

// Ends the vote with the answers there are.
CallResult CallLoop::FinishVotes(std::string_view why) {
  run_.log.Warn(0, "votes_incomplete", Json(why));
  return Finish(ballot_.CutShort(), RunStatus::kPartial);
}

// An answer that failed a check is printed, but never as final.
void CallLoop::NoteDoubt(const Offer& offer, CallResult* result) const {
  static constexpr std::pair<std::string_view, std::string_view> kCodes[] = {
      {"unexplored", "unexplored"},     {"subcalls", "answer_lacks_subcalls"},
      {"kind", "answer_of_wrong_kind"}, {"empty", "answer_empty"},
      {"grounding", "answer_not_grounded"}, {"near", "answer_not_near"}};
  result->attempts = std::max(1, static_cast<int>(ballot_.size()));
  result->agreeing = ballot_.agreeing();
  if (offer.doubt.empty()) return;
  if (result->status == RunStatus::kFinal) result->status = RunStatus::kPartial;
  result->doubts.push_back(offer.doubt);
  for (const auto& [check, code] : kCodes) {
    if (offer.failed_check == check) run_.log.Warn(0, std::string(code), Json(offer.doubt));
  }
}

CallResult CallLoop::KeepDraft(RunStatus status, std::optional<Error> error) {
  CallResult result = Ended(status);
  result.error = std::move(error);
  if (!evidence_.shown().empty()) result.last_output = TrimSpace(evidence_.shown().back());
  if (draft_ && !draft_->text.empty()) {
    result.source = Source::kDraft;
    result.text = std::move(draft_->text);
    if (status != RunStatus::kInterrupted) result.status = RunStatus::kPartial;
  }
  return result;
}

// The closing request (REC-59).
CallResult CallLoop::Close(const std::string& reason) {
  run_.log.Add(0, "limit.reached", {{"reason", reason}});
  std::map<std::string, std::string> values = Values();
  values["results"] = results_;
  values["reason"] = reason;
  const std::string variables = VariablesLine(variables_, kVariablesAtEnd);
  if (results_.find(variables) == std::string::npos) values["variables"] = variables;
  // The one call that is kept for the end is for the answer.
  auto prompt = room_.Assemble(
      "extract", values,
      {.turn = turn_, .attempt = attempt_, .summaries = PromptRoom::For::Summaries::kNo});
  if (!prompt) return KeepDraft(RunStatus::kNone, prompt.error());
  auto reply = AskRoot(run_, *prompt,
                       {.purpose = model::Purpose::kExtract,
                        .stage = model::Stage::kFinish,
                        .turn = turn_,
                        .attempt = attempt_});
  if (!reply) {
    if (run_.cancel.cancelled()) return KeepDraft(RunStatus::kInterrupted, reply.error());
    return KeepDraft(RunStatus::kNone, reply.error().code == ErrorCode::kLimit
                                           ? std::nullopt
                                           : std::optional<Error>(reply.error()));
  }
  auto offer = ReadClosing(*reply);
  if (!offer) return KeepDraft(RunStatus::kNone, std::nullopt);
  offer->source = Source::kExtract;
  if (IsCut(*reply)) {
    run_.log.Warn(0, "reply_cut", Json("the closing reply was cut"));
    return Finish(std::move(*offer), RunStatus::kPartial);
  }
  return Finish(std::move(*offer), RunStatus::kExtracted);
}

// Plain text is the answer, a final form in it is resolved, code alone is none.
std::optional<Offer> CallLoop::ReadClosing(const model::Reply& reply) {
  const Extraction extraction = ExtractCode(
      reply.text, {.finish = FinishOf(reply), .model = size(), .compiles = [](std::string_view) {
                     return false;
                   }});
  BareAnswer bare = FindBareAnswer(extraction.text_outside, size());
  if (run_.small() && bare.form == BareAnswer::Form::kNone) {
    bare = FindBareAnswer(WithoutFenceLines(reply.text), size());
  }
  Feedback ignored;
  if (bare.form != BareAnswer::Form::kNone) {
    if (auto offer = Resolve(bare, &ignored)) return offer;
  }
  const std::string_view text = TrimSpace(extraction.text_outside);
  if (text.empty()) return std::nullopt;
  return Offer{.text = std::string(text)};
}

}  // namespace dossier::recursion
