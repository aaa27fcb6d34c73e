#include "server/queue/store_access.h"

#include <utility>

namespace dossier::server {
namespace {

constexpr std::size_t kMostLent = 8;  // a database has about a hundred for all machines
constexpr Millis kListenAgain{1'000};

}  // namespace

Result<std::unique_ptr<StoreAccess>> StoreAccess::Open(std::string address) {
  DOSSIER_ASSIGN_OR_RETURN(auto listens, store::RunQueue::Open(address));
  // Notifications from now on are not missed.
  DOSSIER_RETURN_IF_ERROR(listens->WaitForEvents(Millis(0), {}));
  return std::unique_ptr<StoreAccess>(new StoreAccess(std::move(address), std::move(listens)));
}

StoreAccess::StoreAccess(std::string address, std::unique_ptr<store::RunQueue> listens)
    : address_(std::move(address)), listens_(std::move(listens)) {
  thread_ = std::thread([this] { Listen(); });
}

StoreAccess::~StoreAccess() {
  ending_.Cancel("the server ends");
  thread_.join();
}

Result<StoreAccess::Lent> StoreAccess::Lend() {
  std::unique_ptr<store::RunQueue> queue;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return lent_ < kMostLent; });
    ++lent_;
    if (!idle_.empty()) {
      queue = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (queue) return Lent(*this, std::move(queue));
  auto opened = store::RunQueue::Open(address_);
  if (opened) return Lent(*this, std::move(*opened));
  TakeBack(nullptr);
  return tl::unexpected(opened.error());
}

void StoreAccess::TakeBack(std::unique_ptr<store::RunQueue> queue) {
  {
    const std::lock_guard lock(mutex_);
    --lent_;
    if (queue) idle_.push_back(std::move(queue));
  }
  returned_.notify_one();
}

std::shared_ptr<CancelSource> StoreAccess::NewsOf(const std::string& run,
                                                  const CancelToken& parent) {
  auto news = std::make_shared<CancelSource>(parent);
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const auto& one) { return one.second.expired(); });
  waiting_.emplace(run, news);
  return news;
}

void StoreAccess::Listen() {
  while (!ending_.token().cancelled()) {
    const auto runs = listens_->WaitForEvents(kLookAgain, ending_.token());
    if (runs) {
      Tell(*runs);
    } else {
      (void)WaitUnlessCancelled(kListenAgain, ending_.token());
    }
  }
}

void StoreAccess::Tell(const std::vector<std::string>& runs) {
  std::vector<std::shared_ptr<CancelSource>> told;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& run : runs) {
      // "": any run may have ended.
      const auto [from, to] =
          run.empty() ? std::pair(waiting_.begin(), waiting_.end()) : waiting_.equal_range(run);
      for (auto at = from; at != to; ++at) {
        if (auto news = at->second.lock()) told.push_back(std::move(news));
      }
      waiting_.erase(from, to);
    }
  }
  for (const auto& news : told) news->Cancel("there is news");
}

}  // namespace dossier::server
