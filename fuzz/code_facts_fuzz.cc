// Declarations and imports: any bytes in any language end, and soon; depths stay sane.

#include <cstdint>
#include <string_view>

#include "sources/repository/code_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto language = static_cast<dossier::sources::Language>(data[0] % 8);
  const dossier::sources::CodeFacts facts = dossier::sources::ReadCode(language, text);
  for (const dossier::sources::Symbol& symbol : facts.symbols) {
    if (symbol.depth < 0 || symbol.line.size() > 160) __builtin_trap();
  }
  dossier::sources::Outline(text, facts);
  return 0;
}
