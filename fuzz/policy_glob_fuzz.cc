// A pattern of a change policy and a path, parted by the first line break.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agents/policy/policy_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size < 4096 ? size : 4096);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  for (const auto letters :
       {dossier::CaseSensitivity::kSensitive, dossier::CaseSensitivity::kInsensitive}) {
    dossier::agents::PolicyGlob(text.substr(0, end), letters).Matches(text.substr(end + 1));
  }
  return 0;
}
