// The metadata of a model file, and the tables made from what it says.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tokens/files/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::tokens;  // NOLINT(google-build-using-namespace)
  const auto file = ParseGguf(std::string(reinterpret_cast<const char*>(data), size));
  if (!file || !*file) return 0;
  (void)SentencePiecesOf(**file);
  const auto vocabulary = VocabularyOf(**file);
  if (!vocabulary) return 0;
  if (auto table = BuildVocabulary(vocabulary->source)) {
    if (!Vocabulary::FromBytes(std::move(*table))) __builtin_trap();
  }
  return 0;
}
