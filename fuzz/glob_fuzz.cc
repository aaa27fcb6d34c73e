// Globs and braces: any pattern against any path ends, and soon.

#include <cstdint>
#include <string_view>

#include "base/files/glob.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\0');
  const std::string_view pattern = text.substr(0, middle);
  for (const auto letters :
       {dossier::CaseSensitivity::kSensitive, dossier::CaseSensitivity::kInsensitive}) {
    const dossier::Glob glob(pattern, letters);
    if (middle != std::string_view::npos) glob.Matches(text.substr(middle + 1));
  }
  if (size < 200) dossier::ExpandBraces(pattern);
  return 0;
}
