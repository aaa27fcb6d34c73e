#include "inspect/text/text_stream.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "base/text/utf8_kernels.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMinBlockBytes = 8;  // more than one code point of any encoding

bool PassesThrough(const TextStreamOptions& options) {
  return options.kind == EncodingKind::kUtf8 && !options.replace_invalid;
}

// Returns the part of `block` without an incomplete UTF-8 code point at its end.
std::size_t WholeCodePoints(std::string_view block) {
  if (block.empty()) return 0;
  const std::size_t start = utf8::FloorBoundary(block, block.size() - 1);
  if (start == 0 || utf8::internal::UnitAt(block, start).valid) return block.size();
  return start;
}

}  // namespace

TextStream::TextStream(const ByteSource& source, TextStreamOptions options)
    : source_(source),
      options_(std::move(options)),
      block_start_(options_.start),
      next_(options_.start) {}

Result<std::string_view> TextStream::ReadStored() {
  const std::size_t wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max(options_.block_bytes, kMinBlockBytes),
                              options_.limit - std::min(options_.limit, next_)));
  const auto whole = source_.bytes();
  if (whole) {
    const std::string_view all =
        whole->substr(0, std::min<std::uint64_t>(options_.limit, whole->size()));
    if (next_ >= all.size()) return std::string_view();
    const std::string_view block = all.substr(next_, wanted);
    last_ = next_ + block.size() == all.size();
    return block;
  }
  buffer_.resize(wanted);
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source_.ReadAt(next_, std::span(buffer_)));
  last_ = got < wanted || next_ + got >= options_.limit;
  return std::string_view(buffer_).substr(0, got);
}

Result<std::string_view> TextStream::Next() {
  if (options_.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
  DOSSIER_ASSIGN_OR_RETURN(stored_, ReadStored());
  block_start_ = next_;
  if (stored_.empty()) return std::string_view();
  if (PassesThrough(options_)) {
    if (!last_) stored_ = stored_.substr(0, WholeCodePoints(stored_));
    next_ += stored_.size();
    return stored_;
  }
  decoded_.clear();
  const DecodeStats stats =
      Decode(options_.kind, stored_, last_ ? LastBytes::kYes : LastBytes::kNo, &decoded_);
  if (stats.invalid > 0 && invalid_ == 0) first_invalid_ = block_start_ + stats.first_invalid;
  invalid_ += stats.invalid;
  stored_ = stored_.substr(0, stats.consumed);
  next_ += stats.consumed;
  return std::string_view(decoded_);
}

std::uint64_t TextStream::StoredOffset(std::size_t decoded_offset) const {
  if (PassesThrough(options_)) return block_start_ + decoded_offset;
  return block_start_ + StoredLength(options_.kind, stored_, decoded_offset);
}

}  // namespace dossier::inspect
