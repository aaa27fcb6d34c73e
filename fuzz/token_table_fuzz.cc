// Weights of token embeddings from strangers: any bytes are refused or read within their bounds.

#include <cstdint>
#include <string>
#include <vector>

#include "memory/records/embedder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table =
      dossier::memory::TokenTable::Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!table) return 0;
  std::vector<float> sum(table->dimensions());
  for (const std::size_t token : {std::size_t{0}, table->tokens() - 1, table->tokens()}) {
    table->AddRow(static_cast<dossier::tokens::TokenId>(token), sum);
  }
  dossier::memory::ToVector(sum);
  return 0;
}
