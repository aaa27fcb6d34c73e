// Processes 64 bytes per round: code points in byte counters, lines as bit masks (one bit per byte,
// lowest first). Both use the same two loads, which makes one pass cheaper than two.

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text/utf8_avx2.h"
#include "base/text/utf8_kernels.h"
#include "inspect/text/text_counter.h"

namespace dossier::inspect::internal {
namespace {

using utf8::internal::SumBytes;
using utf8::internal::Table;
using utf8::internal::Utf8Errors;

// A call in the loop would spill all its constants.
#define DOSSIER_AVX2_INLINE DOSSIER_AVX2 __attribute__((always_inline)) inline

constexpr std::size_t kRound = 64;
// A byte counter grows by at most 2 per round, so this many rounds cannot overflow it.
constexpr std::size_t kPartBytes = 127 * kRound;

struct Round {
  __m256i low, high;
};

DOSSIER_AVX2_INLINE Round Load(const char* data) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(data)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + 32))};
}

DOSSIER_AVX2_INLINE std::uint64_t Mask(__m256i low, __m256i high) {
  const auto low_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
  const auto high_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
  return low_bits | static_cast<std::uint64_t>(high_bits) << 32;
}

// Counts one part: at most kPartBytes and one padded round, cut between code points.
class CodePointCounter {
 public:
  DOSSIER_AVX2 CodePointCounter()
      : errors_(_mm256_setzero_si256()), before_(errors_), starts_(errors_), four_byte_(errors_) {}

  DOSSIER_AVX2_INLINE void Add(const Round& round) {
    const std::uint64_t wide = Mask(round.low, round.high);
    if (wide == 0) {
      // ASCII: wrong only if the previous bytes ended inside a sequence, whose lead is at most
      // three bytes back.
      if (open_) errors_ = _mm256_or_si256(errors_, Utf8Errors(round.low, before_));
      ascii_rounds_ += kRound;
      open_ = false;
      before_ = round.high;
      return;
    }
    AddHalf(round.low, before_);
    AddHalf(round.high, round.low);
    before_ = round.high;
    wide_bytes_ += static_cast<std::uint64_t>(std::popcount(wide));
    open_ = true;
  }

  // `padding`: ASCII bytes of the last round that are not part of the text. `part`: what was added.
  DOSSIER_AVX2_INLINE utf8::Census Finish(std::string_view part, std::size_t padding) const {
    if (_mm256_testz_si256(errors_, errors_) == 0) return utf8::internal::CountScalar(part);
    utf8::Census census;
    census.bytes = part.size();
    census.code_points = SumBytes(starts_) + ascii_rounds_ - padding;
    census.ascii_bytes = part.size() - wide_bytes_;
    census.wide_code_points = census.code_points - census.ascii_bytes;
    census.utf16_units = census.code_points + SumBytes(four_byte_);
    return census;
  }

 private:
  DOSSIER_AVX2_INLINE void AddHalf(__m256i bytes, __m256i before) {
    errors_ = _mm256_or_si256(errors_, Utf8Errors(bytes, before));
    // As signed numbers, continuation bytes are at most -65.
    starts_ = _mm256_sub_epi8(starts_, _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(-65)));
    const __m256i f0 = _mm256_set1_epi8(static_cast<char>(0xF0));
    four_byte_ = _mm256_sub_epi8(four_byte_, _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, f0), bytes));
  }

  __m256i errors_, before_, starts_, four_byte_;
  std::uint64_t ascii_rounds_ = 0;  // bytes of rounds that are all ASCII
  std::uint64_t wide_bytes_ = 0;
  bool open_ = false;  // the previous bytes were not all ASCII
};

// Bytes that the common round must not contain: NUL, LF and CR. The lookup uses the low nibble; the
// entries for other nibbles equal no byte that has them.
constexpr unsigned char kSpecial[16] = {0,    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                        0x80, 0x80, '\n', 0x80, 0x80, '\r', 0x80, 0x80};

// Counts the lines of a text in memory. Positions are offsets in it, so only the start of the open
// line is carried from round to round.
class LineMeter {
 public:
  explicit LineMeter(std::string_view text) : text_(text) {}

  // Rounds of a part are consecutive; those of two parts are not.
  void BeginPart() { low_before_ = 1; }

  // Adds the round that starts at `base`; after the text it is padded with letters.
  DOSSIER_AVX2_INLINE void Add(const Round& round, std::size_t base) {
    const __m256i lf = _mm256_set1_epi8('\n'), space = _mm256_set1_epi8(' ');
    const std::uint64_t ends =
        Mask(_mm256_cmpeq_epi8(round.low, lf), _mm256_cmpeq_epi8(round.high, lf));
    const __m256i table = Table(kSpecial);
    const std::uint64_t special =
        Mask(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, round.low), round.low),
             _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, round.high), round.high));
    // Spaces and controls: the bytes of a blank line, and a few more.
    const std::uint64_t low =
        Mask(_mm256_cmpeq_epi8(_mm256_min_epu8(round.low, space), round.low),
             _mm256_cmpeq_epi8(_mm256_min_epu8(round.high, space), round.high));
    const std::uint64_t may_be_blank = ends & (low << 1 | low_before_);
    low_before_ = low >> 63;
    if (special != ends || !summary_.any_end || cr_before_) [[unlikely]] {
      const __m256i zero = _mm256_setzero_si256();
      const std::uint64_t nuls =
          Mask(_mm256_cmpeq_epi8(round.low, zero), _mm256_cmpeq_epi8(round.high, zero));
      summary_.nul_bytes += static_cast<std::uint64_t>(std::popcount(nuls));
      AddSlowly(special & ~nuls, base);
      return;
    }
    summary_.lf += static_cast<std::uint64_t>(std::popcount(ends));
    if (may_be_blank != 0) [[unlikely]]
      CountBlank(may_be_blank, base);
    // A line end in 64 bytes of text is unpredictable, so this selects instead of branching.
    const std::uint64_t first = base + static_cast<std::uint64_t>(std::countr_zero(ends));
    const std::uint64_t length = ends != 0 ? first - line_start_ : 0;
    summary_.inner_longest = std::max(summary_.inner_longest, length);
    // Lines inside a round are shorter than it.
    if (summary_.inner_longest < kRound) [[unlikely]]
      MeasureInside(ends);
    const std::uint64_t behind = base + kRound - static_cast<std::uint64_t>(std::countl_zero(ends));
    line_start_ = ends != 0 ? behind : line_start_;
  }

  LineSummary Finish() {
    summary_.bytes = text_.size();
    summary_.starts_with_lf = text_.starts_with('\n');
    const std::size_t end = text_.size() - (summary_.pending_cr ? 1 : 0);
    summary_.last_length = end - line_start_;
    summary_.last_blank = IsBlank(line_start_, end);
    return summary_;
  }

 private:
  // Processes line ends one by one: those with CR, and the first end of the text.
  __attribute__((noinline)) void AddSlowly(std::uint64_t ends, std::size_t base) {
    for (; ends != 0; ends &= ends - 1) {
      const std::size_t at = base + static_cast<std::size_t>(std::countr_zero(ends));
      if (text_[at] == '\n') {
        const bool crlf = at > 0 && text_[at - 1] == '\r';
        ++(crlf ? summary_.crlf : summary_.lf);
        EndLine(at - (crlf ? 1 : 0), at + 1);
        cr_before_ = false;
      } else if (at + 1 == text_.size()) {
        summary_.pending_cr = true;
      } else if (text_[at + 1] != '\n') {
        ++summary_.cr;
        EndLine(at, at + 1);
      } else {
        cr_before_ = true;
      }
    }
  }

  void EndLine(std::size_t content_end, std::size_t next_start) {
    const std::uint64_t length = content_end - line_start_;
    const bool blank = IsBlank(line_start_, content_end);
    if (summary_.any_end) {
      summary_.inner_longest = std::max(summary_.inner_longest, length);
      summary_.inner_blank += blank ? 1 : 0;
    } else {
      summary_.any_end = true;
      summary_.first_length = length;
      summary_.first_blank = blank;
    }
    line_start_ = next_start;
  }

  __attribute__((noinline)) void CountBlank(std::uint64_t ends, std::size_t base) {
    for (; ends != 0; ends &= ends - 1) {
      std::size_t at = base + static_cast<std::size_t>(std::countr_zero(ends));
      while (IsSpace(text_[at - 1])) --at;  // there is a line end before this line
      summary_.inner_blank += text_[at - 1] == '\n' || text_[at - 1] == '\r' ? 1 : 0;
    }
  }

  __attribute__((noinline)) void MeasureInside(std::uint64_t ends) {
    for (int from = std::countr_zero(ends) + 1; (ends &= ends - 1) != 0;) {
      const int end = std::countr_zero(ends);
      summary_.inner_longest =
          std::max(summary_.inner_longest, static_cast<std::uint64_t>(end - from));
      from = end + 1;
    }
  }

  static bool IsSpace(char c) { return c == ' ' || c == '\t'; }
  bool IsBlank(std::size_t start, std::size_t end) const {
    while (end > start && IsSpace(text_[end - 1])) --end;
    return end == start;
  }

  const std::string_view text_;
  LineSummary summary_;
  std::uint64_t line_start_ = 0;
  std::uint64_t low_before_ = 1;  // 0: the byte before the round is not in a blank line
  bool cr_before_ = false;        // the LF of a CRLF may follow
};

DOSSIER_AVX2 utf8::Census CountPart(std::string_view text, std::size_t at, std::size_t end,
                                    LineMeter* lines) {
  const std::string_view part = text.substr(at, end - at);
  CodePointCounter code_points;
  lines->BeginPart();
  for (; at + kRound <= end; at += kRound) {
    const Round round = Load(text.data() + at);
    code_points.Add(round);
    lines->Add(round, at);
  }
  // A padded round always ends a part: the padding reveals a truncated sequence.
  alignas(32) char rest[kRound];
  std::memset(rest, 'x', sizeof rest);
  std::memcpy(rest, text.data() + at, end - at);
  const Round round = Load(rest);
  code_points.Add(round);
  lines->Add(round, at);
  return code_points.Finish(part, kRound - (end - at));
}

}  // namespace

DOSSIER_AVX2 TextCount CountTextAvx2(std::string_view text) {
  TextCount count;
  LineMeter lines(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = utf8::FloorBoundary(text, std::min(text.size(), at + kPartBytes));
    const utf8::Census part = CountPart(text, at, end, &lines);
    count.Append({part, {}});
    at = end;
  }
  count.lines = lines.Finish();
  return count;
}

}  // namespace dossier::inspect::internal
