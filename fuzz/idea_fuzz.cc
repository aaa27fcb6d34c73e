// Ideas, and the files that go with a run: its configuration, its resources.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "research/resources/resources.h"
#include "research/run/idea.h"
#include "research/setup/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto idea = dossier::research::ReadIdea(text, "idea.md")) {
    static_cast<void>(dossier::research::IdeaSection(*idea, 3));
  }
  if (const auto config = dossier::research::ReadConfig(text, "config.yaml", {})) {
    static_cast<void>(dossier::research::ConfigYaml(*config));
  }
  static_cast<void>(dossier::research::ReadResourceFile(text, {}));
  return 0;
}
