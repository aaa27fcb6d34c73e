#include "recursion/question_kind.h"

#include <algorithm>
#include <optional>

#include "assembly/yaml_fields.h"
#include "base/assets.h"
#include "base/text.h"

namespace dossier::recursion {
namespace {

using assembly::Field;
using assembly::FieldPlace;
using assembly::YamlNode;

constexpr std::string_view kFile = "data/question_kinds.yaml";
constexpr std::size_t kMaxGap = 5;  // words that "..." stands for

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// Lower-case words; an apostrophe belongs to its word ("what's"), all else parts words.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + ' ') {
    if (IsWordByte(c) || (c == '\'' && !word.empty())) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

std::optional<QuestionKind> KindNamed(std::string_view name) {
  for (const QuestionKind kind :
       {QuestionKind::kLookup, QuestionKind::kAggregate, QuestionKind::kOpen}) {
    if (QuestionKindName(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string_view QuestionKindName(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::kLookup:
      return "lookup";
    case QuestionKind::kAggregate:
      return "aggregate";
    case QuestionKind::kOpen:
      return "open";
  }
  return "lookup";
}

Result<QuestionRules::Phrase> QuestionRules::ParsePhrase(std::string_view text) {
  Phrase phrase;
  std::string_view rest = TrimSpace(text);
  if (rest.starts_with('^')) {
    phrase.place = Phrase::Place::kStart;
    rest.remove_prefix(1);
  }
  for (std::string_view part : Split(rest, ' ')) {
    if (part.empty()) continue;
    Word word;
    if (part == "...") {
      word.match = Word::Match::kGap;
    } else if (part.ends_with('*')) {
      word.match = Word::Match::kPrefix;
      part.remove_suffix(1);
    }
    if (word.match != Word::Match::kGap) {
      const std::vector<std::string> words = WordsOf(part);
      if (words.size() != 1 || words[0] != part) {
        return MakeError(ErrorCode::kConfig,
                         "question kinds: '{}' in '{}' is not one lower-case word", part, text);
      }
      word.text = words[0];
    }
    phrase.words.push_back(std::move(word));
  }
  if (phrase.words.empty() || phrase.words.front().match == Word::Match::kGap ||
      phrase.words.back().match == Word::Match::kGap) {
    return MakeError(ErrorCode::kConfig, "question kinds: '{}' must start and end with a word",
                     text);
  }
  return phrase;
}

Result<QuestionRules::Rule> QuestionRules::ReadRule(const YamlNode& node) {
  struct Written {
    std::string kind;
    std::vector<std::string> phrases;
  };
  static constexpr Field<Written> kFields[] = {
      {"kind", [](const FieldPlace& at, Written* out) { return ReadString(at, &out->kind); }},
      {"phrases",
       [](const FieldPlace& at, Written* out) { return ReadStrings(at, &out->phrases); }},
  };
  Written written;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadFields<Written>(node, kFile, kFields, &written));
  const auto kind = KindNamed(written.kind);
  if (!kind) {
    return tl::unexpected(assembly::PlaceError(
        kFile, node.line, node.column,
        fmt::format("unknown kind '{}'; known: lookup, aggregate, open", written.kind)));
  }
  Rule rule{.kind = *kind};
  for (const std::string& text : written.phrases) {
    DOSSIER_ASSIGN_OR_RETURN(Phrase phrase, ParsePhrase(text));
    rule.phrases.push_back(std::move(phrase));
  }
  return rule;
}

Result<QuestionRules> QuestionRules::Parse(std::string_view yaml) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, assembly::ReadYaml(yaml, kFile));
  QuestionRules rules;
  for (const assembly::YamlEntry& entry : root.entries) {
    if (entry.key != "rules") continue;
    for (const YamlNode& node : entry.value.items) {
      DOSSIER_ASSIGN_OR_RETURN(Rule rule, ReadRule(node));
      rules.rules_.push_back(std::move(rule));
    }
  }
  if (rules.rules_.empty()) return MakeError(ErrorCode::kConfig, "question kinds: no rules");
  return rules;
}

const QuestionRules& QuestionRules::BuiltIn() {
  static const QuestionRules rules =
      Parse(BuiltInAsset(kFile).value_or("")).value_or(QuestionRules());
  return rules;
}

bool QuestionRules::MatchesAt(const Phrase& phrase, const std::vector<std::string>& words,
                              std::size_t at) {
  std::size_t gap = 0;  // words that may be left out before the next one
  for (const Word& word : phrase.words) {
    if (word.match == Word::Match::kGap) {
      gap = kMaxGap;
      continue;
    }
    const auto fits = [&word](const std::string& candidate) {
      return word.match == Word::Match::kPrefix ? candidate.starts_with(word.text)
                                                : candidate == word.text;
    };
    const std::size_t end = std::min(words.size(), at + gap + 1);
    while (at < end && !fits(words[at])) ++at;
    if (at >= end) return false;
    ++at;
    gap = 0;
  }
  return true;
}

bool QuestionRules::Matches(const Phrase& phrase, const std::vector<std::string>& words) {
  const std::size_t starts = phrase.place == Phrase::Place::kStart ? 1 : words.size();
  for (std::size_t at = 0; at < std::min(starts, words.size()); ++at) {
    if (MatchesAt(phrase, words, at)) return true;
  }
  return false;
}

QuestionKind QuestionRules::Classify(std::string_view question) const {
  const std::vector<std::string> words = WordsOf(question);
  for (const Rule& rule : rules_) {
    const bool fits = std::ranges::any_of(
        rule.phrases, [&](const Phrase& phrase) { return Matches(phrase, words); });
    if (fits) return rule.kind;
  }
  return QuestionKind::kLookup;
}

QuestionKind Classify(std::string_view question) {
  return QuestionRules::BuiltIn().Classify(question);
}

}  // namespace dossier::recursion
