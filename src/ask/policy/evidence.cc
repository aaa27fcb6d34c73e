#include "ask/policy/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "ask/claims/numbers.h"
#include "ask/claims/reckoning.h"
#include "ask/claims/shown_texts.h"
#include "ask/policy/grounding.h"
#include "ask/policy/named_values.h"
#include "ask/reply/extraction.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLongestProse = 600;  // bytes of a reply that is only an answer

// Returns numbers by value: "01" and "1" are equal.
std::set<std::string_view> NumbersIn(std::string_view text) {
  std::set<std::string_view> numbers;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && IsDigit(text[end])) ++end;
    while (at + 1 < end && text[at] == '0') ++at;
    if (end > at) numbers.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return numbers;
}

// Returns only the numbers of `text`.
std::string NumbersOf(std::string_view text) {
  std::string numbers;
  for (NumberReader reader(text); const auto number = reader.Next();) {
    numbers += text.substr(number->begin, number->end - number->begin);
    numbers += ' ';
  }
  return numbers;
}

// Removes the punctuation around a line or a quotation.
std::string_view Unquoted(std::string_view text) {
  constexpr std::string_view kMarks = " \t\r#*>`\"'.?";
  const std::size_t first = text.find_first_not_of(kMarks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kMarks) + 1 - first);
}

}  // namespace

// Returns true if `code` touched no data and computes with numbers that outputs showed, which came
// from data. It may also use powers of ten, small counts of decimal places, and the constants of
// hours and minutes.
bool Evidence::ReckonsWithShown(std::string_view code) const {
  constexpr std::string_view kPlain[] = {"0.",  "1.",  "2.",  "3.",   "4.",
                                         "10.", "24.", "60.", "3600."};
  ShownTexts seen;
  for (const std::string& text : shown_) seen.Add(text);
  seen.Add(question_);
  bool any = false;
  for (NumberReader reader(code); const auto number = reader.Next();) {
    const std::string key = number->Key();
    const bool power =
        key.size() > 2 && key.find_first_not_of('0', 1) == key.size() - 1 && key.front() == '1';
    const bool plain = power || std::ranges::find(kPlain, key) != std::end(kPlain);
    if (!plain && !seen.Shows(*number)) return false;
    any = any || !plain;
  }
  return any;
}

std::string Evidence::UnnamedDay() const {
  // A month may be named by a word, so one of its numbers may be missing in the question.
  constexpr std::size_t kMostUnnamed = 1;
  const std::set<std::string_view> named = NumbersIn(question_);
  for (const std::string& day : days_) {
    const std::set<std::string_view> numbers = NumbersIn(day);
    const auto unnamed =
        std::ranges::count_if(numbers, [&](auto number) { return !named.contains(number); });
    const bool printed =
        std::ranges::any_of(printed_.begin(), printed_.end() - (printed_.empty() ? 0 : 1),
                            [&](const std::string& text) { return text.find(day) != text.npos; });
    if (static_cast<std::size_t>(unnamed) > kMostUnnamed && !printed) return day;
  }
  return {};
}

void Evidence::AddClean(std::string_view code, const sandbox::BlockResult& result,
                        std::string seen) {
  clean_code_ = CodeKey(code);
  NoteUnmatched(result);
  searched_ = result.searched;
  days_ = result.days;
  printed_.push_back(std::move(seen));
  if (result.ground == sandbox::BlockResult::Ground::kNothing && ReckonsWithShown(code)) {
    outputs_.push_back(NumbersOf(printed_.back()));
    AddShown(outputs_.back(), result);
  }
  if (result.ground != sandbox::BlockResult::Ground::kData) return;
  touched_data_ = true;
  whole_outputs_.push_back(printed_.back());
  outputs_.push_back(WithoutTyped(printed_.back(), result.typed));
  AddShown(outputs_.back(), result);
}

void Evidence::AddRaised(const sandbox::BlockResult& result, std::string_view seen) {
  if (result.ground != sandbox::BlockResult::Ground::kData || seen.empty()) return;
  AddShown(WithoutTyped(seen, result.typed), result);
}

void Evidence::NoteAsked(std::string_view reply) {
  constexpr std::string_view kMark = "ASKED:", kSays = "IT SAYS:";
  const std::string question = ToLowerAscii(Unquoted(question_));
  for (std::string_view line : Split(reply, '\n')) {
    line = Unquoted(line);
    if (line.starts_with(kSays) && line.size() > 2 * kSays.size()) {
      says_ = Folded(Unquoted(line.substr(kSays.size())));
    }
    if (!line.starts_with(kMark)) continue;
    const std::string words = ToLowerAscii(Unquoted(line.substr(kMark.size())));
    const bool quoted = !words.empty() && question.find(words) != question.npos;
    part_asked_ = part_asked_ || (quoted && words.size() < question.size());
  }
}

void Evidence::AddShown(std::string text, const sandbox::BlockResult& result) {
  const bool proved = result.nothing == sandbox::BlockResult::Nothing::kProved;
  nothing_proved_ = proved || (nothing_proved_ && !SaysNothing(text, {}));
  shown_.push_back(std::move(text));
  gaps_.push_back(result.gaps);
}

std::vector<std::string> Evidence::LeftOut(std::string_view answer, std::string_view sizes) const {
  if (shown_.empty()) return {};
  const bool numbers = HasNumber(answer);
  const auto holds = [&](const std::string& output) {
    return numbers ? LeadingNumberGrounded(answer, {.question = question_, .sizes = sizes},
                                           std::span(&output, 1))
                   : output.find(TrimSpace(answer)) != output.npos;
  };
  const auto newest = std::ranges::find_if(shown_.rbegin(), shown_.rend(), holds);
  const auto from_end = newest == shown_.rend() ? 0 : newest - shown_.rbegin();
  std::set<std::string> asked;
  for (NumberReader reader(question_); const auto number = reader.Next();) {
    asked.insert(number->Key());
  }
  std::vector<std::string> left_out;
  for (const sandbox::BlockResult::Gap& gap : gaps_[shown_.size() - 1 - from_end]) {
    const bool named =
        !gap.documents.empty() && std::ranges::all_of(gap.documents, [this](const auto& name) {
          return NamesDocument(question_, name);
        });
    const bool counted = gap.rows > 0 && asked.contains(fmt::format("{}.", gap.rows));
    if (!named && !counted && !(part_asked_ && gap.rows > 0)) left_out.push_back(gap.text);
  }
  return left_out;
}

// A zero remains a zero in later blocks, so its reason is kept, too.
void Evidence::NoteUnmatched(const sandbox::BlockResult& result) {
  std::erase_if(unmatched_, [&](const std::string& reason) {
    return std::ranges::find(result.settled, reason) != result.settled.end();
  });
  for (const std::string& reason : result.unmatched) {
    if (std::ranges::find(unmatched_, reason) == unmatched_.end()) unmatched_.push_back(reason);
  }
}

void Evidence::AddHanded(std::string_view code, const sandbox::BlockResult& result) {
  if (result.answer && result.ground == sandbox::BlockResult::Ground::kNothing &&
      ReckonsWithShown(code)) {
    AddShown(NumbersOf(result.answer->text), result);
  }
  if (!result.answer || result.ground != sandbox::BlockResult::Ground::kData) return;
  AddShown(WithoutTyped(result.answer->text, result.typed), result);
}

std::optional<std::string> Evidence::PrintedValue(AnswerKind wanted) const {
  return shown_.empty() ? std::nullopt : PrintedAnswer(shown_.back(), wanted);
}

void Evidence::NoteNames(std::vector<sandbox::VariableInfo>* variables) {
  for (const auto& variable : *variables) names_.insert(variable.name);
  std::erase_if(*variables, [this](const sandbox::VariableInfo& variable) {
    return old_names_.contains(variable.name);
  });
}

void Evidence::StartAfresh() {
  printed_.clear();
  shown_.clear();
  gaps_.clear();
  outputs_.clear();
  whole_outputs_.clear();
  unmatched_.clear();
  searched_.clear();
  days_.clear();
  says_.clear();
  clean_code_.clear();
  part_asked_ = nothing_proved_ = false;
  earlier_ = code_.size();
  old_names_.insert(names_.begin(), names_.end());
}

std::optional<Offer> Evidence::ProseAnswer(std::string_view text) const {
  const std::string_view prose = TrimSpace(text);
  if (shown_.empty() || prose.empty() || prose.size() > kLongestProse) return std::nullopt;
  if (prose.find('?') != std::string_view::npos) return std::nullopt;
  if (!CheckGrounded(prose, question_, hint_values_, shown_).grounded) return std::nullopt;
  return Offer{.text = std::string(prose), .source = Source::kBareText};
}

std::optional<Offer> Evidence::RepeatedAnswer(std::string_view code) const {
  if (shown_.empty() || CodeKey(code) != clean_code_) return std::nullopt;
  const std::string_view output = TrimSpace(shown_.back());
  if (output.empty() || output.size() > kLongestProse) return std::nullopt;
  return Offer{.text = std::string(output), .source = Source::kBareText};
}

}  // namespace dossier::ask
