#include "ask/claims/reckoning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "ask/claims/dates.h"
#include "ask/claims/numbers.h"
#include "ask/claims/shown_texts.h"
#include "ask/claims/units.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr double kExact = 1e-9;  // relative error allowed for binary arithmetic

double ValueOf(const Number& number) {
  const std::string text = fmt::format("{}.{}", number.digits, number.fraction);
  return std::strtod(text.c_str(), nullptr) * (number.negative ? -1 : 1);
}

double HalfOfLastPlace(const Number& number) {
  return 0.5 * std::pow(10.0, -static_cast<double>(number.fraction.size())) * 1.000001;
}

// Returns the count of significant digits: 3.5 has two, 0.04 one. Short numbers match by chance.
std::size_t Significant(const Number& number) {
  const std::string all = number.digits + number.fraction;
  const std::size_t first = all.find_first_not_of('0');
  return first == std::string::npos ? 0 : all.size() - first;
}

// A number of an answer, with what follows it.
struct Claim {
  Number number;
  Suffix suffix;
  bool percent = false;
  bool moment = false;  // part of a time of day, or the day or month of a date

  double value() const { return ValueOf(number); }
  // Returns true if `value`, written with the same number of decimals, is the number.
  bool Is(double value) const {
    return std::isfinite(value) &&
           std::abs(std::abs(value) - std::abs(ValueOf(number))) <= HalfOfLastPlace(number);
  }
};

// Returns the units that the name before a number ends with: {'timeout_ms': 15000}.
std::vector<const Unit*> UnitsOfLabel(std::string_view text, std::size_t begin) {
  const std::string_view before = text.substr(0, begin);
  const std::size_t end = before.find_last_not_of(" :='\"");
  if (end == before.npos || end + 1 == begin || begin - end > 5) return {};
  const std::size_t name = before.substr(0, end + 1).find_last_of(" ,{['\"\n_(");
  if (name == before.npos || before[name] != '_') return {};
  return UnitsNamed(before.substr(name + 1, end - name));
}

bool Within(std::span<const Place> places, std::size_t at) {
  return std::ranges::any_of(places, [at](const Place& place) { return place.Holds(at); });
}

// Tells whether offsets, queried in ascending order, lie in one of `places`. An output may show
// tens of thousands of dates.
class Sweep {
 public:
  explicit Sweep(std::vector<Place> places) : places_(std::move(places)) {
    std::ranges::sort(places_, {}, &Place::begin);
  }
  bool Holds(std::size_t at) {
    for (; next_ < places_.size() && places_[next_].begin <= at; ++next_) {
      reach_ = std::max(reach_, places_[next_].end);
    }
    return at < reach_;
  }

 private:
  std::vector<Place> places_;
  std::size_t next_ = 0, reach_ = 0;
};

std::vector<Claim> ClaimsOf(std::string_view text) {
  std::vector<Claim> claims;
  Sweep dates(DatePlaces(text));
  std::vector<Place> of_clocks;
  for (const DayTime& clock : ClocksOf(text)) of_clocks.push_back(clock.place);
  Sweep clocks(std::move(of_clocks));
  NumberReader reader(text);
  std::size_t done = 0;
  while (auto number = reader.Next()) {
    if (number->begin < done) continue;
    Claim claim{.number = *number, .suffix = ReadSuffix(text, number->end)};
    // "4,48 Millionen": a number before a numeral or unit is read as a whole.
    if (const auto comma = WithDecimalComma(text, *number)) {
      const Suffix suffix = ReadSuffix(text, comma->end);
      if (!suffix.scales.empty() || !suffix.units.empty()) {
        done = comma->end;
        claim = {.number = *comma, .suffix = suffix};
      }
    }
    claim.percent = IsPercent(text, claim.number.end);
    if (claim.suffix.units.empty()) claim.suffix.units = UnitsOfLabel(text, claim.number.begin);
    const bool in_date = dates.Holds(claim.number.begin);
    claim.moment = clocks.Holds(claim.number.begin) || (claim.number.digits.size() < 3 && in_date);
    claims.push_back(std::move(claim));
  }
  return claims;
}

// Returns the distinct values of the numbers of `claims`; none if there are more than `most`.
std::vector<double> FewValues(std::span<const Claim> claims, std::size_t most) {
  std::vector<double> values;
  for (const Claim& claim : claims) {
    if (claim.moment) continue;
    const double value = claim.value();
    if (std::ranges::find(values, value) != values.end()) continue;
    if (values.size() == most) return {};
    values.push_back(value);
  }
  return values;
}

// With more numbers in one output, some pair gives any number by chance; a short number sooner.
std::size_t MostReckoned(const Number& wanted) { return Significant(wanted) < 3 ? 2 : 4; }

// Returns true if `wanted` is the sum, difference, product or quotient of `a` and `b`. The answer
// rounds a quotient, so it must have two digits.
bool IsReckoned(const Claim& wanted, double a, double b) {
  const Number& number = wanted.number;
  const std::size_t digits = Significant(number);
  if (a == b || (digits < 2 && (std::abs(a) < 10 || std::abs(b) < 10))) return false;
  const auto exact = [&](double value) {
    return wanted.Is(value) && (!number.fraction.empty() || value == std::floor(value));
  };
  if (exact(a + b) || exact(a - b) || exact(a * b)) return true;
  if (!wanted.percent) {
    return digits >= 2 && ((b != 0 && wanted.Is(a / b)) || (a != 0 && wanted.Is(b / a)));
  }
  // A percentage with one digit must be of the larger number; a growth rate needs two digits.
  const double part = 100 * std::min(a, b) / std::max(a, b);
  if (digits < 2) return a > 0 && b > 0 && wanted.Is(part);
  return a != 0 && b != 0 &&
         (wanted.Is(100 * a / b) || wanted.Is(100 * b / a) || wanted.Is(100 * (a / b - 1)) ||
          wanted.Is(100 * (b / a - 1)));
}

bool IsReckonedFrom(const Claim& wanted, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      if (IsReckoned(wanted, values[i], values[j])) return true;
    }
  }
  return false;
}

// Returns true if `wanted` is computed from a value of the data and a number of the question: 3.2
// from 40 and "8 %".
bool IsReckonedWith(const Claim& wanted, double shown, const Claim& asked) {
  const double other = asked.value();
  if (!asked.percent) return IsReckoned(wanted, shown, other);
  const double part = shown * other / 100;
  return Significant(wanted.number) >= 2 &&
         (wanted.Is(part) || wanted.Is(shown + part) || wanted.Is(shown - part));
}

// Returns the numbers that only count the items of an answer: "1. Anna, 2. Bo".
std::vector<std::size_t> PlacesOfItemNumbers(std::string_view answer,
                                             const std::vector<Claim>& claims) {
  std::vector<std::size_t> places;
  std::string mark;
  for (const Claim& claim : claims) {
    const std::string_view behind = answer.substr(claim.number.end);
    const bool next = claim.number.Key() == fmt::format("{}.", places.size() + 1);
    if (!next || behind.size() < 2 || std::string_view(".):").find(behind[0]) == behind.npos ||
        behind[1] != ' ' || (!mark.empty() && mark[0] != behind[0])) {
      continue;
    }
    mark = behind[0];
    places.push_back(claim.number.begin);
  }
  if (places.size() < 2) places.clear();
  return places;
}

class Grounds {
 public:
  Grounds(std::string_view answer, const Known& known, std::span<const std::string> shown)
      : answer_(answer), known_(known), shown_(shown), asked_(ClaimsOf(known.question)) {
    for (const std::string& text : shown) {
      evidence_.Add(text);
      outputs_.push_back(ClaimsOf(text));
    }
    dates_ = ShownDates(answer, shown);
    for (NumberReader reader(known.sizes); const auto number = reader.Next();) {
      sizes_.push_back(ValueOf(*number));
    }
    of_question_.Add(known.question);
    given_.Add(known.question);
    given_.Add(known.sizes);
  }

  // Numbers of the question and sizes of the data neither support nor contradict an answer.
  bool IsGiven(const Claim& claim) const {
    return claim.suffix.scales.empty() && given_.Shows(claim.number);
  }
  bool Shows(const Number& number) const {
    return evidence_.Shows(number) || of_question_.Shows(number);
  }

  bool Stands(const Claim& claim) const {
    if (!claim.suffix.scales.empty()) return StandsScaled(claim);
    if (HasOtherUnit(claim)) return IsConverted(claim);
    if (evidence_.ShowsIn(answer_, claim.number) || Within(dates_, claim.number.begin)) return true;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::vector<double> values = FewValues(outputs_[i], MostReckoned(claim.number));
      if (IsReckonedFrom(claim, values)) return true;
      if (!claim.percent && IsLengthOf(shown_[i], claim.number)) return true;
      if (IsReckonedWithQuestion(claim, values) || IsShareOfAll(claim, i)) return true;
      if (IsRounded(claim, i) || IsReckonedInPart(claim, shown_[i])) return true;
    }
    return IsShare(claim) || IsWrittenOut(claim) || IsTimeOfDay(claim) || IsConverted(claim);
  }

  // "1.08 billion": true for a value of the data, rounded, or for a shown 1.08 if something says
  // that it is counted in billions.
  bool StandsScaled(const Claim& claim) const {
    return std::ranges::any_of(claim.suffix.scales, [&](double scale) {
      const auto is = [&](const Claim& shown) { return claim.Is(shown.value() / scale); };
      const auto in_data = [&](const std::vector<Claim>& output) {
        return std::ranges::any_of(output, is);
      };
      if (std::ranges::any_of(outputs_, in_data) || std::ranges::any_of(asked_, is)) return true;
      const auto reckoned = [&](const std::string& text) {
        return NamesScale(text, scale) && IsReckonedInPart(claim, text);
      };
      if (std::ranges::any_of(shown_, reckoned)) return true;
      const auto names = [scale](std::string_view text) { return NamesScale(text, scale); };
      return (names(known_.question) || names(known_.description) ||
              std::ranges::any_of(shown_, names)) &&
             (evidence_.Shows(claim.number) || of_question_.Shows(claim.number));
    });
  }

  // Returns true if "2 h 15 min" is a value of the data in one unit.
  bool StandTogether(const Claim& large, const Claim& small) const {
    if (small.number.begin - large.suffix.end > kBetween) return false;
    for (const Unit* first : large.suffix.units) {
      for (const Unit* second : small.suffix.units) {
        if (first->dimension != second->dimension || first->factor <= second->factor) continue;
        const double base = large.value() * first->factor + small.value() * second->factor;
        const double about = HalfOfLastPlace(small.number) * second->factor;
        if (Measures(first->dimension, base, about, nullptr)) return true;
        if (first->dimension == Dimension::kTime && IsDuration(base, about)) return true;
      }
    }
    return false;
  }

  // Returns true if the number is computed from `others`: supported numbers of the answer and the
  // question.
  static bool IsReckonedFromOthers(const Claim& claim, const std::vector<double>& others) {
    double sum = 0;
    for (const double other : others) sum += other;
    if (others.size() > 2 && claim.Is(sum)) return true;
    // Percentages are given together with the totals that they refer to.
    const std::size_t most = claim.percent ? kMostShares : MostReckoned(claim.number);
    return others.size() <= most && IsReckonedFrom(claim, others);
  }

 private:
  static constexpr std::size_t kBetween = 6;    // bytes: " and "
  static constexpr std::size_t kMostAsked = 3;  // numbers of a question used for computing
  static constexpr std::size_t kMostShares = 6;
  static constexpr std::size_t kMostOfAll = 6;    // numbers whose sum is the row count
  static constexpr std::size_t kMostRounded = 4;  // numbers of an output that may be rounded
  static constexpr std::size_t kMostParts = 3;    // sentences with several numbers

  bool IsReckonedWithQuestion(const Claim& claim, const std::vector<double>& values) const {
    const bool brief = Significant(claim.number) < 3;
    if (asked_.size() > kMostAsked || (brief && values.size() > 1)) return false;
    return std::ranges::any_of(values, [&](double value) {
      return std::ranges::any_of(
          asked_, [&](const Claim& asked) { return IsReckonedWith(claim, value, asked); });
    });
  }

  // Returns true if every output with the number gives it in another unit of the same dimension.
  bool HasOtherUnit(const Claim& claim) const {
    bool other = false;
    for (const std::vector<Claim>& output : outputs_) {
      for (const Claim& shown : output) {
        if (shown.number.Key() != claim.number.Key()) continue;
        if (claim.suffix.units.empty() || shown.suffix.units.empty()) return false;
        for (const Unit* a : claim.suffix.units) {
          for (const Unit* b : shown.suffix.units) {
            if (a == b || a->dimension != b->dimension) return false;
          }
        }
        other = true;
      }
    }
    return other && !of_question_.Shows(claim.number);
  }

  // Returns true if it is a share of all rows, or of the sum of numbers that add up to all rows.
  bool IsShareOfAll(const Claim& claim, std::size_t output) const {
    const bool share = claim.percent || (claim.value() < 1 && Significant(claim.number) >= 2);
    if (!share || sizes_.empty() || sizes_.back() < 2) return false;
    std::vector<double> values = FewValues(outputs_[output], kMostOfAll);
    double sum = 0;
    for (const double value : values) sum += value;
    if (sum != sizes_.back()) values = FewValues(outputs_[output], MostReckoned(claim.number));
    return std::ranges::any_of(values, [&](double value) {
      return value > 0 && value < sizes_.back() &&
             claim.Is((claim.percent ? 100 : 1) * value / sizes_.back());
    });
  }

  // Returns true for 53,700,000 if "53.7 million" was shown.
  bool IsWrittenOut(const Claim& claim) const {
    return std::ranges::any_of(outputs_, [&](const std::vector<Claim>& output) {
      return std::ranges::any_of(output, [&](const Claim& shown) {
        return std::ranges::any_of(shown.suffix.scales, [&](double scale) {
          return std::abs(claim.value() - shown.value() * scale) <= scale * kExact;
        });
      });
    });
  }

  // Returns true for "about 28,000" for 27923: thousands or hundreds, at least two digits kept.
  bool IsRounded(const Claim& claim, std::size_t output) const {
    const std::string& digits = claim.number.digits;
    const std::size_t zeros =
        digits.size() - 1 - std::min(digits.find_last_not_of('0'), digits.size() - 1);
    if (!claim.number.fraction.empty() || zeros < 2 || digits.size() - zeros < 2) return false;
    const double half = 0.5 * std::pow(10.0, static_cast<double>(zeros));
    return std::ranges::any_of(FewValues(outputs_[output], kMostRounded), [&](double value) {
      return std::abs(value - claim.value()) <= half;
    });
  }

  // Returns true if it is computed from two numbers of one sentence or line (if few have several),
  // or from those whose names question and answer contain.
  bool IsReckonedInPart(const Claim& claim, std::string_view text) const {
    std::size_t parts = 0;
    bool reckoned = false;
    for (std::size_t at = 0; at < text.size() && parts <= kMostParts;) {
      std::size_t end = std::min({text.find('\n', at), text.find(". ", at), text.size()});
      const std::vector<Claim> claims = ClaimsOf(text.substr(at, end - at));
      const std::vector<double> values = FewValues(claims, MostReckoned(claim.number));
      if (values.size() > 1) ++parts;
      reckoned = reckoned || IsReckonedFrom(claim, values);
      at = end + 1;
    }
    return (reckoned && parts <= kMostParts) || IsReckonedFromNamed(claim, text);
  }

  // "DE has 74 more than PL": computed from {'DE': 129, 'Spain': 84, 'PL': 55}.
  bool IsReckonedFromNamed(const Claim& claim, std::string_view text) const {
    std::vector<Claim> named;
    const std::string said = Folded(fmt::format("{} {}", known_.question, answer_));
    for (const Claim& shown : ClaimsOf(text)) {
      const std::string_view before = text.substr(0, shown.number.begin);
      const std::size_t end = before.find_last_not_of(" :=,'\"(");
      if (end == before.npos || !IsTextByte(before[end]) || IsDigit(before[end])) continue;
      const std::size_t begin = before.substr(0, end + 1).find_last_of(" ,{['\"\n(") + 1;
      const std::string name = Folded(before.substr(begin, end + 1 - begin));
      if (OccursWhole(said, name)) named.push_back(shown);
    }
    return IsReckonedFrom(claim, FewValues(named, 2));
  }

  // Returns true for 0.125 if "12.5 %" was printed.
  bool IsShare(const Claim& claim) const {
    if (claim.percent || Significant(claim.number) < 2) return false;
    const auto is = [&](const Claim& shown) {
      return shown.percent && claim.Is(shown.value() / 100);
    };
    return std::ranges::any_of(outputs_,
                               [&](const auto& output) { return std::ranges::any_of(output, is); });
  }

  // Returns true if two times in an output with at most four are that many seconds apart. Minutes
  // and hours may be rounded to full ones.
  bool IsDuration(double base, double about) const {
    constexpr std::size_t kMostClocks = 4;
    return std::ranges::any_of(shown_, [&](const std::string& text) {
      const std::vector<DayTime> clocks = ClocksOf(text);
      if (clocks.size() > kMostClocks) return false;
      for (const DayTime& a : clocks) {
        for (const DayTime& b : clocks) {
          const double apart = a.seconds - b.seconds - base;
          if (a.dated == b.dated && apart >= -about && apart < 2 * about) return true;
        }
      }
      return false;
    });
  }

  // Returns true for a part of a time shown as its hour ("13:00" for 13) or in seconds.
  bool IsClock(const Claim& claim) const {
    const std::vector<DayTime> clocks = ClocksOf(answer_);
    const auto clock = std::ranges::find_if(
        clocks, [&](const DayTime& c) { return c.place.Holds(claim.number.begin); });
    if (clock == clocks.end()) return false;
    const auto is = [](double value, double seconds) {
      return std::abs(value - seconds) < 0.0006 || std::floor(value) == seconds;
    };
    const bool in_seconds =
        clock->of_day >= 60 && std::ranges::any_of(outputs_, [&](const auto& o) {
          return std::ranges::any_of(o, [&](const Claim& shown) {
            return !shown.moment && shown.number.digits.size() > 2 &&
                   (is(shown.value(), clock->of_day) ||
                    (clock->brief && is(shown.value(), clock->of_day / 60)));
          });
        });
    if (in_seconds) return true;
    const double minute = std::fmod(clock->of_day, 3600) / 60;
    if (!clock->brief || (minute != 0 && minute != 59)) return false;
    // "between 13:00 and 14:00": the shown hour and its end.
    const auto shows = [&](double hour) {
      return evidence_.Shows(Number{.digits = fmt::format("{:.0f}", hour)});
    };
    const double hour = std::floor(clock->of_day / 3600);
    const bool ends = clock != clocks.begin() && minute == 0 &&
                      std::floor(std::prev(clock)->of_day / 3600) == hour - 1;
    return shows(hour) || (ends && shows(hour - 1));
  }

  // Returns true for "1 pm" if hour 13 was shown.
  bool IsHourAfterNoon(const Claim& claim) const {
    const std::string behind = ToLowerAscii(TrimSpace(answer_.substr(claim.number.end, 6)));
    if (!behind.starts_with("pm") && !behind.starts_with("p.m")) return false;
    return claim.value() < 12 && claim.number.fraction.empty() &&
           evidence_.Shows(Number{.digits = fmt::format("{:.0f}", claim.value() + 12)});
  }

  // Returns true for the hour or minute of "2:30" if 14:30 was shown.
  bool IsTimeOfDay(const Claim& claim) const {
    if (IsClock(claim) || IsHourAfterNoon(claim)) return true;
    const std::size_t first = answer_.substr(0, claim.number.begin).ends_with(':')
                                  ? answer_.find_last_not_of("0123456789:", claim.number.begin) + 1
                                  : claim.number.begin;
    int hour = 0, minute = 0, read = 0;
    const std::string from(answer_.substr(first, 6));
    if (std::sscanf(from.c_str(), "%2d:%2d%n", &hour, &minute, &read) != 2 || hour > 12) {
      return false;
    }
    const std::string later = fmt::format("{:02}:{:02}", (hour + 12) % 24, minute);
    return std::ranges::any_of(
        shown_, [&](const std::string& text) { return text.find(later) != text.npos; });
  }

  // Returns true if a number of the data, in another unit, is the claim.
  bool IsConverted(const Claim& claim) const {
    if (claim.percent) return false;
    const std::vector<const Unit*> units =
        claim.suffix.units.empty() ? UnitsNamed(known_.question) : claim.suffix.units;
    return std::ranges::any_of(units, [&](const Unit* unit) {
      const double base = (claim.value() + unit->offset) * unit->factor;
      const double about = Significant(claim.number) < 2
                               ? std::abs(base) * kExact
                               : HalfOfLastPlace(claim.number) * unit->factor;
      return Measures(unit->dimension, base, about, unit) ||
             (unit->dimension == Dimension::kTime && !claim.suffix.units.empty() &&
              IsDuration(base, about));
    });
  }

  // Returns true if a number of the data is `base`, within `about`, in a unit other than `besides`:
  // the unit after the number, or else one that is named somewhere.
  bool Measures(Dimension dimension, double base, double about, const Unit* besides) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool few = !FewValues(outputs_[i], kMostBare).empty();
      std::vector<const Unit*> named;
      if (few) named = UnitsFor(dimension, shown_[i]);
      for (const Claim& shown : outputs_[i]) {
        const bool has_unit = !shown.suffix.units.empty();
        if (!has_unit && !few) continue;
        for (const Unit* unit : has_unit ? shown.suffix.units : named) {
          if (unit->dimension != dimension || unit == besides) continue;
          const double value = (shown.value() + unit->offset) * unit->factor;
          if (std::abs(value - base) <= about + std::abs(base) * kExact) return true;
        }
      }
    }
    return false;
  }

  // Returns the units that a bare number of `output` may have: those named, or all.
  std::vector<const Unit*> UnitsFor(Dimension dimension, std::string_view output) const {
    std::vector<const Unit*> named =
        UnitsNamed(fmt::format("{} {} {}", output, known_.question, known_.description));
    std::erase_if(named, [=](const Unit* unit) { return unit->dimension != dimension; });
    return named.size() < 2 ? UnitsOf(dimension) : named;
  }

  static constexpr std::size_t kMostBare = 2;  // numbers of an output without units

  const std::string_view answer_;
  const Known& known_;
  const std::span<const std::string> shown_;
  const std::vector<Claim> asked_;
  std::vector<std::vector<Claim>> outputs_;
  std::vector<Place> dates_;   // of the answer, if they were shown
  std::vector<double> sizes_;  // the last is the row count
  ShownTexts evidence_, of_question_, given_;
};

// "1st", "3x": a one-digit number that is part of a word is a rank or a repetition.
bool IsPartOfWord(std::string_view answer, const Claim& claim) {
  const std::size_t end = claim.number.end;
  return claim.number.digits.size() == 1 && claim.suffix.end == end && end < answer.size() &&
         IsLetter(answer[end]);
}

}  // namespace

bool LeadingNumberGrounded(std::string_view answer, const Known& known,
                           std::span<const std::string> shown) {
  answer = CheckedPart(answer);
  const std::vector<Claim> claims = ClaimsOf(answer);
  if (claims.empty()) return true;  // reading long outputs is unnecessary then
  const Grounds grounds(answer, known, shown);
  bool any = false, stands = false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    if (IsListNumber(answer, claim.number)) continue;
    if (i + 1 < claims.size() && grounds.StandTogether(claim, claims[i + 1])) return true;
    if (!grounds.IsGiven(claim)) return grounds.Stands(claim);
    any = true;
    stands = stands || grounds.Shows(claim.number);
  }
  return !any || stands;
}

std::string UnshownNumber(std::string_view answer, const Known& known,
                          std::span<const std::string> shown) {
  answer = CheckedPart(answer);
  const std::vector<Claim> claims = ClaimsOf(answer);
  if (claims.empty()) return {};
  const Grounds grounds(answer, known, shown);
  const std::vector<std::size_t> items = PlacesOfItemNumbers(answer, claims);
  std::vector<double> others;
  std::vector<const Claim*> open, given;
  bool stands = false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    if (IsListNumber(answer, claim.number) || IsPartOfWord(answer, claim) ||
        std::ranges::find(items, claim.number.begin) != items.end()) {
      continue;
    }
    if (i + 1 < claims.size() && grounds.StandTogether(claim, claims[i + 1])) {
      stands = true;
      ++i;
      continue;
    }
    const bool is_given = grounds.IsGiven(claim);
    if (!is_given && !grounds.Stands(claim)) {
      open.push_back(&claim);
      continue;
    }
    if (std::ranges::find(others, claim.value()) == others.end()) others.push_back(claim.value());
    if (is_given) given.push_back(&claim);
    stands = stands || !is_given || grounds.Shows(claim.number) || grounds.Stands(claim);
  }
  // A size of the data that nothing showed is not an answer by itself.
  if (!stands && open.empty() && !given.empty()) open.push_back(given.front());
  for (const Claim* claim : open) {
    if (stands && claim->suffix.scales.empty() && Grounds::IsReckonedFromOthers(*claim, others)) {
      continue;
    }
    const std::size_t end = claim->suffix.scales.empty() ? claim->number.end : claim->suffix.end;
    return std::string(answer.substr(claim->number.begin, end - claim->number.begin));
  }
  return {};
}

std::string MisscaledNumber(std::string_view answer, const Known& known,
                            std::span<const std::string> shown) {
  answer = CheckedPart(answer);
  std::vector<Claim> scaled = ClaimsOf(answer);
  std::erase_if(scaled, [](const Claim& claim) { return claim.suffix.scales.empty(); });
  if (scaled.empty()) return {};
  const Grounds grounds(answer, known, shown);
  for (const Claim& claim : scaled) {
    if (grounds.StandsScaled(claim)) continue;
    return std::string(answer.substr(claim.number.begin, claim.suffix.end - claim.number.begin));
  }
  return {};
}

}  // namespace dossier::ask
