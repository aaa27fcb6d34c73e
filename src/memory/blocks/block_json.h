// Parses the JSON of a memory block: reports where it is wrong and keeps members in text order.
//
//   const BlockJson read = ReadBlockJson("{\"core_set\": {\"a\" 1}}");
//   read.fault->offset, read.fault->expected        // 18, "':'"
//
// base/json/json.h reports only a byte offset and keeps one of two members with the same name. Here
// a model is told what was expected, so that it can repair its block, and a repeated name does not
// lose a value. Thread-safety: pure.

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

// Names that occur twice in one object. A model's reply can repeat one thousands of times.
struct RepeatedNames {
  std::vector<std::string> paths;  // the first 20, "$.core_set.a"; of each name 80 code points
  std::size_t more = 0;
};

struct BlockJson {
  std::optional<BlockFault> fault;                    // if set, there are no members
  std::vector<std::pair<std::string, Json>> members;  // of the object, in text order
  RepeatedNames repeated;
};

// `text` is one JSON object, or only white space (no members). The depth is at most 64.
BlockJson ReadBlockJson(std::string_view text);

// 1-based line and column of a byte offset; columns count code points.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};
TextPlace PlaceOf(std::string_view text, std::size_t offset);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_JSON_H_
