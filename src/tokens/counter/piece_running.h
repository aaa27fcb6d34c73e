// Running for encodings that work piece by piece: appended text only changes the pieces at the end,
// so those before the last lasting border are counted once. Internal to `tokens`.
//
//   PieceRunning running({.count_tail = [&](std::string_view tail, PartStart place) { … },
//                         .meet = [&](std::string_view window, PartStart place, std::size_t joint,
//                                     std::span<const CountedPart> first) { … }});
//
// The cost of an append is the length of it and of the open end; an endless run of letters or white
// space is all open. Thread-safety: one owner; whatever the functions refer to must outlive it.

#ifndef DOSSIER_TOKENS_COUNTER_PIECE_RUNNING_H_
#define DOSSIER_TOKENS_COUNTER_PIECE_RUNNING_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/counter/counter.h"

namespace dossier::tokens {

// Returns the length of an incomplete code point at the end of `text`: 0 to 3 bytes. Appended text
// cannot change what is before: a lead byte always starts a code point or an invalid part.
inline std::size_t OpenBytes(std::string_view text) {
  const std::size_t most = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= most; ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if ((lead & 0xC0) == 0x80) continue;
    const std::size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

// The start of a part: the start of the text, or a lasting border after it.
enum class PartStart : std::uint8_t { kStart, kBorder };

// The token count of the last part of a text.
struct Tail {
  std::int64_t tokens = 0;
  CountedPart
      lasting;  // up to the last border that appended text cannot move; 0 bytes: there is none
};

// A border that a text measured alone and the same text after another one have in common.
struct Meeting {
  std::int64_t before = 0;  // tokens before it in the joined text
  CountedPart border;       // in the measured text
};

// The functions of an encoding; all texts are valid UTF-8.
struct PieceFunctions {
  std::function<Tail(std::string_view tail, PartStart place)> count_tail;
  // `window` is the end of a text and, from `joint` on, the start of a measured one with the
  // borders `first`. Unset: they have no lasting border in common.
  std::function<std::optional<Meeting>(std::string_view window, PartStart place, std::size_t joint,
                                       std::span<const CountedPart> first)>
      meet;
};

std::size_t TotalBytes(std::span<const std::string_view> texts);

// Builds a Measured from the borders of a text, one by one.
class MeasuredBorders {
 public:
  explicit MeasuredBorders(std::size_t bytes) : bytes_(bytes) {}

  void Add(const CountedPart& border) {
    if (border.bytes <= kFirstBytes && out_.first.size() < kMostFirst) out_.first.push_back(border);
    if (border.bytes + kLastBytes >= bytes_) last_.push_back(border);
  }
  // `tokens` is the count of the whole text. `is_lasting` tells if a border lasts.
  Measured Finish(std::int64_t tokens, const std::function<bool(std::size_t)>& is_lasting) &&;

 private:
  // Bytes at the start whose borders are kept, and bytes at the end that are searched for a lasting
  // one. Splitting looks less far ahead, except in one endless word.
  static constexpr std::size_t kFirstBytes = 512, kLastBytes = 4096;
  static constexpr std::size_t kMostFirst = 16;  // borders

  const std::size_t bytes_;
  Measured out_;
  std::vector<CountedPart> last_;
};

// Finds the Meeting from the borders of the window, one by one.
class MeetingFinder {
 public:
  MeetingFinder(std::size_t joint, std::span<const CountedPart> first)
      : joint_(joint), first_(first) {}

  // Returns true if the border `at` of the window is also one of the measured text.
  bool Matches(std::size_t at);
  // False once all known borders of the measured text are passed.
  bool going() const { return !first_.empty(); }
  Meeting At(std::int64_t before) const { return {before, first_.front()}; }

 private:
  const std::size_t joint_;
  std::span<const CountedPart> first_;  // those not yet passed
};

class PieceRunning final : public Running {
 public:
  explicit PieceRunning(PieceFunctions pieces) : pieces_(std::move(pieces)) {}

  void Append(std::string_view text) override;
  void AppendMeasured(std::string_view text, const Measured& measured) override;
  Count Total() const override;
  Mark Here() const override;
  void Rollback(const Mark& mark) override;

 private:
  // Counts what is after `settled_` and moves it forward.
  void Settle();
  Tail CountOpen(std::string_view tail) const { return pieces_.count_tail(tail, place()); }
  PartStart place() const { return settled_ == 0 ? PartStart::kStart : PartStart::kBorder; }

  const PieceFunctions pieces_;
  std::string text_;              // cleaned
  std::string open_;              // bytes of an incomplete code point
  std::size_t settled_ = 0;       // the last piece border that appended text cannot move
  std::int64_t tokens_ = 0;       // before it
  std::int64_t open_tokens_ = 0;  // after it
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_PIECE_RUNNING_H_
