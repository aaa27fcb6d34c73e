#include "tokens/piece_running.h"

#include "base/utf8.h"
#include "tokens/open_bytes.h"

namespace dossier::tokens {

void PieceRunning::Append(std::string_view text) {
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
