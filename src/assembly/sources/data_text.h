// Renders data as YAML, for sections with `render: yaml`.
//
//   RenderYaml({{"Task", "Do it"}, {"tags", {"a", "b"}}})   // "Task: Do it\ntags:\n  - a\n  - b\n"
//
// Block style; keys keep their order, nothing is left out. Readers of YAML 1.1 and 1.2 get the same
// data back: text that could be read as another type is quoted. Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_
#define DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_

#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::assembly {

std::string RenderYaml(const Json& data);

// Renders data as Markdown with headings, for sections whose content is data.
//
//   RenderData({{"Task", "Do it"}}, nullptr)   // "# Task\n\nDo it\n"
//
// Thread-safety: pure function.

// Null and empty values are left out; their paths ("Limits.tags") are added to `left_out`.
std::string RenderData(const Json& data, std::vector<std::string>* left_out);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_SOURCES_DATA_TEXT_H_
