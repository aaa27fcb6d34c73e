// Data as Markdown with headings, for sections whose content is data.
//
//   RenderData({{"Task", "Do it"}}, nullptr)   // "# Task\n\nDo it\n"
//
// Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_SOURCES_DATA_MARKDOWN_H_
#define DOSSIER_ASSEMBLY_SOURCES_DATA_MARKDOWN_H_

#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::assembly {

// The paths ("Limits.tags") of null and empty values, which are left out, go to `left_out`.
std::string RenderData(const Json& data, std::vector<std::string>* left_out);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_SOURCES_DATA_MARKDOWN_H_
