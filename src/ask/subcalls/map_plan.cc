#include "ask/subcalls/map_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <unordered_map>

#include "ask/reply/fences.h"
#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMaxNumberDigits = 9;
// Minimum probability of all labels together. Models that answer with a label give it over 0.9.
constexpr double kLeastChance = 0.2;
// Minimum bytes of a token to identify a word inside a label, or of a word to identify a label.
constexpr std::size_t kLeastOfWord = 3;
// Minimum bytes of a token that begins a longer word inside a label: "in" of "illness or injury".
constexpr std::size_t kLeastOfStart = 2;

bool IsAlphanumeric(char c) { return IsAlnum(c) || static_cast<unsigned char>(c) >= 0x80; }

// Returns lower case with only letters and digits at both ends.
std::string Plain(std::string_view text) {
  while (!text.empty() && !IsAlphanumeric(text.front())) text.remove_prefix(1);
  while (!text.empty() && !IsAlphanumeric(text.back())) text.remove_suffix(1);
  return ToLowerAscii(text);
}

// Returns the only label for which `matches` holds.
template <typename Matches>
std::optional<std::size_t> OnlyOne(std::span<const std::string> labels, const Matches& matches) {
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!matches(labels[i])) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

// Returns true if `word` occurs in `text` as a whole word (no letter or digit on either side).
bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsAlphanumeric(text[at - 1])) &&
        (end == text.size() || !IsAlphanumeric(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string_view WithoutBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Returns true if the text after a label explains it: " (clear)", " - because …", or a new line. A
// comma or a full stop may also belong to a text that is repeated.
bool BeginsReason(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of("*_`\"'"), rest.size()));
  const std::string_view from = WithoutBlanks(rest);
  if (from.empty() || std::string_view("([{:;\n\r").find(from[0]) != from.npos) return true;
  for (const std::string_view dash : {"-", "–", "—"}) {
    if (!from.starts_with(dash)) continue;
    const std::string_view behind = from.substr(dash.size());
    return from.size() < rest.size() || WithoutBlanks(behind).size() < behind.size();
  }
  return false;
}

// Returns the label that `text` (from Plain) begins with and then explains; none if the explanation
// names another label.
std::optional<std::size_t> ExplainedLabel(std::string_view text,
                                          std::span<const std::string> labels) {
  std::string longest;
  for (const std::string& label : labels) {
    std::string plain = Plain(label);
    if (plain.size() <= longest.size() || !text.starts_with(plain)) continue;
    if (BeginsReason(text.substr(plain.size()))) longest = std::move(plain);
  }
  if (longest.empty()) return std::nullopt;
  const std::string_view rest = text.substr(longest.size());
  const bool names_other = std::ranges::any_of(labels, [&](const std::string& label) {
    const std::string plain = Plain(label);
    return !plain.empty() && plain != longest && HasWord(rest, plain);
  });
  if (names_other) return std::nullopt;
  return OnlyOne(labels, [&longest](const std::string& label) { return Plain(label) == longest; });
}

struct Answer {
  std::size_t number = 0;  // from 1
  std::string_view label;
};

// Reads "12: label", "12. label", "**12** - label", "[12] label", "Item 12: label".
std::optional<Answer> ReadLine(std::string_view line) {
  line = TrimSpace(line);
  const std::string lower = ToLowerAscii(line.substr(0, 16));
  std::size_t at = 0;
  while (at < lower.size() && !IsAlphanumeric(lower[at])) ++at;
  for (const std::string_view word : {"item ", "item", "no. "}) {
    if (std::string_view(lower).substr(at).starts_with(word)) {
      at += word.size();
      break;
    }
  }
  line.remove_prefix(at);
  const std::size_t digits =
      static_cast<std::size_t>(std::ranges::find_if_not(line, IsDigit) - line.begin());
  if (digits == 0 || digits > kMaxNumberDigits) return std::nullopt;
  std::string_view rest = line.substr(digits);
  std::size_t mark = std::min(rest.find_first_not_of(" \t*_`\"'])"), rest.size());
  const bool closed = mark > 0 && rest.substr(0, mark).find_first_of("])") != rest.npos;
  if (mark < rest.size() && std::string_view(":.-=").find(rest[mark]) != std::string_view::npos) {
    ++mark;
  } else if (!closed) {
    return std::nullopt;
  }
  return Answer{.number = std::stoul(std::string(line.substr(0, digits))),
                .label = TrimSpace(rest.substr(mark))};
}

// Reads a table row: "| 12 | label |", also with other cells, if none of them is another label.
std::optional<Answer> ReadRow(std::string_view line, std::span<const std::string> labels) {
  std::optional<Answer> answer;
  std::optional<std::size_t> found;
  for (const std::string_view part : Split(line, '|')) {
    const std::string_view cell = TrimSpace(part);
    if (cell.empty()) continue;
    if (!answer) {
      const std::string number = Plain(cell);
      if (number.empty() || number.size() > kMaxNumberDigits ||
          !std::ranges::all_of(number, IsDigit)) {
        return std::nullopt;
      }
      answer = Answer{.number = std::stoul(number)};
      continue;
    }
    const auto label = MatchLabel(cell, labels);
    if (!label) continue;
    if (found && found != label) return std::nullopt;
    found = label;
    answer->label = cell;
  }
  if (!found) return std::nullopt;
  return answer;
}

constexpr double kLargestLogprob = 0.01;  // 0, plus rounding errors

class Collector {
 public:
  Collector(std::span<const std::string> labels, std::size_t count)
      : labels_(labels), items_(count) {}

  void Add(std::size_t number, std::string_view text) {
    if (number == 0 || number > items_.size()) {
      const bool labelled = MatchLabel(text, labels_).has_value();
      before_first_ |= labelled && number == 0;
      behind_last_ |= labelled && number == items_.size() + 1;
      return;
    }
    Item& item = items_[number - 1];
    const auto label = MatchLabel(text, labels_);
    if (!label) return;  // an echo of the item, or an invented label
    if (!item.seen) {
      item = {.label = label, .seen = true};
    } else if (item.label != label) {
      item.label.reset();  // two different answers count as none
    }
  }

  bool empty() const {
    return IsShifted() || std::ranges::none_of(items_, [](const Item& item) { return item.seen; });
  }

  std::vector<std::optional<std::size_t>> Take() const {
    std::vector<std::optional<std::size_t>> labels;
    labels.reserve(items_.size());
    for (const Item& item : items_) labels.push_back(IsShifted() ? std::nullopt : item.label);
    return labels;
  }

 private:
  struct Item {
    std::optional<std::size_t> label;
    bool seen = false;
  };
  // Returns true if numbers start from 0 or 2: labels would belong to neighbours, so none is used.
  bool IsShifted() const {
    if (items_.empty()) return false;
    return (behind_last_ && !items_.front().seen) || (before_first_ && !items_.back().seen);
  }

  const std::span<const std::string> labels_;
  std::vector<Item> items_;
  bool before_first_ = false, behind_last_ = false;  // a label for an item that does not exist
};

std::string_view TextOf(const Json& value) {
  const auto* text = value.if_string();
  return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

void AddObject(const JsonObject& object, Collector& collector) {
  for (const auto& member : object) {
    const std::string_view key = member.key();
    if (key.empty() || key.size() > kMaxNumberDigits || !std::ranges::all_of(key, IsDigit))
      continue;
    collector.Add(std::stoul(std::string(key)), TextOf(member.value()));
  }
}

// Reads {"1": "label"}, ["label", …] with one per item, or either under "labels".
void AddJson(const Json& value, std::size_t count, Collector& collector) {
  const Json* inner = Find(value, "labels");
  const Json& labels = inner ? *inner : value;
  if (const auto* object = labels.if_object()) AddObject(*object, collector);
  if (const auto* array = labels.if_array(); array && array->size() == count) {
    for (std::size_t i = 0; i < count; ++i) collector.Add(i + 1, TextOf((*array)[i]));
  }
}

// Returns true if a word of `text` starts with `start`. A short word that is whole ("or", "of")
// does not count: it tells nothing about the label.
bool HasWordFrom(std::string_view text, std::string_view start) {
  for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    const std::size_t end = at + start.size();
    if (at > 0 && IsAlphanumeric(text[at - 1])) continue;
    if (start.size() >= kLeastOfWord || (end < text.size() && IsAlphanumeric(text[end]))) {
      return true;
    }
  }
  return false;
}

// Returns the only label that a reply beginning with `start` (lower case) can mean. A model that
// should repeat a phrase often begins with its most important word, so if no label begins this way,
// a word of a label may.
std::optional<std::size_t> LabelOfStart(std::string_view start,
                                        std::span<const std::string> labels) {
  const auto begins = [start](const std::string& label) {
    return ToLowerAscii(TrimSpace(label)).starts_with(start);
  };
  if (std::ranges::any_of(labels, begins)) return OnlyOne(labels, begins);
  if (start.size() < kLeastOfStart) return std::nullopt;
  return OnlyOne(labels, [start](const std::string& label) {
    return HasWordFrom(ToLowerAscii(label), start);
  });
}

// Reads one label per line with nothing between them, exactly as many as there are items.
void AddPlainList(const std::vector<TextLine>& lines, std::span<const std::string> labels,
                  std::size_t count, Collector& collector) {
  std::vector<std::string_view> found;
  bool ended = false;
  for (const TextLine& line : lines) {
    if (TrimSpace(line.text).empty()) continue;
    const bool is_label = MatchLabel(line.text, labels).has_value();
    if (is_label && ended) return;
    if (is_label) found.push_back(line.text);
    ended = !is_label && !found.empty();
  }
  if (found.size() != count) return;
  for (std::size_t i = 0; i < count; ++i) collector.Add(i + 1, found[i]);
}

// Minimum: the question may ask for label 1, and then the two scores of SplitTexts are opposed.
constexpr double kOpposed = -0.4;  // correlation
constexpr int kMixtureRounds = 200;
constexpr double kLeastVariance = 1e-3;
// The share of a group is estimated as if the texts came with this many more in either group (a
// beta prior), so that a few outliers are not taken for a group (docs/small-models.md).
constexpr double kMoreInEither = 3;

double Mean(std::span<const double> values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

double Variance(std::span<const double> values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

// Scales to mean 0 and standard deviation 1; all 0 if all values are equal.
std::vector<double> Standardized(std::span<const double> values) {
  const double mean = Mean(values), deviation = std::sqrt(Variance(values));
  std::vector<double> out;
  for (const double value : values) out.push_back(deviation > 0 ? (value - mean) / deviation : 0);
  return out;
}

// Two groups of values: their means, their common variance, and the share of the upper group.
struct Mixture {
  double low = 0, high = 0, variance = 1, share = 0.5;

  double LogLikelihood(std::span<const double> values) const {
    double sum = 0;
    for (const double value : values) {
      const auto normal = [&](double mean) {
        return std::exp(-(value - mean) * (value - mean) / (2 * variance));
      };
      const double density = (1 - share) * normal(low) + share * normal(high);
      sum += std::log(std::max(density, std::numeric_limits<double>::min())) -
             std::log(2 * std::numbers::pi * variance) / 2;
    }
    return sum;
  }

  // Returns the probability that `value` belongs to the upper group.
  double Upper(double value) const {
    const auto distance = [&](double mean) {
      return (value - mean) * (value - mean) / (2 * variance);
    };
    return 1 / (1 + (1 - share) / share * std::exp(distance(high) - distance(low)));
  }
};

// Returns the split with the least squares, to start the mixture; none if all values are equal.
std::optional<Mixture> TwoGroups(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double all = std::reduce(sorted.begin(), sorted.end());
  double below = 0, best = 0;
  std::optional<Mixture> found;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    below += sorted[i - 1];
    if (sorted[i] == sorted[i - 1]) continue;
    const auto left = static_cast<double>(i), right = static_cast<double>(sorted.size() - i);
    const double low = below / left, high = (all - below) / right;
    // The least squares within the groups are the greatest between them.
    const double between = left * right * (high - low) * (high - low);
    if (between <= best) continue;
    best = between;
    found = Mixture{.low = low, .high = high, .share = right / (left + right)};
  }
  return found;
}

// Fits two normal distributions with equal variance and any shares by expectation maximization
// (EM), which, unlike least squares, does not favour groups of equal size.
Mixture Refine(Mixture mixture, std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  for (int round = 0; round < kMixtureRounds; ++round) {
    double upper = 0, low = 0, high = 0, squares = 0;
    for (const double value : values) {
      const double chance = mixture.Upper(value);
      upper += chance;
      low += (1 - chance) * value;
      high += chance * value;
    }
    if (upper < 0.5 || count - upper < 0.5) break;  // less than half a text is not a group
    low /= count - upper;
    high /= upper;
    for (const double value : values) {
      const double chance = mixture.Upper(value);
      squares +=
          (1 - chance) * (value - low) * (value - low) + chance * (value - high) * (value - high);
    }
    mixture = {.low = low,
               .high = high,
               .variance = std::max(squares / count, kLeastVariance),
               .share = (upper + kMoreInEither) / (count + 2 * kMoreInEither)};
  }
  return mixture;
}

// Returns the mixture that fits the values; none if all are equal.
std::optional<Mixture> FitMixture(std::span<const double> values) {
  auto mixture = TwoGroups(values);
  if (!mixture) return std::nullopt;
  mixture->variance = 0.25 * std::max(Variance(values), kLeastVariance);
  mixture->share = 0.5;
  return Refine(*mixture, values);
}

// Returns the probability of each value to belong to the upper group.
std::vector<double> UpperGroup(const Mixture& groups, std::span<const double> values) {
  std::vector<double> chances;
  for (const double value : values) chances.push_back(groups.Upper(value));
  return chances;
}

// TextGroups::two_rather_than_one. A mixture has two more parameters than a normal distribution.
double TwoRatherThanOne(const Mixture& groups, std::span<const double> values) {
  const Mixture one{.low = Mean(values),
                    .high = Mean(values),
                    .variance = std::max(Variance(values), kLeastVariance)};
  const auto count = static_cast<double>(values.size());
  return 2 * (groups.LogLikelihood(values) - one.LogLikelihood(values)) - 2 * std::log(count);
}

// Returns the share of values that the two mixtures put into different groups.
double Disputed(const std::vector<double>& first, const std::vector<double>& second) {
  double different = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if ((first[i] > 0.5) != (second[i] > 0.5)) ++different;
  }
  return different / static_cast<double>(first.size());
}

// Returns the share of values that are more likely in the upper group.
double ShareOf(std::span<const double> chances) {
  const auto upper = std::ranges::count_if(chances, [](double chance) { return chance > 0.5; });
  return static_cast<double>(upper) / static_cast<double>(chances.size());
}

}  // namespace

UniqueItems FindUnique(std::span<const std::string_view> items) {
  UniqueItems unique;
  unique.group.reserve(items.size());
  std::unordered_map<std::string_view, std::size_t> groups;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [found, is_new] = groups.emplace(items[i], unique.first.size());
    if (is_new) unique.first.push_back(i);
    unique.group.push_back(found->second);
  }
  return unique;
}

std::vector<std::vector<std::size_t>> PlanBatches(std::span<const std::size_t> wanted,
                                                  std::span<const std::int64_t> tokens,
                                                  const BatchLimits& limits) {
  const std::size_t max_items = std::max<std::size_t>(limits.max_items, 1);
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t used = 0;
  for (const std::size_t item : wanted) {
    const std::int64_t size = item < tokens.size() ? std::max<std::int64_t>(tokens[item], 0) : 0;
    const bool full =
        batches.empty() || batches.back().size() >= max_items || used > limits.max_tokens - size;
    if (full) {
      batches.emplace_back();
      used = 0;
    }
    batches.back().push_back(item);
    used += size;
  }
  return batches;
}

std::size_t RetryItems(std::size_t max_items, int round) {
  if (round >= kMapRetryRounds) return 1;
  return std::max<std::size_t>(max_items >> std::max(round, 0), 1);
}

std::optional<std::size_t> MatchLabel(std::string_view text, std::span<const std::string> labels) {
  text = TrimSpace(text);
  const auto exact = OnlyOne(labels, [text](const std::string& label) { return label == text; });
  if (exact) return exact;
  const std::string plain = Plain(text);
  if (plain.empty()) return std::nullopt;
  const auto same = [&plain](const std::string& label) { return Plain(label) == plain; };
  if (std::ranges::any_of(labels, same)) return OnlyOne(labels, same);
  // "No." does not mean "Novel": a word of one or two letters only fits a label of at most three.
  const auto begins = [&plain](const std::string& label) {
    const std::string whole = Plain(label);
    return whole.starts_with(plain) &&
           (plain.size() >= kLeastOfWord || whole.size() <= kLeastOfWord);
  };
  if (std::ranges::any_of(labels, begins)) return OnlyOne(labels, begins);
  return ExplainedLabel(plain, labels);
}

std::vector<std::optional<std::size_t>> ParseLabels(std::string_view reply,
                                                    std::span<const std::string> labels,
                                                    std::size_t count) {
  Collector collector(labels, count);
  const std::size_t open = reply.find_first_of("{[");
  const std::size_t close = reply.find_last_of("}]");
  if (open != reply.npos && close != reply.npos && open < close) {
    if (auto json = ParseJson(reply.substr(open, close + 1 - open))) {
      AddJson(*json, count, collector);
    }
  }
  if (!collector.empty()) return collector.Take();
  const std::vector<TextLine> lines = SplitLines(reply);
  for (const TextLine& line : lines) {
    auto answer = ReadRow(line.text, labels);
    if (!answer) answer = ReadLine(line.text);
    if (answer) collector.Add(answer->number, answer->label);
  }
  if (collector.empty() && count == 1) collector.Add(1, reply);
  if (collector.empty() && count > 1) AddPlainList(lines, labels, count, collector);
  return collector.Take();
}

std::optional<Scores> ScoreLabels(std::span<const model::TokenChance> candidates,
                                  std::span<const std::string> labels) {
  std::vector<double> chances(labels.size());
  double rarest = 0;
  for (const model::TokenChance& candidate : candidates) {
    if (!(candidate.logprob <= kLargestLogprob)) return std::nullopt;  // not a probability
    rarest = std::min(rarest, candidate.logprob);
    const std::string_view token = TrimSpace(candidate.token);
    const auto begins = [token](const std::string& label) {
      return TrimSpace(label).starts_with(token);
    };
    // "I" begins "I cannot do that" rather than "illness".
    if (token.empty() || (token.size() == 1 && std::ranges::none_of(labels, begins))) continue;
    const std::string start = ToLowerAscii(token);
    const auto label = LabelOfStart(start, labels);
    if (label) chances[*label] += std::exp(candidate.logprob);
  }
  if (std::reduce(chances.begin(), chances.end()) < kLeastChance) return std::nullopt;
  Scores scores;
  // A label that is not among the candidates is at most as likely as the last of them.
  for (const double chance : chances) scores.push_back(std::max(std::log(chance), rarest));
  return scores;
}

std::optional<Scores> LeaningOf(std::span<const Scores> of_names,
                                std::span<const Scores> of_nothing) {
  Scores leaning(of_names.size());
  const double share = of_nothing.empty() ? 1 : 0.5;
  const auto add = [&leaning](std::span<const Scores> texts, double weight) {
    for (const Scores& scores : texts) {
      for (std::size_t i = 0; i < leaning.size(); ++i) leaning[i] += weight * scores[i];
    }
  };
  add(of_names, share / static_cast<double>(of_names.size()));
  add(of_nothing, (1 - share) / std::max(1.0, static_cast<double>(of_nothing.size())));
  for (std::size_t i = 0; i < of_names.size(); ++i) {
    if (BestLabel(of_names[i], leaning) != i) return std::nullopt;
  }
  return leaning;
}

std::size_t BestLabel(const Scores& scores, const Scores& leaning) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] - leaning[i] > scores[best] - leaning[best]) best = i;
  }
  return best;
}

bool IsSure(const TextGroups& groups) {
  return groups.unsure <= kUnsureShare && groups.smaller >= kLeastGroup &&
         groups.apart <= kMostApart && groups.disputed <= kMostDisputed &&
         groups.two_rather_than_one > 0;
}

std::optional<TextGroups> SplitTexts(std::span<const double> choice,
                                     std::span<const double> asked) {
  if (choice.size() < kTextsToSplit) return std::nullopt;
  const auto count = static_cast<double>(choice.size());
  const std::vector<double> first = Standardized(choice);
  std::vector<double> second = Standardized(asked);
  const double together =
      std::inner_product(first.begin(), first.end(), second.begin(), 0.0) / count;
  if (together < kOpposed) {
    for (double& score : second) score = -score;
  }
  std::vector<double> both = first;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += second[i];
  const auto groups = FitMixture(both);
  if (!groups) return std::nullopt;
  const std::vector<double> upper = UpperGroup(*groups, both);
  TextGroups found;
  for (const double chance : upper) {
    found.labels.push_back(chance > 0.5 ? 0 : 1);
    found.unsure += std::min(chance, 1 - chance) / count;
  }
  const double share = ShareOf(upper);
  found.smaller = std::min(share, 1 - share);
  found.two_rather_than_one = TwoRatherThanOne(*groups, both);
  const auto of_first = FitMixture(first), of_second = FitMixture(second);
  if (!of_first || !of_second) {
    found.apart = found.disputed = 1;  // one score alone is inconclusive
    return found;
  }
  const auto by_first = UpperGroup(*of_first, first), by_second = UpperGroup(*of_second, second);
  found.apart = std::abs(ShareOf(by_first) - ShareOf(by_second));
  found.disputed = Disputed(by_first, by_second);
  return found;
}

}  // namespace dossier::ask
