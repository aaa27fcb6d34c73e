#include "tokens/counter/piece_running.h"

#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

// Bytes that a window shows after the last of a measured text's first borders.
constexpr std::size_t kLookAhead = 512;

}  // namespace

std::size_t TotalBytes(std::span<const std::string_view> texts) {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  return bytes;
}

Measured MeasuredBorders::Finish(std::int64_t tokens,
                                 const std::function<bool(std::size_t)>& is_lasting) && {
  out_.tokens = tokens;
  while (!last_.empty() && !is_lasting(last_.back().bytes)) last_.pop_back();
  if (last_.empty()) {
    out_.first.clear();
  } else {
    out_.lasting = last_.back();
    out_.open = tokens - out_.lasting.tokens;
  }
  return std::move(out_);
}

bool MeetingFinder::Matches(std::size_t at) {
  while (!first_.empty() && joint_ + first_.front().bytes < at) first_ = first_.subspan(1);
  return !first_.empty() && joint_ + first_.front().bytes == at;
}

void PieceRunning::AppendMeasured(std::string_view text, const Measured& measured) {
  if (!open_.empty() || measured.first.empty()) return Append(text);
  const std::size_t start = text_.size(), joint = start - settled_;
  const PartStart from = place();
  text_ += text;
  Meeting meeting;  // nothing before it, at the start
  if (start > 0) {
    const std::size_t end =
        utf8::FloorBoundary(text, std::min(text.size(), measured.first.back().bytes + kLookAhead));
    const auto found = pieces_.meet(std::string_view(text_).substr(settled_, joint + end), from,
                                    joint, measured.first);
    if (!found || found->border.bytes > measured.lasting.bytes) return Settle();
    meeting = *found;
  }
  tokens_ += meeting.before + measured.lasting.tokens - meeting.border.tokens;
  settled_ = start + measured.lasting.bytes;
  open_tokens_ = measured.open;
}

void PieceRunning::Append(std::string_view text) {
  if (open_.empty() && OpenBytes(text) == 0 && utf8::IsValid(text)) {
    text_ += text;
    return Settle();
  }
  open_ += text;
  const std::size_t complete = open_.size() - OpenBytes(open_);
  const std::string_view whole = std::string_view(open_).substr(0, complete);
  text_ += utf8::IsValid(whole) ? std::string(whole) : utf8::Sanitize(whole);
  open_.erase(0, complete);
  if (complete > 0) Settle();
}

void PieceRunning::Settle() {
  const Tail tail = CountOpen(std::string_view(text_).substr(settled_));
  settled_ += tail.lasting.bytes;
  tokens_ += tail.lasting.tokens;
  open_tokens_ = tail.tokens - tail.lasting.tokens;
}

Count PieceRunning::Total() const {
  std::int64_t open = open_tokens_;
  if (!open_.empty()) {
    open = CountOpen(text_.substr(settled_) + utf8::Sanitize(open_)).tokens;
  }
  return {.tokens = tokens_ + open, .exact = true};
}

Running::Mark PieceRunning::Here() const {
  return {.bytes = text_.size(), .settled = settled_, .tokens = tokens_, .open = open_};
}

void PieceRunning::Rollback(const Mark& mark) {
  text_.resize(std::min(mark.bytes, text_.size()));
  settled_ = std::min(mark.settled, text_.size());
  tokens_ = mark.tokens;
  open_ = mark.open;
  Settle();
}

}  // namespace dossier::tokens
