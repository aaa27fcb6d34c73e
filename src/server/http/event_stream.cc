#include "server/http/event_stream.h"

#include <system_error>
#include <utility>

namespace dossier::server {
namespace {

constexpr Millis kLook{100};                    // poll interval for clients that left
constexpr std::size_t kMostWaiting = 1u << 20;  // bytes

}  // namespace

EventStream::EventStream(std::shared_ptr<HttpExchange> exchange, EventStreamOptions options)
    : exchange_(std::move(exchange)), options_(std::move(options)) {
  // Most requests are answered whole and at once: a thread for each would cost more than they do.
  if (options_.ticker) look_ = options_.ticker->Every(kLook, [this] { Look(); });
}

EventStream::~EventStream() {
  look_ = {};
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EventStream::Look() {
  std::unique_lock lock(mutex_);
  if (state_ != State::kWatching || gone_ || !exchange_->client_gone()) return;
  gone_ = true;
  lock.unlock();
  if (options_.on_gone) options_.on_gone();
}

void EventStream::Open(HttpHeaders headers, int status) {
  std::unique_lock lock(mutex_);
  if (state_ != State::kWatching) return;
  headers_ = std::move(headers);
  status_ = status;
  state_ = State::kOpening;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    state_ = State::kDone;
    gone_ = true;
    lock.unlock();
    exchange_->Reply({.status = 503, .headers = {{"Retry-After", "5"}}});
    if (options_.on_gone) options_.on_gone();
  }
}

void EventStream::Push(std::string text) {
  const std::lock_guard lock(mutex_);
  if (gone_) return;
  waiting_ += text;
  changed_.notify_all();
}

void EventStream::WaitForRoom() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return gone_ || stop_ || waiting_.size() <= kMostWaiting; });
}

void EventStream::Close() {
  std::unique_lock lock(mutex_);
  if (state_ == State::kOpening) changed_.wait(lock, [this] { return state_ != State::kOpening; });
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  changed_.notify_all();
  changed_.wait(lock, [this] { return state_ == State::kDone; });
}

void EventStream::Reply(HttpResponse response) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kWatching) return;
    state_ = State::kDone;  // from here on nobody else uses the exchange
  }
  exchange_->Reply(std::move(response));
}

bool EventStream::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

void EventStream::Work() {
  auto last = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (state_ != State::kDone && !stop_) {
    const bool told = changed_.wait_for(lock, kLook, [this] {
      const bool open = state_ == State::kOpen || state_ == State::kClosing;
      return stop_ || state_ == State::kOpening || state_ == State::kClosing ||
             (open && !waiting_.empty());
    });
    if (stop_) break;
    const State state = state_;
    std::string text = state == State::kOpen || state == State::kClosing
                           ? std::exchange(waiting_, {})
                           : std::string();
    lock.unlock();
    bool gone = !told && exchange_->client_gone();
    const auto now = std::chrono::steady_clock::now();
    if (state == State::kOpening) {
      exchange_->SendHead(status_, headers_);
    } else if (state == State::kOpen && text.empty() && options_.comment &&
               now - last >= options_.heartbeat && !gone) {
      text = options_.comment();
    }
    if (!text.empty()) {
      gone = !exchange_->SendChunk(text) || gone;
      last = std::chrono::steady_clock::now();
    }
    if (state == State::kClosing) exchange_->Finish();
    lock.lock();
    if (state == State::kOpening) state_ = State::kOpen;
    if (state == State::kClosing && waiting_.empty()) state_ = State::kDone;
    if (gone && !std::exchange(gone_, true)) {
      if (state_ == State::kOpen) state_ = State::kDone;
      lock.unlock();
      if (options_.on_gone) options_.on_gone();
      lock.lock();
    }
    changed_.notify_all();
  }
  if (state_ != State::kDone) exchange_->Abort();
  state_ = State::kDone;
  changed_.notify_all();
}

}  // namespace dossier::server
