#include "base/text/parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace dossier {
namespace {

// Clock::Wall counts nanoseconds in 64 bits: 1677 to 2262. A year less on both sides leaves room
// for subtracting from a time.
constexpr int kFirstYear = 1680, kLastYear = 2260;

// Takes digits and signs from the front of a text; after a failure it takes nothing more.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  // Takes exactly `digits` digits, a number from `least` to `most`.
  int Number(std::size_t digits, int least, int most) {
    int number = 0;
    const std::string_view part = rest_.substr(0, digits);
    const bool plain = part.size() == digits && IsDigits(part);
    std::from_chars(part.data(), part.data() + part.size(), number);
    good_ = good_ && plain && number >= least && number <= most;
    rest_.remove_prefix(part.size());
    return number;
  }
  // Takes one of `signs`; '\0' if there is none.
  char Sign(std::string_view signs) {
    const bool there = !rest_.empty() && signs.find(rest_.front()) != std::string_view::npos;
    if (!there) return '\0';
    const char sign = rest_.front();
    rest_.remove_prefix(1);
    return sign;
  }
  void Expect(std::string_view signs) { good_ = Sign(signs) != '\0' && good_; }

  // Takes digits after a point, in microseconds.
  std::int64_t Fraction() {
    const std::size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    good_ = good_ && size > 0;
    std::int64_t micros = 0;
    for (std::size_t i = 0; i < 6; ++i) micros = micros * 10 + (i < size ? rest_[i] - '0' : 0);
    rest_.remove_prefix(size);
    return micros;
  }
  bool Finished() const { return good_ && rest_.empty(); }

 private:
  static bool IsDigits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

Result<Clock::Wall> ParseTime(std::string_view text) {
  using std::chrono::day, std::chrono::month, std::chrono::year;
  TimeReader reader(text);
  const int y = reader.Number(4, 0, 9999);
  reader.Expect("-");
  const auto m = static_cast<unsigned>(reader.Number(2, 1, 12));
  reader.Expect("-");
  const auto d = static_cast<unsigned>(reader.Number(2, 1, 31));
  reader.Expect("Tt ");
  std::int64_t seconds = std::int64_t{reader.Number(2, 0, 23)} * 3600;
  reader.Expect(":");
  seconds += std::int64_t{reader.Number(2, 0, 59)} * 60;
  reader.Expect(":");
  seconds += reader.Number(2, 0, 60);
  const std::int64_t micros = reader.Sign(".") ? reader.Fraction() : 0;
  const char zone = reader.Sign("Zz+-");
  if (zone == '\0') reader.Expect("Z");
  if (zone == '+' || zone == '-') {
    const int direction = zone == '-' ? 1 : -1;
    seconds += direction * std::int64_t{reader.Number(2, 0, 23)} * 3600;
    reader.Expect(":");
    seconds += direction * std::int64_t{reader.Number(2, 0, 59)} * 60;
  }
  const std::chrono::year_month_day date{year(y), month(m), day(d)};
  if (!reader.Finished() || !date.ok()) {
    return MakeError(ErrorCode::kInvalidArgument, "{} is no time; write it as 2026-11-21T23:36:43Z",
                     text);
  }
  if (y < kFirstYear || y > kLastYear) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: the year must be from {} to {}", text,
                     kFirstYear, kLastYear);
  }
  return Clock::Wall(std::chrono::sys_days(date).time_since_epoch() +
                     std::chrono::seconds(seconds) + std::chrono::microseconds(micros));
}

namespace {

template <typename Number>
Result<Number> ParseDigits(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) {
    return MakeError(ErrorCode::kUsage, "{} is too large", text);
  }
  if (read.ec == std::errc() && read.ptr == end && (digits.size() == 1 || digits[0] != '0')) {
    return number;
  }
  return MakeError(ErrorCode::kUsage, "{} is no whole number", text);
}

}  // namespace

Result<double> ParseNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(number)) return number;
  return MakeError(ErrorCode::kUsage, "{} is no number", text);
}

Result<std::int64_t> ParseWhole(std::string_view text) { return ParseDigits<std::int64_t>(text); }

Result<std::uint64_t> ParseNatural(std::string_view text) {
  if (text.starts_with('-')) return MakeError(ErrorCode::kUsage, "{} is below 0", text);
  return ParseDigits<std::uint64_t>(text);
}

}  // namespace dossier
