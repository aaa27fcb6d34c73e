// Splits a template's body into pieces; also the parts of template.cc that lookup and checks need.
//
//   ScanTemplate(text.body, text.braces, [&](const TemplatePiece& piece) { Use(piece); });
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_TEMPLATE_SCAN_H_
#define DOSSIER_ASSEMBLY_LAYOUT_TEMPLATE_SCAN_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"

namespace dossier::assembly {

inline constexpr std::size_t kMaxTemplateBytes = 1 << 20;

struct TemplatePiece {
  enum class Kind { kText, kPlaceholder };
  Kind kind = Kind::kText;
  std::string_view name;               // the text to copy, or the placeholder's name
  std::string_view spec;               // after the colon; empty if none
  std::size_t offset = 0, length = 0;  // in the body, braces included
};

// Calls `visit` for every piece in order. `{name}` and `{name:SPEC}` are placeholders, declared or
// not; doubled braces become one in kDouble and stay in kLiteral.
void ScanTemplate(std::string_view body, Template::Braces braces,
                  const std::function<void(const TemplatePiece&)>& visit);

// Returns the offset after the name that starts at `at`, or `at` if no name does.
std::size_t ScanName(std::string_view text, std::size_t at);

// As ParseTemplate; with a `contract`, its placeholders replace the file's own.
Result<Template> ParseTemplateAgainst(std::string_view markdown, std::string_view file,
                                      const Template* contract);

// Returns a message with the nearest known name: "unknown key wieght (weight?)".
std::string Guess(std::string_view what, std::string_view name, std::span<const std::string> known);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_TEMPLATE_SCAN_H_
