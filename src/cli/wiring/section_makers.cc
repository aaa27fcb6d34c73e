#include "cli/wiring/section_makers.h"

#include "app/memory_section.h"
#include "base/text/parse_time.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/agents_setup.h"
#include "sources/header/header_source.h"

namespace dossier::cli {
namespace {

// Of a section `{source: header, with: {task: ID, mode: review, window: 3m, with: [dirty]}}`.
Result<std::optional<std::string>> MakeHeader(const SectionMakerSetting& setting,
                                              const Json& with) {
  Clock::Wall now = SystemClock()->WallNow();
  if (!setting.now.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(now, ParseTime(setting.now));
  }
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentsConfig agents, LoadAgents(setting.flags, setting.err));
  DOSSIER_ASSIGN_OR_RETURN(const auto request, sources::ReadHeaderRequest(with, now));
  sources::HeaderSource source(".", std::move(agents), setting.cancel);
  DOSSIER_ASSIGN_OR_RETURN(const auto state, source.Collect(request));
  for (const std::string& warning : state.warnings) PrintWarning(setting.err, warning);
  return ToYaml(state.header);
}

Result<std::optional<std::string>> MakeMemory(const SectionMakerSetting& setting, const Json& with,
                                              const driver::SectionValues& values) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(setting.flags, {}, setting.err));
  return app::MemorySection(with, values, config);
}

}  // namespace

driver::SectionMakers SectionMakersFor(SectionMakerSetting setting) {
  const auto shared = std::make_shared<const SectionMakerSetting>(std::move(setting));
  return {{"header", [shared](const Json& with,
                              const driver::SectionValues&) { return MakeHeader(*shared, with); }},
          {"memory", [shared](const Json& with, const driver::SectionValues& values) {
             return MakeMemory(*shared, with, values);
           }}};
}

}  // namespace dossier::cli
