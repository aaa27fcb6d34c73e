#include "ask/subcalls/map_items.h"

#include <utility>

#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMostItems = 200'000;
constexpr std::uint64_t kMostItemBytes = 256u << 20;
constexpr std::uint64_t kLittle = 1u << 20;  // bytes; above it a call takes the turn
constexpr std::uint64_t kBesideText = 256;   // bytes that are kept of an item beside its text

}  // namespace

Status LargeTurn::Take(const CancelToken& cancel) {
  const std::uint64_t watching = cancel.OnCancel([this] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ == State::kFree || cancel.cancelled(); });
    if (!cancel.cancelled()) state_ = State::kTaken;
  }
  cancel.Forget(watching);
  if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  return {};
}

void LargeTurn::GiveBack() {
  std::lock_guard lock(mutex_);
  state_ = State::kFree;
  changed_.notify_all();
}

MapItems::~MapItems() {
  if (size_ == Size::kLarge) turn_.GiveBack();
}

Status MapItems::Expect(std::uint64_t bytes) {
  if (bytes > kMostItemBytes - bytes_) {
    return MakeError(ErrorCode::kTooLong,
                     "the first {} items have more than {} MB; at most that much in one call: "
                     "pick fewer with code",
                     GroupDigits(texts_.size() + 1), kMostItemBytes >> 20);
  }
  if (size_ == Size::kLarge || held_ + bytes <= kLittle) return {};
  DOSSIER_RETURN_IF_ERROR(turn_.Take(cancel_));
  size_ = Size::kLarge;
  return {};
}

Status MapItems::Add(std::string text) {
  DOSSIER_RETURN_IF_ERROR(Expect(text.size()));
  held_ += text.size();
  copies_.push_back(std::move(text));
  return AddView(copies_.back());
}

Status MapItems::AddView(std::string_view text) {
  if (texts_.size() == kMostItems) {
    return MakeError(ErrorCode::kTooLong,
                     "more than {} items; at most that many in one call: pick fewer with code",
                     GroupDigits(kMostItems));
  }
  if (text.size() > kMostItemBytes - bytes_) return Expect(text.size());
  held_ += kBesideText;
  DOSSIER_RETURN_IF_ERROR(Expect(0));
  bytes_ += text.size();
  texts_.push_back(text);
  return {};
}

}  // namespace dossier::ask
