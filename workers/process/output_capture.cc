#include "output_capture.h"

#include <algorithm>
#include <utility>

namespace dossier::worker {
namespace {

constexpr std::size_t kLateLimit = 64u << 10;

// Bytes that begin a code point.
std::uint64_t CountCharacters(std::string_view text) {
  std::uint64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  return count;
}

}  // namespace

void OutputCapture::Begin(std::uint64_t limit) {
  std::lock_guard lock(mutex_);
  running_ = true;
  tail_limit_ = limit / 5;
  head_limit_ = limit - tail_limit_;
  head_.clear();
  tail_.clear();
  head_total_ = total_ = characters_ = tail_start_ = 0;
}

void OutputCapture::Write(std::string_view data) {
  std::lock_guard lock(mutex_);
  if (!running_) {
    late_.append(data.substr(0, kLateLimit - std::min(kLateLimit, late_.size())));
    return;
  }
  total_ += data.size();
  characters_ += CountCharacters(data);
  const std::uint64_t room = head_limit_ - head_total_;
  const std::string_view first =
      data.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(room, data.size())));
  head_.append(first);
  head_total_ += first.size();
  WriteTail(data.substr(first.size()));
}

void OutputCapture::WriteTail(std::string_view data) {
  if (data.size() > tail_limit_) data.remove_prefix(data.size() - tail_limit_);
  const std::size_t room = static_cast<std::size_t>(tail_limit_) - tail_.size();
  const std::string_view first = data.substr(0, room);
  tail_.append(first);
  data.remove_prefix(first.size());
  while (!data.empty()) {
    const std::size_t piece = std::min(data.size(), tail_.size() - tail_start_);
    std::copy_n(data.data(), piece, tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_));
    tail_start_ = (tail_start_ + piece) % tail_.size();
    data.remove_prefix(piece);
  }
}

std::string OutputCapture::TakeHead(std::uint64_t* at) {
  std::lock_guard lock(mutex_);
  *at = head_total_ - head_.size();
  return std::exchange(head_, {});
}

OutputCapture::Rest OutputCapture::Finish() {
  std::lock_guard lock(mutex_);
  running_ = false;
  Rest rest;
  rest.head_at = head_total_ - head_.size();
  rest.head = std::exchange(head_, {});
  rest.total = total_;
  rest.characters = characters_;
  rest.dropped = total_ - head_total_ - tail_.size();
  rest.tail_at = total_ - tail_.size();
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_), tail_.end());
  tail_start_ = 0;
  rest.tail = std::exchange(tail_, {});
  return rest;
}

std::string OutputCapture::TakeLate() {
  std::lock_guard lock(mutex_);
  return std::exchange(late_, {});
}

}  // namespace dossier::worker
