#include "tokens/bpe_running.h"

#include "base/utf8.h"
#include "tokens/open_bytes.h"

namespace dossier::tokens {

void BpeRunning::Append(std::string_view text) {
  open_ += text;
  const std::size_t complete = open_.size() - OpenBytes(open_);
  const std::string_view whole = std::string_view(open_).substr(0, complete);
  text_ += utf8::IsValid(whole) ? std::string(whole) : utf8::Sanitize(whole);
  open_.erase(0, complete);
  if (complete > 0) Settle();
}

void BpeRunning::Settle() {
  struct Border {
    std::size_t at;
    std::int64_t tokens;
  };
  std::vector<Border> borders;
  const std::string_view tail = std::string_view(text_).substr(settled_);
  open_tokens_ = 0;
  encoder_.ForEachPiece(tail, [&](std::size_t, std::size_t end, std::size_t tokens) {
    open_tokens_ += static_cast<std::int64_t>(tokens);
    borders.push_back({end, open_tokens_});
    return true;
  });
  for (auto border = borders.rbegin(); border != borders.rend(); ++border) {
    if (!encoder_.IsLastingBorder(tail, border->at)) continue;
    settled_ += border->at;
    tokens_ += border->tokens;
    open_tokens_ -= border->tokens;
    return;
  }
}

Count BpeRunning::Total() const {
  std::int64_t open = open_tokens_;
  if (!open_.empty()) {
    const std::string tail = text_.substr(settled_) + utf8::Sanitize(open_);
    open = static_cast<std::int64_t>(encoder_.Count(tail));
  }
  return {.tokens = tokens_ + open, .exact = true};
}

Running::Mark BpeRunning::Here() const {
  return {.bytes = text_.size(), .settled = settled_, .tokens = tokens_, .open = open_};
}

void BpeRunning::Rollback(const Mark& mark) {
  text_.resize(std::min(mark.bytes, text_.size()));
  settled_ = std::min(mark.settled, text_.size());
  tokens_ = mark.tokens;
  open_ = mark.open;
  Settle();
}

}  // namespace dossier::tokens
