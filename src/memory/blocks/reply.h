// Splits a model's reply into its memory block and its payload.
//
//   const ParsedReply reply = ParseReply("<memory_update>{\"core_get\": \"a\"}</memory_update>Ok");
//   reply.payload                                    // "Ok"
//   reply.block->Reads()                             // true
//
//   BlockFilter filter;                              // while a reply streams
//   for (chunk : chunks) Show(filter.Push(chunk));   // blocks never show
//   Show(filter.Finish());
//
// Both use the same scanner (ReplyScanner). Thread-safety: ParseReply is pure; a filter has one
// owner.

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

// Finds memory blocks in a reply as it arrives. The parser and the display share this state
// machine, so that both agree however the reply is split into chunks.
//
//   ReplyScanner scanner([&](const ReplyPiece& piece) { … });
//   scanner.Push(chunk);                       // any bytes, any length
//   scanner.Finish();
//
// A piece is emitted as soon as its kind is certain. Time is linear in the length of the reply.
// Thread-safety: none; one owner.

enum class BlockClosing : std::uint8_t {
  kClosed,   // by </memory_update> or <\/memory_update>
  kSlash,    // by /> after its JSON
  kMissing,  // the reply ended first
  kNoTag,    // it has a closing tag but no opening tag
};

struct ReplyRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// One part of the reply; parts come in order. `whole` is a byte range in the reply.
struct ReplyPiece {
  enum class Kind : std::uint8_t { kText, kBlock, kResults };
  Kind kind = Kind::kText;
  ReplyRange whole;
  // For a block: the range between its tags, the range inside the opening tag, and how it ends.
  ReplyRange content;
  ReplyRange attributes;
  BlockClosing end = BlockClosing::kClosed;
};

class ReplyScanner {
 public:
  using Sink = std::function<void(const ReplyPiece&)>;
  // Whether to look for blocks inside the fence if the whole reply is one code fence.
  enum class Unwrap : std::uint8_t { kYes, kNo };
  explicit ReplyScanner(Sink sink, Unwrap unwrap = Unwrap::kYes)
      : sink_(std::move(sink)), unwrap_(unwrap) {}

  void Push(std::string_view chunk);
  void Finish();

  std::string_view reply() const { return reply_; }  // everything pushed so far
  // After Finish: the content of the fence, if blocks were looked for inside it.
  const std::optional<ReplyRange>& unwrapped() const { return unwrapped_; }

 private:
  enum class Step : std::uint8_t { kOn, kWait };  // kWait: needs more text, or there is none left
  enum class Mode : std::uint8_t { kOutside, kTag, kContent, kResults };
  enum class Wrapper : std::uint8_t { kNone, kOpen, kClosed };
  // The position relative to a block's JSON. kNone: it has none; kDone: other text follows it.
  enum class Value : std::uint8_t { kBefore, kFenceLine, kIn, kAfter, kNone, kDone };
  struct Fence {
    char mark = '`';
    std::size_t count = 3;
  };
  struct Line {
    enum class Kind : std::uint8_t { kPlain, kOpens, kCloses, kUndecided } kind = Kind::kPlain;
    Fence fence;
    std::size_t end = 0;  // after the line ending
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
  std::size_t at_ = 0;       // scanned up to this offset
  std::size_t emitted_ = 0;  // emitted up to this offset
  Mode mode_ = Mode::kOutside;

  // State outside blocks.
  bool line_start_ = true;
  bool blank_so_far_ = true;
  std::optional<Fence> fence_;
  std::size_t json_depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool no_results_end_ = false;  // none follows, so another search is useless
  bool no_block_end_ = false;

  // State of the code fence that the reply begins with.
  Wrapper wrapper_ = Wrapper::kNone;
  ReplyRange inside_;
  std::optional<std::size_t> held_;  // start of a possible block in it; not emitted from here on
  std::optional<ReplyRange> unwrapped_;

  // The current block.
  ReplyPiece block_;
  Value value_ = Value::kBefore;
  std::size_t value_depth_ = 0;
  std::size_t value_end_ = 0;
};

// The reason why the block of a reply cannot be applied.
struct ReplyFault {
  enum class Kind : std::uint8_t { kMalformedBlock, kBadJson } kind = Kind::kMalformedBlock;
  std::string text;        // "memory_update: line 3, column 14: expected ',' or '}'"
  std::size_t offset = 0;  // bytes in the reply
};
std::string_view FaultName(ReplyFault::Kind kind);  // "malformed_block", "bad_json"

struct ParsedReply {
  // The reply without its blocks, trimmed. A reply without a block is kept byte for byte.
  std::string payload;
  std::optional<UpdateBlock> block;  // the first block; unset if it has a fault
  std::optional<ReplyFault> fault;   // fault of the first block
  std::vector<Notice> warnings;      // extra_block, invented_results, attributes_dropped
};

ParsedReply ParseReply(std::string_view reply);

// Used when memory is off: returns the payload, with a notice `memory_off` if it removed a block.
ParsedReply RemoveBlocks(std::string_view reply);

// Returns the first block exactly as the reply contains it, tags included; "" if there is none.
std::string FirstBlock(std::string_view reply);

class BlockFilter {
 public:
  BlockFilter();
  BlockFilter(const BlockFilter&) = delete;
  BlockFilter& operator=(const BlockFilter&) = delete;

  // Returns the text that may be shown now. All returned texts together are the payload. If the
  // whole reply is one code fence that holds a block, the lines of the fence are shown, too.
  std::string Push(std::string_view chunk);
  std::string Finish();

 private:
  void Take(const ReplyPiece& piece);
  void TakeText(std::string_view text);

  ReplyScanner scanner_;
  std::string ready_;
  std::string blanks_;    // trailing white space so far: trimmed if there is a block
  bool shown_ = false;    // something other than white space was shown
  bool removed_ = false;  // a block was removed
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_REPLY_H_
