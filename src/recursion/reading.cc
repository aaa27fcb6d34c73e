#include "recursion/reading.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "recursion/map_plan.h"
#include "recursion/near_question.h"
#include "recursion/reply_text.h"
#include "recursion/root_request.h"
#include "recursion/votes.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kPassages = 6;        // about a second of a small model each
constexpr std::int64_t kAnswerTokens = 40;  // "in a few words"
constexpr int kCandidates = 20;             // for the first token: the most that servers give
// What the prompt asks to say where a passage does not tell.
constexpr std::string_view kNotStated = "not stated";
// Found by trying on the questions of tests/suite/untuned.py that are there to tune on.
constexpr double kLeastScore = 0.5, kMargin = 1.0;

// Each asks in other words whether the passage states the answer; the sum errs less than either.
constexpr std::array<std::string_view, 2> kJudges = {"passage_says", "passage_states"};

// Whether the passage holds the words that the answer adds to the question.
bool StandsIn(const std::string& passage, std::string_view answer, std::string_view question) {
  const WordRarity all_alike{.passages = 1};
  return MissingWords(answer, question, {&passage, 1}, all_alike).empty();
}

}  // namespace

bool PassageReader::possible() const {
  const model::Entry& entry = run_.options.root.entry;
  if (!run_.small() || !entry.logprobs || entry.thinking) return false;
  if (run_.request.forcing != Forcing::kFull || passages_.places.empty()) return false;
  constexpr std::int64_t kMost = kPassages * (1 + kJudges.size());
  return run_.ledger.calls_left().value_or(2 * kMost) >= 2 * kMost;
}

std::optional<Reading> PassageReader::Read() {
  const std::size_t count = std::min(kPassages, passages_.places.size());
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < count && !run_.cancel.cancelled(); ++i) {
    const Passage& place = passages_.places[i];
    const auto stored = run_.request.context->Stored(place.document);
    if (!stored) return std::nullopt;
    Values values{
        {"question", run_.request.question},
        {"passage", std::string(TrimSpace((*stored)->map.bytes().substr(place.at, place.length)))}};
    auto answer = Answer(values);
    if (!answer) return std::nullopt;
    ++read_;
    if (answer->empty() || !StandsIn(values["passage"], *answer, run_.request.question)) continue;
    values["answer"] = *answer;
    Reading reading{.answer = std::move(*answer), .passage = values["passage"], .place = i};
    bool doubted = false;
    for (const std::string_view judge : kJudges) {
      const auto score = Judge(judge, values);
      if (!score) return std::nullopt;
      reading.score += *score;
      doubted |= judge == kJudges[0] && *score <= 0;
      if (doubted) break;
    }
    Log(reading);
    if (!doubted) readings.push_back(std::move(reading));
  }
  found_nothing_ = readings.empty() && read_ == count;
  return Clearest(readings, run_.request.question);
}

// Empty: the passage does not state it.
Result<std::string> PassageReader::Answer(const Values& values) const {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                           run_.prompts.Assemble("passage_answer", run_.options.root, values, {},
                                                 run_.boundary, kAnswerTokens));
  DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, AskRoot(run_, prompt,
                                                             {.purpose = model::Purpose::kRead,
                                                              .turn = 0,
                                                              .max_output = kAnswerTokens,
                                                              .temperature = 0.0}));
  const std::string said = StripThinking(reply.text).text;
  const std::string_view text = TrimSpace(said);
  if (IsCut(reply) || text.find('\n') != text.npos || ToLowerAscii(text).starts_with(kNotStated)) {
    return std::string();  // several lines are no few words
  }
  return std::string(text);
}

// None if the request failed or the model says neither yes nor no.
std::optional<double> PassageReader::Judge(std::string_view role, const Values& values) const {
  const auto prompt = run_.prompts.Assemble(role, run_.options.root, values, {}, run_.boundary, 1);
  if (!prompt) return std::nullopt;
  const auto reply = AskRoot(run_, *prompt,
                             {.purpose = model::Purpose::kRead,
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

void PassageReader::Log(const Reading& reading) const {
  run_.log.Add(0, "passage.read",
               {{"passage", passages_.titles[reading.place]},
                {"answer", run_.log.Body(reading.answer)},
                {"score", reading.score}});
}

std::optional<Reading> Clearest(const std::vector<Reading>& readings, std::string_view question) {
  const auto best = std::ranges::max_element(readings, {}, &Reading::score);
  if (best == readings.end() || best->score < kLeastScore) return std::nullopt;
  const bool clear = std::ranges::all_of(readings, [&](const Reading& other) {
    const std::string both = fmt::format("{}\n{}", best->answer, other.answer);
    return &other == &*best || other.score < best->score - kMargin ||
           Agree(MakeVote(best->answer, both, question), MakeVote(other.answer, both, question));
  });
  return clear ? std::optional(*best) : std::nullopt;
}

}  // namespace dossier::recursion
