// A model's reply, parted into its memory block and its payload.
//
//   const ParsedReply reply = ParseReply("<memory_update>{\"core_get\":
//   \"a\"}</memory_update>Done."); reply.payload                 // "Done." reply.block->Reads() //
//   true
//
//   BlockFilter filter;                              // while a reply streams
//   for (chunk : chunks) Show(filter.Push(chunk));   // blocks never show
//   Show(filter.Finish());
//
// Both read by the same machine (reply_scanner.h). Thread-safety: ParseReply is pure; a filter has
// one owner.

#ifndef DOSSIER_MEMORY_BLOCKS_REPLY_H_
#define DOSSIER_MEMORY_BLOCKS_REPLY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/blocks/block.h"
#include "memory/blocks/reply_scanner.h"
#include "memory/consolidate/summarizer.h"

namespace dossier::memory {

// Why the block of a reply cannot be applied.
struct ReplyFault {
  enum class Kind : std::uint8_t { kMalformedBlock, kBadJson } kind = Kind::kMalformedBlock;
  std::string text;        // "memory_update: line 3, column 14: expected ',' or '}'"
  std::size_t offset = 0;  // bytes in the reply
};
std::string_view FaultName(ReplyFault::Kind kind);  // "malformed_block", "bad_json"

struct ParsedReply {
  // The reply without its blocks, trimmed. If it has no block, the reply byte for byte.
  std::string payload;
  std::optional<UpdateBlock> block;  // the first one; none also with a fault
  std::optional<ReplyFault> fault;   // of the first one
  std::vector<Notice> warnings;      // extra_block, invented_results, attributes_dropped
};

ParsedReply ParseReply(std::string_view reply);

// With memory off: the payload, and a notice `memory_off` if a block was removed.
ParsedReply RemoveBlocks(std::string_view reply);

// The first block as it stands in the reply, tags included; "" without one.
std::string FirstBlock(std::string_view reply);

class BlockFilter {
 public:
  BlockFilter();
  BlockFilter(const BlockFilter&) = delete;
  BlockFilter& operator=(const BlockFilter&) = delete;

  // The text that may be shown now. All returned texts together are the payload; if the whole reply
  // is one code fence that holds a block, the fence's own lines are shown too.
  std::string Push(std::string_view chunk);
  std::string Finish();

 private:
  void Take(const ReplyPiece& piece);
  void TakeText(std::string_view text);

  ReplyScanner scanner_;
  std::string ready_;
  std::string blanks_;    // at the end of what there is: they are trimmed if there is a block
  bool shown_ = false;    // something that is not blank
  bool removed_ = false;  // a block
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_REPLY_H_
