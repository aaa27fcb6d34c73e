#include "ask/loop/prompt_room.h"

#include <algorithm>
#include <cmath>

#include "ask/loop/root_request.h"
#include "ask/subcalls/subcalls.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

using Step = assembly::CompactionPlan::Step;

constexpr double kTarget = 2.0 / 3.0;       // of the start: 0.5 of the window by default
constexpr double kTargetOfBudget = 0.66;    // if a reply takes more than its share of the window
constexpr double kLeastGain = 0.5;          // of the difference between start and target
constexpr int kRounds = 3;                  // counts of parts may be off; then the layout cuts
constexpr std::int64_t kFenceTokens = 160;  // around the turns to be summarized
constexpr std::int64_t kLargestSummary = 1500;  // tokens
constexpr std::int64_t kSummaryShare = 16;      // one such fraction of the window: room for several

std::int64_t WithoutMargin(double tokens, double margin) {
  return static_cast<std::int64_t>(std::floor(tokens / (1.0 + margin)));
}

}  // namespace

std::int64_t SummaryTokens(std::int64_t window) {
  return std::clamp<std::int64_t>(window / kSummaryShare, 64, kLargestSummary);
}

// What the report says about the history.
struct PromptRoom::HistoryUse {
  std::int64_t tokens = 0;
  bool cut = false;

  static HistoryUse Of(const Json& report) {
    HistoryUse use;
    const Json* sections = Find(report, "sections");
    if (!sections || !sections->is_array()) return use;
    for (const Json& section : sections->get_array()) {
      if (FindString(section, "name") != "history") continue;
      use.tokens = FindInt(section, "tokens").value_or(0);
      const auto outcome = FindString(section, "outcome");
      use.cut = outcome == "cut" || outcome == "dropped";
    }
    return use;
  }
};

// The target size of the view, and the smallest gain that justifies changing sent messages.
struct PromptRoom::Need {
  Transcript::Room room;
  std::int64_t least = 0;
};

Result<assembly::Assembled> PromptRoom::Try(
    std::string_view layout, const std::map<std::string, std::string>& values) const {
  std::vector<assembly::Section> history;  // an initializer list would copy every turn
  history.push_back(transcript_.AsSection());
  return run_.prompts.Assemble(layout, run_.root, values, std::move(history), run_.boundary,
                               run_.reserve_output());
}

// Returns none if the prompt is small enough.
std::optional<PromptRoom::Need> PromptRoom::Wanted(const assembly::Assembled& prompt,
                                                   const HistoryUse& use) const {
  const driver::BoundModel& root = run_.root;
  const double window = static_cast<double>(root.entry.capability.window);
  const double margin = root.counter->margin();
  const double start = run_.request.compact_at;
  const bool late = prompt.tokens > WithoutMargin(window * start, margin);
  if (!late && !use.cut) return std::nullopt;
  const std::int64_t rest = prompt.tokens - use.tokens;
  const std::int64_t budget = prompt.tokens + prompt.headroom;
  const std::int64_t target =
      std::min(WithoutMargin(window * start * kTarget, margin),
               static_cast<std::int64_t>(kTargetOfBudget * static_cast<double>(budget)));
  Need need{.room = {.start = 0, .target = std::max<std::int64_t>(target - rest, 0)}};
  // A history that the layout cuts loses its cached prefix at every turn anyway.
  if (!use.cut) need.least = WithoutMargin(window * start * (1 - kTarget) * kLeastGain, margin);
  return need;
}

// Returns false if nothing more can be removed.
Result<bool> PromptRoom::MakeRoom(const Need& need, const TurnInfo& turn, Compacted* done) {
  assembly::CompactionPlan plan = transcript_.Plan(need.room);
  // A call that saves only a few tokens would be repeated every turn.
  const bool worth =
      plan.tokens_before - plan.tokens_after >= SummaryTokens(run_.root.entry.capability.window);
  const bool asks = run_.request.compacting == Compacting::kAuto &&
                    turn.summaries == TurnInfo::Summaries::kYes && worth;
  if (plan.step == Step::kSummarize && !asks) plan.step = Step::kRules;
  if (plan.step == Step::kRules && plan.shorten.empty()) return false;
  if (plan.step != Step::kRules && plan.step != Step::kSummarize) return false;
  const std::int64_t after = plan.step == Step::kRules ? plan.tokens_by_rules : plan.tokens_after;
  if (plan.tokens_before - after < need.least) return false;
  std::string summary;
  if (plan.step == Step::kSummarize) {
    DOSSIER_ASSIGN_OR_RETURN(summary, Summary(plan, turn, &done->messages_cut));
    done->kind = summary.empty() ? "stub" : "summary";
    done->turns = transcript_.TurnsOf(plan);
  } else if (done->kind.empty()) {
    done->kind = "rules";
  }
  DOSSIER_RETURN_IF_ERROR(transcript_.Apply(plan, summary));
  return true;
}

// Makes the prompt for a summary of as many turns as fit besides the request's own words.
Result<assembly::Assembled> PromptRoom::SummaryPrompt(const assembly::CompactionPlan& plan,
                                                      std::int64_t most,
                                                      std::size_t* messages_cut) const {
  std::map<std::string, std::string> values = {
      {"question", run_.request.question}, {"tokens", std::to_string(most)}, {"transcript", ""}};
  const auto assemble = [&] {
    return run_.prompts.Assemble("compact", run_.root, values, {}, run_.boundary, most);
  };
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled empty, assemble());
  std::int64_t room = std::max<std::int64_t>(empty.headroom - kFenceTokens, 0);
  for (int round = 0;; ++round) {
    Transcript::Told told = transcript_.ToTell(plan, room);
    values["transcript"] = std::move(told.text);
    *messages_cut = told.cut;
    auto prompt = assemble();
    const bool too_long = !prompt && prompt.error().code == ErrorCode::kTooLong;
    if (!too_long || round == kRounds) return prompt;
    room = room * 3 / 4;
  }
}

// Returns the model's summary of the turns; empty if it fails: the run continues without one.
Result<std::string> PromptRoom::Summary(const assembly::CompactionPlan& plan, const TurnInfo& turn,
                                        std::size_t* messages_cut) {
  const driver::BoundModel& root = run_.root;
  const std::int64_t most = SummaryTokens(root.entry.capability.window);
  const auto failed = [&](std::string_view why) {
    run_.log.Warn("summary_failed", Json(why));
    return std::string();
  };
  auto prompt = SummaryPrompt(plan, most, messages_cut);
  if (!prompt) return failed(prompt.error().message);
  const RootRequest about{.purpose = model::Purpose::kCompact,
                          .turn = turn.turn,
                          .attempt = turn.attempt,
                          .max_output = most};
  auto reply = AskRoot(run_, *prompt, about);
  if (reply && IsCut(*reply)) reply = AskAgain(run_, *prompt, about, std::move(*reply));
  if (!reply && run_.cancel.cancelled()) return tl::unexpected(reply.error());
  if (!reply) return failed(reply.error().message);
  // Half a summary would replace turns that it does not tell of.
  if (IsCut(*reply)) return failed(EndingOf(*reply, reply->text).problem);
  const std::string text(TrimSpace(StripThinking(reply->text).text));
  return text.empty() ? failed("the reply was empty") : text;
}

void PromptRoom::Tell(Compacted done, const assembly::Assembled& prompt) {
  done.after = prompt.tokens;
  run_.log.Add("compaction.done", done.ToJson());
  done_.push_back(std::move(done));
}

Result<assembly::Assembled> PromptRoom::Assemble(std::string_view layout,
                                                 const std::map<std::string, std::string>& values,
                                                 const TurnInfo& turn) {
  Compacted done{.turn = turn.turn};
  for (int round = 0;; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt, Try(layout, values));
    const HistoryUse use = HistoryUse::Of(prompt.report);
    const auto need = Wanted(prompt, use);
    bool made = false;
    if (need && round < kRounds && run_.request.compacting != Compacting::kOff) {
      if (done.kind.empty()) done.before = prompt.tokens - use.tokens + transcript_.tokens();
      DOSSIER_ASSIGN_OR_RETURN(made, MakeRoom(*need, turn, &done));
    }
    if (made) continue;
    if (!done.kind.empty()) Tell(std::move(done), prompt);
    if (use.cut) transcript_.MoveOutUnsent(prompt.messages);
    if (use.cut && !cut_told_) {
      cut_told_ = true;
      run_.log.Warn("history_cut", Json("the oldest turns no longer fit the model's window"));
    }
    return prompt;
  }
}

}  // namespace dossier::ask
