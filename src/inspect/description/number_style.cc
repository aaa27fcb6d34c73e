#include "inspect/description/number_style.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/description/value_type.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostDigits = 15;  // more would lose precision in a double
constexpr std::size_t kMaxNumeral = 40;  // bytes
constexpr std::size_t kMaxRuns = 8;      // of digits: groups and decimals

constexpr std::string_view kSpaces[] = {" ", "\t", "\u00A0", "\u2009", "\u202F"};
constexpr std::string_view kApostrophes[] = {"'", "\u2019"};
constexpr std::string_view kMinus[] = {"-", "\u2212"};

template <std::size_t kCount>
std::size_t MarkAt(std::string_view text, const std::string_view (&marks)[kCount]) {
  for (const std::string_view mark : marks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

// Returns the bytes of the currency or percent sign at the start of `text`.
std::size_t UnitAt(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (text[0] == '$' || text[0] == '%') return 1;
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) >= 0xA2 && byte(1) <= 0xA5) return 2;
  if (text.size() < 3) return 0;
  // U+20A0 to U+20CF, and the baht.
  const bool block = byte(0) == 0xE2 &&
                     ((byte(1) == 0x82 && byte(2) >= 0xA0) || (byte(1) == 0x83 && byte(2) <= 0x8F));
  return block || text.starts_with("\u0E3F") ? 3 : 0;
}

// Finds one mark at the end of `text` with `find`, which works at the front; returns its bytes.
template <typename Find>
std::size_t AtEnd(std::string_view text, Find find) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
    if (find(text.substr(text.size() - size)) == size) return size;
  }
  return 0;
}

enum class Between : std::uint8_t { kDot, kComma, kApostrophe, kSpace };

// A parsed numeral: sign, unit, and runs of digits with the separators between them.
struct Numeral {
  bool negative = false, plus = false;
  bool odd = false;  // not as in JSON
  std::string_view unit;
  std::string_view exponent;  // e5, E-3
  std::array<std::string_view, kMaxRuns> runs;
  std::array<Between, kMaxRuns> marks{};
  std::size_t count = 0;  // runs

  bool Has(Between mark) const {
    return std::find(marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(count - 1), mark) !=
           marks.begin() + static_cast<std::ptrdiff_t>(count - 1);
  }
};

std::string_view TrimSpaces(std::string_view text) {
  const auto space = [](std::string_view at) { return MarkAt(at, kSpaces); };
  for (std::size_t size = 0; (size = space(text)) > 0;) text.remove_prefix(size);
  for (std::size_t size = 0; (size = AtEnd(text, space)) > 0;) text.remove_suffix(size);
  return TrimSpace(text);
}

// Removes signs and units at both ends; returns false if there are too many.
bool TakeSigns(std::string_view* text, Numeral* out) {
  const auto take_unit = [&](std::string_view unit) {
    const bool first = out->unit.empty();
    out->unit = unit;
    return first;
  };
  if (text->size() > 2 && text->front() == '(' && text->back() == ')') {
    out->negative = out->odd = true;
    *text = TrimSpaces(text->substr(1, text->size() - 2));
  }
  for (std::size_t size = 0;; *text = TrimSpaces(text->substr(size))) {
    if ((size = MarkAt(*text, kMinus)) > 0) {
      out->odd = out->odd || size > 1;
      if (out->negative || out->plus) return false;
      out->negative = true;
    } else if (text->starts_with('+')) {
      size = 1;
      if (out->negative || out->plus) return false;
      out->plus = true;
    } else if ((size = UnitAt(*text)) > 0) {
      if (!take_unit(text->substr(0, size))) return false;
    } else {
      break;
    }
  }
  for (std::size_t size = 0;; *text = TrimSpaces(text->substr(0, text->size() - size))) {
    if ((size = AtEnd(*text, UnitAt)) > 0) {
      if (!take_unit(text->substr(text->size() - size))) return false;
    } else if (text->ends_with('-')) {
      size = 1;
      if (out->negative || out->plus) return false;
      out->negative = out->odd = true;
    } else {
      break;
    }
  }
  out->odd = out->odd || !out->unit.empty();
  return true;
}

// Returns the bytes of the separator between two runs of digits, and its kind.
std::size_t BetweenAt(std::string_view text, Between* mark) {
  if (text.starts_with('.') || text.starts_with(',')) {
    *mark = text[0] == '.' ? Between::kDot : Between::kComma;
    return 1;
  }
  std::size_t size = MarkAt(text, kApostrophes);
  *mark = Between::kApostrophe;
  if (size > 0) return size;
  *mark = Between::kSpace;
  return MarkAt(text, kSpaces);
}

std::string_view TakeRun(std::string_view* text) {
  const std::size_t end = std::min(text->find_first_not_of("0123456789"), text->size());
  const std::string_view run = text->substr(0, end);
  text->remove_prefix(end);
  return run;
}

bool TakeExponent(std::string_view text, Numeral* out) {
  out->exponent = text;
  text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= 3 && TakeRun(&text).size() > 0 && text.empty();
}

std::optional<Numeral> TakeApart(std::string_view cell) {
  std::string_view text = TrimSpaces(cell);
  Numeral out;
  if (text.empty() || text.size() > kMaxNumeral || !TakeSigns(&text, &out)) return std::nullopt;
  while (out.count < kMaxRuns) {
    out.runs[out.count++] = TakeRun(&text);
    if (text.empty()) return out.runs[out.count - 1].empty() ? std::nullopt : std::optional(out);
    if ((text[0] | 0x20) == 'e')
      return TakeExponent(text, &out) ? std::optional(out) : std::nullopt;
    const std::size_t size = BetweenAt(text, &out.marks[out.count - 1]);
    if (size == 0) return std::nullopt;
    text.remove_prefix(size);
  }
  return std::nullopt;
}

// Returns the number for a decimal mark, without its sign; empty: not a number.
std::string DigitsBy(const Numeral& numeral, Between decimal) {
  const std::size_t marks = numeral.count - 1;
  const bool fraction = marks > 0 && numeral.marks[marks - 1] == decimal;
  const std::size_t groups = fraction ? marks - 1 : marks;
  const std::string_view first = numeral.runs[0];
  if (first.empty() && !(fraction && marks == 1)) return {};
  if (groups > 0 && (first.size() > 3 || first[0] == '0' || !numeral.exponent.empty())) return {};
  std::string out(first.empty() ? "0" : first);
  for (std::size_t i = 0; i < groups; ++i) {
    const bool group = numeral.marks[i] == numeral.marks[0] && numeral.marks[i] != decimal &&
                       numeral.runs[i + 1].size() == 3;
    if (!group) return {};
    out += numeral.runs[i + 1];
  }
  if (fraction) out.append(".").append(numeral.runs[marks]);
  return out.append(numeral.exponent);
}

std::string Read(const Numeral& numeral, DecimalMark mark) {
  const std::string dot = DigitsBy(numeral, Between::kDot);
  const std::string comma = DigitsBy(numeral, Between::kComma);
  const bool either = mark == DecimalMark::kUnknown && dot.empty();
  const std::string& digits = mark == DecimalMark::kComma || either ? comma : dot;
  const bool two = mark == DecimalMark::kUnknown && !comma.empty() && dot != comma;
  if (digits.empty() || (two && !either)) return {};
  return (numeral.negative ? "-" : "") + digits;
}

void Widen(const std::string& number, NumeralForms::Range* range) {
  const auto value = NumberOfText(number);
  if (!value) return;
  range->min = std::min(range->min.value_or(*value), *value);
  range->max = std::max(range->max.value_or(*value), *value);
  range->decimals = range->decimals || number.find_first_of(".eE") != std::string::npos;
}

}  // namespace

// If commas separate cells, they cannot be decimal marks unless all such cells are quoted.
LoneDots LoneDotsOf(const Description& description) {
  const bool open = description.format == Format::kMarkdown ||
                    (description.table && description.table->delimiter != ',');
  return open ? LoneDots::kUndecided : LoneDots::kDecimal;
}

bool IsNumeral(std::string_view cell) {
  const auto numeral = TakeApart(cell);
  return numeral && (!Read(*numeral, DecimalMark::kDot).empty() ||
                     !Read(*numeral, DecimalMark::kComma).empty());
}

std::string PlainNumber(std::string_view cell, DecimalMark mark) {
  const auto numeral = TakeApart(cell);
  return numeral ? Read(*numeral, mark) : std::string();
}

bool NumeralForms::Add(std::string_view cell) {
  cell = TrimSpaces(cell);
  if (cell.empty()) return false;
  ++cells_;
  const auto numeral = TakeApart(cell);
  if (!numeral) return false;
  const std::string dot = Read(*numeral, DecimalMark::kDot);
  const std::string comma = Read(*numeral, DecimalMark::kComma);
  if (dot.empty() && comma.empty()) return false;
  ++numerals_;
  can_dot_ = can_dot_ && !dot.empty();
  can_comma_ = can_comma_ && !comma.empty();
  separated_ = separated_ || numeral->Has(Between::kDot) || numeral->Has(Between::kComma);
  const bool point = numeral->count == 2 && numeral->marks[0] == Between::kDot;
  odd_ = odd_ || numeral->odd || (numeral->count > 1 && !point);
  spaced_ = spaced_ || numeral->Has(Between::kSpace);
  bracketed_ += cell.starts_with('(') ? 1 : 0;
  if (cell.size() > written_.size()) written_ = cell;
  if (!dot.empty()) Widen(dot, &ranges_[0]);
  if (!comma.empty()) Widen(comma, &ranges_[1]);
  AddUnit(numeral->unit);
  plus_ = plus_ || numeral->plus;
  AddForm(dot.empty() ? comma : dot);
  return true;
}

void NumeralForms::AddUnit(std::string_view unit) {
  if (!unit_) {
    unit_ = unit;
    return;
  }
  if (*unit_ == unit) return;
  // Some programs write the currency sign only in the first row.
  const bool bare = unit_->empty() || unit.empty();
  units_differ_ = units_differ_ || !bare || unit == "%" || *unit_ == "%";
  if (unit_->empty()) unit_ = unit;
}

// `plain`: a number in the form of PlainNumber.
void NumeralForms::AddForm(std::string_view plain) {
  if (plain.starts_with('-')) plain.remove_prefix(1);
  const std::string_view whole = TakeRun(&plain);
  std::string_view decimals;
  if (plain.starts_with('.')) {
    plain.remove_prefix(1);
    decimals = TakeRun(&plain);
  }
  const std::size_t digits = whole.size() + decimals.size();
  shortest_ = longest_ == 0 ? digits : std::min(shortest_, digits);
  longest_ = std::max(longest_, digits);
  const bool exponent = !plain.empty();
  const bool sign = plain.size() > 1 && !IsDigit(plain[1]);
  padded_ = padded_ || whole.size() > kMostDigits || (whole.size() > 1 && whole[0] == '0');
  scientific_ = scientific_ || sign || !decimals.empty();
  code_ = code_ || (exponent && !sign && decimals.empty());
  if (exponent || decimals.empty()) return;
  zero_ended_ = zero_ended_ || (decimals.size() > 1 && decimals.back() == '0');
  fewest_decimals_ =
      most_decimals_ == 0 ? decimals.size() : std::min(fewest_decimals_, decimals.size());
  most_decimals_ = std::max(most_decimals_, decimals.size());
}

DecimalMark NumeralForms::mark() const {
  if (!separated_ || can_dot_ == can_comma_) return DecimalMark::kUnknown;
  return can_dot_ ? DecimalMark::kDot : DecimalMark::kComma;
}

bool NumeralForms::AreNumbers(DecimalMark mark) const {
  const bool readable = mark == DecimalMark::kComma ? can_comma_
                        : mark == DecimalMark::kDot ? can_dot_
                                                    : !separated_ || can_dot_ != can_comma_;
  const bool decimals = range(mark).decimals;
  const bool version = !odd_ && zero_ended_ && fewest_decimals_ != most_decimals_;
  const bool phone = spaced_ && !decimals && shortest_ == longest_ && numerals_ > 1;
  const bool notes =
      bracketed_ > 0 && bracketed_ == numerals_ && !decimals && unit_.value_or("").empty();
  return readable && !padded_ && !version && !phone && !notes && !units_differ_ &&
         (!plus_ || (odd_ && decimals)) && (!code_ || scientific_);
}

std::optional<NumberStyle> NumeralForms::Style(DecimalMark file, LoneDots lone) const {
  if (!mostly() || (!can_dot_ && !can_comma_)) return std::nullopt;
  NumberStyle style{.mark = mark()};
  const bool plain = !odd_ && lone == LoneDots::kDecimal;
  if (style.mark == DecimalMark::kUnknown) style.mark = file;
  if (style.mark == DecimalMark::kUnknown && plain) style.mark = DecimalMark::kDot;
  if (!odd_ && style.mark == DecimalMark::kDot) return std::nullopt;
  if (separated_ || odd_) style.written = written_;
  style.undecided = separated_ && style.mark == DecimalMark::kUnknown;
  return style;
}

}  // namespace dossier::inspect
