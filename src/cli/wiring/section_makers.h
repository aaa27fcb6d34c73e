// app/section_makers.h with the flags and the trust of a person.
//
//   options.makers = SectionMakersFor({.flags = flags, .cancel = cancel, .err = err, .now = {}});
//
// Thread-safety: as there.

#ifndef DOSSIER_CLI_WIRING_SECTION_MAKERS_H_
#define DOSSIER_CLI_WIRING_SECTION_MAKERS_H_

#include <ostream>
#include <string>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "driver/section_reader.h"

namespace dossier::cli {

struct SectionMakerSetting {
  GlobalFlags flags;
  CancelToken cancel;
  std::ostream& err;  // for warnings; outlives the makers
  std::string now;    // RFC 3339; "": the time of each call
};

driver::SectionMakers SectionMakersFor(const SectionMakerSetting& setting);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SECTION_MAKERS_H_
