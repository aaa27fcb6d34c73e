// A text made short enough.
//
//   CutWithDots("abcdefgh", 6)                        // "abc..."
//   DOSSIER_ASSIGN_OR_RETURN(const Compressed plan,
//       Compress(*store, summarizer, {.text = text, .max_chars = 400, .hint = "plan"}));
//
// Thread-safety: as the store's and the summarizer's.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_COMPRESS_H_
#define DOSSIER_MEMORY_CONSOLIDATE_COMPRESS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "memory/consolidate/notice.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"

namespace dossier::memory {

// At most `max_chars` code points, the last three `...` where something is missing; below 4 a plain
// prefix.
std::string CutWithDots(std::string_view text, std::int64_t max_chars);

struct CompressRequest {
  std::string text;
  std::int64_t max_chars = 0;
  std::string hint;
  std::string context;  // summaries of idea and plan, 400 code points each
};
struct Compressed {
  std::string text;              // at most max_chars
  int calls = 0;                 // of the model; 0 where it fitted, was kept, or there is none
  std::vector<Notice> warnings;  // summary_failed, summary_cut
};

// A text that fits is unchanged. Else the model shortens it, at most max_compression_iterations
// times, until it fits or stops shrinking, then it is cut; what the model made is kept in the store
// by a hash of all that it depends on. A text beyond the model's window goes to it in pieces.
// Errors: those of the store.
Result<Compressed> Compress(Store& store, const Summarizer& summarizer,
                            const CompressRequest& request);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_COMPRESS_H_
