#include "research/search/stage_loop.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "research/node/select.h"
#include "research/search/round.h"
#include "research/search/stage_end.h"
#include "research/search/stage_questions.h"
#include "research/search/stage_rules.h"
#include "research/search/steering.h"

namespace dossier::research {
namespace {

// Round number of the copy that a substage begins with; rounds count from 0.
constexpr std::int64_t kCopyRound = -1;

enum class SubstageStep : std::uint8_t {
  kGoOn,
  kNewSubstage,  // its nodes are used up, but not the stage's
  kStageDone,
  kNoWorkingProgram,
  kCut  // --until named a phase
};

// One substage while its rounds are made. The results own its tree; its best node is looked up each
// time, because nodes move when the tree grows.
class Substage {
 public:
  Substage(const Driver& driver, const StageWork& work, SubstageGoal goal, RunResults* results)
      : driver_(driver),
        work_(work),
        goal_(std::move(goal)),
        results_(results),
        ranking_(driver.config().primary_metric),
        cap_(work.cap),
        retries_left_(work.retries) {}

  // The tree starts with a copy of the best node so far.
  Status Begin(std::string name);
  // Makes rounds until a rule or a model ends the substage. `made`: nodes of the stage so far.
  Result<SubstageStep> Work(std::int64_t* made, const CancelToken& cancel);
  StageView View();
  std::size_t steered() const { return steered_; }

 private:
  StageResults& stage() const { return results_->stages.back(); }
  const Node* Best() { return ranking_.Best(stage().tree); }
  Status TakeOrders(std::string_view event, std::string_view key);
  Result<RoundState> Round(std::int64_t made);
  StageFacts Facts(std::int64_t made);
  std::int64_t LeftHere() const;  // number of nodes that the substage may still make
  Result<SubstageStep> Decide(std::int64_t made, const CancelToken& cancel);
  SubstageStep Exhausted();
  void GiveTimeFeedback(const StageFacts& facts);

  const Driver& driver_;
  const StageWork& work_;
  const SubstageGoal goal_;
  RunResults* const results_;
  Ranking ranking_;
  std::int64_t cap_;
  int retries_left_;
  std::string start_;  // id of the copy; "": the tree was empty at first
  std::int64_t round_ = 0, made_here_ = 0;
  std::size_t steered_ = 0;  // number of people's orders in force
};

Status Substage::TakeOrders(std::string_view event, std::string_view key) {
  DOSSIER_ASSIGN_OR_RETURN(steered_, driver_.steering->Take(event, key));
  if (steered_ == 0) return {};
  SteerNodes(driver_.steering->First(steered_), results_);
  ranking_ = Ranking(driver_.config().primary_metric);
  return {};
}

Status Substage::Begin(std::string name) {
  const std::string start = NodeId(driver_.node_key, name, kCopyRound, 0);
  if (!results_->stages.empty()) {
    // Takes orders given since the last round, also during reruns and summaries.
    DOSSIER_RETURN_IF_ERROR(TakeOrders("node.created", start));
    KeepBest(results_, driver_.config().primary_metric);
  }
  const Node* best = results_->Best();
  Node copy;
  if (best) copy = *best;
  results_->stages.push_back({.stage = work_.stage, .name = std::move(name)});
  if (!best) return {};
  const std::string branch = copy.branch_id;
  copy.inherited_from_node_id = copy.id;
  copy.id = start;
  copy.kind = NodeKind::kCopy;
  copy.parent_id.clear();
  copy.children.clear();
  copy.step = 0;
  copy.stage = stage().name;
  copy.usage = {};
  DOSSIER_ASSIGN_OR_RETURN(copy.branch_id, ForkBranch(driver_, branch, copy, kCopyRound, 0));
  DOSSIER_RETURN_IF_ERROR(CreateNode(driver_, &copy, steered_));
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Node> recorded, RecordedNode(driver_, copy.id));
  if (!recorded) DOSSIER_RETURN_IF_ERROR(KeepNode(driver_, &copy));
  start_ = copy.id;
  stage().tree.nodes.push_back(std::move(copy));
  return {};
}

Result<RoundState> Substage::Round(std::int64_t made) {
  RoundState round{.stage = {.stage = work_.stage,
                             .name = stage().name,
                             .round = round_,
                             .base = start_,
                             .nodes_left = std::min(cap_ - made, LeftHere())},
                   .evaluation_metrics = work_.evaluation_metrics};
  DOSSIER_RETURN_IF_ERROR(TakeOrders("round.selected", RoundKey(round.stage)));
  round.steered = steered_;
  if (const Node* best = Best(); best && work_.stage >= 3) round.base_plot_code = best->plot_code;
  return round;
}

StageFacts Substage::Facts(std::int64_t made) {
  return {.stage = work_.stage,
          .made = made,
          .cap = cap_,
          .tree = &stage().tree,
          .best = Best(),
          .start = start_};
}

std::int64_t Substage::LeftHere() const {
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  return goal_.max_iterations ? std::max<std::int64_t>(*goal_.max_iterations, 1) - made_here_
                              : kNoEnd;
}

void Substage::GiveTimeFeedback(const StageFacts& facts) {
  const std::optional<std::string> feedback =
      ExecTimeFeedback(facts, driver_.config().exec.timeout);
  if (!feedback) return;
  for (Node& node : stage().tree.nodes) {
    if (&node == facts.best) node.exec_time_feedback = *feedback;
  }
}

StageView Substage::View() {
  return {.stage = work_.stage,
          .name = stage().name,
          .round = round_,
          .tree = &stage().tree,
          .best = Best(),
          .goals = goal_.goals};
}

Result<SubstageStep> Substage::Decide(std::int64_t made, const CancelToken& cancel) {
  const StageFacts facts = Facts(made);
  GiveTimeFeedback(facts);
  const StageStep step = NextStep(facts);
  if (step == StageStep::kNoWorkingProgram) {
    if (retries_left_-- <= 0) return SubstageStep::kNoWorkingProgram;
    cap_ += work_.cap;
    return SubstageStep::kGoOn;
  }
  if (step == StageStep::kDone) return SubstageStep::kStageDone;
  if (step == StageStep::kAsk) {
    DOSSIER_ASSIGN_OR_RETURN(const StageCompletion answer, AskCompletion(driver_, View(), cancel));
    if (answer.state == StageCompletion::State::kComplete) return SubstageStep::kStageDone;
  }
  if (LeftHere() > 0) return SubstageStep::kGoOn;
  DOSSIER_ASSIGN_OR_RETURN(const Progression next, AskProgression(driver_, View(), cancel));
  return next == Progression::kNextStage ? SubstageStep::kStageDone : SubstageStep::kNewSubstage;
}

// After a round that made nothing, the next would make nothing either.
SubstageStep Substage::Exhausted() {
  return work_.stage == 1 && !Best() ? SubstageStep::kNoWorkingProgram : SubstageStep::kStageDone;
}

Result<SubstageStep> Substage::Work(std::int64_t* made, const CancelToken& cancel) {
  for (;;) {
    DOSSIER_ASSIGN_OR_RETURN(const RoundState round, Round(*made));
    DOSSIER_ASSIGN_OR_RETURN(const RoundEnd end,
                             RunRound(driver_, round, &stage().tree, ranking_, cancel));
    if (end.state == NodeMade::State::kCut) return SubstageStep::kCut;
    ++round_;
    if (end.made == 0) return Exhausted();
    *made += end.made;
    made_here_ += end.made;
    DOSSIER_ASSIGN_OR_RETURN(const SubstageStep step, Decide(*made, cancel));
    if (step != SubstageStep::kGoOn) return step;
  }
}

// Stages 2 and 4 are reviewed when half of their remaining nodes are made, at least one round;
// stage 1 ends by itself, stage 3 at its limit.
std::optional<std::int64_t> SubstageNodes(const Driver& driver, int stage, std::int64_t left) {
  if (stage == 1 || stage == 3) return std::nullopt;
  return std::max<std::int64_t>(driver.config().num_workers, (left + 1) / 2);
}

}  // namespace

Result<StageEnd> RunStage(const Driver& driver, const StageWork& work, RunResults* results,
                          const CancelToken& cancel) {
  SubstageGoal goal{.goals = std::string(MainGoals(work.stage)),
                    .max_iterations = SubstageNodes(driver, work.stage, work.cap)};
  std::string name = FirstSubstage(work.stage);
  std::int64_t made = 0;
  for (int number = 2;; ++number) {
    Substage substage(driver, work, goal, results);
    DOSSIER_RETURN_IF_ERROR(substage.Begin(std::move(name)));
    DOSSIER_ASSIGN_OR_RETURN(const SubstageStep step, substage.Work(&made, cancel));
    if (step == SubstageStep::kCut) return StageEnd::kCut;
    const SeedRuns seeds = step == SubstageStep::kStageDone ? SeedRuns::kYes : SeedRuns::kNo;
    DOSSIER_RETURN_IF_ERROR(EndSubstage(
        driver, {.view = substage.View(), .seeds = seeds, .steered = substage.steered()}, results,
        cancel));
    if (step == SubstageStep::kNoWorkingProgram) return StageEnd::kNoWorkingProgram;
    if (step == SubstageStep::kStageDone) return StageEnd::kDone;
    DOSSIER_ASSIGN_OR_RETURN(goal, AskSubstageGoal(driver, substage.View(), cancel));
    if (!goal.max_iterations) {
      goal.max_iterations = SubstageNodes(driver, work.stage, work.cap - made);
    }
    name = SubstageName(work.stage, number, goal.name);
  }
}

}  // namespace dossier::research
