#include "ask/policy/votes.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

// Returns how many bytes at `at` belong to a word: a letter or digit of any script, but no
// quotation mark, dash or currency sign.
std::size_t WordPart(std::string_view text, std::size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return IsAlnum(text[at]) ? 1 : 0;
  std::size_t next = at;
  return IsSign(utf8::Next(text, &next)) ? 0 : next - at;
}

bool JoinsWord(char c) {
  return c == '.' || c == '-' || c == '_' || c == ',' || c == '+' || c == '\'';
}

// A run of letters and digits, including punctuation between them: "3,800", "g++-12", "9.5".
struct VoteWord {
  std::string text;  // lower case
  std::size_t begin = 0, end = 0;
};

std::vector<VoteWord> WordsOfText(std::string_view text) {
  std::vector<VoteWord> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + WordPart(text, at);
    if (end == at) {
      utf8::Next(text, &at);
      continue;
    }
    while (end < text.size()) {
      const bool joins = JoinsWord(text[end]) && end + 1 < text.size();
      const std::size_t more = joins ? 1 + WordPart(text, end + 1) : WordPart(text, end);
      if (more == (joins ? 1u : 0u)) break;
      end += more;
    }
    words.push_back({ToLowerAscii(text.substr(at, end - at)), at, end});
    at = end;
  }
  return words;
}

std::set<std::string> WordSet(std::string_view text) {
  std::set<std::string> words;
  for (VoteWord& word : WordsOfText(text)) words.insert(std::move(word.text));
  return words;
}

// Returns true if the text between two words keeps them in one item: "Greta Lund", "data/a.csv".
bool Connects(std::string_view between) {
  return std::ranges::all_of(between, [](char c) {
    return c == ' ' || c == '/' || c == '\'' || c == ':' || c == '.' || c == '"' || c == '*' ||
           c == '`';
  });
}

// Sorts the words of an answer into numbers, words and items.
class VoteMaker {
 public:
  VoteMaker(std::string_view answer, const std::set<std::string>& known,
            const std::set<std::string>& shown)
      : answer_(answer), known_(known), shown_(shown) {
    NumberReader reader(answer);
    while (auto number = reader.Next()) numbers_.push_back(std::move(*number));
  }

  Vote Make() {
    for (const VoteWord& word : WordsOfText(answer_)) {
      if (!Connects(answer_.substr(item_end_, word.begin - item_end_))) open_ = false;
      item_end_ = word.end;
      if (known_.contains(word.text)) continue;  // adds nothing, and separates nothing
      if (const Number* number = NumberIn(word)) {
        open_ = false;
        AddNumber(*number);
      } else if (shown_.contains(word.text)) {
        AddWord(word.text);
      } else {
        open_ = false;
      }
    }
    return std::move(vote_);
  }

 private:
  // Returns the number that `word` is, ignoring a currency sign before it.
  const Number* NumberIn(const VoteWord& word) const {
    const auto found = std::ranges::find_if(numbers_, [&](const Number& number) {
      return number.begin >= word.begin && number.end == word.end;
    });
    if (found == numbers_.end()) return nullptr;
    const std::string_view before = answer_.substr(word.begin, found->begin - word.begin);
    return std::ranges::any_of(before, [](char c) { return IsAlnum(c); }) ? nullptr : &*found;
  }

  void AddNumber(const Number& number) {
    const bool twice = std::ranges::any_of(
        vote_.numbers, [&](const Number& other) { return other.Key() == number.Key(); });
    if (!twice) vote_.numbers.push_back(number);
  }

  void AddWord(const std::string& word) {
    vote_.words.insert(word);
    if (!open_) vote_.items.emplace_back();
    open_ = true;
    vote_.items.back().insert(word);
  }

  const std::string_view answer_;
  const std::set<std::string>&known_, &shown_;
  std::vector<Number> numbers_;
  Vote vote_;
  std::size_t item_end_ = 0;
  bool open_ = false;  // the next word belongs to the last item
};

bool SameNumber(const Number& a, const Number& b) {
  if (a.Key() == b.Key()) return true;
  if (a.fraction.empty() || b.fraction.empty()) return false;
  return IsRoundingOf(a, b) || IsRoundingOf(b, a);
}

bool SameNumbers(const Vote& a, const Vote& b) {
  if (a.numbers.size() != b.numbers.size()) return false;
  if (a.words.empty() || b.words.empty()) {
    return std::ranges::equal(a.numbers, b.numbers, SameNumber);
  }
  std::vector<Number> left = b.numbers;
  return std::ranges::all_of(a.numbers, [&](const Number& number) {
    const auto same =
        std::ranges::find_if(left, [&](const Number& other) { return SameNumber(number, other); });
    if (same == left.end()) return false;
    left.erase(same);
    return true;
  });
}

bool Includes(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

// Returns true if each item of `vote` has a word of `words`.
bool ItemsShare(const Vote& vote, const std::set<std::string>& words) {
  return std::ranges::all_of(vote.items, [&](const std::set<std::string>& item) {
    return std::ranges::any_of(item, [&](const std::string& word) { return words.contains(word); });
  });
}

}  // namespace

Vote MakeVote(std::string_view answer, std::string_view printed, std::string_view question) {
  const std::set<std::string> shown = WordSet(printed);
  Vote vote = VoteMaker(answer, WordSet(question), shown).Make();
  // A word of the question answers "The shed or the kitchen?".
  if (vote.numbers.empty() && vote.words.empty()) vote = VoteMaker(answer, {}, shown).Make();
  return vote;
}

bool Agree(const Vote& a, const Vote& b) {
  if (a.numbers.empty() && a.words.empty()) return false;
  if (!SameNumbers(a, b)) return false;
  if (a.numbers.empty() && (a.words.empty() || b.words.empty())) return false;
  if (!Includes(a.words, b.words) && !Includes(b.words, a.words)) return false;
  return !a.numbers.empty() || (ItemsShare(a, b.words) && ItemsShare(b, a.words));
}

}  // namespace dossier::ask
