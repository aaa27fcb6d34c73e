// The first step of assembly: gathers the content of each section, before any cutting.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_GATHER_H_
#define DOSSIER_ASSEMBLY_FIT_GATHER_H_

#include <span>
#include <vector>

#include "assembly/fit/part.h"

namespace dossier::assembly {

struct GatheredParts {
  std::vector<Part> parts;  // in prompt order: by zone, then as in the layout
  std::vector<AssemblyWarning> warnings;
};

// Errors: kNotFound (content missing), kConfig (variable, template), kUsage (no user text).
Result<GatheredParts> Gather(const Layout& layout, std::span<const Section> sections,
                             const AssembleOptions& options);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_GATHER_H_
