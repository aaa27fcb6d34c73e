#include "base/text/redact_stream.h"

#include <algorithm>
#include <vector>

#include "base/text/redact.h"

namespace dossier {
namespace {

constexpr std::size_t kBlock = 64 << 10;     // bytes: looked at at once
constexpr std::size_t kHeldBack = 40 << 10;  // longer than any secret with what follows it
constexpr std::size_t kContext = 1 << 10;    // more than the detector looks back

}  // namespace

std::string RedactStream::Add(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() < written_ + kBlock + kHeldBack) return {};
  return Take(pending_.size() - kHeldBack);
}

std::string RedactStream::Finish() {
  std::string rest = Take(pending_.size());
  pending_.clear();
  written_ = 0;
  return rest;
}

std::string RedactStream::Take(std::size_t end) {
  std::vector<Secret> found = FindSecrets(pending_);
  // What begins in the context was seen before, or only looks like a secret because it is cut.
  std::erase_if(found, [&](const Secret& secret) {
    return secret.offset < written_ || secret.offset >= end;
  });
  if (!found.empty()) end = std::max(end, found.back().offset + found.back().length);
  const std::string_view text = std::string_view(pending_).substr(0, end);
  std::string out = Redact(text, found).substr(written_);
  pending_.erase(0, end - std::min(end, kContext));
  written_ = std::min(end, kContext);
  return out;
}

}  // namespace dossier
