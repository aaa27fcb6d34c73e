#include <re2/re2.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/json/exact_json.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/scorers/scorers.h"
#include "evaluation/tasks/dates.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kLongestShortAnswer = 300;  // characters

std::string MetaText(const Task& task, std::string_view key) { return TextAt(task.meta, key); }

double Tolerance(const Task& task) { return FindNumber(task.meta, "tolerance").value_or(0); }

// Removes the bullet or number of a list entry: "- x", "* x", "3. x".
std::string_view WithoutBullet(std::string_view line) {
  line = TrimSpace(line);
  if (line.starts_with("- ") || line.starts_with("* ")) return TrimSpace(line.substr(2));
  std::size_t digits = 0;
  while (digits < line.size() && IsDigit(line[digits])) ++digits;
  const bool numbered = digits > 0 && line.size() > digits + 1 &&
                        (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
  return numbered ? TrimSpace(line.substr(digits + 2)) : line;
}

// Returns the entries of a JSON list, of lines, or of one line with commas.
std::set<std::string> EntriesOf(std::string_view answer) {
  const std::string text = Tidy(answer);
  if (text.starts_with('[')) {
    if (const auto json = ParseJson(text); json && json->is_array()) {
      std::set<std::string> entries;
      for (const Json& one : json->get_array()) {
        entries.insert(one.is_string() ? std::string(one.get_string()) : ToJson(one));
      }
      return entries;
    }
  }
  std::set<std::string> entries;
  const bool one_line = text.find('\n') == std::string::npos;
  for (const std::string_view part : Split(text, one_line ? ',' : '\n')) {
    if (const std::string_view entry = WithoutBullet(part); !entry.empty()) entries.emplace(entry);
  }
  return entries;
}

ScoreReading CompareSets(const Task& task, std::string_view answer) {
  const std::set<std::string> given = EntriesOf(answer);
  const std::vector<std::string> gold = GoldOf(task);
  const std::set<std::string> wanted(gold.begin(), gold.end());
  const auto common = std::count_if(given.begin(), given.end(),
                                    [&](const std::string& one) { return wanted.contains(one); });
  return {F1(static_cast<std::size_t>(common), wanted.size(), given.size()),
          Join(std::vector<std::string>(given.begin(), given.end()), ", "), "f1"};
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::string_view line : Split(text, '\n')) {
    line = TrimSpace(line);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Returns the length of the longest common subsequence, with 64 lines of `wanted` per word. A line
// of `given` touches only the words in which it occurs and those that a carry reaches.
std::size_t CommonSubsequence(const std::vector<std::string_view>& wanted,
                              const std::vector<std::string_view>& given) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) places[wanted[i]].push_back(i);
  std::vector<std::uint64_t> row(wanted.size() / 64 + 1, ~0ull);
  for (const std::string_view line : given) {
    const auto found = places.find(line);
    if (found == places.end()) continue;
    const std::vector<std::size_t>& at = found->second;
    bool carry = false;
    std::size_t next = 0;
    for (std::size_t word = at[0] / 64; word < row.size(); ++word) {
      std::uint64_t mask = 0;
      for (; next < at.size() && at[next] / 64 == word; ++next) mask |= 1ull << (at[next] % 64);
      const std::uint64_t hit = row[word] & mask;
      std::uint64_t sum = 0;
      const bool over = __builtin_add_overflow(row[word], hit, &sum);
      const bool over_carry = __builtin_add_overflow(sum, static_cast<std::uint64_t>(carry), &sum);
      row[word] = sum | (row[word] & ~mask);
      carry = over || over_carry;
      if (next >= at.size() && !carry) break;
    }
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) length += !((row[i / 64] >> (i % 64)) & 1);
  return length;
}

// Returns the last part of `text` that `pattern` matches and `read` accepts.
template <typename Value>
std::optional<Value> LastMatch(const std::string& text, const RE2& pattern,
                               std::optional<Value> (*read)(std::string_view)) {
  std::optional<Value> last;
  re2::StringPiece rest(text);
  re2::StringPiece match;
  while (RE2::FindAndConsume(&rest, pattern, &match)) {
    if (auto value = read(std::string_view(match.data(), match.size()))) last = value;
  }
  return last;
}

std::optional<std::int32_t> LastDate(const std::string& text) {
  const RE2 pattern(
      R"((\b\d{1,2}/\d{1,2}/\d{4}\b|\b\d{4}-\d{2}-\d{2}\b|\b[A-Za-z]{3,9}\.? \d{1,2},? \d{4}\b|\b\d{1,2} [A-Za-z]{3,9}\.?,? \d{4}\b))");
  return LastMatch<std::int32_t>(text, pattern, ParseDate);
}

bool StandsAlone(std::string_view text, std::size_t at, std::size_t size) {
  const bool before = at == 0 || !IsWordByte(text[at - 1]);
  const std::size_t end = at + size;
  return before && (end >= text.size() || !IsWordByte(text[end]));
}

// Returns the one of `labels` in the last line that names any; "" if it names several.
std::string LastLabel(const std::string& text, const std::vector<std::string>& labels) {
  std::vector<std::string_view> lines = Split(text, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    std::set<std::string> named;
    for (const std::string& label : labels) {
      const std::string lower = ToLowerAscii(label);
      for (std::size_t at = line->find(lower); at != std::string_view::npos;
           at = line->find(lower, at + 1)) {
        if (StandsAlone(*line, at, lower.size())) named.insert(label);
      }
    }
    if (!named.empty()) return named.size() == 1 ? *named.begin() : "";
  }
  return "";
}

std::string LastPhrase(const std::string& text) {
  std::string last;
  std::size_t place = 0;
  for (const std::string_view phrase : {"more common", "less common", "same frequency"}) {
    const std::size_t at = text.rfind(phrase);
    if (at != std::string::npos && (last.empty() || at > place)) {
      place = at;
      last = phrase;
    }
  }
  return last;
}

// Whether two numbers are the same, digit for digit: 1 is 1.0. `a_digits` and `b_digits` are texts
// where a Json cannot hold them.
bool AreEqualNumbers(const Json& a, const Json& a_digits, const Json& b, const Json& b_digits) {
  if (a_digits.is_string() || b_digits.is_string()) return a_digits == b_digits;
  const auto wide = [](const Json& number) -> long double {
    if (const auto* whole = number.if_int64()) return static_cast<long double>(*whole);
    if (const auto* large = number.if_uint64()) return static_cast<long double>(*large);
    return number.get_double();
  };
  return wide(a) == wide(b);
}

// Whether two values of JSON are; each as ExactJson gives it.
bool AreEqual(const Json& a, const Json& a_texts, const Json& b, const Json& b_texts) {
  if (a.is_number() && b.is_number()) return AreEqualNumbers(a, a_texts, b, b_texts);
  if (a.is_array() && b.is_array()) {
    const JsonArray &left = a.get_array(), &right = b.get_array();
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!AreEqual(left[i], a_texts.get_array()[i], right[i], b_texts.get_array()[i]))
        return false;
    }
    return true;
  }
  if (a.is_object() && b.is_object()) {
    if (a.get_object().size() != b.get_object().size()) return false;
    return std::ranges::all_of(a.get_object(), [&](const auto& member) {
      const auto* other = b.get_object().if_contains(member.key());
      return other && AreEqual(member.value(), *a_texts.get_object().if_contains(member.key()),
                               *other, *b_texts.get_object().if_contains(member.key()));
    });
  }
  return a == b;
}

}  // namespace

std::string Tidy(std::string_view answer) {
  std::string text(answer);
  if (const std::size_t end = text.rfind("</think>"); end != std::string::npos) {
    text.erase(0, end + std::string_view("</think>").size());
  }
  std::string kept;
  for (const std::string_view line : Split(text, '\n')) {
    if (TrimSpace(line).starts_with("```")) continue;
    kept.append(line).push_back('\n');
  }
  kept = ReplaceAll(kept, "**", "");
  std::string_view tidy = TrimSpace(kept);
  const auto is_quote = [](char c) { return c == '"' || c == '\'' || c == '`'; };
  while (tidy.size() >= 2 && is_quote(tidy.front()) && tidy.back() == tidy.front()) {
    tidy = TrimSpace(tidy.substr(1, tidy.size() - 2));
  }
  return std::string(tidy);
}

std::optional<double> LastNumber(std::string_view answer) {
  const std::string text = ReplaceAll(answer, "\u2212", "-");  // the sign of typesetters
  std::optional<double> last;
  for (std::size_t at = 0; at < text.size();) {
    if (!IsDigit(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    std::string digits;
    for (; at < text.size(); ++at) {
      const bool more = at + 1 < text.size() && IsDigit(text[at + 1]);
      const bool separator = more && text[at] == ',' && at + 3 < text.size() &&
                             IsDigit(text[at + 2]) && IsDigit(text[at + 3]);
      const bool point = more && text[at] == '.' && digits.find('.') == std::string::npos;
      if (!IsDigit(text[at]) && !separator && !point) break;
      if (!separator) digits.push_back(text[at]);
    }
    const bool alone =
        StandsAlone(text, begin, at - begin) && (begin == 0 || text[begin - 1] != '.');
    const auto number = alone ? ExactNumber<double>(digits) : std::nullopt;
    if (!number) continue;
    const bool minus =
        begin > 0 && text[begin - 1] == '-' && (begin == 1 || !IsWordByte(text[begin - 2]));
    last = minus ? -*number : *number;
  }
  return last;
}

ScoreReading ScoreList(const Task& task, std::string_view answer) {
  return CompareSets(task, answer);
}

ScoreReading ScoreSet(const Task& task, std::string_view answer) {
  ScoreReading reading = CompareSets(task, answer);
  reading.rule = reading.score == 1 ? "equal" : "differs";
  reading.score = reading.score == 1 ? 1 : 0;
  return reading;
}

ScoreReading ScoreLines(const Task& task, std::string_view answer) {
  const std::vector<std::string> gold = GoldOf(task);
  const std::vector<std::string_view> wanted(gold.begin(), gold.end());
  const std::vector<std::string_view> given = LinesOf(answer);
  const std::string parsed = fmt::format("{} lines", given.size());
  if (wanted == given) return {1, parsed, "exact"};
  if (wanted.empty()) return {0, parsed, "lcs"};
  return {
      static_cast<double>(CommonSubsequence(wanted, given)) / static_cast<double>(wanted.size()),
      parsed, "lcs"};
}

ScoreReading ScoreExact(const Task& task, std::string_view answer) {
  const std::string_view text = TrimSpace(answer);
  const bool same = text == FirstGold(task);
  return {same ? 1.0 : 0.0, std::string(text), same ? "equal" : "differs"};
}

ScoreReading ScoreExactNoCase(const Task& task, std::string_view answer) {
  const std::string text = ToLowerAscii(TrimSpace(answer));
  const bool same = text == ToLowerAscii(TrimSpace(FirstGold(task)));
  return {same ? 1.0 : 0.0, text, same ? "equal" : "differs"};
}

ScoreReading ScoreContains(const Task& task, std::string_view answer) {
  const std::string text = ToLowerAscii(answer);
  for (const std::string& gold : GoldOf(task)) {
    if (!gold.empty() && text.find(ToLowerAscii(gold)) != std::string::npos) {
      return {1, gold, "contained"};
    }
  }
  return {.rule = "none"};
}

ScoreReading ScoreNumber(const Task& task, std::string_view answer) {
  const auto given = LastNumber(Tidy(answer)), wanted = LastNumber(FirstGold(task));
  if (!given || !wanted) return {.rule = "none"};
  const bool near = std::fabs(*given - *wanted) <= Tolerance(task);
  return {near ? 1.0 : 0.0, fmt::format("{}", *given), near ? "number" : "differs"};
}

ScoreReading ScoreDate(const Task& task, std::string_view answer) {
  const auto given = LastDate(Tidy(answer)), wanted = ParseDate(FirstGold(task));
  if (!given || !wanted) return {.rule = "none"};
  const bool near = std::abs(*given - *wanted) <= Tolerance(task);
  return {near ? 1.0 : 0.0, IsoDate(*given), near ? "date" : "differs"};
}

ScoreReading ScoreRegex(const Task& task, std::string_view answer) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 pattern(FirstGold(task), quiet);
  if (!pattern.ok()) return {.parsed = pattern.error(), .rule = "pattern"};
  const bool found = RE2::PartialMatch(re2::StringPiece(answer.data(), answer.size()), pattern);
  return {found ? 1.0 : 0.0, std::string(TrimSpace(answer)), found ? "match" : "none"};
}

ScoreReading ScoreJson(const Task& task, std::string_view answer) {
  const auto given = ExactJson::Parse(Tidy(answer)), wanted = ExactJson::Parse(FirstGold(task));
  if (!given || !wanted) return {.rule = "none"};
  const bool same =
      AreEqual(given->nearest(), given->with_texts(), wanted->nearest(), wanted->with_texts());
  return {same ? 1.0 : 0.0, ToJson(*given), same ? "equal" : "differs"};
}

ScoreReading LenientOolong(const Task& task, std::string_view answer) {
  const std::string text = ToLowerAscii(Tidy(answer));
  const std::string type = MetaText(task, "answer_type");
  if (utf8::CodePoints(text) > kLongestShortAnswer) return {.rule = "long"};
  const std::string gold = FirstGold(task);
  if (type.ends_with("NUMERIC") || type.ends_with("USER")) {
    const auto given = LastNumber(text);
    const auto wanted = PythonInt(gold);
    if (!given || !wanted) return {.rule = "none"};
    if (std::fabs(*given) > 1e15) return {.rule = "none"};
    const auto whole = static_cast<std::int64_t>(*given);
    const bool near = type.ends_with("NUMERIC");
    return {near ? NearScore(*wanted, whole) : static_cast<double>(*wanted == whole),
            std::to_string(whole), "number"};
  }
  if (type.ends_with("DATE")) {
    const auto given = LastDate(text), wanted = ParseDate(gold);
    return {given && wanted && *given == *wanted ? 1.0 : 0.0, given ? IsoDate(*given) : "", "date"};
  }
  if (type.ends_with("COMPARISON")) {
    const std::string phrase = LastPhrase(text);
    const bool right = !phrase.empty() && gold.find(phrase) != std::string::npos;
    return {right ? 1.0 : 0.0, phrase, "phrase"};
  }
  if (type.ends_with("LABEL")) {
    const std::string label = LastLabel(text, StringsOf(Find(task.meta, "choices")));
    return {label == gold ? 1.0 : 0.0, label, "label"};
  }
  const bool named = text.find(ToLowerAscii(gold)) != std::string::npos;
  return {named ? 1.0 : 0.0, text, "named"};
}

ScoreReading LenientChoice(const Task& task, std::string_view answer) {
  const std::string text = Tidy(answer);
  if (utf8::CodePoints(text) > kLongestShortAnswer) return {.rule = "long"};
  std::string last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] >= 'A' && text[at] <= 'D' && StandsAlone(text, at, 1)) last = text[at];
  }
  return {!last.empty() && last == FirstGold(task) ? 1.0 : 0.0, last, "letter"};
}

ScoreReading LenientShort(const Task& task, std::string_view answer) {
  std::string text = ToLowerAscii(Tidy(answer));
  if (text.ends_with('.')) text.pop_back();
  if (utf8::CodePoints(text) > kLongestShortAnswer) return {.rule = "long"};
  const std::string gold = ToLowerAscii(FirstGold(task));
  const bool named = !gold.empty() && text.find(gold) != std::string::npos;
  return {named ? 1.0 : 0.0, text, "named"};
}

}  // namespace dossier::evaluation
