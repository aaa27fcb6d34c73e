// 64 bytes a round as bit masks: one bit a byte, lowest first.

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "inspect/line_counter.h"

#define DOSSIER_AVX2 __attribute__((target("avx2,bmi,popcnt")))

namespace dossier::inspect::internal {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

struct Round {
  __m256i low, high;
};

DOSSIER_AVX2 inline std::uint64_t Mask(__m256i low, __m256i high) {
  const auto bits = [](__m256i lanes) DOSSIER_AVX2 {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes)));
  };
  return bits(low) | bits(high) << 32;
}

DOSSIER_AVX2 inline std::uint64_t Equal(const Round& round, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  return Mask(_mm256_cmpeq_epi8(round.low, wanted), _mm256_cmpeq_epi8(round.high, wanted));
}

DOSSIER_AVX2 inline std::uint64_t SpaceOrTab(const Round& round) {
  const __m256i space = _mm256_set1_epi8(' '), tab = _mm256_set1_epi8('\t');
  return Mask(_mm256_or_si256(_mm256_cmpeq_epi8(round.low, space),
                              _mm256_cmpeq_epi8(round.low, tab)),
              _mm256_or_si256(_mm256_cmpeq_epi8(round.high, space),
                              _mm256_cmpeq_epi8(round.high, tab)));
}

class Summarizer {
 public:
  DOSSIER_AVX2 Summarizer() = default;

  // One round of 64 bytes; `next` is the byte behind them, or -1 if the block ends there.
  DOSSIER_AVX2 inline void Add(const char* data, int next) {
    const Round round{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(data)),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + 32))};
    const std::uint64_t lf = Equal(round, '\n');
    const std::uint64_t cr = Equal(round, '\r');
    summary_.nul_bytes += static_cast<std::uint64_t>(std::popcount(Equal(round, '\0')));
    std::uint64_t ends = lf;
    std::uint64_t transparent = 0;  // the CR of a CRLF: no content, no end
    if ((cr | carried_cr_) != 0) [[unlikely]] {
      const std::uint64_t before_lf = lf >> 1 | (next == '\n' ? kTop : 0);
      std::uint64_t lone = cr & ~before_lf;
      if (next < 0 && (cr & kTop) != 0) {
        lone &= ~kTop;
        summary_.pending_cr = true;
      }
      transparent = cr & ~lone;
      const std::uint64_t crlf = lf & (cr << 1 | carried_cr_);
      summary_.crlf += static_cast<std::uint64_t>(std::popcount(crlf));
      summary_.lf += static_cast<std::uint64_t>(std::popcount(lf & ~crlf));
      summary_.cr += static_cast<std::uint64_t>(std::popcount(lone));
      carried_cr_ = cr >> 63;
      ends |= lone;
    } else {
      summary_.lf += static_cast<std::uint64_t>(std::popcount(lf));
    }
    CountBlank(ends, SpaceOrTab(round) | transparent);
    if (ends != 0) {
      MeasureLines(ends, transparent);
    } else {
      open_length_ += 64 - static_cast<std::uint64_t>(std::popcount(transparent));
    }
  }

  DOSSIER_AVX2 LineSummary Finish(std::string_view block) {
    summary_.bytes = block.size();
    summary_.starts_with_lf = block.starts_with('\n');
    summary_.last_length = open_length_;
    summary_.last_blank = open_blank_ != 0;
    return summary_;
  }

 private:
  // A line is blank if the first byte of it that is no space is its end. Adding the start bits to
  // the space bits carries each start over the spaces behind it, to that byte.
  DOSSIER_AVX2 inline void CountBlank(std::uint64_t ends, std::uint64_t spaces) {
    const std::uint64_t starts = ends << 1 | open_blank_;
    const std::uint64_t sum = spaces + (starts & spaces);
    const bool carried_out = sum < spaces;
    const std::uint64_t first_other = (sum & ~spaces & ~(starts & ~spaces)) | (starts & ~spaces);
    std::uint64_t blank = first_other & ends;
    if (!summary_.any_end && ends != 0) {
      const std::uint64_t first_end = ends & (~ends + 1);
      summary_.first_blank = (blank & first_end) != 0;
      blank &= ~first_end;
    }
    summary_.inner_blank += static_cast<std::uint64_t>(std::popcount(blank));
    open_blank_ = ends >> 63 | (carried_out ? 1 : 0);
  }

  DOSSIER_AVX2 inline void MeasureLines(std::uint64_t ends, std::uint64_t transparent) {
    int from = 0;
    while (ends != 0) {
      const int end = std::countr_zero(ends);
      ends &= ends - 1;
      std::uint64_t length = open_length_ + static_cast<std::uint64_t>(end - from);
      if (transparent != 0) length -= CountBits(transparent, from, end);
      if (summary_.any_end) {
        summary_.inner_longest = std::max(summary_.inner_longest, length);
      } else {
        summary_.any_end = true;
        summary_.first_length = length;
      }
      open_length_ = 0;
      from = end + 1;
      // Lines inside the round are shorter than 64 bytes: only the last end still matters.
      if (summary_.inner_longest >= 64 && transparent == 0 && ends != 0) {
        from = 64 - std::countl_zero(ends);
        break;
      }
    }
    open_length_ = static_cast<std::uint64_t>(64 - from) - CountBits(transparent, from, 64);
  }

  // Set bits at positions `from` <= i < `to`.
  static std::uint64_t CountBits(std::uint64_t bits, int from, int to) {
    if (bits == 0 || from >= to) return 0;
    bits >>= from;
    if (to - from < 64) bits &= (std::uint64_t{1} << (to - from)) - 1;
    return static_cast<std::uint64_t>(std::popcount(bits));
  }

  LineSummary summary_;
  std::uint64_t open_length_ = 0;  // bytes of the line that is not yet ended
  std::uint64_t open_blank_ = 1;   // 1 while it has nothing but spaces and tabs
  std::uint64_t carried_cr_ = 0;   // 1 if the byte in front of the round is a CR
};

}  // namespace

DOSSIER_AVX2 LineSummary SummarizeLinesAvx2(std::string_view block) {
  const std::size_t whole = block.size() / 64 * 64;
  const std::string_view rest = block.substr(whole);
  if (whole == 0) return SummarizeLinesScalar(rest);
  Summarizer summarizer;
  for (std::size_t at = 0; at < whole; at += 64) {
    const int next = at + 64 < whole ? static_cast<unsigned char>(block[at + 64]) : -1;
    summarizer.Add(block.data() + at, next);
  }
  LineSummary summary = summarizer.Finish(block.substr(0, whole));
  summary.Append(SummarizeLinesScalar(rest));
  return summary;
}

}  // namespace dossier::inspect::internal
