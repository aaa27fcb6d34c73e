#include "sandbox/session/host_bridge.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/hash.h"

namespace dossier::sandbox {
namespace {

JsonObject ErrorReply(std::string_view code, std::string_view message, BridgeReply::Retry retry) {
  return {{"ok", false},
          {"error", JsonObject{{"code", code},
                               {"message", message},
                               {"retryable", retry == BridgeReply::Retry::kYes}}}};
}

class HostReply final : public BridgeReply {
 public:
  HostReply(std::shared_ptr<HostBridge> bridge, std::uint64_t id, CancelToken cancel)
      : bridge_(std::move(bridge)), id_(id), cancel_(std::move(cancel)) {}

  // Dropped without an answer: the caller must not wait for ever.
  ~HostReply() override {
    bridge_->Complete(id_, ErrorReply("failed", "the call was dropped by the host", Retry::kNo),
                      {});
  }

  void Ok(Json value, std::string raw) override {
    bridge_->Complete(id_, {{"ok", true}, {"value", std::move(value)}}, std::move(raw));
  }
  void Fail(std::string_view code, std::string_view message, Retry retry) override {
    bridge_->Complete(id_, ErrorReply(code, message, retry), {});
  }
  void Item(std::int64_t index, Json value, std::string raw) override {
    bridge_->SendItem(id_, {{"index", index}, {"ok", true}, {"value", std::move(value)}},
                      std::move(raw));
  }
  CancelToken cancel() const override { return cancel_; }

 private:
  std::shared_ptr<HostBridge> bridge_;
  std::uint64_t id_;
  CancelToken cancel_;
};

}  // namespace

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Waker::Wake() {
  if (waiter_.load() == std::this_thread::get_id() || written_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_.get(), &one, sizeof(one));
}

void Waker::Drain() {
  std::uint64_t count;
  [[maybe_unused]] const ssize_t got = read(fd_.get(), &count, sizeof(count));
  // Behind the read: who finds the flag set has pushed before, and is seen after this.
  written_.exchange(false);
}

std::string CallKey(const BridgeCall& call) {
  constexpr std::size_t kShort = 64;
  const std::string args = boost::json::serialize(call.args);
  const auto part = [](const std::string& text) {
    return text.size() <= kShort ? text : Sha256Hex(text);
  };
  return fmt::format("{}\n{}\n{}", part(call.method), part(args), part(call.raw));
}

std::uint64_t HostBridge::Send(Message message, Urgency urgency) {
  std::uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    if (IsRequest(message.type)) message.id = next_id_ += 2;
    id = message.id;
    writer_.Push(std::move(message), urgency);
  }
  waker_->Wake();
  return id;
}

Status HostBridge::Flush(int fd) {
  std::lock_guard lock(mutex_);
  return writer_.Flush(fd);
}

bool HostBridge::pending() const {
  std::lock_guard lock(mutex_);
  return !writer_.empty();
}

std::shared_ptr<BridgeReply> HostBridge::OpenCall(const BridgeCall& call, std::uint64_t bytes) {
  auto cancel = std::make_unique<CancelSource>();
  const CancelToken token = cancel->token();
  std::string key = CallKey(call);
  {
    std::lock_guard lock(mutex_);
    calls_.emplace(call.id, OpenedCall{std::move(cancel), call.block, std::move(key), bytes});
  }
  return std::make_shared<HostReply>(shared_from_this(), call.id, token);
}

void HostBridge::CancelCall(std::uint64_t id, std::string reason) {
  std::unique_ptr<CancelSource> cancel;
  {
    std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    cancel = std::move(found->second.cancel);
    GiveBack(found->second.bytes);
    calls_.erase(found);
  }
  cancel->Cancel(std::move(reason));  // runs callbacks of others: not under the lock
}

bool HostBridge::Complete(std::uint64_t id, JsonObject reply, std::string raw) {
  std::string json = boost::json::serialize(reply);
  if (json.size() > kMaxJson || raw.size() > kMaxToWorker - kMaxJson) {
    json = boost::json::serialize(ErrorReply(
        "too_large",
        fmt::format("the reply has {} bytes, {} of them JSON; the limits are {} and {}",
                    json.size() + raw.size(), json.size(), kMaxToWorker - kMaxJson, kMaxJson),
        BridgeReply::Retry::kNo));
    raw.clear();
  }
  {
    std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return false;
    CallRecord record{std::move(found->second.key), json, {}};
    if (record.bytes() + raw.size() <= record_bytes_left_) {
      record.raw = raw;
      record_bytes_left_ -= record.bytes();
      records_.push_back(std::move(record));
    } else {
      record_bytes_left_ = 0;
    }
    Answer(found, std::move(json), std::move(raw));
  }
  waker_->Wake();
  return true;
}

bool HostBridge::Repeat(std::uint64_t id, const CallRecord& record) {
  {
    std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return false;
    Answer(found, record.json, record.raw);
  }
  waker_->Wake();
  return true;
}

void HostBridge::Answer(std::map<std::uint64_t, OpenedCall>::iterator call, std::string json,
                        std::string raw) {
  writer_.PushSerialized({.type = MessageType::kReply,
                          .id = call->first,
                          .block = static_cast<std::uint32_t>(call->second.block),
                          .raw = std::move(raw)},
                         std::move(json));
  GiveBack(call->second.bytes);
  calls_.erase(call);
  last_reply_ = std::chrono::steady_clock::now();
}

void HostBridge::GiveBack(std::uint64_t bytes) {
  // Far below what the worker begins with, so that what is held back here stops no call.
  constexpr std::uint64_t kStep = 1u << 20;
  unsent_credit_ += bytes;
  if (unsent_credit_ < kStep) return;
  writer_.Push({.type = MessageType::kCredit,
                .json = {{"requests", 0}, {"bytes", static_cast<std::int64_t>(unsent_credit_)}}},
               Urgency::kUrgent);
  unsent_credit_ = 0;
}

void HostBridge::SendItem(std::uint64_t id, JsonObject item, std::string raw) {
  {
    std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    writer_.Push({.type = MessageType::kItem,
                  .id = id,
                  .block = static_cast<std::uint32_t>(found->second.block),
                  .json = std::move(item),
                  .raw = std::move(raw)});
    last_reply_ = std::chrono::steady_clock::now();
  }
  waker_->Wake();
}

void HostBridge::SkipId(std::uint64_t id) {
  std::lock_guard lock(mutex_);
  next_id_ = std::max(next_id_, id);
}

std::size_t HostBridge::open_calls() const {
  std::lock_guard lock(mutex_);
  return calls_.size();
}

Clock::Steady HostBridge::last_reply() const {
  std::lock_guard lock(mutex_);
  return last_reply_;
}

void HostBridge::BeginBlock(std::uint64_t most_record_bytes) {
  std::lock_guard lock(mutex_);
  record_bytes_left_ = most_record_bytes;
}

std::vector<CallRecord> HostBridge::EndBlock(std::string_view reason) {
  std::map<std::uint64_t, OpenedCall> open;
  std::vector<CallRecord> records;
  {
    std::lock_guard lock(mutex_);
    open.swap(calls_);
    records.swap(records_);
    record_bytes_left_ = 0;
    for (const auto& [id, call] : open) GiveBack(call.bytes);
  }
  waker_->Wake();
  for (auto& [id, call] : open) call.cancel->Cancel(std::string(reason));
  return records;
}

}  // namespace dossier::sandbox
