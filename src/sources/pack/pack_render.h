// The frames around files, in each format. A step of Pack.
//
// Every piece ends in line ends and the next starts with none and with no slash: no tokenizer of
// the public encodings joins across that, so counts of pieces add up to the count of the whole.
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_PACK_PACK_RENDER_H_
#define DOSSIER_SOURCES_PACK_PACK_RENDER_H_

#include <string>
#include <string_view>

#include "sources/pack/pack.h"

namespace dossier::sources {

struct Rendering {
  PackFormat format = PackFormat::kXml;
  std::string_view path;  // as PathForText gives it
  std::string_view note;  // "outline", "description"; empty for the file itself
};

std::string RenderFile(const Rendering& how, std::string_view body);

std::string WithLineNumbers(std::string_view body);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_RENDER_H_
