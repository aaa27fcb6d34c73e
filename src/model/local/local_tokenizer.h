// Token counts from the local server's own tokenizer.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto counter, MakeServerCounter(port, key, {.bytes_per_token = 3.0}));
//   counter->CountText("Which package is the largest?");   // exact: 6
//
// Texts up to 64 KiB are counted by the server (about 1 ms) and remembered by their hash; longer
// ones are estimated with the ratio's margin, and so is everything for five seconds after the
// server did not answer. Count::exact says which.
//
// Thread-safety: as Counter.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_TOKENIZER_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_TOKENIZER_H_

#include <memory>
#include <string>

#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

inline constexpr std::size_t kMostCountedBytes = 64u << 10;

// Errors: kUnavailable (libcurl); kInvalidArgument (ratio).
Result<std::shared_ptr<const tokens::Counter>> MakeServerCounter(int port, const std::string& key,
                                                                 tokens::Ratio ratio);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_TOKENIZER_H_
