// Ignore rules: any patterns against any path end, and soon.

#include <cstdint>
#include <string_view>

#include "base/files/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\0');
  for (const auto letters :
       {dossier::CaseSensitivity::kSensitive, dossier::CaseSensitivity::kInsensitive}) {
    const dossier::IgnoreFile rules(text.substr(0, middle), letters);
    if (middle == std::string_view::npos) return 0;
    rules.Match(text.substr(middle + 1), dossier::IgnoreFile::PathKind::kFile);
    rules.Match(text.substr(middle + 1), dossier::IgnoreFile::PathKind::kFolder);
  }
  return 0;
}
