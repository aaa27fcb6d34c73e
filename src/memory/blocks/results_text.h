// What a model is told about its reads.
//
//   std::string section = ResultsText(result.reads);   // <memory_results> … </memory_results>
//
// Thread-safety: pure.

#ifndef DOSSIER_MEMORY_BLOCKS_RESULTS_TEXT_H_
#define DOSSIER_MEMORY_BLOCKS_RESULTS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/records/types.h"

namespace dossier::memory {

// What the reads of a block gave; unset: that was not asked for.
struct ReadResults {
  std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> core;
  std::optional<std::vector<Record>> records;   // archival_get
  std::optional<std::vector<Record>> archival;  // archival_search, best first
  std::optional<std::vector<Record>> recall;    // recall_search, best first
  std::vector<std::string> errors;              // of reads that failed, a sentence each

  bool empty() const { return !core && !records && !archival && !recall && errors.empty(); }
};

std::string ResultsText(const ReadResults& results);

// `text` with `<memory_` and `</memory_` broken up, so that stored text can neither begin a block
// nor end the results.
std::string Harmless(std::string_view text);
// At most `code_points` of `text`, the last one … where something is missing.
std::string CutText(std::string_view text, std::int64_t code_points);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_RESULTS_TEXT_H_
