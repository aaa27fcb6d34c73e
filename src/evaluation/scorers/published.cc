#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/scorers/scorers.h"
#include "evaluation/tasks/dates.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kPhrases[] = {"more common", "less common", "same frequency"};
constexpr std::size_t kShort = 20;  // code points; a shorter reply is the answer itself

// The characters that Python's str.isspace() accepts.
bool IsPythonSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

// Returns the value of a decimal digit of any script; -1 for any other character. Each script's ten
// digits are consecutive, and in a block they begin at multiples of ten from its start.
int DigitValue(char32_t c) {
  if (c < 0x80) return IsDigit(static_cast<char>(c)) ? static_cast<int>(c - U'0') : -1;
  const auto is_digit = [](char32_t at) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(at)) == UTF8PROC_CATEGORY_ND;
  };
  if (!is_digit(c)) return -1;
  char32_t first = c;
  while (first > 0 && is_digit(first - 1)) --first;
  return static_cast<int>((c - first) % 10);
}

// Returns the last element of Python's str.split().
std::string_view LastWord(std::string_view text) {
  text = PythonStrip(text);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (IsPythonSpace(utf8::Next(text, &at))) begin = at;
  }
  return text.substr(begin);
}

std::string OolongCandidate(std::string_view answer) {
  const std::size_t colon = answer.rfind(':');
  if (colon == std::string_view::npos) {
    return std::string(utf8::CodePoints(answer) < kShort ? answer : LastWord(answer));
  }
  std::string candidate(PythonStrip(answer.substr(colon + 1)));
  std::erase_if(candidate, [](char c) { return c == '*' || c == '[' || c == ']'; });
  if (utf8::CodePoints(candidate) < kShort) return candidate;
  for (const std::string_view phrase : kPhrases) {
    if (candidate.find(phrase) != std::string::npos) return std::string(phrase);
  }
  return candidate;
}

std::string AnswerType(const Task& task) {
  const Json* type = Find(task.meta, "answer_type");
  const std::string text =
      type != nullptr && type->is_string() ? std::string(type->get_string()) : "";
  return text.substr(text.rfind('.') + 1);
}

// The content of a boxed answer: a whole number, a list (it has a comma), or text.
struct Boxed {
  std::optional<std::int64_t> number;
  std::vector<std::string> list;
  std::string text;
};

Boxed BoxedOf(std::string_view text) {
  Boxed boxed{.number = PythonInt(text)};
  if (boxed.number) return boxed;
  if (text.find(',') == std::string_view::npos) {
    boxed.text = ToLowerAscii(PythonStrip(text));
    return boxed;
  }
  for (const std::string_view part : Split(text, ',')) {
    boxed.list.emplace_back(PythonStrip(part));
  }
  return boxed;
}

// Returns the content of the first `\boxed{\text{X}}`, else of `\boxed{X}`, else everything.
std::string_view Unbox(std::string_view answer) {
  for (const std::string_view open : {"\\boxed{\\text{", "\\boxed{"}) {
    const std::size_t at = answer.find(open);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = answer.substr(at + open.size());
    const std::size_t close = rest.find('}');
    if (close != std::string_view::npos) return rest.substr(0, close);
  }
  return answer;
}

using Pair = std::pair<std::string_view, std::string_view>;

// Reads one number of a pair with surrounding white space; on false, `at` is undefined.
bool TakeId(std::string_view text, std::size_t* at, std::string_view* id) {
  while (*at < text.size() && IsJsonSpace(text[*at])) ++*at;
  const std::size_t begin = *at;
  while (*at < text.size() && IsDigit(text[*at])) ++*at;
  *id = text.substr(begin, *at - begin);
  while (*at < text.size() && IsJsonSpace(text[*at])) ++*at;
  return !id->empty();
}

std::vector<Pair> PairsOf(std::string_view text) {
  std::vector<Pair> pairs;
  for (std::size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    std::size_t at = open + 1;
    Pair pair;
    if (!TakeId(text, &at, &pair.first) || at >= text.size() || text[at] != ',') continue;
    if (!TakeId(text, &++at, &pair.second) || at >= text.size() || text[at] != ')') continue;
    if (pair.first == pair.second) continue;
    if (std::pair(pair.first.size(), pair.first) > std::pair(pair.second.size(), pair.second)) {
      std::swap(pair.first, pair.second);
    }
    pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

// Converts all scripts to lower case, one code point to one.
std::string Fold(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = utf8::Next(text, &at);
    utf8::Append(
        c < 0x80 ? static_cast<char32_t>(static_cast<unsigned char>(ToLower(static_cast<char>(c))))
                 : static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))),
        &folded);
  }
  return folded;
}

}  // namespace

std::vector<std::string> GoldOf(const Task& task) { return StringsOf(&task.gold); }

std::string FirstGold(const Task& task) {
  const std::vector<std::string> gold = GoldOf(task);
  return gold.empty() ? "" : gold.front();
}

std::string_view PythonStrip(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (IsPythonSpace(utf8::Next(text, &at))) continue;
    begin = std::min(begin, start);
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::optional<std::int64_t> PythonInt(std::string_view text) {
  text = PythonStrip(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::int64_t value = 0;
  bool after_digit = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = utf8::Next(text, &at);
    if (c == U'_' && after_digit && at < text.size()) {
      after_digit = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit < 0) return std::nullopt;
    // Far from any gold in any case, so it is clamped.
    value =
        std::min<std::int64_t>(value, std::numeric_limits<std::int64_t>::max() / 16) * 10 + digit;
    after_digit = true;
  }
  if (!after_digit) return std::nullopt;
  return negative ? -value : value;
}

double NearScore(std::int64_t gold, std::int64_t given) {
  constexpr std::uint64_t kNothingLeft = 3000;  // 0.75 to this power underflows a double
  const auto distance = gold > given
                            ? static_cast<std::uint64_t>(gold) - static_cast<std::uint64_t>(given)
                            : static_cast<std::uint64_t>(given) - static_cast<std::uint64_t>(gold);
  double score = 1;
  for (std::uint64_t i = 0; i < std::min(distance, kNothingLeft); ++i) score *= 0.75;
  return score;
}

double F1(std::size_t common, std::size_t wanted, std::size_t given) {
  if (wanted + given == 0) return 1;
  return 2.0 * static_cast<double>(common) / static_cast<double>(wanted + given);
}

ScoreReading ScoreOolong(const Task& task, std::string_view answer) {
  const std::string gold = FirstGold(task);
  ScoreReading reading{.parsed = OolongCandidate(answer), .rule = "none"};
  if (reading.parsed == gold) {
    reading.score = 1;
    reading.rule = "equal";
  } else if (std::find(std::begin(kPhrases), std::end(kPhrases), reading.parsed) !=
             std::end(kPhrases)) {
    reading.score = gold.find(reading.parsed) != std::string::npos ? 1 : 0;
    reading.rule = "phrase";
  } else if (const std::string type = AnswerType(task); type == "NUMERIC") {
    const auto wanted = PythonInt(gold), given = PythonInt(reading.parsed);
    if (wanted && given) {
      reading.score = NearScore(*wanted, *given);
      reading.rule = "number";
    }
  } else if (type == "DATE") {
    const auto wanted = ParseDate(gold), given = ParseDate(reading.parsed);
    if (wanted && given) {
      reading.score = *wanted == *given ? 1 : 0;
      reading.rule = "date";
    }
  }
  return reading;
}

ScoreReading ScoreOolongReal(const Task& task, std::string_view answer) {
  const std::string_view content = Unbox(answer);
  const Boxed gold = BoxedOf(FirstGold(task)), given = BoxedOf(content);
  ScoreReading reading{.parsed = std::string(content), .rule = "kind"};
  if (gold.number && given.number) {
    return {NearScore(*gold.number, *given.number), reading.parsed, "number"};
  }
  if (gold.number || given.number || gold.list.empty() != given.list.empty()) return reading;
  if (gold.list.empty()) return {gold.text == given.text ? 1.0 : 0.0, reading.parsed, "text"};
  const std::set<std::string> wanted(gold.list.begin(), gold.list.end());
  const std::set<std::string> got(given.list.begin(), given.list.end());
  const auto common = std::count_if(wanted.begin(), wanted.end(),
                                    [&](const std::string& one) { return got.contains(one); });
  return {static_cast<double>(common) / static_cast<double>(gold.list.size()), reading.parsed,
          "list"};
}

ScoreReading ScorePairs(const Task& task, std::string_view answer) {
  const std::string gold = Join(GoldOf(task), "\n");
  const std::vector<Pair> wanted = PairsOf(gold), given = PairsOf(answer);
  std::vector<Pair> common;
  std::set_intersection(wanted.begin(), wanted.end(), given.begin(), given.end(),
                        std::back_inserter(common));
  return {F1(common.size(), wanted.size(), given.size()),
          fmt::format("{} pairs, {} of {} right", given.size(), common.size(), wanted.size()),
          "f1"};
}

ScoreReading ScoreRuler(const Task& task, std::string_view answer) {
  std::string text(PythonStrip(answer));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = '\n';
  }
  const std::string folded = Fold(text);
  const std::vector<std::string> gold = GoldOf(task);
  const auto found = std::count_if(gold.begin(), gold.end(), [&](const std::string& one) {
    return folded.find(Fold(one)) != std::string::npos;
  });
  const Json* match = Find(task.meta, "match");
  if (match != nullptr && *match == Json("any")) return {found > 0 ? 1.0 : 0.0, text, "any"};
  return {gold.empty() ? 0 : static_cast<double>(found) / static_cast<double>(gold.size()), text,
          "all"};
}

ScoreReading ScoreChoice(const Task& task, std::string_view answer) {
  constexpr std::string_view kMark = "The correct answer is ";
  std::string text(answer);
  std::erase(text, '*');
  const auto is_letter = [](char c) { return c >= 'A' && c <= 'D'; };
  std::string bare;
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + kMark.size());
    if (rest.size() >= 3 && rest[0] == '(' && is_letter(rest[1]) && rest[2] == ')') {
      const std::string letter(1, rest[1]);
      return {letter == FirstGold(task) ? 1.0 : 0.0, letter, "bracket"};
    }
    if (bare.empty() && !rest.empty() && is_letter(rest[0])) bare = rest[0];
  }
  if (bare.empty()) return {.rule = "none"};
  return {bare == FirstGold(task) ? 1.0 : 0.0, bare, "bare"};
}

}  // namespace dossier::evaluation
