// What git prints about a patch, what an engine calls a patch, and the paths in both.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agents/git/diff_output.h"
#include "agents/git/patch.h"
#include "agents/git/path_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view path : dossier::agents::DiffHeaderPaths(text)) {
    dossier::agents::PathProblem(path);
    dossier::agents::LinkStaysInside(path, text);
  }
  const auto diff = dossier::agents::ParseDiffOutput(text);
  if (diff && diff->text_at > size) __builtin_trap();
  return 0;
}
