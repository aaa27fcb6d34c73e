// Splits a Markdown file into the YAML between `---` lines at its start and the text after it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FrontMatter front, SplitFrontMatter(text, "prompts/ready.md"));
//   ReadYaml(front.yaml, "prompts/ready.md", {.first_line = 1});
//
// Thread-safety: a pure function.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_FRONT_MATTER_H_
#define DOSSIER_ASSEMBLY_LAYOUT_FRONT_MATTER_H_

#include <string_view>

#include "base/result.h"

namespace dossier::assembly {

struct FrontMatter {
  std::string_view yaml, body;  // both are parts of the text
  int body_line = 0;            // lines before the body
};

// Without an opening line, everything is the body. Errors: kConfig if the closing line is missing.
Result<FrontMatter> SplitFrontMatter(std::string_view text, std::string_view file);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_FRONT_MATTER_H_
