#include "evaluation/tasks/prose.h"

#include <fmt/format.h>

#include <iterator>

#include "base/files/missing_file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/tasks/grammar.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kAdjectives[] = {
    "amber",  "ancient", "bitter", "brisk",  "broken",  "calm",   "candid", "careful",
    "chilly", "clever",  "cloudy", "crisp",  "dapper",  "deep",   "dusty",  "eager",
    "early",  "faint",   "fierce", "florid", "frosty",  "gentle", "giddy",  "glassy",
    "golden", "hollow",  "humble", "idle",   "jolly",   "keen",   "lanky",  "lively",
    "lonely", "lucid",   "mellow", "misty",  "modest",  "narrow", "nimble", "noisy",
    "pale",   "patient", "placid", "polite", "proud",   "quaint", "quiet",  "ragged",
    "rapid",  "rustic",  "shady",  "silent", "slender", "sober",  "solemn", "sturdy",
    "subtle", "sunny",   "tepid",  "tidy",   "vivid",   "weary",  "witty",  "young"};
constexpr std::string_view kNouns[] = {
    "acorn",   "anchor",  "anvil",   "arrow",   "badger", "basket", "beacon",  "bridge",
    "bucket",  "button",  "candle",  "canyon",  "carrot", "castle", "cellar",  "clover",
    "copper",  "cottage", "curtain", "dagger",  "desert", "engine", "falcon",  "feather",
    "forest",  "garnet",  "goblet",  "hammer",  "harbor", "helmet", "hermit",  "island",
    "jacket",  "kettle",  "ladder",  "lantern", "ledger", "magnet", "marble",  "meadow",
    "mirror",  "nettle",  "orchard", "otter",   "paddle", "pebble", "pepper",  "pillar",
    "pocket",  "quarry",  "rabbit",  "ribbon",  "saddle", "shovel", "spider",  "temple",
    "thimble", "timber",  "tunnel",  "valley",  "violet", "walnut", "whistle", "window"};
constexpr std::string_view kFamilyNames[] = {
    "Harlow", "Vance",  "Okoro",  "Lindt", "Marsh",  "Pereira", "Quist", "Rowan",
    "Sorel",  "Tanaka", "Ulrich", "Vidal", "Weiss",  "Yilmaz",  "Zeman", "Abbott",
    "Brandt", "Castro", "Dalca",  "Ferro", "Glover", "Hoxha",   "Ivanov"};

constexpr std::string_view kConsonants = "bdfgklmnprstvz";
constexpr std::string_view kVowels = "aeiou";

}  // namespace

Result<Prose> Prose::Open(const std::string& path) {
  Prose prose;
  if (path.empty()) return prose;
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(path));
  std::string paragraph;
  const auto end = [&] {
    if (!paragraph.empty()) prose.paragraphs_.push_back(std::exchange(paragraph, {}));
  };
  for (const std::string_view line : Split(utf8::Sanitize(text), '\n')) {
    if (TrimSpace(line).empty()) {
      end();
      continue;
    }
    if (!paragraph.empty()) paragraph.push_back(' ');
    paragraph.append(TrimSpace(line));
  }
  end();
  if (prose.paragraphs_.empty()) {
    return MakeError(ErrorCode::kConfig, "{}: the haystack has no paragraph", path);
  }
  return prose;
}

std::string Prose::Paragraph(std::size_t number, RandomStream* stream) const {
  if (!paragraphs_.empty()) return paragraphs_[number % paragraphs_.size()];
  const auto topics = grammar::Topics();
  std::string paragraph;
  const std::int64_t sentences = stream->Between(4, 7);
  for (std::int64_t i = 0; i < sentences; ++i) {
    const grammar::Topic& topic = topics[stream->Below(topics.size())];
    if (i > 0) paragraph.push_back(' ');
    paragraph += grammar::Text(topic, stream->Below(grammar::Count(topic)));
  }
  return paragraph;
}

std::string KeyWord(std::size_t index) {
  constexpr std::size_t kWords = std::size(kAdjectives);
  static_assert(kWords == std::size(kNouns));
  const std::string_view noun = kNouns[index % kWords];
  index /= kWords;
  std::string word = fmt::format("{}-{}", kAdjectives[index % kWords], noun);
  index /= kWords;
  return index == 0 ? word : fmt::format("{}-{}", kAdjectives[(index - 1) % kWords], word);
}

std::string MadeWord(std::size_t index) {
  std::string word;
  for (int syllable = 0; syllable < 3; ++syllable) {
    word.push_back(kConsonants[index % kConsonants.size()]);
    index /= kConsonants.size();
    word.push_back(kVowels[index % kVowels.size()]);
    index /= kVowels.size();
  }
  return word;
}

std::string PersonName(std::size_t index) {
  const auto people = grammar::People();
  static_assert(std::size(kFamilyNames) * 24 == kPersonNames);
  return fmt::format("{} {}", people[index % people.size()],
                     kFamilyNames[index / people.size() % std::size(kFamilyNames)]);
}

std::int64_t LargestThatFits(std::int64_t limit, std::int64_t least, const tokens::Counter& counter,
                             const std::function<std::string(std::int64_t units)>& make) {
  const auto fits = [&](std::int64_t units) {
    return counter.CountText(make(units)).upper() <= limit;
  };
  if (!fits(least)) return least - 1;
  std::int64_t low = least, high = least + 1;
  while (fits(high)) {
    low = high;
    high *= 2;
  }
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace dossier::evaluation
