// Layout files: any bytes parse, or fail with a place.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assembly/layout/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view yaml(reinterpret_cast<const char*>(data), size);
  const auto layout = dossier::assembly::ParseLayout(yaml, "fuzz.yaml");
  if (!layout && !layout.error().message.starts_with("fuzz.yaml:")) std::abort();
  return 0;
}
