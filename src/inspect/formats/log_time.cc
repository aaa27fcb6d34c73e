#include "inspect/formats/log_time.h"

#include <array>
#include <cstdint>

namespace dossier::inspect {
namespace {

// Reads forms off the front of a text; each step says whether it was there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Any(std::string_view characters) {
    if (at_ >= text_.size() || characters.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  // Exactly `count` digits, followed by something else.
  bool Digits(std::size_t count) {
    const std::size_t found = CountDigits();
    if (found != count) return false;
    at_ += count;
    return true;
  }
  bool SomeDigits() {
    const std::size_t found = CountDigits();
    at_ += found;
    return found > 0;
  }
  bool Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Month() {
    return OneOf(
        {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
  }
  bool Weekday() { return OneOf({"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}); }

  // 15:30:00.123; the fraction may be missing.
  bool Clock() {
    if (!Digits(2) || !Any(":") || !Digits(2) || !Any(":") || !Digits(2)) return false;
    const std::size_t end = at_;
    if (Any(".,") && !SomeDigits()) at_ = end;
    return true;
  }
  // Z, +02:00, -0700, after a space too; nothing is fine.
  void Zone() {
    const std::size_t start = at_;
    if (Any("Z")) return;
    Any(" ");
    if (Word("UTC") || Word("GMT")) return;
    if (!Any("+-") || !ZoneDigits()) at_ = start;
  }

 private:
  template <std::size_t kCount>
  bool OneOf(const char* const (&words)[kCount]) {
    for (const char* word : words) {
      if (Word(word)) return true;
    }
    return false;
  }
  bool ZoneDigits() {
    if (Digits(4)) return true;
    if (!Digits(2)) return false;
    return !Any(":") || Digits(2);
  }
  std::size_t CountDigits() const {
    std::size_t end = at_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    return end - at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::size_t YearFirst(std::string_view text) {
  Scanner scan(text);
  if (!scan.Digits(4)) return 0;
  const char separator = scan.peek();
  if (!scan.Any("-/.") || !scan.Digits(2) || scan.peek() != separator) return 0;
  scan.Any("-/.");
  if (!scan.Digits(2) || !scan.Any("T ") || !scan.Clock()) return 0;
  scan.Zone();
  return scan.at();
}

// 02.11.2024 or 24/11/02, then the time.
std::size_t DayFirst(std::string_view text) {
  Scanner scan(text);
  if (!scan.Digits(2)) return 0;
  const char separator = scan.peek();
  if (!scan.Any("-/.") || !scan.Digits(2) || scan.peek() != separator) return 0;
  scan.Any("-/.");
  if (!scan.Digits(4) && !scan.Digits(2)) return 0;
  scan.Any(",");
  if (!scan.Any(" ") || !scan.Clock()) return 0;
  scan.Zone();
  return scan.at();
}

// Sat Nov 02 15:30:00.123 2024
std::size_t WeekdayFirst(std::string_view text) {
  Scanner scan(text);
  if (!scan.Weekday() || !scan.Any(" ") || !scan.Month() || !scan.Any(" ")) return 0;
  scan.Any(" ");
  if (!scan.SomeDigits() || !scan.Any(" ") || !scan.Clock()) return 0;
  return scan.Any(" ") && scan.Digits(4) ? scan.at() : 0;
}

}  // namespace

std::size_t SyslogTimeLength(std::string_view text) {
  Scanner scan(text);
  if (!scan.Month() || !scan.Any(" ")) return 0;
  scan.Any(" ");
  if (!scan.SomeDigits() || !scan.Any(" ") || !scan.Clock()) return 0;
  return scan.at();
}

std::size_t IsoTimeLength(std::string_view text) {
  return text.size() > 10 && text[10] == 'T' && text.substr(0, 5).back() == '-' ? YearFirst(text)
                                                                                : 0;
}

std::size_t DatedTimeLength(std::string_view text) {
  using Form = std::size_t (*)(std::string_view);
  static constexpr std::array<Form, 4> kForms = {YearFirst, DayFirst, WeekdayFirst,
                                                 SyslogTimeLength};
  for (const Form form : kForms) {
    if (const std::size_t length = form(text); length > 0) return length;
  }
  return 0;
}

std::size_t ClockLength(std::string_view text) {
  Scanner scan(text);
  return scan.Clock() ? scan.at() : 0;
}

std::size_t TimestampLength(std::string_view text) {
  const std::size_t dated = DatedTimeLength(text);
  return dated > 0 ? dated : ClockLength(text);
}

}  // namespace dossier::inspect
