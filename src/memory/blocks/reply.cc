#include "memory/blocks/reply.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/block_json.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

bool IsOuterSpace(char c) { return kBlanks.find(c) != std::string_view::npos; }

std::string_view Part(std::string_view text, ReplyRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

ReplyRange OuterTrimmed(std::string_view text, ReplyRange range) {
  while (range.begin < range.end && IsOuterSpace(text[range.end - 1])) --range.end;
  while (range.begin < range.end && IsOuterSpace(text[range.begin])) ++range.begin;
  return range;
}

// Returns `range` without blanks at both ends and without one Markdown fence around the rest.
ReplyRange JsonRange(std::string_view reply, ReplyRange range) {
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
  const ReplyRange range = JsonRange(reply, piece.content);
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
  parsed.block = CheckBlock(std::move(read));
}

struct Parted {
  std::string payload;
  std::vector<ReplyPiece> removed;
};

Parted PartReply(std::string_view reply) {
  Parted parted;
  std::vector<ReplyRange> texts;
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
  const ReplyRange kept = scanner.unwrapped().value_or(ReplyRange{0, reply.size()});
  for (ReplyRange text : texts) {
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
  std::optional<ReplyRange> found;
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

namespace {

constexpr std::string_view kUpdateOpen = "<memory_update";
constexpr std::string_view kUpdateClose = "</memory_update>";
constexpr std::string_view kUpdateCloseEscaped = "<\\/memory_update>";
constexpr std::string_view kResultsOpen = "<memory_results>";
constexpr std::string_view kResultsClose = "</memory_results>";

// Longer indents and info strings make no fence, so that undecided text stays short.
constexpr std::size_t kMaxFenceIndent = 100;
constexpr std::size_t kMaxInfo = 200;

// Returns `range` of `text` without the blanks at its ends.
ReplyRange Trimmed(std::string_view text, ReplyRange range) {
  while (range.begin < range.end && IsJsonSpace(text[range.end - 1])) --range.end;
  while (range.begin < range.end && IsJsonSpace(text[range.begin])) ++range.begin;
  return range;
}
bool IsNameByte(char c) { return IsWordByte(c) || c == '-' || c == ':' || c == '.'; }

}  // namespace

void ReplyScanner::Push(std::string_view chunk) {
  reply_ += chunk;
  Scan();
}

void ReplyScanner::Finish() {
  final_ = true;
  Scan();
  if (wrapper_ == Wrapper::kClosed && held_) ScanInside();
  held_.reset();
  EmitText(reply_.size());
}

void ReplyScanner::Scan() {
  Step step = Step::kOn;
  while (step == Step::kOn) {
    switch (mode_) {
      case Mode::kOutside:
        step = ScanOutside();
        break;
      case Mode::kTag:
        step = ScanTag();
        break;
      case Mode::kContent:
        step = ScanContent();
        break;
      case Mode::kResults:
        step = ScanResults();
        break;
    }
  }
  if (mode_ == Mode::kOutside) EmitText(at_);
}

// Returns true if the rest of the reply begins with `word`, or may once more text has arrived.
bool ReplyScanner::MayStart(std::string_view word) const {
  const std::string_view rest = std::string_view(reply_).substr(at_, word.size());
  return word.starts_with(rest) && (rest.size() == word.size() || !final_);
}

ReplyScanner::Step ReplyScanner::ScanOutside() {
  while (at_ < reply_.size()) {
    const char c = reply_[at_];
    if (wrapper_ == Wrapper::kClosed &&
        !IsJsonSpace(c)) {  // text after it: the fence was only code
      wrapper_ = Wrapper::kNone;
      held_.reset();
    }
    if (line_start_) {
      if (ScanLineStart() == Step::kWait) return Step::kWait;
      continue;
    }
    if (c == '<' && !fence_ && !in_string_ && (MayStart(kUpdateOpen) || MayStart(kResultsOpen))) {
      return BeginMarkup();
    }
    if (c == '<' && wrapper_ == Wrapper::kOpen && LookIntoWrapper() == Step::kWait) {
      return Step::kWait;
    }
    if (!fence_) TrackJson(c);
    if (!IsJsonSpace(c)) blank_so_far_ = false;
    line_start_ = c == '\n';
    ++at_;
  }
  return Step::kWait;
}

ReplyScanner::Step ReplyScanner::ScanLineStart() {
  const Line line = ClassifyLine();
  switch (line.kind) {
    case Line::Kind::kUndecided:
      return Step::kWait;
    case Line::Kind::kPlain:
      line_start_ = false;
      break;
    case Line::Kind::kOpens:
      OpenFence(line);
      break;
    case Line::Kind::kCloses:
      CloseFence(line);
      break;
  }
  return Step::kOn;
}

ReplyScanner::Line ReplyScanner::ClassifyLine() const {
  const std::string_view rest = std::string_view(reply_).substr(at_);
  const std::size_t indent = std::min(rest.find_first_not_of(" \t"), rest.size());
  if (indent > kMaxFenceIndent) return {};
  if (indent == rest.size()) return {.kind = final_ ? Line::Kind::kPlain : Line::Kind::kUndecided};
  const char mark = rest[indent];
  if (mark != '`' && mark != '~') return {};
  const std::size_t run_end = std::min(rest.find_first_not_of(mark, indent), rest.size());
  const Fence fence{.mark = mark, .count = run_end - indent};
  if (run_end == rest.size() && !final_ && fence.count <= kMaxInfo) {
    return {.kind = Line::Kind::kUndecided};
  }
  if (fence.count < 3 || fence.count > kMaxInfo) return {};
  const std::string_view info = rest.substr(run_end, kMaxInfo + 1);
  const std::size_t line_end = info.find('\n');
  if (line_end == std::string_view::npos) {
    if (info.size() > kMaxInfo) return {};
    if (!final_) return {.kind = Line::Kind::kUndecided};
  }
  const std::string_view tag = TrimSpace(info.substr(0, line_end));
  const std::size_t end =
      line_end == std::string_view::npos ? reply_.size() : at_ + run_end + line_end + 1;
  if (fence_) {
    const bool closes = fence_->mark == mark && fence.count >= fence_->count && tag.empty();
    return closes ? Line{Line::Kind::kCloses, fence, end} : Line{};
  }
  if (mark == '`' && tag.find('`') != std::string_view::npos) return {};
  return {Line::Kind::kOpens, fence, end};
}

void ReplyScanner::OpenFence(const Line& line) {
  fence_ = line.fence;
  json_depth_ = 0;
  if (unwrap_ == Unwrap::kYes && blank_so_far_) {
    wrapper_ = Wrapper::kOpen;
    inside_.begin = line.end;
  }
  blank_so_far_ = false;
  at_ = line.end;
}

void ReplyScanner::CloseFence(const Line& line) {
  fence_.reset();
  if (wrapper_ == Wrapper::kOpen) {
    wrapper_ = Wrapper::kClosed;
    inside_.end = at_;
  }
  at_ = line.end;
}

// At '<' in the fence that the reply begins with: only its end shows whether it was code.
ReplyScanner::Step ReplyScanner::LookIntoWrapper() {
  if (held_) return Step::kOn;
  for (const std::string_view word : {kUpdateOpen, kResultsOpen}) {
    if (!MayStart(word)) continue;
    if (reply_.size() - at_ < word.size()) return Step::kWait;
    held_ = at_;
  }
  return Step::kOn;
}

// Tracks JSON in the payload just enough to know whether a '<' is inside a string. A string ends no
// later than its line, so prose with a brace and a quote confuses one line only.
void ReplyScanner::TrackJson(char c) {
  if (in_string_) {
    if (c == '\n') {
      in_string_ = false;
      json_depth_ = 0;
    } else if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    if (!in_string_) escaped_ = false;
  } else if (c == '{' || c == '[') {
    ++json_depth_;
  } else if ((c == '}' || c == ']') && json_depth_ > 0) {
    --json_depth_;
  } else if (c == '"' && json_depth_ > 0) {
    in_string_ = true;
  }
}

// Handles a '<' that begins, or may begin, a block or results.
ReplyScanner::Step ReplyScanner::BeginMarkup() {
  const std::size_t available = reply_.size() - at_;
  if (MayStart(kResultsOpen) && available >= kResultsOpen.size() && !no_results_end_) {
    EmitText(at_);
    block_ = {.kind = ReplyPiece::Kind::kResults, .whole = {at_, at_}};
    at_ += kResultsOpen.size();
    mode_ = Mode::kResults;
    return Step::kOn;
  }
  if (MayStart(kUpdateOpen) && available > kUpdateOpen.size() - (final_ ? 1 : 0)) {
    const std::size_t behind = at_ + kUpdateOpen.size();
    if (behind == reply_.size() || !IsNameByte(reply_[behind])) {
      EmitText(at_);
      block_ = {.kind = ReplyPiece::Kind::kBlock, .whole = {at_, at_}, .content = {behind, behind}};
      value_ = Value::kBefore;
      value_depth_ = 0;
      at_ = behind;
      mode_ = Mode::kTag;
      return Step::kOn;
    }
  } else if (!final_ && available <= kResultsOpen.size() - 1) {
    return Step::kWait;
  }
  blank_so_far_ = false;
  ++at_;
  return Step::kOn;
}

ReplyScanner::Step ReplyScanner::ScanTag() {
  const std::size_t found = reply_.find_first_of(">{<", at_);
  if (found == std::string::npos) {
    at_ = reply_.size();
    return final_ ? EndUnclosed() : Step::kWait;
  }
  const ReplyRange attributes = Trimmed(reply_, {block_.content.begin, found});
  const bool has_tag = reply_[found] == '>';
  block_.content.begin = at_ = has_tag ? found + 1 : found;
  mode_ = Mode::kContent;
  if (!has_tag) {
    block_.end = BlockClosing::kNoTag;
  } else if (attributes.begin < attributes.end && reply_[attributes.end - 1] == '/') {
    block_.attributes = Trimmed(reply_, {attributes.begin, attributes.end - 1});
    EndBlock(BlockClosing::kClosed, at_, at_);  // <memory_update/> is empty
  } else {
    block_.attributes = attributes;
  }
  return Step::kOn;
}

ReplyScanner::Step ReplyScanner::ScanContent() {
  for (; at_ < reply_.size(); ++at_) {
    const char c = reply_[at_];
    if (c == '<') {
      for (const std::string_view close : {kUpdateClose, kUpdateCloseEscaped}) {
        if (!MayStart(close)) continue;
        if (reply_.size() - at_ < close.size()) return Step::kWait;
        EndBlock(block_.end, at_, at_ + close.size());
        return Step::kOn;
      }
    }
    if (value_ == Value::kAfter && c == '/') {
      if (at_ + 1 == reply_.size() && !final_) return Step::kWait;
      if (reply_.compare(at_, 2, "/>") == 0) {
        EndBlock(BlockClosing::kSlash, at_, at_ + 2);
        return Step::kOn;
      }
    }
    if (!TrackValue(c) && no_block_end_) break;
  }
  return final_ ? EndUnclosed() : Step::kWait;
}

// Returns true while the value is being read or may still begin.
bool ReplyScanner::TrackValue(char c) {
  switch (value_) {
    case Value::kBefore:
      if (c == '{') {
        value_ = Value::kIn;
        value_depth_ = 1;
        in_string_ = escaped_ = false;
      } else if (!IsJsonSpace(c)) {
        value_ = c == '`' ? Value::kFenceLine : Value::kNone;
      }
      break;
    case Value::kFenceLine:
      if (c == '\n') value_ = Value::kBefore;
      break;
    case Value::kIn:
      if (in_string_) {
        if (escaped_) {
          escaped_ = false;
        } else if (c == '\\') {
          escaped_ = true;
        } else if (c == '"') {
          in_string_ = false;
        }
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++value_depth_;
      } else if ((c == '}' || c == ']') && --value_depth_ == 0) {
        value_ = Value::kAfter;
        value_end_ = at_ + 1;
      }
      break;
    case Value::kAfter:
      if (c == '`') {
        value_end_ = at_ + 1;
      } else if (!IsJsonSpace(c)) {
        value_ = Value::kDone;
      }
      break;
    case Value::kNone:
    case Value::kDone:
      break;
  }
  return value_ != Value::kNone && value_ != Value::kDone;
}

// The reply ends inside a block, which takes only what can belong to it, so an answer is kept.
ReplyScanner::Step ReplyScanner::EndUnclosed() {
  no_block_end_ = true;
  std::size_t end = reply_.size();
  if (mode_ == Mode::kContent) {
    if (value_ == Value::kNone || value_ == Value::kBefore) end = block_.content.begin;
    if (value_ == Value::kAfter || value_ == Value::kDone) end = value_end_;
  }
  EndBlock(BlockClosing::kMissing, end, end);
  return Step::kOn;
}

void ReplyScanner::EndBlock(BlockClosing how, std::size_t content_end, std::size_t end) {
  block_.end = how;
  block_.content.end = std::max(content_end, block_.content.begin);
  block_.whole.end = end;
  Emit(block_);
  emitted_ = at_ = end;
  mode_ = Mode::kOutside;
  line_start_ = true;
  in_string_ = escaped_ = false;
  blank_so_far_ = false;
}

ReplyScanner::Step ReplyScanner::ScanResults() {
  const std::size_t found = reply_.find(kResultsClose, at_);
  if (found != std::string::npos) {
    EndBlock(BlockClosing::kClosed, found, found + kResultsClose.size());
    return Step::kOn;
  }
  if (!final_) {
    at_ = std::max(at_, reply_.size() - std::min(reply_.size(), kResultsClose.size()));
    return Step::kWait;
  }
  no_results_end_ = true;  // not closed: an ordinary word
  mode_ = Mode::kOutside;
  at_ = block_.whole.begin + 1;
  return Step::kOn;
}

void ReplyScanner::EmitText(std::size_t end) {
  if (held_) end = std::min(end, *held_);
  if (end <= emitted_) return;
  Emit({.kind = ReplyPiece::Kind::kText, .whole = {emitted_, end}});
  emitted_ = end;
}

// The whole reply is one fence: scans its content and emits what was not emitted before.
void ReplyScanner::ScanInside() {
  const std::string_view inside =
      std::string_view(reply_).substr(inside_.begin, inside_.end - inside_.begin);
  const auto moved = [this](ReplyRange range) {
    return ReplyRange{range.begin + inside_.begin, range.end + inside_.begin};
  };
  ReplyScanner scanner(
      [&](const ReplyPiece& found) {
        ReplyPiece piece = found;
        piece.whole = moved(found.whole);
        piece.content = moved(found.content);
        piece.attributes = moved(found.attributes);
        if (piece.kind == ReplyPiece::Kind::kText) {
          piece.whole.begin = std::max(piece.whole.begin, emitted_);
          if (piece.whole.begin >= piece.whole.end) return;
        }
        Emit(piece);
        emitted_ = piece.whole.end;
      },
      Unwrap::kNo);
  scanner.Push(inside);
  scanner.Finish();
  unwrapped_ = inside_;
}

}  // namespace dossier::memory
