#include "ask/loop/direct_check.h"

#include <algorithm>
#include <array>

#include "ask/loop/direct.h"
#include "ask/loop/root_request.h"
#include "ask/policy/grounding.h"
#include "ask/policy/near_question.h"
#include "ask/policy/votes.h"
#include "ask/reply/reply_text.h"
#include "ask/subcalls/map_plan.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

// The first answer and two more settle it if they all agree; of five, four must.
constexpr std::size_t kFew = 3, kMany = 5, kOfMany = 4;
constexpr double kVaried = 0.7;               // temperature of all readings but the first two
constexpr std::int64_t kReadingTokens = 200;  // a few copied sentences and a short answer
constexpr int kCandidates = 20;               // for the first token: the most that servers give
// By how much more likely "yes" must be than "no", in logarithms, when the model is asked whether
// the context states an answer. Found by trying on the short contexts of tests/suite/untuned.py:
// stated answers had 0.42 and more, two that were made up 0.10 and 0.20.
constexpr double kLeastStated = 0.3;
constexpr std::string_view kAnswer = "Answer:", kNotStated = "not stated";
constexpr std::string_view kDenied = "The context does not state it.";

class Checker {
 public:
  Checker(RunState& run, const std::string& context, const std::string& answer)
      : run_(run), context_(context) {
    check_.readings = 1;
    answers_.push_back(answer);
  }

  DirectCheck Check() {
    const std::optional<double> stated = Stated();
    while (answers_.size() < kMany) {
      auto said = Read();
      if (!said) {
        check_.stopped = true;
        return Unsettled(fmt::format("the answer was not checked: {}", said.error().message));
      }
      answers_.push_back(std::move(*said));
      if (answers_.size() == kFew && Settle(kFew, stated)) return std::move(check_);
    }
    if (Settle(kOfMany, stated)) return std::move(check_);
    return Unsettled(WhyUnsettled());
  }

 private:
  DirectCheck Unsettled(std::string why) {
    NoteLeading();
    check_.doubt = std::move(why);
    return std::move(check_);
  }

  Result<model::Reply> Ask(std::string_view role, RootRequest about) {
    DOSSIER_ASSIGN_OR_RETURN(
        const assembly::Assembled prompt,
        AssembleOverContext(run_, role, context_, about.max_output.value_or(kReadingTokens)));
    return AskRoot(run_, prompt, about);
  }

  // None if the request failed or the server gives no probabilities.
  std::optional<double> Stated() {
    if (!run_.options.root.entry.logprobs) return std::nullopt;
    const auto reply = Ask("direct_states", {.purpose = model::Purpose::kRead,
                                             .turn = 0,
                                             .max_output = 1,
                                             .temperature = 0.0,
                                             .first_tokens = kCandidates});
    if (!reply) return std::nullopt;
    const std::array<std::string, 2> labels = {"yes", "no"};
    const auto scores = ScoreLabels(reply->first_tokens, labels);
    if (!scores) return std::nullopt;
    return (*scores)[0] - (*scores)[1];
  }

  // What the model answers after it has copied what it answers from; empty if it gave no answer.
  // Each reading has a seed of its own, by its turn: else it would be the same one again.
  Result<std::string> Read() {
    const int number = static_cast<int>(answers_.size());
    DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply,
                             Ask("direct_again", {.purpose = model::Purpose::kRead,
                                                  .turn = number,
                                                  .max_output = kReadingTokens,
                                                  .temperature = number == 1 ? 0.0 : kVaried}));
    ++check_.readings;
    const std::string said = StripThinking(reply.text).text;
    const std::size_t at = said.rfind(kAnswer);
    if (at == std::string::npos) return std::string();
    const std::string_view rest = TrimSpace(std::string_view(said).substr(at + kAnswer.size()));
    return std::string(TrimSpace(rest.substr(0, rest.find('\n'))));
  }

  std::size_t Denials() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers_, [](const std::string& answer) {
      return ToLowerAscii(answer).starts_with(kNotStated);
    }));
  }

  std::vector<std::size_t> Group() const {
    std::vector<std::string> stated = answers_;
    for (std::string& answer : stated) {
      if (ToLowerAscii(answer).starts_with(kNotStated)) answer.clear();
    }
    return LargestAgreeing(stated, run_.request.question);
  }

  void NoteLeading() {
    const std::vector<std::size_t> group = Group();
    check_.agreeing = static_cast<int>(group.size());
    const bool most = group.size() * 2 > answers_.size();
    check_.leading =
        most && StandsInContext(answers_[group.front()]) ? answers_[group.front()] : "";
  }

  // Whether every number and the words that matter stand in the context or in what is remembered.
  bool StandsInContext(const std::string& answer) const {
    const std::array<std::string, 2> shown = {context_, run_.shown_memory.text};
    const WordRarity all_alike{.passages = 1};
    return CheckGrounded(answer, run_.request.question, {}, shown).grounded &&
           MissingWords(answer, run_.request.question, shown, all_alike).empty();
  }

  bool Settle(std::size_t wanted, std::optional<double> stated) {
    // The first answer says in words of its own that nothing is stated: it counts for no side.
    if (Denials() + 1 >= wanted && stated.value_or(0) <= 0) {
      check_.settled = std::string(kDenied);
      check_.agreeing = static_cast<int>(Denials());
      return true;
    }
    NoteLeading();
    if (static_cast<std::size_t>(check_.agreeing) < wanted) return false;
    if (stated.value_or(kLeastStated) < kLeastStated || check_.leading.empty()) return false;
    check_.settled = check_.leading;
    return true;
  }

  std::string WhyUnsettled() const {
    if (static_cast<std::size_t>(check_.agreeing) < kOfMany) {
      return fmt::format("{} readings of the context gave different answers", answers_.size());
    }
    if (check_.leading.empty()) {
      return "what the readings of the context agree on does not stand in it";
    }
    return "the model doubts that the context states the answer";
  }

  RunState& run_;
  const std::string& context_;
  std::vector<std::string> answers_;
  DirectCheck check_;
};

}  // namespace

bool ChecksDirect(const RunState& run) {
  return run.policy.checks_direct_answers && run.request.forcing == Forcing::kFull &&
         run.votes() > 1 && run.request.context->bytes() > 0;
}

DirectCheck CheckDirect(RunState& run, const std::string& context, const std::string& answer) {
  DirectCheck check = Checker(run, context, answer).Check();
  run.log.Add(0, "direct.checked",
              {{"readings", check.readings},
               {"agreeing", check.agreeing},
               {"settled", check.settled.has_value()},
               {"leading", run.log.Body(check.leading)},
               {"doubt", check.doubt}});
  return check;
}

std::vector<std::size_t> LargestAgreeing(const std::vector<std::string>& answers,
                                         const std::string& question) {
  // A vote holds the words that were shown: here all that any reading says.
  const std::string all = Join(answers, "\n");
  std::vector<Vote> votes;
  for (const std::string& answer : answers) votes.push_back(MakeVote(answer, all, question));
  std::vector<std::size_t> largest;
  for (const Vote& one : votes) {
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < votes.size(); ++i) {
      if (Agree(one, votes[i])) group.push_back(i);
    }
    if (group.size() > largest.size()) largest = std::move(group);
  }
  return largest;
}

}  // namespace dossier::ask
