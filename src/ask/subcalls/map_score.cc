// Labels texts for map_llm by the probabilities of a reply's first token.

#include <array>
#include <map>
#include <numeric>

#include "ask/subcalls/map_call.h"

namespace dossier::ask {
namespace {

constexpr int kCandidates = 20;  // for the first token: the most that servers return
// Texts without content, to measure how a model answers anyway.
constexpr std::string_view kNothing[] = {"N/A", "The text.", "[...]"};

// Puts each item into its own request.
std::vector<std::vector<std::size_t>> OneEach(const std::vector<std::size_t>& items) {
  std::vector<std::vector<std::size_t>> batches;
  for (const std::size_t item : items) batches.push_back({item});
  return batches;
}

// Returns texts that name a label, and texts without content.
std::vector<std::string> LeaningTexts(const std::vector<std::string>& labels) {
  std::vector<std::string> texts;
  for (const std::string& label : labels) {
    texts.push_back(fmt::format("This text is an example of: {}.", label));
  }
  texts.insert(texts.end(), std::begin(kNothing), std::end(kNothing));
  return texts;
}

bool EndedByRules(const model::Reply& reply) {
  return reply.finish == model::Finish::kFilter || reply.finish == model::Finish::kRefused;
}

}  // namespace

model::Sampling MapCall::ScoreSampling() { return {.max_output = 1, .first_tokens = kCandidates}; }

std::vector<std::pair<MapCall::About, std::vector<std::string>>> MapCall::ScoreTexts(
    const Work& work) const {
  const Batch wanted = Missing(work);
  std::vector<std::string> texts;
  for (const std::size_t index : wanted) texts.emplace_back(work.texts[index]);
  if (texts.empty()) return {};
  const std::vector<std::string>& labels = work.plan.labels;
  if (labels.size() == 2 && wanted.size() >= kTextsToSplit) {
    return {{About::kLabels, texts}, {About::kQuestion, texts}};
  }
  if (labels.size() > 2) return {{About::kLabels, texts}};
  return {{About::kLabels, LeaningTexts(labels)}, {About::kLabels, texts}};
}

Status MapCall::Score(Work* work) const {
  const Batch wanted = Missing(*work);
  if (work->plan.labels.size() == 2 && wanted.size() >= kTextsToSplit) {
    return ScoreByGroups(wanted, work);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<Scores> leaning, Leaning(*work));
  if (!leaning) return {};
  const Take take = [&](const Batch& batch, const Result<model::Reply>& reply) {
    Outcome& outcome = work->outcomes[batch[0]];
    const auto scores = reply ? ScoreLabels(reply->first_tokens, work->plan.labels) : std::nullopt;
    if (!reply) outcome.reason = ReasonOf(reply.error());
    if (!scores || EndedByRules(*reply)) return;
    outcome = {.label = BestLabel(*scores, *leaning), .read = true};
    work->report(batch);
  };
  return Ask(work->plan, About::kLabels, work->texts, OneEach(wanted), ScoreSampling(),
             work->cancel, take);
}

Status MapCall::ScoreByGroups(const Batch& wanted, Work* work) const {
  const auto ask = [&](About about, std::span<const std::string> labels,
                       std::map<std::size_t, double>* scores) {
    const Take take = [&, labels](const Batch& batch, const Result<model::Reply>& reply) {
      if (!reply) work->outcomes[batch[0]].reason = ReasonOf(reply.error());
      if (!reply || EndedByRules(*reply)) return;
      const auto found = ScoreLabels(reply->first_tokens, labels);
      if (found) (*scores)[batch[0]] = (*found)[0] - (*found)[1];
    };
    return Ask(work->plan, about, work->texts, OneEach(wanted), ScoreSampling(), work->cancel,
               take);
  };
  static const std::array<std::string, 2> kYesOrNo = {"yes", "no"};
  std::map<std::size_t, double> choice, asked;
  Status status = ask(About::kLabels, work->plan.labels, &choice);
  if (status && !choice.empty()) status = ask(About::kQuestion, kYesOrNo, &asked);
  // Also if a limit intervened: texts that were scored twice are kept.
  Batch scored;
  std::vector<double> first, second;
  for (const auto& [index, score] : choice) {
    const auto other = asked.find(index);
    if (other == asked.end()) continue;
    scored.push_back(index);
    first.push_back(score);
    second.push_back(other->second);
  }
  if (const auto groups = SplitTexts(first, second)) {
    for (std::size_t i = 0; i < scored.size(); ++i) {
      work->outcomes[scored[i]] = {.label = groups->labels[i], .read = true};
    }
    if (!IsSure(*groups)) subcalls_.NoteUnsureLabels();
    work->report(scored);
  }
  return status;
}

// None if one token cannot tell the labels apart, or the server gives no probabilities.
Result<std::optional<Scores>> MapCall::Leaning(const Work& work) const {
  const std::vector<std::string>& labels = work.plan.labels;
  // With more than two labels, the uncorrected likeliest label was right more often.
  if (labels.size() > 2) return Scores(labels.size());
  const std::vector<std::string> texts = LeaningTexts(labels);
  std::vector<std::optional<Scores>> found(texts.size());
  const Take take = [&](const Batch& batch, const Result<model::Reply>& reply) {
    if (reply) found[batch[0]] = ScoreLabels(reply->first_tokens, labels);
  };
  Batch all(texts.size());
  std::iota(all.begin(), all.end(), 0);
  DOSSIER_RETURN_IF_ERROR(Ask(work.plan, About::kLabels, {texts.begin(), texts.end()}, OneEach(all),
                              ScoreSampling(), work.cancel, take));
  std::vector<Scores> of_names, of_nothing;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) (i < labels.size() ? of_names : of_nothing).push_back(std::move(*found[i]));
  }
  if (of_names.size() < labels.size()) return std::nullopt;
  return LeaningOf(of_names, of_nothing);
}

}  // namespace dossier::ask
