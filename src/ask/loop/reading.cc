#include "ask/loop/reading.h"

#include <algorithm>
#include <array>

#include "ask/loop/root_request.h"
#include "ask/policy/counted_text.h"
#include "ask/policy/near_question.h"
#include "ask/policy/votes.h"
#include "ask/reply/reply_text.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kPassages = 6;        // about a second of a small model each
constexpr std::int64_t kAnswerTokens = 40;  // "in a few words"
constexpr std::uint64_t kDocumentsChars =
    1'500;  // of the description of the documents, which begins with their number
constexpr int kCandidates = 20;  // for the first token: the most that servers return
// What the prompt tells the model to say if a passage does not state the answer.
constexpr std::string_view kTellsNot = "not stated";
// Minimum score of a passage trusted alone, and margin between two that state different answers.
// Measured on pairs of passages, one of them about something similar (docs/small-models.md).
constexpr double kLeastScore = 1.1, kMargin = 0.6;

// Of 20 questions made for it, this threshold denies all 8 that do not ask for a count, and 4 of
// the 12 that do; those 4 count lines and headings (docs/small-models.md).
constexpr double kDeniedCount = -0.35;

// Both ask in different words whether the passage states the answer; the sum is more reliable.
constexpr std::array<std::string_view, 2> kJudges = {"passage_says", "passage_states"};

// Returns true if the passage contains the words that the answer adds to the question.
bool StandsIn(const std::string& passage, std::string_view answer, std::string_view question) {
  const WordRarity all_alike{.passages = 1};
  return MissingWords(answer, question, {&passage, 1}, all_alike).empty();
}

// Returns how unlikely a reply beginning with kTellsNot is; at most the rarest candidate's chance.
double UnlikelyNotStated(std::span<const model::TokenChance> candidates) {
  double rarest = 0;
  for (const model::TokenChance& candidate : candidates) {
    const std::string start = ToLowerAscii(TrimSpace(candidate.token));
    if (!start.empty() && kTellsNot.starts_with(start)) return -candidate.logprob;
    rarest = std::min(rarest, candidate.logprob);
  }
  return -rarest;
}

}  // namespace

bool PassageReader::possible() const {
  const model::Entry& entry = run_.root.entry;
  if (!run_.policy.reads_passages_first || !entry.logprobs || entry.thinking) return false;
  if (run_.request.forcing != Forcing::kFull || passages_.places.empty()) return false;
  constexpr std::int64_t kMost = (kPassages + 1) * (1 + kJudges.size());
  return run_.ledger.calls_left().value_or(2 * kMost) >= 2 * kMost;
}

std::optional<Reading> PassageReader::Read() {
  const std::size_t count = std::min(kPassages, passages_.places.size());
  for (std::size_t i = 0; i < count && !run_.cancel.cancelled(); ++i) {
    const Passage& place = passages_.places[i];
    const auto stored = run_.request.context->Stored(place.document);
    if (!stored) return std::nullopt;
    const std::string_view text = (*stored)->map.bytes().substr(place.at, place.length);
    if (IsRows(text)) continue;  // one cell of many is not an answer
    auto reading = ReadOne(TrimSpace(text), passages_.titles[i]);
    if (!reading) return std::nullopt;
    read_.push_back(place);
    reading->place = i;
    if (!reading->answer.empty()) readings_.push_back(std::move(*reading));
  }
  if (run_.cancel.cancelled()) return std::nullopt;
  found_nothing_ = !read_.empty() && readings_.empty();
  if (readings_.empty()) return std::nullopt;
  Reading likeliest = *std::ranges::max_element(readings_, {}, &Reading::rank);
  if (likeliest.score <= 0 || !DocumentsAgree(likeliest)) return std::nullopt;
  likeliest.clear = Clearest(readings_, run_.request.question).has_value();
  return likeliest;
}

std::optional<Reading> PassageReader::ReadOne(std::string_view passage,
                                              std::string_view title) const {
  Values values{{"question", run_.request.question}, {"passage", std::string(passage)}};
  auto reading = Answer(values);
  if (!reading) return std::nullopt;
  if (reading->answer.empty() ||
      !StandsIn(values["passage"], reading->answer, run_.request.question)) {
    return Reading{};
  }
  values["answer"] = reading->answer;
  bool doubted = false;
  for (const std::string_view judge : kJudges) {
    const auto score = Judge(judge, values);
    if (!score) return std::nullopt;
    reading->score += *score;
    doubted |= judge == kJudges[0] && *score <= 0;
    if (doubted) break;
  }
  run_.log.Add("passage.read", {{"passage", title},
                                {"answer", run_.log.Body(reading->answer)},
                                {"score", reading->score},
                                {"stated", reading->stated}});
  if (doubted) return Reading{};
  reading->passage = std::move(values["passage"]);
  return std::move(*reading);
}

// Asked last, and only about an answer that would end the run, since it costs as much as a passage.
// A failed check confirms nothing.
bool PassageReader::DocumentsAgree(const Reading& reading) const {
  const auto said = ReadOne(utf8::Prefix(documents_, kDocumentsChars), "the list of documents");
  if (!said) return false;
  if (said->answer.empty()) return true;
  const std::string both = fmt::format("{}\n{}", reading.answer, said->answer);
  return Agree(MakeVote(reading.answer, both, run_.request.question),
               MakeVote(said->answer, both, run_.request.question));
}

Result<Reading> PassageReader::Answer(const Values& values) const {
  DOSSIER_ASSIGN_OR_RETURN(
      const assembly::Assembled prompt,
      run_.prompts.Assemble("passage_answer", run_.root, values, {}, run_.boundary, kAnswerTokens));
  DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, AskRoot(run_, prompt,
                                                             {.purpose = model::Purpose::kRead,
                                                              .turn = 0,
                                                              .max_output = kAnswerTokens,
                                                              .temperature = 0.0,
                                                              .first_tokens = kCandidates}));
  Reading reading{.stated = UnlikelyNotStated(reply.first_tokens)};
  const std::string said = StripThinking(reply.text).text;
  const std::string_view text = TrimSpace(said);
  if (IsCut(reply) || text.find('\n') != text.npos || ToLowerAscii(text).starts_with(kTellsNot)) {
    return reading;  // several lines are not "a few words"
  }
  reading.answer = std::string(text);
  return reading;
}

// Returns none if the request failed or the model says neither yes nor no.
std::optional<double> PassageReader::Judge(std::string_view role, const Values& values) const {
  const auto prompt = run_.prompts.Assemble(role, run_.root, values, {}, run_.boundary, 1);
  return prompt ? AskYesOrNo(run_, *prompt) : std::nullopt;
}

bool PassageReader::DeniesCount(std::string_view text) const {
  const auto score =
      Judge("asks_how_often", {{"question", run_.request.question}, {"text", std::string(text)}});
  return score && *score <= kDeniedCount;
}

std::optional<Reading> Clearest(const std::vector<Reading>& readings, std::string_view question) {
  const auto best = std::ranges::max_element(readings, {}, &Reading::rank);
  if (best == readings.end() || best->score < kLeastScore) return std::nullopt;
  const bool clear = std::ranges::all_of(readings, [&](const Reading& other) {
    const std::string both = fmt::format("{}\n{}", best->answer, other.answer);
    return &other == &*best || other.rank() < best->rank() - kMargin ||
           Agree(MakeVote(best->answer, both, question), MakeVote(other.answer, both, question));
  });
  return clear ? std::optional(*best) : std::nullopt;
}

}  // namespace dossier::ask
