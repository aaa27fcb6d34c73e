// Blocks: the output of context commands between markers that no output can forge (K1 to K4).
//
//   RenderBlock("Git Status", result);   // --- Context: Git Status ---
//                                        //  M src/file.py
//                                        // --- End Context ---
//   JoinBlocks(blocks);                  // one blank line between
//   RestoreOutput(body);                 // the output as it was
//   FindBlocks(system_message);          // in files that do not say where their blocks are
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_CONTEXT_BLOCKS_H_
#define DOSSIER_SOURCES_CONTEXT_BLOCKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/context_command.h"

namespace dossier::sources {

// Without a trailing line end.
std::string RenderBlock(std::string_view name, const CommandResult& result);
// Stands for a block that is the same as in turn `turn` (Y8).
std::string RenderUnchangedBlock(std::string_view name, int turn);
std::string JoinBlocks(std::span<const std::string> blocks);

// One line without control characters, white-space runs or "---", at most 120 code points (K2).
std::string CleanBlockName(std::string_view name);

// `output` with one more space in front of each line that looks like a marker (K3). A line begins
// at the start and after LF and CR. Counts them in `escaped_lines`, if that is not null.
std::string EscapeOutput(std::string_view output, std::uint64_t* escaped_lines = nullptr);
// The inverse: RestoreOutput(EscapeOutput(x)) == x for every x.
std::string RestoreOutput(std::string_view body);

struct BlockSpan {
  std::size_t offset = 0, length = 0;  // bytes, both marker lines included
  std::string name;
  bool error = false;
};

// Pairs of a start line and the next end line. A start without an end is no block, nor is an end
// without a start; a start inside a block is text.
std::vector<BlockSpan> FindBlocks(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_CONTEXT_BLOCKS_H_
