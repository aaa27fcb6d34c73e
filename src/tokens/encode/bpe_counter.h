// Exact counts by a vocabulary: cl100k, o200k, and those of GGUF and tokenizer.json files.
//
//   auto counter = MakeBpeCounter({.name = "o200k_base", .vocabulary = vocabulary});
//
// Thread-safety: as Counter.

#ifndef DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_
#define DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tokens/counter/added_tokens.h"
#include "tokens/counter/counter.h"
#include "tokens/encode/bpe_text.h"
#include "tokens/encode/vocabulary.h"
#include "tokens/split/splitter.h"

namespace dossier::tokens {

struct BpeOptions {
  std::string name;
  std::shared_ptr<const Vocabulary> vocabulary;
  AddedTokens added;                                       // matched before anything is split
  std::shared_ptr<const Pattern> pattern;                  // if the rule is kPattern
  std::function<std::string(std::string_view)> normalize;  // may be empty; to valid UTF-8
  std::optional<ByteIds> byte_ids;  // what an unknown code point's bytes are sent as
};

std::shared_ptr<const Counter> MakeBpeCounter(BpeOptions options);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_ENCODE_BPE_COUNTER_H_
