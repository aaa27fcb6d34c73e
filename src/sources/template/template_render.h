// Renders text for context commands from templates in a subset of Jinja.
//
//   const TemplateValue path("docs/adr 0012.md");
//   TemplateVariables variables{{"F", {path, VariableOrigin::kCommandLine}}};
//   RenderTemplate("cat {{ F | shellquote }}", variables);   // cat 'docs/adr 0012.md'
//
// The subset: {{ }}, if/elif/else, for/else with loop, raw, comments, - marks; strings, numbers,
// lists, true, false, none; and or not in, comparisons, ~, a if c else b, is [not] defined|none;
// a.b a['b'] a[0] on maps and lists; the filters of ApplyFilter. trim_blocks and lstrip_blocks are
// on, and the result is stripped. An undefined value is an error except with default and `is
// defined`. Thread-safety: a pure function.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_RENDER_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_RENDER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/template/template_value.h"

namespace dossier::sources {

inline constexpr int kMaxTemplatePasses = 10'000;  // in all loops of one rendering

enum class VariableOrigin { kConfig, kEnvironment, kCommandLine };

struct TemplateVariable {
  TemplateValue value;
  VariableOrigin origin = VariableOrigin::kConfig;
};

using TemplateVariables = std::map<std::string, TemplateVariable, std::less<>>;

// The treatment of a variable's value that contains shell characters and has passed neither
// `shellquote` nor `raw`.
enum class ShellRule {
  kNone,    // the result is not for a shell
  kRefuse,  // an error kConfig that names the variable
  kWarn,    // compat: adds a line to `warnings`
};

// Errors: kConfig, "column C: …", with the construct.
Result<std::string> RenderTemplate(std::string_view text, const TemplateVariables& variables,
                                   ShellRule rule = ShellRule::kNone,
                                   std::vector<std::string>* warnings = nullptr);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_RENDER_H_
