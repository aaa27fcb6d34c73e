// In which order files stand, so that what changes often stands late, and in which form, so that
// all fit. Steps of Pack.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_PACK_PACK_ORDER_H_
#define DOSSIER_SOURCES_PACK_PACK_ORDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/pack/pack.h"
#include "sources/repository/git_facts.h"

namespace dossier::sources {

// What is ordered; `unchanged`: as in HEAD.
struct OrderKey {
  std::string path;
  bool unchanged = false;
};

// Indices of `keys` in their new order. `order` is not kDefault. kChanged: last commit oldest first
// (those before the newest 1,000 commits foremost), then modified files, then untracked ones; ties
// by the bytes of the path. kSticky: the order of `manifest`, new files behind by path.
std::vector<std::size_t> OrderFiles(PackOrder order, const std::vector<OrderKey>& keys,
                                    const GitFacts* git, const std::vector<std::string>& manifest);

// A manifest as text: one path a line; a line end in a name is %0A or %0D, a percent sign %25.
std::string WriteManifest(const PackedFiles& packed);
// Errors: kDamaged with the line.
Result<std::vector<std::string>> ReadManifest(std::string_view text, std::string_view file);

// Shrinks files until they fit: sets `form` and `why` so that the tokens of the files come to at
// most `tokens`. Of one priority all become outlines before one is only named, the largest first;
// then what is left over brings files back, the most important first.
void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files);

// Tokens of `file` in `form`, without its line in the list.
std::int64_t TokensOf(const PackedFile& file, Form form);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_ORDER_H_
