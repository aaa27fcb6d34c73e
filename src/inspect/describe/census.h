// The counting pass: reads every byte of a source once, on several threads.
//
//   DOSSIER_ASSIGN_OR_RETURN(TextCensus census, TakeCensus(source, options));
//   census.text.utf8.code_points, census.text.lines.lines()
//
// Errors: kCancelled. A read error in the middle is stored in the result with the counts so far.
// Thread-safety: pure function of its arguments; starts and joins its own threads.

#ifndef DOSSIER_INSPECT_DESCRIBE_CENSUS_H_
#define DOSSIER_INSPECT_DESCRIBE_CENSUS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/records/record_passes.h"
#include "inspect/text/byte_source.h"
#include "inspect/text/encoding.h"
#include "inspect/text/text_counter.h"

namespace dossier::inspect {

struct CensusOptions {
  EncodingKind kind = EncodingKind::kUtf8;
  std::uint64_t start = 0;                // after the BOM
  std::optional<std::uint64_t> max_scan;  // stored bytes
  int threads = 1;
  std::size_t block_bytes = 256 << 10;
  bool hash = false;
  RecordPass* records = nullptr;  // scanned in the same pass; only for UTF-8
  CancelToken cancel;
};

struct TextCensus {
  std::uint64_t bytes = 0;    // stored bytes read, including the BOM
  TextCount text;             // of the decoded text; bytes and invalid parts for 8-bit text too
  std::uint64_t invalid = 0;  // parts replaced while decoding
  std::uint64_t first_invalid = 0;  // stored offset
  bool complete = true;             // false: max_scan or an error stopped it
  std::string sha256;
  std::optional<std::string> read_error;
};

Result<TextCensus> TakeCensus(const ByteSource& source, const CensusOptions& options);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_CENSUS_H_
