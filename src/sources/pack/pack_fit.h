// Shrinks files until they fit: full, outline, names, lowest priority first. A step of Pack.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_PACK_PACK_FIT_H_
#define DOSSIER_SOURCES_PACK_PACK_FIT_H_

#include <cstdint>
#include <vector>

#include "sources/pack/pack.h"

namespace dossier::sources {

// Sets `form` and `why` so that the tokens of the files come to at most `tokens`. Of one priority
// all become outlines before one is only named, the largest first; then what is left over brings
// files back, the most important first.
void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files);

// Tokens of `file` in `form`, without its line in the list.
std::int64_t TokensOf(const PackedFile& file, Form form);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_FIT_H_
