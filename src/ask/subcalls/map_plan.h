// The pure part of map_llm: which items go into which request, and what a reply says.
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
  std::vector<std::size_t> first;  // index of the first of each group of equal items, ascending
  std::vector<std::size_t> group;  // for each item the position of its group in `first`
};
UniqueItems FindUnique(std::span<const std::string_view> items);

struct BatchLimits {
  std::size_t max_items = 25;  // 0 counts as 1
  // Of the items of one request together; an item that is larger alone gets a request of its own.
  std::int64_t max_tokens = INT64_MAX;
};

// Packs `wanted` (indexes into `tokens`) in order, as many a batch as the limits allow.
std::vector<std::vector<std::size_t>> PlanBatches(std::span<const std::size_t> wanted,
                                                  std::span<const std::int64_t> tokens,
                                                  const BatchLimits& limits);

// Items a request in retry round 1, 2, 3 after batches of `max_items`: half, a quarter, one.
std::size_t RetryItems(std::size_t max_items, int round);

// The label of each of `count` items as an index into `labels`, from lines `number: label` (numbers
// from 1), rows of a table or the same as JSON, or from exactly `count` lines with a label each and
// no numbers. Labels match exactly, then without case and outer punctuation, then by unique prefix,
// then with an explanation behind them that names no other one: "good (clear)", "good - because …".
// None: no line with a known, unambiguous label, or lines with different ones.
std::vector<std::optional<std::size_t>> ParseLabels(std::string_view reply,
                                                    std::span<const std::string> labels,
                                                    std::size_t count);

// How `text` matches one of `labels`, by the rules above.
std::optional<std::size_t> MatchLabel(std::string_view text, std::span<const std::string> labels);

// What the first token of a reply says of each label: the logarithm of the probability that the
// reply is that label. A token counts for the one label that starts with it, case and outer spaces
// aside, or else for the one that has a word which does. None if the candidates say next to nothing
// of the labels: the model would have said something else, or a token does not tell one label from
// another.
using Scores = std::vector<double>;
std::optional<Scores> ScoreLabels(std::span<const model::TokenChance> candidates,
                                  std::span<const std::string> labels);

// How far a model leans towards each label whatever the text is: the middle between its scores for
// texts that name a label and for texts that say nothing (docs/small-models.md). `of_names[i]` are
// the scores for a text that names label i; `of_nothing` may be empty. None if the model cannot
// even tell the names apart.
std::optional<Scores> LeaningOf(std::span<const Scores> of_names,
                                std::span<const Scores> of_nothing);

// The label whose score is farthest above the leaning; the first of equal ones.
std::size_t BestLabel(const Scores& scores, const Scores& leaning);

// Which of two labels each text has, by two scores of each text: `choice`, how much likelier label
// 0 is than label 1, and `asked`, how much rather the text is one of those that the question asks
// for than not. Neither tells where to cut, but together they order the texts well, and texts of
// two kinds lie in two groups of whatever sizes (docs/small-models.md). None for fewer than
// kTextsToSplit texts, or where all score alike.
struct TextGroups {
  std::vector<std::size_t> labels;  // 0 or 1 for each text
  double unsure = 0;                // the expected share of texts that are in the wrong group
  double smaller = 0;               // the share of texts in the smaller group
  double apart = 0;     // by how much the shares differ that either score alone would give label 0
  double disputed = 0;  // the share of texts that the scores alone put into different groups
  // How much better two groups explain the scores than one does, for what they may cost: Schwarz's
  // criterion (BIC). At most 0: there is perhaps only one group.
  double two_rather_than_one = 0;
};
inline constexpr std::size_t kTextsToSplit = 8;
// Above it the groups run into each other.
inline constexpr double kUnsureShare = 0.08;
// Below it the smaller group may be no more than a few odd texts.
inline constexpr double kLeastGroup = 0.15;
// Above it the scores are of different minds about the count.
inline constexpr double kMostApart = 0.15;
// Above it the scores are of different minds about the texts, though perhaps not about the count.
inline constexpr double kMostDisputed = 0.2;
// Whether a count of either group may be given without a warning (docs/small-models.md).
bool IsSure(const TextGroups& groups);
std::optional<TextGroups> SplitTexts(std::span<const double> choice, std::span<const double> asked);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_MAP_PLAN_H_
