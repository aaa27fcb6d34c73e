// The pure part of map_llm: plans which items go into which request, and parses replies.
//
//   UniqueItems unique = FindUnique(items);                       // equal items are asked once
//   auto batches = PlanBatches(all, tokens_of, {.max_items = 25, .max_tokens = 8192});
//   auto labels = ParseLabels(reply, {"positive", "negative"}, batches[0].size());
//   auto scores = ScoreLabels(reply.first_tokens, labels);        // instead of reading the word
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_SUBCALLS_MAP_PLAN_H_
#define DOSSIER_ASK_SUBCALLS_MAP_PLAN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/client/client.h"

namespace dossier::ask {

inline constexpr int kMapRetryRounds = 3;

struct UniqueItems {
  std::vector<std::size_t> first;  // first index of each group of equal items, ascending
  std::vector<std::size_t> group;  // for each item its group's index in `first`
};
UniqueItems FindUnique(std::span<const std::string_view> items);

struct BatchLimits {
  std::size_t max_items = 25;  // 0 counts as 1
  // Limit for the items of one request together; a larger item gets a request of its own.
  std::int64_t max_tokens = INT64_MAX;
};

// Packs `wanted` (indexes into `tokens`) in order, as many per batch as the limits allow.
std::vector<std::vector<std::size_t>> PlanBatches(std::span<const std::size_t> wanted,
                                                  std::span<const std::int64_t> tokens,
                                                  const BatchLimits& limits);

// Returns the items per request in retry round 1, 2, 3: half of `max_items`, a quarter, one.
std::size_t RetryItems(std::size_t max_items, int round);

// Returns the label of each of `count` items as an index into `labels`. Reads lines `number: label`
// (numbers from 1), table rows or the same as JSON, or exactly `count` lines with a label each and
// no numbers. Labels match exactly, then without case and outer punctuation, then by unique prefix,
// then with an explanation after them that names no other label: "good (clear)", "good - because
// …". None: no line with a known, unambiguous label, or lines with different ones.
std::vector<std::optional<std::size_t>> ParseLabels(std::string_view reply,
                                                    std::span<const std::string> labels,
                                                    std::size_t count);

// Returns which of `labels` matches `text`, by the rules above.
std::optional<std::size_t> MatchLabel(std::string_view text, std::span<const std::string> labels);

// Returns for each label the log-probability that the reply is that label, based on the reply's
// first token. A token counts for the one label that starts with it (ignoring case and outer
// spaces), or else for the one with a word that does. None if the candidates say almost nothing
// about the labels: the model would have said something else, or a token cannot tell labels apart.
using Scores = std::vector<double>;
std::optional<Scores> ScoreLabels(std::span<const model::TokenChance> candidates,
                                  std::span<const std::string> labels);

// Returns the model's bias towards each label regardless of the text: the middle between its scores
// for texts that name a label and for texts that say nothing (docs/small-models.md). `of_names[i]`
// are the scores for a text that names label i; `of_nothing` may be empty. None if the model cannot
// even tell the names apart.
std::optional<Scores> LeaningOf(std::span<const Scores> of_names,
                                std::span<const Scores> of_nothing);

// Returns the label whose score is farthest above the bias; the first among equals.
std::size_t BestLabel(const Scores& scores, const Scores& leaning);

// The assignment of two labels to texts, by two scores of each text: `choice`, how much likelier
// label 0 is than label 1, and `asked`, the log-odds that the text is one that the question asks
// for. Neither tells where to cut, but together they order the texts well, and texts of two kinds
// form two groups of any sizes (docs/small-models.md). None for fewer than kTextsToSplit texts, or
// if all scores are alike.
struct TextGroups {
  std::vector<std::size_t> labels;  // 0 or 1 for each text
  double unsure = 0;                // expected share of texts in the wrong group
  double smaller = 0;               // share of texts in the smaller group
  double apart = 0;     // difference of the shares that each score alone would give label 0
  double disputed = 0;  // share of texts that the two scores put into different groups
  // How much better two groups explain the scores than one, minus a penalty for their parameters
  // (Bayesian information criterion, BIC). At most 0: there may be only one group.
  double two_rather_than_one = 0;
};
inline constexpr std::size_t kTextsToSplit = 8;
// Above it the groups overlap too much.
inline constexpr double kUnsureShare = 0.08;
// Below it the smaller group may be just a few outliers.
inline constexpr double kLeastGroup = 0.15;
// Above it the two scores disagree about the count.
inline constexpr double kMostApart = 0.15;
// Above it the two scores disagree about the texts, though perhaps not about the count.
inline constexpr double kMostDisputed = 0.2;
// Returns true if a count of either group may be given without a warning (docs/small-models.md).
bool IsSure(const TextGroups& groups);
std::optional<TextGroups> SplitTexts(std::span<const double> choice, std::span<const double> asked);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_MAP_PLAN_H_
