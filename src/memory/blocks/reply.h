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
// Both read by the same machine (ReplyScanner). Thread-safety: ParseReply is pure; a filter has
// one owner.

#ifndef DOSSIER_MEMORY_BLOCKS_REPLY_H_
#define DOSSIER_MEMORY_BLOCKS_REPLY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/blocks/block.h"
#include "memory/consolidate/summarizer.h"

namespace dossier::memory {

// Finds memory blocks in a reply while it arrives: one machine for the parser and for the display,
// so that both agree whatever the pieces.
//
//   ReplyScanner scanner([&](const ReplyPiece& piece) { … });
//   scanner.Push(chunk);                       // any bytes, any length
//   scanner.Finish();
//
// A piece comes as soon as what it is is certain. Time is linear in the reply. Thread-safety: none;
// one owner.

enum class BlockClosing : std::uint8_t {
  kClosed,   // by </memory_update> or <\/memory_update>
  kSlash,    // by /> behind its JSON
  kMissing,  // the reply ended
  kNoTag,    // closed, but its opening tag was not
};

struct ReplyRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A part of the reply, in order; `whole` counts bytes of the reply.
struct ReplyPiece {
  enum class Kind : std::uint8_t { kText, kBlock, kResults };
  Kind kind = Kind::kText;
  ReplyRange whole;
  // Of a block: between its tags, what stands in the opening tag, and how it ends.
  ReplyRange content;
  ReplyRange attributes;
  BlockClosing end = BlockClosing::kClosed;
};

class ReplyScanner {
 public:
  using Sink = std::function<void(const ReplyPiece&)>;
  // If the whole reply is one code fence, blocks are looked for inside of it.
  enum class Unwrap : std::uint8_t { kYes, kNo };
  explicit ReplyScanner(Sink sink, Unwrap unwrap = Unwrap::kYes)
      : sink_(std::move(sink)), unwrap_(unwrap) {}

  void Push(std::string_view chunk);
  void Finish();

  std::string_view reply() const { return reply_; }  // all that was pushed
  // After Finish: the inside of the fence, if blocks were looked for in there.
  const std::optional<ReplyRange>& unwrapped() const { return unwrapped_; }

 private:
  enum class Step : std::uint8_t { kOn, kWait };  // kWait: more text is needed, or there is none
  enum class Mode : std::uint8_t { kOutside, kTag, kContent, kResults };
  enum class Wrapper : std::uint8_t { kNone, kOpen, kClosed };
  // Where the JSON of a block is; kNone: there is none, kDone: other text follows it.
  enum class Value : std::uint8_t { kBefore, kFenceLine, kIn, kAfter, kNone, kDone };
  struct Fence {
    char mark = '`';
    std::size_t count = 3;
  };
  struct Line {
    enum class Kind : std::uint8_t { kPlain, kOpens, kCloses, kUndecided } kind = Kind::kPlain;
    Fence fence;
    std::size_t end = 0;  // behind its line end
  };

  void Scan();
  Step ScanOutside();
  Step ScanLineStart();
  Step ScanTag();
  Step ScanContent();
  Step ScanResults();
  Step BeginMarkup();
  Step LookIntoWrapper();
  Line ClassifyLine() const;
  void OpenFence(const Line& line);
  void CloseFence(const Line& line);
  void TrackJson(char c);
  bool TrackValue(char c);
  Step EndUnclosed();
  void EndBlock(BlockClosing how, std::size_t content_end, std::size_t end);
  void ScanInside();
  void Emit(const ReplyPiece& piece) { sink_(piece); }
  void EmitText(std::size_t end);
  bool MayStart(std::string_view word) const;

  const Sink sink_;
  const Unwrap unwrap_;
  std::string reply_;
  bool final_ = false;
  std::size_t at_ = 0;       // scanned up to here
  std::size_t emitted_ = 0;  // handed out up to here
  Mode mode_ = Mode::kOutside;

  // Outside of blocks.
  bool line_start_ = true;
  bool blank_so_far_ = true;
  std::optional<Fence> fence_;
  std::size_t json_depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool no_results_end_ = false;  // none follows: a further search would find nothing
  bool no_block_end_ = false;

  // The fence that the reply begins with.
  Wrapper wrapper_ = Wrapper::kNone;
  ReplyRange inside_;
  std::optional<std::size_t> held_;  // what may be a block in it: not handed out from here
  std::optional<ReplyRange> unwrapped_;

  // The block under way.
  ReplyPiece block_;
  Value value_ = Value::kBefore;
  std::size_t value_depth_ = 0;
  std::size_t value_end_ = 0;
};

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
