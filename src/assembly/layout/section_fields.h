// One section of a layout file, read from its node.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_SECTION_FIELDS_H_
#define DOSSIER_ASSEMBLY_LAYOUT_SECTION_FIELDS_H_

#include <string>
#include <string_view>

#include "assembly/layout/layout.h"
#include "base/yaml/yaml_reader.h"

namespace dossier::assembly {

// Reads and checks the section that `node` describes. Thread-safety: pure.
// Errors: kConfig, "FILE:LINE:COL: reason", with the nearest valid name where a name is unknown.
Result<LayoutSection> ReadSection(const YamlNode& node, std::string_view file);

// True if nobody vouches for what `source` yields.
bool IsUntrustedSource(std::string_view source);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_SECTION_FIELDS_H_
