// Any bytes under any name: described, rendered, and the same whatever the size of the blocks.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  if (size < 2) return 0;
  constexpr const char* kNames[] = {"a",     "a.json", "a.ndjson", "a.csv",
                                    "a.tsv", "a.txt",  "a.log",    ""};
  const std::string name = kNames[data[0] % 8];
  const std::size_t block = 1 + data[1];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto source = inspect::MemorySource(bytes, name);
  const auto whole = inspect::Describe(*source, {.threads = 1}, {});
  const auto split = inspect::Describe(*source, {.threads = 1, .block_bytes = block}, {});
  if (!whole || !split) std::abort();
  if (ToJson(inspect::ToJson(*whole)) != ToJson(inspect::ToJson(*split))) std::abort();
  inspect::RenderHint(*whole, {.profile = inspect::HintProfile::kSmall});
  inspect::RenderReport(*whole, {});
  return 0;
}
