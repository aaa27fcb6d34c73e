#include "app/section_makers.h"

#include <memory>

#include "app/memory_section.h"
#include "base/clock.h"
#include "base/text/parse_time.h"
#include "sources/header/header_source.h"

namespace dossier::app {
namespace {

// Of a section `{source: header, with: {task: ID, mode: review, window: 3m, with: [dirty]}}`.
Result<std::optional<std::string>> MakeHeader(const SectionMakerParts& parts, const Json& with) {
  Clock::Wall now = SystemClock()->WallNow();
  if (!parts.now.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(now, ParseTime(parts.now));
  }
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentsConfig agents, parts.agents());
  DOSSIER_ASSIGN_OR_RETURN(const auto request, sources::ReadHeaderRequest(with, now));
  sources::HeaderSource source(".", std::move(agents), parts.cancel);
  DOSSIER_ASSIGN_OR_RETURN(const auto state, source.Collect(request));
  for (const std::string& warning : state.warnings) {
    if (parts.warn) parts.warn(warning);
  }
  return ToYaml(state.header);
}

Result<std::optional<std::string>> MakeMemory(const SectionMakerParts& parts, const Json& with,
                                              const driver::SectionValues& values) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, parts.config());
  return MemorySection(with, values, config);
}

}  // namespace

driver::SectionMakers SectionMakersFor(SectionMakerParts parts) {
  const auto shared = std::make_shared<const SectionMakerParts>(std::move(parts));
  return {{"header", [shared](const Json& with,
                              const driver::SectionValues&) { return MakeHeader(*shared, with); }},
          {"memory", [shared](const Json& with, const driver::SectionValues& values) {
             return MakeMemory(*shared, with, values);
           }}};
}

}  // namespace dossier::app
