#include "ask/policy/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ask/claims/dates.h"
#include "ask/claims/names.h"
#include "ask/claims/numbers.h"
#include "ask/claims/reckoning.h"
#include "ask/claims/shown_texts.h"
#include "ask/documents/document_words.h"
#include "ask/policy/votes.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kSmallContext = 200;  // characters; below it a first answer may be accepted
// A longer answer is prose, in which a large model may rephrase numbers.
constexpr std::uint64_t kShortAnswer = 200;  // characters

constexpr std::string_view kEmpty = "empty";
// How many values of the data code must print before that counts as a look at them: one that is not
// a number, or more numbers than a count or two.
constexpr std::size_t kFewValues = 3, kFewNames = 1;

// Advice to the model on what to do next; people who read a doubt do not see it.
constexpr std::string_view kComputeIt =
    " Reply with one complete code block that computes the answer from the data and prints it.";
constexpr std::string_view kAskThemAgain =
    " Ask those again, or hand the answer in again if it does not depend on them.";
constexpr std::string_view kLookElsewhere =
    " Look for another place in the text, or answer that the text does not say it.";
constexpr std::string_view kTakeAll =
    " Compute it from all of the data, or hand the answer in again if that is what is asked. If "
    "the question asks for this part only, write before it a line `ASKED: ` and the words of the "
    "question that say so.";
constexpr std::string_view kReadAll =
    " Search or read all of it with code, then answer, or hand the answer in again.";
constexpr std::string_view kQuoteIt =
    " Look for it in the text. If it says that in other words, or if this is a judgement on what it "
    "says, write before the answer a line `IT SAYS: ` and those words of the text.";
constexpr std::string_view kAdvice[] = {kComputeIt, kAskThemAgain, kLookElsewhere,
                                        kTakeAll,   kReadAll,      kQuoteIt};

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Returns what the model has seen of the data: outputs, what code handed in, passages.
std::vector<std::string> Seen(const GateSituation& situation) {
  std::vector<std::string> seen = *situation.shown;
  if (!situation.passages.empty()) seen.emplace_back(situation.passages);
  return seen;
}

}  // namespace

std::string WithoutAdvice(std::string reason) {
  for (const std::string_view advice : kAdvice) {
    if (reason.ends_with(advice)) reason.resize(reason.size() - advice.size());
  }
  return reason;
}

std::optional<Refusal> Gates::FirstFailed(std::string_view answer, const GateSituation& situation,
                                          Which which) const {
  using Check = std::string (Gates::*)(std::string_view, const GateSituation&) const;
  struct Row {
    std::string_view gate;
    int refusals;
    Check check;
  };
  static constexpr Row kChecks[] = {
      {"unexplored", 2, &Gates::Unexplored}, {"error_text", 1, &Gates::ErrorText},
      {"subcalls", 1, &Gates::LostSubcalls}, {"kind", 1, &Gates::WrongKind},
      {kEmpty, 1, &Gates::EmptyResult},      {"part", 1, &Gates::ReadInPart},
      {"gaps", 1, &Gates::LeavesOut},        {"searched", 1, &Gates::SearchedElse},
      {"left_out", 1, &Gates::ValueLeftOut}, {"grounding", 1, &Gates::Ungrounded},
      {"near", 1, &Gates::NotNear},          {"reading", 0, &Gates::UnclearReading},
      {"labels", 0, &Gates::UnsureLabels}};
  for (const Row& row : kChecks) {
    if (which == Which::kUnused) {
      const auto used = refused_.find(row.gate);
      if ((used == refused_.end() ? 0 : used->second) >= row.refusals) continue;
    }
    std::string reason = (this->*row.check)(answer, situation);
    if (!reason.empty()) return Refusal{std::string(row.gate), std::move(reason)};
  }
  return std::nullopt;
}

std::optional<Refusal> Gates::Check(std::string_view answer, const GateSituation& situation) {
  if (context_.forcing != Forcing::kFull) return std::nullopt;
  if (situation.last_chance == GateSituation::LastChance::kYes) return std::nullopt;
  auto refusal = FirstFailed(WithPlainDigits(answer), situation, Which::kUnused);
  if (!refusal) return refusal;
  ++refused_[refusal->gate];
  if (refusal->gate == kEmpty && situation.outputs) {
    outputs_when_empty_ = situation.outputs->size();
  }
  return refusal;
}

std::optional<Refusal> Gates::Doubt(std::string_view answer, const GateSituation& situation) const {
  if (context_.forcing != Forcing::kFull) return std::nullopt;
  auto doubt = FirstFailed(WithPlainDigits(answer), situation, Which::kAll);
  if (doubt) doubt->reason = WithoutAdvice(std::move(doubt->reason));
  return doubt;
}

bool Gates::IsSmall() const { return context_.context_chars < kSmallContext; }

// Words about a short text are trusted. A number must be in the description or follow from it, or
// come from replies of sub-calls, which code gets without reading the text.
bool Gates::StandsOnLittle(std::string_view answer, const GateSituation& situation) const {
  if (!HasNumber(answer)) return true;
  std::vector<std::string> seen = *situation.shown;
  seen.emplace_back(situation.description);
  const Known known{.question = context_.question, .description = situation.description};
  return UnshownNumber(answer, known, seen).empty();
}

// An answer in the passages of the first prompt was read there, and sizes are given in the
// description.
std::string Gates::Unexplored(std::string_view answer, const GateSituation& situation) const {
  if (situation.explored == GateSituation::Explored::kYes) return {};
  if (context_.context_chars == 0) return {};  // there is nothing to read
  if (IsSmall() && StandsOnLittle(answer, situation)) return {};
  const auto grounded = [&](std::string_view text) {
    return CheckGrounded(answer, context_.question, {}, std::vector{std::string(text)}).grounded;
  };
  if (HasNumber(answer) && grounded(situation.sizes)) return {};
  if (!situation.passages.empty() && grounded(situation.passages) && situation.rarity) {
    const std::vector<std::string> passages{std::string(situation.passages)};
    if (MissingWords(answer, context_.question, passages, *situation.rarity).empty() &&
        StandsNear(answer, context_.question, passages, *situation.rarity, Unnamed::kApart)) {
      return {};
    }
  }
  return fmt::format("Nothing of the data has been read yet, so nothing supports it.{}",
                     kComputeIt);
}

std::string Gates::ErrorText(std::string_view answer, const GateSituation& situation) const {
  for (const std::string& text : situation.error_texts) {
    if (answer.find(text) == std::string_view::npos) continue;
    return fmt::format("The answer holds the message of a sub-call that failed: {}", text);
  }
  return {};
}

std::string Gates::LostSubcalls(std::string_view /*answer*/, const GateSituation& situation) const {
  if (situation.failed_subcalls.empty()) return {};
  return fmt::format("Of the sub-calls, {}, so the answer may lack what they were asked.{}",
                     situation.failed_subcalls, kAskThemAgain);
}

// Checks numbers, and also words if no condition matches: in a text that the code contained, or in
// one about an output that found nothing.
bool Gates::TellsNothing(std::string_view answer, const GateSituation& situation) const {
  const std::string known = fmt::format("{}\n{}", context_.question, situation.sizes);
  if (SaysNothing(answer, known)) return true;
  const bool unmatched = situation.unmatched && !situation.unmatched->empty();
  if (!unmatched || AddsNumber(answer, known)) return false;
  const std::string_view text = TrimSpace(answer);
  const std::string forms[] = {fmt::format("'{}'", text), fmt::format("\"{}\"", text)};
  const auto holds = [&](const std::string& code) {
    return code.find(forms[0]) != code.npos || code.find(forms[1]) != code.npos;
  };
  if (situation.code && std::ranges::any_of(*situation.code, holds)) return true;
  const std::vector<std::string>& shown = *situation.shown;
  return !shown.empty() && SaysNothing(shown.back(), known) &&
         std::ranges::none_of(
             shown, [&](const std::string& seen) { return seen.find(text) != seen.npos; });
}

namespace {

// Returns true if an output shows `value` as a whole: as a line, after a label, or quoted.
bool StandsAsValue(std::string_view output, std::string_view value) {
  constexpr std::string_view kQuotes = "'\"";
  for (std::size_t at = output.find(value); !value.empty() && at != output.npos;
       at = output.find(value, at + 1)) {
    const char before = at == 0 ? '\n' : output[at - 1];
    const std::size_t end = at + value.size();
    const char after = end == output.size() ? '\n' : output[end];
    if (before == after && kQuotes.find(before) != kQuotes.npos) return true;
    const bool labelled =
        at >= 2 && before == ' ' && (output[at - 2] == ':' || output[at - 2] == '=');
    if ((before == '\n' || labelled) && after == '\n') return true;
  }
  return false;
}

}  // namespace

bool ShowsValues(std::span<const std::string> outputs, std::string_view question,
                 const std::set<std::string, std::less<>>& fields,
                 const std::function<bool(std::string_view)>& in_data) {
  const std::string all = Join({outputs.begin(), outputs.end()}, "\n");
  std::size_t words = 0, names = 0;
  for (const std::string_view word : WordsBesides(all, question)) {
    if (word.size() < 2 || fields.contains(word) || !in_data(word)) continue;
    ++words;
    if (word.find_first_not_of("0123456789") != word.npos) ++names;
    if (words >= kFewValues || names >= kFewNames) return true;
  }
  return false;
}

// Returns true if code has printed values of the data since an empty result was refused.
bool Gates::LookedAgain(const GateSituation& situation) const {
  if (!situation.outputs || !outputs_when_empty_ || !situation.shows_values) return false;
  if (*outputs_when_empty_ > situation.outputs->size()) return false;
  return situation.shows_values(std::span(*situation.outputs).subspan(*outputs_when_empty_));
}

// A zero may be right. It is doubtful if a condition matches nothing in the data and a small model
// wrote the condition; a large model that was told so and looked at the data's values again is
// trusted.
std::string Gates::EmptyResult(std::string_view answer, const GateSituation& situation) const {
  const bool unmatched = situation.unmatched && !situation.unmatched->empty();
  const bool trusted = context_.checked == ModelPolicy::Checked::kNumbers ||
                       situation.nothing == sandbox::BlockResult::Nothing::kProved;
  if (trusted && (!unmatched || LookedAgain(situation))) return {};
  if (!TellsNothing(answer, situation)) return {};
  if (unmatched) {
    return fmt::format("The result is empty because a condition fits nothing: {}{}",
                       Join(*situation.unmatched, " "), kComputeIt);
  }
  const bool computed = std::ranges::any_of(
      *situation.shown, [](const std::string& text) { return SaysNothing(text, {}); });
  if (!computed) return {};  // a zero that was read somewhere
  return fmt::format(
      "The result is empty: perhaps the data say it in another way than the condition. Look at the "
      "values that the data really have, then count again.{}",
      kComputeIt);
}

namespace {

// Returns true if the whole answer was seen and is a value in the data, however common.
bool IsSeenValue(std::string_view answer, const GateSituation& situation) {
  constexpr std::size_t kLeast = 3;  // bytes
  const std::string value = Folded(TrimSpace(answer));
  if (value.size() < kLeast || !situation.in_data) return false;
  std::vector<std::string> seen = Seen(situation);
  if (situation.whole_outputs) {
    seen.insert(seen.end(), situation.whole_outputs->begin(), situation.whole_outputs->end());
  }
  const bool shown = std::ranges::any_of(
      seen, [&](const std::string& text) { return Folded(text).find(value) != text.npos; });
  return shown && situation.in_data(value);
}

// Whether the answer adds a value of the data to the question that an output shows as one, as
// {'city': 'Berlin'} does for "It was Berlin.", however common it is.
bool HoldsShownValue(std::string_view answer, std::string_view question,
                     const GateSituation& situation) {
  constexpr std::size_t kLeast = 3, kMostWords = 4;  // bytes; of one value
  const std::vector<std::string_view> words = WordsBesides(answer, question);
  const auto shown = [&](std::string_view value) {
    return value.size() >= kLeast && situation.in_data(Folded(value)) &&
           std::ranges::any_of(*situation.shown, [&](const std::string& output) {
             return StandsAsValue(output, value);
           });
  };
  for (std::size_t first = 0; situation.in_data && first < words.size(); ++first) {
    const std::size_t end = std::min(first + kMostWords, words.size());
    for (std::size_t last = first; last < end; ++last) {
      const char* stop = words[last].data() + words[last].size();
      if (shown({words[first].data(), static_cast<std::size_t>(stop - words[first].data())}))
        return true;
    }
  }
  return false;
}

}  // namespace

// Only a full reading can prove that something is absent. An answer that otherwise takes nothing
// from what was shown, such as a verdict on the whole, also needs more than a part.
std::string Gates::ReadInPart(std::string_view answer, const GateSituation& situation) const {
  const Coverage::Shares& read = situation.read;
  if (read.by_any <= 0 || read.by_any >= kAllRead || IsSmall()) {
    return {};
  }
  const std::string known = fmt::format("{}\n{}", context_.question, situation.sizes);
  const bool nothing = SaysNothing(answer, known);
  if (!nothing) {
    if (!situation.all_words || AddsNumber(answer, known) || IsSeenValue(answer, situation))
      return {};
    if (!TakesNothing(answer, context_.question, *situation.shown, situation.passages,
                      *situation.all_words)) {
      return {};
    }
    const bool large = context_.checked == ModelPolicy::Checked::kNumbers;
    if (large && HoldsShownValue(answer, context_.question, situation)) return {};
    // The passages of the first prompt were chosen by the words of the question.
    if (ShowsNamed(context_.question, *situation.shown, *situation.all_words)) return {};
  }
  return fmt::format(
      "Only {} of the context was read ({} by code, {} in sub-calls), and nothing that was read "
      "says this: it may stand in the rest.{}",
      Percent(read.by_any), Percent(read.by_code), Percent(read.by_models), kReadAll);
}

// If a condition explains an empty result, EmptyResult decides about it.
std::string Gates::LeavesOut(std::string_view answer, const GateSituation& situation) const {
  std::vector<std::string> gaps = situation.gaps;
  if (situation.unmatched && TellsNothing(answer, situation)) {
    std::erase_if(gaps, [&](const std::string& gap) {
      return std::ranges::find(*situation.unmatched, gap) != situation.unmatched->end();
    });
  }
  return gaps.empty() ? std::string() : fmt::format("{}{}", Join(gaps, " "), kTakeAll);
}

std::string Gates::WrongKind(std::string_view answer, const GateSituation& situation) const {
  if (situation.wanted == AnswerKind::kOther && IsBareNumber(answer) &&
      situation.passages_read == GateSituation::Passages::kStateNothing) {
    return fmt::format(
        "The answer is a bare number that no passage states, and the question asks for none.{}",
        kComputeIt);
  }
  if (situation.wanted != AnswerKind::kNumber || HasNumber(answer)) return {};
  // What code computed is trusted more than a small model's judgment of the question's kind.
  if (situation.outputs && !situation.outputs->empty() &&
      StandsAsValue(situation.outputs->back(), TrimSpace(answer))) {
    return {};
  }
  return fmt::format("The question asks for a number, and the answer holds none.{}", kComputeIt);
}

// If no passage states the answer, a small model counts or cuts out something else that it saw
// there. A number from code that searched for something the question does not name is doubtful.
std::string Gates::SearchedElse(std::string_view answer, const GateSituation& situation) const {
  if (!situation.mentions.empty()) {
    return fmt::format(
        "The number is how often \"{}\" stands in the text, and the question rather asks for "
        "something else.",
        situation.mentions);
  }
  if (!situation.day.empty() && HasNumber(answer)) {
    return fmt::format(
        "The code looks only at \"{}\", which neither the question nor an earlier output names.{}",
        situation.day, kComputeIt);
  }
  if (situation.passages_read == GateSituation::Passages::kNotRead || !situation.rarity) return {};
  if (!HasNumber(answer) || !situation.searched || situation.searched->empty()) return {};
  const bool named = std::ranges::any_of(*situation.searched, [&](const std::string& text) {
    return IsNamed(text, context_.question, *situation.rarity);
  });
  if (named) return {};
  return fmt::format(
      "No passage states the answer, and the code looks for \"{}\", which the question does not "
      "name.",
      situation.searched->front());
}

// Code counted a number, but a passage rather states another: one of the two is wrong.
std::string Gates::ContradictsReading(std::string_view answer,
                                      const GateSituation& situation) const {
  if (situation.likely_numbers.empty() || !HasNumber(answer)) return {};
  if (CheckGrounded(answer, context_.question, {}, std::vector{std::string(situation.sizes)})
          .grounded) {
    return {};
  }
  return fmt::format("A passage of the text states another answer, though not clearly: {}.",
                     Join(situation.likely_numbers, "; "));
}

// A second request to the model would only repeat its choice, so this check never refuses.
std::string Gates::UnclearReading(std::string_view answer, const GateSituation& situation) const {
  if (situation.passages_read != GateSituation::Passages::kUnclear) return {};
  const std::string all = Join(situation.readings, "\n");
  const Vote given = MakeVote(answer, all, context_.question);
  const bool read = std::ranges::any_of(situation.readings, [&](const std::string& reading) {
    return Agree(given, MakeVote(reading, all, context_.question));
  });
  if (!read) return ContradictsReading(answer, situation);
  if (situation.readings.size() == 1) {
    return "It is not sure that the passage which says this speaks of what the question asks.";
  }
  return fmt::format(
      "Passages of the text say different things, and it is not sure which of them speaks of what "
      "the question asks: {}.",
      Join(situation.readings, "; "));
}

std::string Gates::UnsureLabels(std::string_view answer, const GateSituation& situation) const {
  if (situation.labels == GateSituation::Labels::kSure || !HasNumber(answer)) return {};
  return "The model could not tell well which texts have which label, so a count of them may be "
         "wrong.";
}

std::string Gates::UnshownNumbers(std::string_view answer, std::span<const std::string> evidence,
                                  const GateSituation& situation) const {
  const Known known{.question = context_.question,
                    .sizes = situation.sizes,
                    .description = situation.description};
  if (std::string date = TurnedDate(answer, context_.question, evidence); !date.empty()) {
    return fmt::format(
        "No output shows the date {}, but one with the same numbers in another order.{}", date,
        kComputeIt);
  }
  const std::string number = context_.checked == ModelPolicy::Checked::kNumbers
                                 ? UnshownNumber(answer, known, evidence)
                                 : MisscaledNumber(answer, known, evidence);
  return number.empty() ? std::string() : fmt::format("No output shows {}.{}", number, kComputeIt);
}

std::string Gates::UnshownNames(std::string_view answer, std::span<const std::string> evidence,
                                const GateSituation& situation) const {
  // A small model puts quotation marks around its own words.
  const bool quoted = context_.checked == ModelPolicy::Checked::kNumbers &&
                      situation.quoted == Offer::Quoted::kYes && answer.find(' ') != answer.npos;
  std::string name = UnseenQuote(quoted ? fmt::format("\"{}\"", answer) : std::string(answer),
                                 context_.question, evidence);
  if (name.empty() && situation.in_data) {
    std::vector<std::string> seen(evidence.begin(), evidence.end());
    seen.emplace_back(situation.description);
    if (situation.whole_outputs) {
      seen.insert(seen.end(), situation.whole_outputs->begin(), situation.whole_outputs->end());
    }
    name = UnseenName(answer, context_.question, seen, situation.in_data);
  }
  return name.empty() ? std::string() : fmt::format("No output shows \"{}\".{}", name, kComputeIt);
}

// Finds a word that sub-calls say, and neither data, question nor code, whatever its ending.
std::string Gates::OnlyModelsSay(std::string_view answer, const GateSituation& situation) const {
  constexpr std::size_t kShortest = 5, kEnding = 3, kMostWords = 3;  // bytes, bytes, words
  const std::vector<std::string_view> words = WordsBesides(answer, context_.question);
  if (situation.explained || !situation.in_data || HasNumber(answer)) return {};
  if (words.size() > kMostWords) return {};
  const std::string code = situation.code ? Folded(Join(*situation.code, "\n")) : std::string();
  const std::string shown = Folded(Join(*situation.shown, "\n"));
  std::string_view alone;
  for (const std::string_view word : words) {
    const std::string folded = Folded(word);
    if (folded.size() < kShortest) continue;
    const std::string stem = folded.substr(0, std::max(kShortest - 1, folded.size() - kEnding));
    const bool said = shown.find(stem) != shown.npos && code.find(stem) == code.npos;
    if (!said || situation.in_data(stem)) return {};
    if (word.size() > alone.size()) alone = word;
  }
  if (alone.empty()) return {};
  return fmt::format("Only sub-calls say \"{}\": it stands nowhere in the data.{}", alone, kQuoteIt);
}

// The digit 0 means the same as the word "none": after values of the data were shown, either may be
// an answer about something that is not among them.
std::string Gates::WithoutNeedlessZeros(std::string_view answer,
                                        const GateSituation& situation) const {
  const bool shown =
      situation.outputs && situation.shows_values && situation.shows_values(*situation.outputs);
  std::string left;
  std::size_t done = 0;
  NumberReader reader(answer);
  while (const auto number = reader.Next()) {
    const bool alone = (number->begin == 0 || answer[number->begin - 1] == ' ') &&
                       (number->end == answer.size() ||
                        std::string_view(" ,;%").find(answer[number->end]) != answer.npos);
    if (!shown || !alone || number->Key() != "0.") continue;
    left += answer.substr(done, number->begin - done);
    done = number->end;
  }
  return left.append(answer.substr(done));
}

// Returns true for a denial without numbers after all of the data was read: it cannot occur in an
// output, and a word of the question that is unknown in the data supports it.
bool Gates::DeniesWhatIsUnknown(std::string_view answer, const GateSituation& situation) const {
  constexpr std::size_t kLeastWords = 3;
  if (situation.read.by_any < kAllRead || HasNumber(answer) || !situation.rarity) return false;
  if (WordsBesides(answer, {}).size() < kLeastWords) return false;
  return std::ranges::any_of(WordsBesides(context_.question, {}), [&](std::string_view word) {
    return !situation.rarity->Known(WordHash(word));
  });
}

std::string Gates::Ungrounded(std::string_view given, const GateSituation& situation) const {
  const std::string answer = WithoutNeedlessZeros(given, situation);
  const std::vector<std::string> evidence = Seen(situation);
  const bool numbers_only = context_.checked == ModelPolicy::Checked::kNumbers;
  const bool brief = utf8::CodePoints(answer) <= kShortAnswer;
  if (numbers_only && (IsSmall() || !brief)) return {};
  if (std::string reason = UnshownNumbers(answer, evidence, situation); !reason.empty()) {
    return reason;
  }
  if (brief) {
    std::string reason = UnshownNames(answer, evidence, situation);
    // Told, but no doubt if it stands: it may be a judgement, in the model's own word.
    if (numbers_only && reason.empty() && !Refused("grounding")) {
      reason = OnlyModelsSay(answer, situation);
    }
    if (numbers_only || !reason.empty()) return reason;
  }
  const Grounding grounding =
      CheckGrounded(answer, context_.question, context_.hint_values, evidence);
  if (!grounding.grounded) {
    const bool ran = situation.code && !situation.code->empty();
    return grounding.missing.empty()
               ? fmt::format("{}{}",
                             ran ? "No output of the newest attempt supports this answer."
                                 : "No code has printed anything out of the data yet.",
                             kComputeIt)
               : fmt::format("No output shows {}.{}", grounding.missing, kComputeIt);
  }
  if (!situation.rarity) return {};
  const std::string missing = MissingWords(answer, context_.question, evidence, *situation.rarity);
  if (missing.empty() || DeniesWhatIsUnknown(answer, situation)) return {};
  return fmt::format("No output shows what this answer says: \"{}\", for one, stands in none.{}",
                     missing, kComputeIt);
}

std::string Gates::ValueLeftOut(std::string_view /*answer*/, const GateSituation& situation) const {
  if (!situation.unread.empty()) {
    return fmt::format("{}{}", situation.unread, kComputeIt);
  }
  if (situation.left_out.empty()) return {};
  // A question may name a value that it does not ask for ("other than Oslo"): large models are told.
  if (context_.checked == ModelPolicy::Checked::kNumbers && Refused("left_out")) return {};
  return fmt::format(
      "The question names \"{}\", which is a value in the data, and the code does not use it.{}",
      situation.left_out, kComputeIt);
}

std::string Gates::NotNear(std::string_view answer, const GateSituation& situation) const {
  if (context_.checked == ModelPolicy::Checked::kNumbers || !situation.rarity) return {};
  const std::vector<std::string> evidence = Seen(situation);
  if (StandsNear(answer, context_.question, evidence, *situation.rarity)) return {};
  return fmt::format("Where the text says this, it does not speak of what the question asks.{}",
                     kLookElsewhere);
}

}  // namespace dossier::ask
