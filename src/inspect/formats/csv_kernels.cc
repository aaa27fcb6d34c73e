#include "inspect/formats/csv_kernels.h"

#include <immintrin.h>

#define DOSSIER_AVX2 __attribute__((target("avx2")))

namespace dossier::inspect::internal {
namespace {

DOSSIER_AVX2 inline std::uint64_t Bits(__m256i lanes) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes));
}

DOSSIER_AVX2 inline CsvMasks Find32(const char* data, __m256i delimiter) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
  const __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  const __m256i ends = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')),
                                       _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\r')));
  return {Bits(quotes), Bits(_mm256_or_si256(ends, _mm256_cmpeq_epi8(bytes, delimiter)))};
}

}  // namespace

DOSSIER_AVX2 CsvMasks FindCsvAvx2(const char* data64, char delimiter) {
  const __m256i wanted = _mm256_set1_epi8(delimiter);
  const CsvMasks low = Find32(data64, wanted), high = Find32(data64 + 32, wanted);
  return {low.quotes | high.quotes << 32, low.others | high.others << 32};
}

CsvMasks FindCsvScalar(const char* data64, char delimiter) {
  CsvMasks masks;
  for (int i = 0; i < 64; ++i) {
    const char c = data64[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (c == '"') {
      masks.quotes |= bit;
    } else if (c == delimiter || c == '\n' || c == '\r') {
      masks.others |= bit;
    }
  }
  return masks;
}

}  // namespace dossier::inspect::internal
