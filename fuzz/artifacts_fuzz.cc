// Replies of a research run: artefacts stay below their root, and sources split back.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "research/files/artifacts.h"

namespace {

using namespace dossier;

void CheckOne(std::string_view payload) {
  const research::ParseContext context{.compilers = {"g++"}};
  const auto read = research::ParseArtifacts(payload, context);
  if (!read) return;
  for (const research::ArtifactFile& file : read->files) {
    const std::string path = "/" + file.path + "/";
    if (file.path.starts_with('/') || path.find("/../") != std::string::npos) std::abort();
  }
  const auto split = research::SplitSources(research::SourcesText(read->files));
  if (split.size() != read->files.size()) std::abort();
  for (std::size_t i = 0; i < split.size(); ++i) {
    if (split[i].path != read->files[i].path) std::abort();
    if (split[i].content != read->files[i].content) std::abort();
  }
  // What is stored is read again.
  if (!research::ReadArtifacts(research::ArtifactsJson(*read), context)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 14) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  CheckOne(payload);
  static_cast<void>(research::ParsePlanAndCode(payload));
  static_cast<void>(research::SplitSources(payload));
  return 0;
}
