#include "base/text/secret_detection.h"
#include "base/text/utf8_avx2.h"

namespace dossier::secrets {
namespace {

DOSSIER_AVX2 inline __m256i Load(const char* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

DOSSIER_AVX2 inline __m256i Table(const std::array<std::uint8_t, 16>& table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&table)));
}

// Returns the groups in which each byte occurs.
DOSSIER_AVX2 inline __m256i Groups(__m256i bytes, __m256i low, __m256i high) {
  const __m256i half = _mm256_set1_epi8(0x0F);
  const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
  return _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
                          _mm256_shuffle_epi8(high, upper));
}

// Marks each byte from `first` to `last`, both ASCII.
DOSSIER_AVX2 inline __m256i Within(__m256i bytes, char first, char last) {
  return _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(static_cast<char>(first - 1))),
                          _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(last + 1)), bytes));
}

// Returns IsUrlSafe for each byte.
DOSSIER_AVX2 inline std::uint32_t TokenBytes(__m256i bytes) {
  const __m256i letters = Within(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), 'a', 'z');
  const __m256i signs = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('-')),
                                        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_')));
  const __m256i all = _mm256_or_si256(_mm256_or_si256(letters, signs), Within(bytes, '0', '9'));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(all));
}

std::uint64_t Moved(std::uint64_t bits, std::uint64_t before, int by) {
  return bits << by | before >> (64 - by);
}

// Marks the bytes that follow 23 others in a run of `bits`.
std::uint64_t LongRuns(std::uint64_t bits, TokenRunState* state) {
  const std::uint64_t two = bits & Moved(bits, (*state)[0], 1);
  const std::uint64_t four = two & Moved(two, (*state)[1], 2);
  const std::uint64_t eight = four & Moved(four, (*state)[2], 4);
  const std::uint64_t more = eight & Moved(eight, (*state)[3], 8) & Moved(eight, (*state)[3], 16);
  *state = {bits, two, four, eight};
  return more;
}

}  // namespace

DOSSIER_AVX2 Marks MarkPartAvx2(std::string_view text, std::size_t begin, TokenRunState* state) {
  const GroupTables& groups = BeginningGroups();
  __m256i low[kBeginningBytes], high[kBeginningBytes];
  for (std::size_t i = 0; i < kBeginningBytes; ++i) {
    low[i] = Table(groups.low[i]);
    high[i] = Table(groups.high[i]);
  }
  const __m256i none = _mm256_setzero_si256();
  Marks marks;
  const char* at = text.data() + begin;
  for (std::size_t block = 0; block < marks.starts.size(); ++block) {
    std::uint64_t starts = 0, run = 0;
    for (int half = 0; half < 64; half += 32, at += 32) {
      const __m256i bytes = Load(at);
      __m256i found = Groups(bytes, low[0], high[0]);
      for (std::size_t i = 1; i < kBeginningBytes; ++i) {
        found = _mm256_and_si256(found, Groups(Load(at + i), low[i], high[i]));
      }
      const auto missing =
          static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, none)));
      starts |= static_cast<std::uint64_t>(~missing) << half;
      run |= static_cast<std::uint64_t>(TokenBytes(bytes)) << half;
    }
    marks.starts[block] = starts;
    marks.runs[block] = LongRuns(run, state);
  }
  return marks;
}

}  // namespace dossier::secrets
