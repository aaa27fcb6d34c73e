#include "memory/blocks/reply.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/block_json.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

bool IsOuterSpace(char c) { return kBlanks.find(c) != std::string_view::npos; }

std::string_view Part(std::string_view text, ByteRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

ByteRange OuterTrimmed(std::string_view text, ByteRange range) {
  while (range.begin < range.end && IsOuterSpace(text[range.end - 1])) --range.end;
  while (range.begin < range.end && IsOuterSpace(text[range.begin])) ++range.begin;
  return range;
}

// `range` less blanks at both ends, and less one Markdown fence around the rest.
ByteRange JsonRange(std::string_view reply, ByteRange range) {
  range = OuterTrimmed(reply, range);
  const std::string_view json = Part(reply, range);
  if (!json.starts_with("```")) return range;
  const std::size_t tag_end = json.find_first_of("\n{");
  if (tag_end == std::string_view::npos) return range;
  range.begin += tag_end;
  while (range.end > range.begin && reply[range.end - 1] == '`') --range.end;
  return OuterTrimmed(reply, range);
}

std::optional<ReplyFault> TagFault(const ReplyPiece& piece) {
  ReplyFault fault{.offset = piece.whole.begin};
  switch (piece.end) {
    case BlockClosing::kClosed:
      return std::nullopt;
    case BlockClosing::kMissing:
      fault.text = "memory_update is not closed; end it with </memory_update>";
      return fault;
    case BlockClosing::kSlash:
      fault.text = "memory_update ends in \"/>\"; end it with </memory_update>";
      fault.offset = piece.content.end;
      return fault;
    case BlockClosing::kNoTag:
      fault.text = "memory_update has no whole opening tag; begin it with <memory_update>";
      return fault;
  }
  return fault;
}

void ReadBlock(std::string_view reply, const ReplyPiece& piece, ParsedReply& parsed) {
  parsed.fault = TagFault(piece);
  if (parsed.fault) return;
  if (piece.attributes.begin < piece.attributes.end) {
    parsed.warnings.push_back(
        {"attributes_dropped", fmt::format("the tag memory_update takes no attributes; dropped: {}",
                                           utf8::Prefix(Part(reply, piece.attributes), 200))});
  }
  const ByteRange range = JsonRange(reply, piece.content);
  const std::string_view json = Part(reply, range);
  BlockJson read = ReadBlockJson(json);
  if (read.fault) {
    const TextPlace place = PlaceOf(json, read.fault->offset);
    parsed.fault = ReplyFault{.kind = ReplyFault::Kind::kBadJson,
                              .text = fmt::format("memory_update: line {}, column {}: expected {}",
                                                  place.line, place.column, read.fault->expected),
                              .offset = range.begin + read.fault->offset};
    return;
  }
  parsed.block = CheckBlock(std::move(read.members), read.repeated);
}

struct Parted {
  std::string payload;
  std::vector<ReplyPiece> removed;
};

Parted PartReply(std::string_view reply) {
  Parted parted;
  std::vector<ByteRange> texts;
  ReplyScanner scanner([&](const ReplyPiece& piece) {
    if (piece.kind == ReplyPiece::Kind::kText) {
      texts.push_back(piece.whole);
    } else {
      parted.removed.push_back(piece);
    }
  });
  scanner.Push(reply);
  scanner.Finish();
  if (parted.removed.empty()) {
    parted.payload = reply;
    return parted;
  }
  const ByteRange kept = scanner.unwrapped().value_or(ByteRange{0, reply.size()});
  for (ByteRange text : texts) {
    text.begin = std::max(text.begin, kept.begin);
    text.end = std::min(text.end, kept.end);
    if (text.begin < text.end) parted.payload += Part(reply, text);
  }
  parted.payload = std::string(TrimSpace(parted.payload));
  return parted;
}

}  // namespace

std::string_view FaultName(ReplyFault::Kind kind) {
  return kind == ReplyFault::Kind::kBadJson ? "bad_json" : "malformed_block";
}

ParsedReply ParseReply(std::string_view reply) {
  ParsedReply parsed;
  Parted parted = PartReply(reply);
  parsed.payload = std::move(parted.payload);
  std::size_t blocks = 0;
  std::size_t results = 0;
  for (const ReplyPiece& piece : parted.removed) {
    if (piece.kind == ReplyPiece::Kind::kResults) {
      ++results;
    } else if (++blocks == 1) {
      ReadBlock(reply, piece, parsed);
    }
  }
  if (blocks > 1) {
    parsed.warnings.push_back(
        {"extra_block", fmt::format("{} further memory_update blocks were removed and not applied; "
                                    "a reply holds one",
                                    blocks - 1)});
  }
  if (results > 0) {
    parsed.warnings.push_back(
        {"invented_results", "memory_results were removed: only the memory itself writes them"});
  }
  return parsed;
}

std::string FirstBlock(std::string_view reply) {
  std::optional<ByteRange> found;
  ReplyScanner scanner([&](const ReplyPiece& piece) {
    if (!found && piece.kind == ReplyPiece::Kind::kBlock) found = piece.whole;
  });
  scanner.Push(reply);
  scanner.Finish();
  return found ? std::string(reply.substr(found->begin, found->end - found->begin)) : "";
}

ParsedReply RemoveBlocks(std::string_view reply) {
  ParsedReply parsed;
  Parted parted = PartReply(reply);
  parsed.payload = std::move(parted.payload);
  if (!parted.removed.empty()) {
    parsed.warnings.push_back(
        {"memory_off",
         "this call has no memory: a memory block was removed from its reply, not applied"});
  }
  return parsed;
}

BlockFilter::BlockFilter() : scanner_([this](const ReplyPiece& piece) { Take(piece); }) {}

std::string BlockFilter::Push(std::string_view chunk) {
  scanner_.Push(chunk);
  return std::exchange(ready_, {});
}

std::string BlockFilter::Finish() {
  scanner_.Finish();
  if (!removed_) ready_ += blanks_;
  blanks_.clear();
  return std::exchange(ready_, {});
}

void BlockFilter::Take(const ReplyPiece& piece) {
  if (piece.kind == ReplyPiece::Kind::kText) {
    TakeText(Part(scanner_.reply(), piece.whole));
  } else {
    removed_ = true;
  }
}

void BlockFilter::TakeText(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlanks);
  if (last == std::string_view::npos) {
    blanks_ += text;
    return;
  }
  if (!shown_) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    blanks_ += text.substr(0, first);
    text.remove_prefix(first);
    if (removed_) blanks_.clear();
    shown_ = true;
  }
  ready_ += std::exchange(blanks_, {});
  const std::size_t end = text.find_last_not_of(kBlanks) + 1;
  ready_ += text.substr(0, end);
  blanks_ = text.substr(end);
}

}  // namespace dossier::memory
