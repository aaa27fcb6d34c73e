// What kind of question it is, by its words: the gates before an answer depend on it (REC-39, 40).
//
//   Classify("How many orders failed?")   // QuestionKind::kAggregate
//
// The rules are data/question_kinds.yaml, whose head describes their form.
// Thread-safety: immutable after construction.

#ifndef DOSSIER_RECURSION_QUESTION_KIND_H_
#define DOSSIER_RECURSION_QUESTION_KIND_H_

#include <string>
#include <string_view>
#include <vector>

#include "assembly/yaml_reader.h"
#include "base/result.h"

namespace dossier::recursion {

enum class QuestionKind {
  kLookup,     // one place of the context holds the answer
  kAggregate,  // the whole context matters: counts, shares, extremes, comparisons
  kOpen,       // free text: summaries, reasons, opinions
};
std::string_view QuestionKindName(QuestionKind kind);  // "lookup", "aggregate", "open"

class QuestionRules {
 public:
  // Errors: kConfig naming the rule that is wrong.
  static Result<QuestionRules> Parse(std::string_view yaml);
  // data/question_kinds.yaml as compiled in; the same immutable object for every caller.
  static const QuestionRules& BuiltIn();

  // The kind of the first rule with a matching phrase; kLookup if none has.
  QuestionKind Classify(std::string_view question) const;

 private:
  // One word of a phrase; a gap stands for up to five words.
  struct Word {
    enum class Match { kWhole, kPrefix, kGap } match = Match::kWhole;
    std::string text;
  };
  struct Phrase {
    enum class Place { kAnywhere, kStart } place = Place::kAnywhere;
    std::vector<Word> words;
  };
  struct Rule {
    QuestionKind kind = QuestionKind::kLookup;
    std::vector<Phrase> phrases;
  };

  static Result<Rule> ReadRule(const assembly::YamlNode& node);
  static Result<Phrase> ParsePhrase(std::string_view text);
  static bool MatchesAt(const Phrase& phrase, const std::vector<std::string>& words,
                        std::size_t at);
  static bool Matches(const Phrase& phrase, const std::vector<std::string>& words);

  std::vector<Rule> rules_;
};

QuestionKind Classify(std::string_view question);

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_QUESTION_KIND_H_
