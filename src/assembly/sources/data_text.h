// Data as YAML, for sections with `render: yaml`.
//
//   RenderYaml({{"Task", "Do it"}, {"tags", {"a", "b"}}})   // "Task: Do it\ntags:\n  - a\n  - b\n"
//
// Block style, keys in their order, nothing left out. Every reader of YAML 1.1 or 1.2 gets the same
// data back: what could be read as another type is quoted. Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_
#define DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_

#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::assembly {

std::string RenderYaml(const Json& data);

// Data as Markdown with headings, for sections whose content is data.
//
//   RenderData({{"Task", "Do it"}}, nullptr)   // "# Task\n\nDo it\n"
//
// Thread-safety: pure function.

// The paths ("Limits.tags") of null and empty values, which are left out, go to `left_out`.
std::string RenderData(const Json& data, std::vector<std::string>* left_out);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_
