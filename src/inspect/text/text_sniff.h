// Detects formats by the look of the first lines.
//
//   LooksLikeMarkup("<?xml version=\"1.0\"?>") == Format::kXml
//
// All functions take the beginning of the decoded text. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_TEXT_TEXT_SNIFF_H_
#define DOSSIER_INSPECT_TEXT_TEXT_SNIFF_H_

#include <optional>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

std::optional<Format> LooksLikeMarkup(std::string_view head);  // XML, HTML
// XML without a declaration: properly nested elements, and no text outside them.
bool LooksLikeElements(std::string_view head);
bool LooksLikeMail(std::string_view head);
bool LooksLikeDiff(std::string_view head);
std::optional<Format> LooksLikeSettings(std::string_view head);  // TOML, INI
bool LooksLikeYaml(std::string_view head);
// Settings, one per line (`key value`, `key = value`), with `#` comments or only assignments.
bool LooksLikeConfig(std::string_view head);
// Two kinds of Markdown marks, one of them a heading, fence, link or table.
bool LooksLikeMarkdown(std::string_view head);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_TEXT_SNIFF_H_
