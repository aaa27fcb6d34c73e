#include "ask/loop/direct_check.h"

#include <algorithm>
#include <array>

#include "ask/loop/direct.h"
#include "ask/loop/root_request.h"
#include "ask/policy/grounding.h"
#include "ask/policy/near_question.h"
#include "ask/policy/votes.h"
#include "ask/reply/reply_text.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

// The first answer and two more settle it if all agree; of five, four must agree, and five are
// always needed if the model cannot be asked whether the context states an answer.
constexpr std::size_t kFew = 3, kMany = 5, kOfMany = 4;
constexpr double kVaried = 0.7;               // temperature of all readings but the first two
constexpr std::int64_t kReadingTokens = 200;  // a few copied sentences and a short answer
// Minimum log-odds of "yes" over "no" when the model is asked whether the context states an answer.
// Determined by experiment on the short contexts of tests/suite/untuned.py: stated answers had 0.42
// and more, two invented ones 0.10 and 0.20.
constexpr double kLeastStated = 0.3;
// Code points. A longer answer is prose (a summary, an explanation): two right ones may share few
// words, so they are not compared.
constexpr std::uint64_t kShortAnswer = 200;
constexpr std::string_view kAnswer = "answer:", kNotStated = "not stated";
constexpr std::string_view kDenied = "The context does not state it.";
constexpr std::string_view kAround = " \t\r\n.,;:!?\"'`*";  // punctuation around a short answer

std::string_view TrimOf(std::string_view text, std::string_view marks) {
  const std::size_t first = text.find_first_not_of(marks);
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(marks) - first + 1);
}

bool IsShort(std::string_view text) { return utf8::CodePoints(text) <= kShortAnswer; }

bool IsDenial(const std::string& answer) {
  return ToLowerAscii(TrimOf(answer, kAround)) == kNotStated;
}

// Returns where "Answer:" begins on a line, or npos. After a sentence it may be on the copied line,
// which may contain the word itself, so there it must be capitalized.
std::size_t PlaceOfAnswer(std::string_view line) {
  if (ToLowerAscii(line).starts_with(kAnswer)) return 0;
  const std::size_t at = line.rfind("Answer:");
  if (at == line.npos) return at;
  const std::string_view before = TrimSpace(line.substr(0, at));
  const bool ends = !before.empty() && std::string_view(".!?\"'").find(before.back()) != line.npos;
  return ends ? at : line.npos;
}

// Returns the text after "Answer:" on the last line.
std::string AnswerOf(std::string_view said) {
  const std::string_view text = TrimSpace(said);
  const std::string line = ReplaceAll(text.substr(text.rfind('\n') + 1), "**", "");
  const std::string_view last = TrimSpace(line);
  const std::size_t at = PlaceOfAnswer(last);
  if (at == last.npos) return {};
  const std::string_view answer = TrimSpace(last.substr(at + kAnswer.size()));
  return IsShort(answer) ? std::string(answer) : std::string();
}

class Checker {
 public:
  Checker(RunState& run, const std::string& context, const std::string& answer)
      : run_(run), context_(context) {
    check_.readings = 1;
    answers_.push_back(answer);
  }

  DirectCheck Check() {
    stated_ = Stated();
    const std::size_t enough = stated_ ? kFew : kMany;
    while (answers_.size() < kMany) {
      auto said = Read();
      if (!said) {
        check_.stopped = true;
        check_.interrupted = said.error().code == ErrorCode::kCancelled;
        return Unsettled(fmt::format("the check of the answer did not come to its end: {}",
                                     said.error().message));
      }
      answers_.push_back(std::move(*said));
      if (answers_.size() == enough && Settle(enough)) return std::move(check_);
    }
    if (Settle(kOfMany)) return std::move(check_);
    return Unsettled(WhyUnsettled());
  }

 private:
  DirectCheck Unsettled(std::string why) {
    NoteLeading();
    check_.doubt = std::move(why);
    return std::move(check_);
  }

  std::int64_t ReadingTokens() const {
    return run_.root.entry.thinking ? run_.reserve_output() : kReadingTokens;
  }

  Result<model::Reply> Ask(std::string_view role, const RootRequest& about) {
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                             AssembleOverContext(run_, role, context_, *about.max_output));
    return AskRoot(run_, prompt, about);
  }

  // Returns none if the request failed or the server gives no probabilities for the two words.
  std::optional<double> Stated() {
    if (!run_.root.entry.logprobs) return std::nullopt;
    const auto prompt = AssembleOverContext(run_, "direct_states", context_, 1);
    return prompt ? AskYesOrNo(run_, *prompt) : std::nullopt;
  }

  // Returns the model's answer after it has copied the text it answers from; empty if it gave none.
  // Each reading has its own seed, from its turn; otherwise all would be equal.
  Result<std::string> Read() {
    const int number = static_cast<int>(answers_.size());
    DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply,
                             Ask("direct_again", {.purpose = model::Purpose::kRead,
                                                  .turn = number,
                                                  .max_output = ReadingTokens(),
                                                  .temperature = number == 1 ? 0.0 : kVaried}));
    ++check_.readings;
    return IsCut(reply) ? std::string() : AnswerOf(StripThinking(reply.text).text);
  }

  std::size_t Denials() const {
    return static_cast<std::size_t>(std::ranges::count_if(answers_, IsDenial));
  }

  // Stores the answer of most readings, in the wording that most of them use.
  void NoteLeading() {
    std::vector<std::string> given = answers_;
    for (std::string& answer : given) {
      if (IsDenial(answer)) answer.clear();
    }
    const std::vector<std::size_t> group = LargestAgreeing(given, run_.request.question);
    check_.agreeing = static_cast<int>(group.size());
    check_.leading.clear();
    if (group.size() * 2 <= answers_.size()) return;
    const auto alike = [&](std::size_t one) {
      return std::ranges::count_if(group, [&](std::size_t other) {
        return ToLowerAscii(TrimOf(given[one], kAround)) ==
               ToLowerAscii(TrimOf(given[other], kAround));
      });
    };
    const std::string& usual = given[*std::ranges::max_element(group, {}, alike)];
    const bool all = group.size() == answers_.size() && answers_.size() >= kFew;
    if (StandsInContext(usual) || (all && IsVerdict(usual))) check_.leading = usual;
  }

  // Returns true if every number and the important words are in the context or in memory.
  bool StandsInContext(const std::string& answer) const {
    const std::array<std::string, 2> shown = {context_, run_.shown_memory.text};
    const WordRarity all_alike{.passages = 1};
    return CheckGrounded(answer, run_.request.question, {}, shown).grounded &&
           MissingWords(answer, run_.request.question, shown, all_alike).empty();
  }

  // A verdict such as "yes" occurs in no text, so all readings must give the same one-word verdict.
  bool IsVerdict(const std::string& answer) {
    if (HasNumber(answer) || TrimOf(answer, kAround).find(' ') != std::string_view::npos) {
      return false;
    }
    if (!kind_) kind_ = AskKindOfAnswer(run_, 0);
    return *kind_ == "yes or no";
  }

  // Settles that nothing is stated if all readings but the first say so (of five, one may differ),
  // the first has nothing from the context, and the model's verdict, if known, does not contradict.
  bool SettleDenial(std::size_t wanted) {
    if (Denials() + 1 < wanted || StandsInContext(answers_.front())) return false;
    if (stated_ ? *stated_ > 0 : Denials() + 1 < kMany) return false;
    check_.settled = std::string(kDenied);
    check_.agreeing = static_cast<int>(Denials());
    return true;
  }

  bool Settle(std::size_t wanted) {
    if (SettleDenial(wanted)) return true;
    NoteLeading();
    if (static_cast<std::size_t>(check_.agreeing) < wanted || check_.leading.empty()) return false;
    if (stated_ && *stated_ < kLeastStated) return false;
    check_.settled = check_.leading;
    return true;
  }

  std::string WhyUnsettled() const {
    if (static_cast<std::size_t>(check_.agreeing) < kOfMany) {
      return fmt::format("{} readings of the context did not come to one answer", answers_.size());
    }
    if (check_.leading.empty()) {
      return "what the readings of the context agree on does not stand in it";
    }
    return "the model doubts that the context states the answer";
  }

  RunState& run_;
  const std::string& context_;
  std::vector<std::string> answers_;
  std::optional<std::string> kind_;  // of answer that the question asks for; unset: not asked yet
  std::optional<double> stated_;     // log-odds that the context states an answer
  DirectCheck check_;
};

}  // namespace

bool ChecksDirect(const RunState& run, std::string_view answer) {
  return IsShort(answer) && run.policy.checks_direct_answers &&
         run.request.forcing == Forcing::kFull && run.votes() > 1 &&
         run.request.context->bytes() > 0;
}

DirectCheck CheckDirect(RunState& run, const std::string& context, const std::string& answer) {
  DirectCheck check = Checker(run, context, answer).Check();
  run.log.Add("direct.checked", {{"readings", check.readings},
                                 {"agreeing", check.agreeing},
                                 {"settled", check.settled.has_value()},
                                 {"leading", run.log.Body(check.leading)},
                                 {"doubt", check.doubt}});
  return check;
}

std::vector<std::size_t> LargestAgreeing(const std::vector<std::string>& answers,
                                         const std::string& question) {
  // A vote has only words that were shown; here all words of the answer count as shown.
  std::vector<Vote> votes;
  for (const std::string& answer : answers) votes.push_back(MakeVote(answer, answer, question));
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
