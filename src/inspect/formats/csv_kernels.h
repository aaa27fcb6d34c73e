// Finds the bytes with a special meaning in CSV, 64 bytes at a time, with one bit per byte.
//
// Internal to csv_scanner.cc and its test. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_CSV_KERNELS_H_
#define DOSSIER_INSPECT_FORMATS_CSV_KERNELS_H_

#include <cstdint>

namespace dossier::inspect::internal {

struct CsvMasks {
  std::uint64_t quotes = 0;
  std::uint64_t others = 0;  // delimiters and line ends
};

CsvMasks FindCsvScalar(const char* data64, char delimiter);
// Call this only if utf8::internal::HasAvx2().
CsvMasks FindCsvAvx2(const char* data64, char delimiter);

}  // namespace dossier::inspect::internal

#endif  // DOSSIER_INSPECT_FORMATS_CSV_KERNELS_H_
