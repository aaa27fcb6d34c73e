// Validates and sums 32 bytes, for the AVX2 loops that count a text. Internal to those loops.
//
//   errors = _mm256_or_si256(errors, Utf8Errors(bytes, before));   // any bit set: invalid
//
// Validation after John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One Instruction
// Per Byte" (2021): three 16-entry tables, indexed by the two nibbles of the previous byte and the
// high nibble of this one, whose AND names every two-byte error; longer sequences are checked by
// where a continuation byte must stand.
//
// Thread-safety: pure functions. They need HasAvx2().

#ifndef DOSSIER_BASE_TEXT_UTF8_AVX2_H_
#define DOSSIER_BASE_TEXT_UTF8_AVX2_H_

#include <immintrin.h>

#include <cstdint>
#include <utility>

#define DOSSIER_AVX2 __attribute__((target("avx2,bmi,popcnt")))

namespace dossier::utf8::internal {

// Error bits. A pair of bytes is wrong in one of these ways, or its third byte must be checked.
inline constexpr unsigned char kTooShort = 1 << 0;          // lead, then no continuation
inline constexpr unsigned char kTooLong = 1 << 1;           // ASCII, then continuation
inline constexpr unsigned char kOverlong3 = 1 << 2;         // E0 80..9F
inline constexpr unsigned char kTooLarge = 1 << 3;          // F4 90.., F5..FF
inline constexpr unsigned char kSurrogate = 1 << 4;         // ED A0..BF
inline constexpr unsigned char kOverlong2 = 1 << 5;         // C0, C1
inline constexpr unsigned char kTooLarge1000 = 1 << 6;      // F5..FF 80..8F
inline constexpr unsigned char kOverlong4 = 1 << 6;         // F0 80..8F
inline constexpr unsigned char kTwoContinuations = 1 << 7;  // right only inside a longer sequence
inline constexpr unsigned char kCarry = kTooShort | kTooLong | kTwoContinuations;

inline constexpr unsigned char kByte1High[16] = {
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTwoContinuations,
    kTwoContinuations,
    kTwoContinuations,
    kTwoContinuations,
    kTooShort | kOverlong2,
    kTooShort,
    kTooShort | kOverlong3 | kSurrogate,
    kTooShort | kTooLarge | kTooLarge1000 | kOverlong4};

inline constexpr unsigned char kByte1Low[16] = {kCarry | kOverlong3 | kOverlong2 | kOverlong4,
                                                kCarry | kOverlong2,
                                                kCarry,
                                                kCarry,
                                                kCarry | kTooLarge,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000 | kSurrogate,
                                                kCarry | kTooLarge | kTooLarge1000,
                                                kCarry | kTooLarge | kTooLarge1000};

inline constexpr unsigned char kByte2High[16] = {
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge1000 | kOverlong4,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort};

DOSSIER_AVX2 inline __m256i Table(const unsigned char* table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

DOSSIER_AVX2 inline __m256i HighNibbles(__m256i bytes) {
  using Shorts16 = unsigned short __attribute__((vector_size(32)));
  const Shorts16 shifted = reinterpret_cast<Shorts16>(bytes) >> 4;
  return _mm256_and_si256(reinterpret_cast<__m256i>(shifted), _mm256_set1_epi8(0x0F));
}

// The compiler's own vectors instead of intrinsics with an immediate: g++ 12 mistakes those for
// calls in a build with a precompiled header and without optimization.
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

DOSSIER_AVX2 __attribute__((always_inline)) inline __m256i Utf8Errors(__m256i bytes,
                                                                      __m256i before) {
  const __m256i previous1 = Previous<1>(bytes, before);
  const __m256i special = _mm256_and_si256(
      _mm256_and_si256(_mm256_shuffle_epi8(Table(kByte1High), HighNibbles(previous1)),
                       _mm256_shuffle_epi8(Table(kByte1Low),
                                           _mm256_and_si256(previous1, _mm256_set1_epi8(0x0F)))),
      _mm256_shuffle_epi8(Table(kByte2High), HighNibbles(bytes)));
  // 0x80 where the byte must be the third or fourth of a sequence.
  const __m256i third = _mm256_subs_epu8(Previous<2>(bytes, before),
                                         _mm256_set1_epi8(static_cast<char>(0xE0 - 0x80)));
  const __m256i fourth = _mm256_subs_epu8(Previous<3>(bytes, before),
                                          _mm256_set1_epi8(static_cast<char>(0xF0 - 0x80)));
  const __m256i must_continue =
      _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(static_cast<char>(0x80)));
  return _mm256_xor_si256(must_continue, special);
}

DOSSIER_AVX2 inline std::uint64_t SumBytes(__m256i counters) {
  const __m256i sums = _mm256_sad_epu8(counters, _mm256_setzero_si256());
  const Words4 words = reinterpret_cast<Words4>(sums);
  return static_cast<std::uint64_t>(words[0] + words[1] + words[2] + words[3]);
}

}  // namespace dossier::utf8::internal

#endif  // DOSSIER_BASE_TEXT_UTF8_AVX2_H_
