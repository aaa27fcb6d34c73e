#include "cli/wiring/section_makers.h"

#include "app/section_makers.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/agents_setup.h"

namespace dossier::cli {

driver::SectionMakers SectionMakersFor(const SectionMakerSetting& setting) {
  const GlobalFlags flags = setting.flags;
  std::ostream& err = setting.err;
  return app::SectionMakersFor(
      {.config = [flags, &err] { return LoadConfig(flags, {}, err); },
       .agents = [flags, &err] { return LoadAgents(flags, err); },
       .warn = [&err](std::string_view warning) { PrintWarning(err, warning); },
       .cancel = setting.cancel,
       .now = setting.now});
}

}  // namespace dossier::cli
