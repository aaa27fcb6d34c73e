// Who makes the content of layouts' sections that no file holds: `source: header` and
// `source: memory`.
//
//   options.makers = SectionMakersFor({.flags = flags, .cancel = cancel, .err = err});
//
// Configuration and repository are read when a section asks for them, not before.
// Thread-safety: makers may be called from any thread.

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

// The errors of the makers: kConfig (a `with` that is not understood), kRefused (trust), those of
// the repository and of the store.
driver::SectionMakers SectionMakersFor(SectionMakerSetting setting);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SECTION_MAKERS_H_
