// The JSON of a memory block: where it is wrong, and its members in the order of the text.
//
//   const BlockJson read = ReadBlockJson("{\"core_set\": {\"a\" 1}}");
//   read.fault->offset, read.fault->expected        // 18, "':'"
//
// Beside base/json/json.h, which tells only a byte offset and keeps one of two equal names: a model
// that is told what was expected repairs its block, and a name given twice must not lose what it
// held. Thread-safety: pure.

#ifndef DOSSIER_MEMORY_BLOCKS_BLOCK_JSON_H_
#define DOSSIER_MEMORY_BLOCKS_BLOCK_JSON_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"

namespace dossier::memory {

struct BlockFault {
  std::size_t offset = 0;  // bytes
  std::string expected;    // "',' or '}'"
};

struct BlockJson {
  std::optional<BlockFault> fault;                    // then there are no members
  std::vector<std::pair<std::string, Json>> members;  // of the object, in the order of the text
  std::vector<std::string> repeated;  // paths of names that stand twice, "$.core_set.a"
};

// `text` is one JSON object, or nothing but blanks (no members). Depth at most 64.
BlockJson ReadBlockJson(std::string_view text);

// 1-based line and column, in code points, of a byte offset.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};
TextPlace PlaceOf(std::string_view text, std::size_t offset);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_JSON_H_
