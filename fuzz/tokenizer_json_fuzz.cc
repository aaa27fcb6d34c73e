// A tokenizer.json, the tables made of it, and a text counted by them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tokens/encode/bpe_counter.h"
#include "tokens/files/vocabulary_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::tokens;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto file = ParseTokenizerJson(bytes);
  if (!file) return 0;
  auto table = BuildVocabulary(file->source);
  if (!table) return 0;
  auto vocabulary = Vocabulary::FromBytes(std::move(*table));
  if (!vocabulary) __builtin_trap();
  const auto counter = MakeBpeCounter({.name = "fuzz",
                                       .vocabulary = *vocabulary,
                                       .added = AddedTokens(file->added),
                                       .pattern = file->pattern,
                                       .byte_ids = file->byte_ids});
  const auto tokens = counter->Encode(bytes);
  if (!tokens || tokens->size() != static_cast<std::size_t>(counter->CountText(bytes).tokens)) {
    __builtin_trap();
  }
  return 0;
}
