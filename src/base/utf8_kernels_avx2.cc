// Validation after John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One Instruction Per
// Byte" (2021): three 16-entry tables, indexed by the two nibbles of the previous byte and the high
// nibble of this one, whose AND names every two-byte error; longer sequences are checked by where a
// continuation byte must stand.

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8_kernels.h"

#define DOSSIER_AVX2 __attribute__((target("avx2,bmi,popcnt")))

namespace dossier::utf8::internal {
namespace {

// Error bits. A pair of bytes is wrong in one of these ways, or its third byte must be checked.
constexpr unsigned char kTooShort = 1 << 0;   // lead, then no continuation
constexpr unsigned char kTooLong = 1 << 1;    // ASCII, then continuation
constexpr unsigned char kOverlong3 = 1 << 2;  // E0 80..9F
constexpr unsigned char kTooLarge = 1 << 3;   // F4 90.., F5..FF
constexpr unsigned char kSurrogate = 1 << 4;  // ED A0..BF
constexpr unsigned char kOverlong2 = 1 << 5;  // C0, C1
constexpr unsigned char kTooLarge1000 = 1 << 6;  // F5..FF 80..8F
constexpr unsigned char kOverlong4 = 1 << 6;     // F0 80..8F
constexpr unsigned char kTwoContinuations = 1 << 7;  // right only inside a longer sequence
constexpr unsigned char kCarry = kTooShort | kTooLong | kTwoContinuations;

constexpr unsigned char kByte1High[16] = {
    kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong,
    kTwoContinuations, kTwoContinuations, kTwoContinuations, kTwoContinuations,
    kTooShort | kOverlong2, kTooShort, kTooShort | kOverlong3 | kSurrogate,
    kTooShort | kTooLarge | kTooLarge1000 | kOverlong4};

constexpr unsigned char kByte1Low[16] = {
    kCarry | kOverlong3 | kOverlong2 | kOverlong4, kCarry | kOverlong2, kCarry, kCarry,
    kCarry | kTooLarge, kCarry | kTooLarge | kTooLarge1000, kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000, kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000, kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000, kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000 | kSurrogate, kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000};

constexpr unsigned char kByte2High[16] = {
    kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge1000 | kOverlong4,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooShort, kTooShort, kTooShort, kTooShort};

DOSSIER_AVX2 inline __m256i Table(const unsigned char* table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

DOSSIER_AVX2 inline __m256i HighNibbles(__m256i bytes) {
  using Shorts16 = unsigned short __attribute__((vector_size(32)));
  const Shorts16 shifted = reinterpret_cast<Shorts16>(bytes) >> 4;
  return _mm256_and_si256(reinterpret_cast<__m256i>(shifted), _mm256_set1_epi8(0x0F));
}

// The compiler's own vectors instead of intrinsics with an immediate: g++ 12 mistakes those for calls
// in a build with a precompiled header and without optimization.
using Bytes32 = char __attribute__((vector_size(32)));
using Words4 = long long __attribute__((vector_size(32)));

// `bytes` moved up by N, filled from the end of `before`.
template <int N, int... I>
DOSSIER_AVX2 inline __m256i PreviousBy(__m256i bytes, __m256i before,
                                       std::integer_sequence<int, I...>) {
  const Bytes32 moved = __builtin_shufflevector(reinterpret_cast<Bytes32>(before),
                                                reinterpret_cast<Bytes32>(bytes), (32 - N + I)...);
  return reinterpret_cast<__m256i>(moved);
}

template <int N>
DOSSIER_AVX2 inline __m256i Previous(__m256i bytes, __m256i before) {
  return PreviousBy<N>(bytes, before, std::make_integer_sequence<int, 32>());
}

DOSSIER_AVX2 inline __m256i Errors(__m256i bytes, __m256i before) {
  const __m256i previous1 = Previous<1>(bytes, before);
  const __m256i special = _mm256_and_si256(
      _mm256_and_si256(
          _mm256_shuffle_epi8(Table(kByte1High), HighNibbles(previous1)),
          _mm256_shuffle_epi8(Table(kByte1Low),
                              _mm256_and_si256(previous1, _mm256_set1_epi8(0x0F)))),
      _mm256_shuffle_epi8(Table(kByte2High), HighNibbles(bytes)));
  // 0x80 where the byte must be the third or fourth of a sequence.
  const __m256i third = _mm256_subs_epu8(Previous<2>(bytes, before),
                                         _mm256_set1_epi8(static_cast<char>(0xE0 - 0x80)));
  const __m256i fourth = _mm256_subs_epu8(Previous<3>(bytes, before),
                                          _mm256_set1_epi8(static_cast<char>(0xF0 - 0x80)));
  const __m256i must_continue = _mm256_and_si256(
      _mm256_or_si256(third, fourth), _mm256_set1_epi8(static_cast<char>(0x80)));
  return _mm256_xor_si256(must_continue, special);
}

DOSSIER_AVX2 inline std::uint64_t SumBytes(__m256i counters) {
  const __m256i sums = _mm256_sad_epu8(counters, _mm256_setzero_si256());
  const Words4 words = reinterpret_cast<Words4>(sums);
  return static_cast<std::uint64_t>(words[0] + words[1] + words[2] + words[3]);
}

// The part of a text that one call looks at: byte counters hold at most 255 rounds of 32 bytes.
constexpr std::size_t kPartBytes = 255 * 32;

struct PartCount {
  std::uint64_t starts = 0;     // bytes that are no continuation
  std::uint64_t four_byte = 0;  // leads of four
  std::uint64_t wide_bytes = 0;
  bool valid = true;
};

// Counts of 32 bytes a round; `rounds` <= 255.
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
      // ASCII: wrong only if the bytes before ended inside a sequence, which ends with a lead that
      // is at most three bytes back.
      if (open_) errors_ = _mm256_or_si256(errors_, Errors(bytes, before_));
      starts_ = _mm256_sub_epi8(starts_, _mm256_set1_epi8(-1));
      open_ = false;
    } else {
      errors_ = _mm256_or_si256(errors_, Errors(bytes, before_));
      starts_ = _mm256_sub_epi8(starts_, _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(-65)));
      const __m256i f0 = _mm256_set1_epi8(static_cast<char>(0xF0));
      four_byte_ = _mm256_sub_epi8(four_byte_,
                                   _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, f0), bytes));
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
  // One padded round always ends a part: the zeros behind it show a sequence that was cut off.
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
