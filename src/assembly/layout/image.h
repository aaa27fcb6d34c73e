// An image as a block of a message, by what its bytes prove.
//
//   if (auto block = ImageBlock(bytes)) turn.blocks.push_back(std::move(*block));
//
// Thread-safety: a pure function.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_IMAGE_H_
#define DOSSIER_ASSEMBLY_LAYOUT_IMAGE_H_

#include <optional>
#include <string_view>

#include "assembly/layout/messages.h"

namespace dossier::assembly {

// Of PNG, JPEG, GIF and WebP, which providers take; unset for anything else. The first bytes tell;
// the rest may be damaged.
std::optional<Block> ImageBlock(std::string_view bytes);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_IMAGE_H_
