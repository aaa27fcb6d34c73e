// Checks the value of one operation of a block. Internal to block.cc.
//
// Thread-safety: pure.

#ifndef DOSSIER_MEMORY_BLOCKS_BLOCK_VALUES_H_
#define DOSSIER_MEMORY_BLOCKS_BLOCK_VALUES_H_

#include <string>
#include <vector>

#include "memory/blocks/block.h"

namespace dossier::memory {

// `path` is the value's place in the block: "$.core_set". What is taken otherwise than written is
// added to `warnings`.
BlockOperation CheckValue(const Operation& operation, const std::string& path, const Json& value,
                          std::vector<Notice>& warnings);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_VALUES_H_
