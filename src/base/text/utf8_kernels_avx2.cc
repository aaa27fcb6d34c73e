#include <algorithm>
#include <cstring>

#include "base/text/utf8_avx2.h"
#include "base/text/utf8_kernels.h"

namespace dossier::utf8::internal {
namespace {

// The part of a text per call: byte counters hold at most 255 rounds of 32 bytes.
constexpr std::size_t kPartBytes = 255 * 32;

struct PartCount {
  std::uint64_t starts = 0;     // bytes that are not continuation bytes
  std::uint64_t four_byte = 0;  // lead bytes of four-byte sequences
  std::uint64_t wide_bytes = 0;
  bool valid = true;
};

// Counts 32 bytes per round; `rounds` <= 255.
class PartCounter {
 public:
  DOSSIER_AVX2 PartCounter()
      : errors_(_mm256_setzero_si256()),
        before_(errors_),
        starts_(errors_),
        four_byte_(errors_),
        wide_(errors_) {}

  DOSSIER_AVX2 inline void Add(__m256i bytes) {
    const __m256i zero = _mm256_setzero_si256();
    if (_mm256_movemask_epi8(bytes) == 0) {
      // ASCII: an error only if the bytes before ended inside a sequence, whose lead is at most
      // three bytes back.
      if (open_) errors_ = _mm256_or_si256(errors_, Utf8Errors(bytes, before_));
      starts_ = _mm256_sub_epi8(starts_, _mm256_set1_epi8(-1));
      open_ = false;
    } else {
      errors_ = _mm256_or_si256(errors_, Utf8Errors(bytes, before_));
      starts_ = _mm256_sub_epi8(starts_, _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(-65)));
      const __m256i f0 = _mm256_set1_epi8(static_cast<char>(0xF0));
      four_byte_ =
          _mm256_sub_epi8(four_byte_, _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, f0), bytes));
      wide_ = _mm256_sub_epi8(wide_, _mm256_cmpgt_epi8(zero, bytes));
      open_ = true;
    }
    before_ = bytes;
  }

  DOSSIER_AVX2 inline PartCount Finish() {
    const bool valid = _mm256_testz_si256(errors_, errors_) != 0;
    return {SumBytes(starts_), SumBytes(four_byte_), SumBytes(wide_), valid};
  }

 private:
  __m256i errors_, before_, starts_, four_byte_, wide_;
  bool open_ = false;  // the bytes before were not all ASCII
};

DOSSIER_AVX2 PartCount CountPart(const char* data, std::size_t size) {
  PartCounter counter;
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    counter.Add(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + at)));
  }
  // A padded round always ends a part: its zeros reveal a truncated sequence.
  alignas(32) char rest[32] = {};
  std::memcpy(rest, data + at, size - at);
  counter.Add(_mm256_load_si256(reinterpret_cast<const __m256i*>(rest)));
  PartCount count = counter.Finish();
  count.starts -= 32 - (size - at);
  return count;
}

}  // namespace

Census CountAvx2(std::string_view text) {
  Census census;
  census.bytes = text.size();
  while (!text.empty()) {
    const std::size_t cut = FloorBoundary(text, std::min(text.size(), kPartBytes - 32));
    const std::string_view part = text.substr(0, cut);
    text.remove_prefix(cut);
    const PartCount count = CountPart(part.data(), part.size());
    if (!count.valid) {
      const Census slow = CountScalar(part);
      census.ascii_bytes += slow.ascii_bytes;
      census.wide_code_points += slow.wide_code_points;
      census.utf16_units += slow.utf16_units;
      census.invalid += slow.invalid;
      continue;
    }
    const std::uint64_t ascii = part.size() - count.wide_bytes;
    census.ascii_bytes += ascii;
    census.wide_code_points += count.starts - ascii;
    census.utf16_units += count.starts + count.four_byte;
  }
  census.code_points = census.ascii_bytes + census.wide_code_points;
  return census;
}

}  // namespace dossier::utf8::internal
