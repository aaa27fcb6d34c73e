#include "sandbox/session/host_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "sandbox/session/session_open.h"

namespace dossier::sandbox {
namespace {

std::uint64_t NumberAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

constexpr Millis kOpenTime{60'000};  // a large context may have to be read from disk
constexpr Millis kCloseGrace{200};

}  // namespace

ProcessUsage ParseProcessStatus(std::string_view text) {
  constexpr std::uint64_t kKibibyte = 1024;
  ProcessUsage usage;
  usage.private_bytes = NumberAfter(text, "\nRssAnon:") * kKibibyte;
  usage.peak_bytes = NumberAfter(text, "\nVmHWM:") * kKibibyte;
  usage.threads = static_cast<int>(NumberAfter(text, "\nThreads:"));
  constexpr std::string_view kState = "\nState:\t";
  const std::size_t state = text.find(kState);
  if (state != std::string_view::npos && text.substr(state + kState.size()).starts_with('R')) {
    usage.state = ProcessUsage::State::kRunnable;
  }
  return usage;
}

Result<ProcessUsage> ReadProcessUsage(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = fd.valid() ? read(fd.get(), buffer, sizeof(buffer)) : -1;
  if (got <= 0) return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  return ParseProcessStatus({buffer, static_cast<std::size_t>(got)});
}

Result<Millis> ProcessCpu(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  }
  return Millis(used.tv_sec * 1000 + used.tv_nsec / 1'000'000);
}

namespace {

constexpr std::uint64_t kOpenId = 2;

std::string EncodeOpen(const SessionSpec& spec) {
  return MessageWriter::Encode(MakeOpenMessage(spec, kOpenId),
                               spec.contexts.empty() ? 0 : kFlagDescriptors);
}

}  // namespace

Result<std::unique_ptr<HostWorker>> HostWorker::Open(ZygoteSource& zygotes, const SessionSpec& spec,
                                                     std::shared_ptr<Waker> waker,
                                                     const CancelToken& cancel) {
  const auto asked = std::chrono::steady_clock::now();
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker forked, zygotes.Fork(spec, cancel));
  // Its constructor is private.
  std::unique_ptr<HostWorker> worker(new HostWorker(std::move(forked), std::move(waker)));
  worker->asked_ = asked;
  DOSSIER_RETURN_IF_ERROR(worker->SendOpen(EncodeOpen(spec), spec));
  DOSSIER_RETURN_IF_ERROR(worker->ReceiveOpened(cancel));
  worker->start_time_ =
      std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - asked);
  return worker;
}

Result<std::unique_ptr<HostWorker>> HostWorker::Begin(ZygoteSource& zygotes,
                                                      const SessionSpec& spec,
                                                      std::shared_ptr<Waker> waker) {
  // Less than a socket takes while nobody reads it.
  constexpr std::size_t kMostUnread = 64u << 10, kMostContexts = 50;
  if (spec.contexts.size() > kMostContexts) {
    return MakeError(ErrorCode::kTimeout, "{} contexts take time to send", spec.contexts.size());
  }
  const std::string message = EncodeOpen(spec);
  if (message.size() > kMostUnread) {
    return MakeError(ErrorCode::kTimeout, "{} bytes take time to send", message.size());
  }
  const auto asked = std::chrono::steady_clock::now();
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker forked, zygotes.Order(spec));
  std::unique_ptr<HostWorker> worker(new HostWorker(std::move(forked), std::move(waker)));
  worker->asked_ = asked;
  DOSSIER_RETURN_IF_ERROR(worker->SendOpen(message, spec));
  return worker;
}

Status HostWorker::Finish(ZygoteSource& zygotes, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(zygotes.Await(&forked_, cancel));
  return ReceiveOpened(cancel);
}

Status HostWorker::SendOpen(const std::string& message, const SessionSpec& spec) {
  std::vector<int> fds;
  for (const ContextText& context : spec.contexts) fds.push_back(context.fd);
  DOSSIER_RETURN_IF_ERROR(SendWithFds(fd(), message, fds));
  bridge_->SkipId(kOpenId);
  return {};
}

Status HostWorker::ReceiveOpened(const CancelToken& cancel) {
  auto opened = ReceiveMessage(fd(), decoder_, nullptr, kOpenTime, cancel);
  if (!opened && opened.error().code == ErrorCode::kDied) {
    return MakeError(ErrorCode::kDied, "the sandbox worker ended while it started: {}",
                     DeathReason());
  }
  if (!opened) return tl::unexpected(opened.error());
  if (opened->type == MessageType::kLog) {
    const Json* text = Find(opened->json, "text");
    return MakeError(
        ErrorCode::kUnavailable, "{}",
        text && text->is_string() ? std::string_view(text->get_string()) : "no reason");
  }
  if (opened->type != MessageType::kOpened || opened->id != kOpenId) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} instead of opened",
                     MessageTypeName(opened->type));
  }
  DOSSIER_ASSIGN_OR_RETURN(report_, IsolationReport::FromJson(opened->json.at("report")));
  report_.Set("watchdog", LayerState::kApplied, "");
  // One that was begun long ago was ready when it said so, not now.
  const auto since = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - asked_);
  start_time_ = std::min(since, Millis(FindInt(Json(opened->json), "ms").value_or(since.count())));
  if (const auto usage = ReadProcessUsage(pid())) base_bytes_ = usage->private_bytes;
  return SetNonBlocking(fd());
}

HostWorker::~HostWorker() {
  if (forked_.pid == 0) return;
  Resume();
  bridge_->EndBlock("the session was closed");
  bridge_->Send({.type = MessageType::kClose, .json = {{"grace_ms", kCloseGrace.count()}}},
                Urgency::kUrgent);
  (void)bridge_->Flush(fd());
  // Its end of the bridge closes when it exits; what the kernel then still takes apart (its
  // namespaces) need not be waited for.
  pollfd entry{fd(), POLLRDHUP, 0};
  if (poll(&entry, 1, static_cast<int>(kCloseGrace.count())) <= 0) Kill();
}

void HostWorker::OrderNext() {
  if (std::exchange(next_ordered_, true) || !forked_.zygote) return;
  forked_.zygote->OrderNext();
}

void HostWorker::Kill() {
  syscall(SYS_pidfd_send_signal, forked_.handle.get(), SIGKILL, nullptr, 0);
}

void HostWorker::Hold() {
  if (std::exchange(held_, true)) return;
  syscall(SYS_pidfd_send_signal, forked_.handle.get(), SIGSTOP, nullptr, 0);
}

bool HostWorker::Resume() {
  if (!std::exchange(held_, false)) return false;
  syscall(SYS_pidfd_send_signal, forked_.handle.get(), SIGCONT, nullptr, 0);
  return true;
}

Result<Message> HostWorker::Request(Message message, Millis timeout, const CancelToken& cancel) {
  const auto hold = [this](const HostWorker*) { Hold(); };
  const std::unique_ptr<HostWorker, decltype(hold)> again(Resume() ? this : nullptr, hold);
  const CancelFd stop(cancel);
  const std::uint64_t id = bridge_->Send(std::move(message));
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    DOSSIER_RETURN_IF_ERROR(bridge_->Flush(fd()));
    // Large requests need room before the worker can answer.
    const bool pending = bridge_->pending();
    const auto left = std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
    if (left <= Millis(0)) return MakeError(ErrorCode::kTimeout, "the worker did not answer");
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    DOSSIER_ASSIGN_OR_RETURN(std::optional<Message> answer, decoder_.Next());
    if (answer && answer->id == id) return std::move(*answer);
    if (answer) {
      // Calls of threads that outlived their block; nothing else can come now.
      if (answer->type == MessageType::kCall) {
        OpenDropped(*answer);
        continue;
      }
      if (answer->type == MessageType::kCancel || answer->type == MessageType::kLog) continue;
      return MakeError(ErrorCode::kProtocol, "bridge: {} between blocks",
                       MessageTypeName(answer->type));
    }
    pollfd entries[] = {{fd(), static_cast<short>(POLLIN | (pending ? POLLOUT : 0)), 0},
                        {stop.fd(), POLLIN, 0}};
    poll(entries, 2, static_cast<int>(left.count()));
    if (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      DOSSIER_RETURN_IF_ERROR(ReadSome(fd(), decoder_));
    }
  }
}

void HostWorker::OpenDropped(const Message& call) {
  // The reply fails the call when it goes out of scope.
  bridge_->OpenCall({.id = call.id, .block = static_cast<int>(call.block)}, call.wire_bytes);
}

std::optional<int> HostWorker::WaitStatus(Millis timeout) {
  if (status_) return status_;
  MessageDecoder decoder(Side::kWorker);
  const auto exited = ReceiveMessage(forked_.status.get(), decoder, nullptr, timeout);
  if (!exited || exited->type != MessageType::kExited) return std::nullopt;
  status_ = static_cast<int>(exited->json.at("status").get_int64());
  return status_;
}

std::string HostWorker::DeathReason() {
  const std::optional<int> status = WaitStatus(Millis(1000));
  if (!status) return "the worker is gone";
  if (WIFSIGNALED(*status)) {
    const int signal = WTERMSIG(*status);
    if (signal == SIGSYS) return "stopped for a system call that the sandbox forbids";
    return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
  }
  if (WEXITSTATUS(*status) == kBrokenBridgeExit) return "the bridge to the worker broke";
  if (WEXITSTATUS(*status) == kOutOfMemoryExit) return "out of memory";
  return fmt::format("the process ended itself with status {}", WEXITSTATUS(*status));
}

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
