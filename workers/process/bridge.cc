#include "bridge.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace dossier::worker {

using sandbox::Message;
using sandbox::MessageType;
using sandbox::Urgency;

namespace {

constexpr int kHeadEveryMs = 50;  // output of a running block reaches the host this often

CallOutcome Failure(std::string code, std::string message) {
  CallOutcome outcome;
  outcome.code = std::move(code);
  outcome.message = std::move(message);
  return outcome;
}

CallOutcome ReadReply(Message message) {
  CallOutcome outcome;
  if (message.json.at("ok").get_bool()) {
    outcome.kind = CallOutcome::Kind::kOk;
    if (Json* value = message.json.if_contains("value")) outcome.value = std::move(*value);
    outcome.raw = std::move(message.raw);
    return outcome;
  }
  const Json* error = message.json.if_contains("error");
  const Json none = JsonObject();
  const Json& fields = error ? *error : none;
  outcome.code = FindString(fields, "code").value_or("failed");
  outcome.message = FindString(fields, "message").value_or("");
  outcome.retryable = FindBool(fields, "retryable").value_or(false);
  return outcome;
}

Result<UniqueFd> PipeInto(int target) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return MakeErrnoError(errno, "pipe");
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  if (dup2(write_end.get(), target) < 0) return MakeErrnoError(errno, "dup2");
  DOSSIER_RETURN_IF_ERROR(sandbox::SetNonBlocking(read_end.get()));
  return read_end;
}

}  // namespace

Bridge::Bridge(UniqueFd socket, sandbox::MessageDecoder decoder, OutputCapture* capture)
    : socket_(std::move(socket)), decoder_(std::move(decoder)), capture_(capture) {}

// The process ends by _exit; a thread that still runs is not waited for.
Bridge::~Bridge() {
  if (thread_.joinable()) thread_.detach();
}

std::vector<int> Bridge::private_fds() const { return {out_.get(), err_.get()}; }

Status Bridge::Prepare() {
  DOSSIER_ASSIGN_OR_RETURN(out_, PipeInto(1));
  DOSSIER_ASSIGN_OR_RETURN(err_, PipeInto(2));
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) return MakeErrnoError(errno, "eventfd");
  return sandbox::SetNonBlocking(socket_.get());
}

Status Bridge::Start() {
  main_thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all,
                  &before);  // the thread inherits it: signals are the main thread's
  try {
    thread_ = std::thread([this] {
      try {
        ThreadMain();
      } catch (const std::bad_alloc&) {
        _exit(sandbox::kOutOfMemoryExit);
      }
    });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return MakeError(ErrorCode::kUnavailable, "bridge thread: {}", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

void Bridge::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void Bridge::ThreadMain() {
  ReadBridge();  // what came right behind `open`
  while (true) {
    bool pending = false, running = false;
    {
      std::lock_guard lock(mutex_);
      pending = !writer_.empty();
      running = run_handed_;
    }
    pollfd fds[] = {{socket_.get(), static_cast<short>(POLLIN | (pending ? POLLOUT : 0)), 0},
                    {wake_.get(), POLLIN, 0},
                    {out_.get(), POLLIN, 0},
                    {err_.get(), POLLIN, 0}};
    const int ready = poll(fds, 4, running ? kHeadEveryMs : -1);
    if (ready < 0 && errno != EINTR) _exit(sandbox::kBrokenBridgeExit);
    if (fds[1].revents & POLLNVAL)
      _exit(sandbox::kBrokenBridgeExit);  // the code closed what is not its own
    if (fds[1].revents & POLLIN) {
      std::uint64_t count;
      [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof(count));
    }
    if (fds[2].revents & POLLIN) ReadPipe(out_.get());
    if (fds[3].revents & POLLIN) ReadPipe(err_.get());
    // A write end that the code closed would report its end for ever.
    if ((fds[2].revents & POLLHUP) && !(fds[2].revents & POLLIN)) out_.Reset();
    if ((fds[3].revents & POLLHUP) && !(fds[3].revents & POLLIN)) err_.Reset();
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) ReadBridge();
    FinishBlock();
    if (running) SendHead();
    FlushOrExit();
  }
}

void Bridge::FlushOrExit() {
  std::lock_guard lock(mutex_);
  if (!writer_.Flush(socket_.get())) _exit(0);
}

// One read of up to 64 KiB into the capture; false if there was nothing.
bool Bridge::ReadPipe(int fd) {
  char buffer[64 << 10];
  const ssize_t got = read(fd, buffer, sizeof(buffer));
  if (got <= 0) return false;
  capture_->Write({buffer, static_cast<std::size_t>(got)});
  return true;
}

void Bridge::ReadBridge() {
  bool drained = false;
  while (true) {
    Result<std::optional<Message>> message = decoder_.Next();
    if (!message) _exit(sandbox::kBrokenBridgeExit);
    if (*message) {
      Handle(std::move(**message));
      continue;
    }
    if (drained) return;  // what comes later ends the next poll
    const Result<std::size_t> got = sandbox::ReadSome(socket_.get(), decoder_);
    if (!got) _exit(decoder_.frames().at_boundary() ? 0 : sandbox::kBrokenBridgeExit);
    drained = *got < sandbox::kReadAtLeast;
  }
}

void Bridge::Handle(Message message) {
  switch (message.type) {
    case MessageType::kRun:
    case MessageType::kCheck:
    case MessageType::kReset:
    case MessageType::kGet: {
      {
        std::lock_guard lock(mutex_);
        run_handed_ |= message.type == MessageType::kRun;
        requests_.push_back(std::move(message));
      }
      // Without the lock, here and below: who wakes would only wait for it.
      request_ready_.notify_one();
      return;
    }
    case MessageType::kReply:
      return HandleReply(std::move(message));
    case MessageType::kInterrupt:
      return HandleInterrupt();
    case MessageType::kCredit: {
      std::lock_guard lock(mutex_);
      credit_requests_ += message.json.at("requests").get_int64();
      credit_bytes_ += message.json.at("bytes").get_int64();
      credit_ready_.notify_all();
      return;
    }
    case MessageType::kPing: {
      std::lock_guard lock(mutex_);
      writer_.Push({.type = MessageType::kPong}, Urgency::kUrgent);
      return;
    }
    case MessageType::kItem:
      return HandleItem(std::move(message));
    case MessageType::kCancel:
      return;
    case MessageType::kClose:
      socket_.Reset();  // the host need not wait until all memory is given back
      _exit(0);
    default:
      _exit(sandbox::kBrokenBridgeExit);
  }
}

void Bridge::HandleReply(Message message) {
  std::shared_ptr<Waiting> waiting;
  {
    std::lock_guard lock(mutex_);
    const auto found = waiting_.find(message.id);
    if (found == waiting_.end()) return;  // its caller was interrupted
    waiting = found->second;
    waiting_.erase(found);
    ++credit_requests_;
    if (waiting->begun) {
      finished_.emplace_back(message.id, ReadReply(std::move(message)));
      finished_ready_.notify_one();
    } else {
      auto items = std::move(waiting->outcome.items);
      waiting->outcome = ReadReply(std::move(message));
      if (waiting->outcome.kind == CallOutcome::Kind::kError)
        waiting->outcome.items = std::move(items);
      waiting->done = true;
    }
  }
  credit_ready_.notify_one();
  waiting->changed.notify_all();
}

// Kept for the case that the call is interrupted: the reply repeats all of them.
void Bridge::HandleItem(Message message) {
  std::lock_guard lock(mutex_);
  const auto found = waiting_.find(message.id);
  Json* value = message.json.if_contains("value");
  if (found == waiting_.end() || !value) return;
  found->second->outcome.items.push_back(
      {message.json.at("index").get_int64(), std::move(*value), std::move(message.raw)});
}

void Bridge::HandleInterrupt() {
  std::lock_guard lock(mutex_);
  if (block_ == 0 || done_) return;
  interrupted_ = true;
  ++interrupts_;
  syscall(SYS_tgkill, getpid(), main_thread_, SIGUSR2);
  for (auto& [id, waiting] : waiting_) waiting->changed.notify_all();
  credit_ready_.notify_all();
  finished_ready_.notify_all();
}

bool Bridge::TakeInterrupted() {
  std::lock_guard lock(mutex_);
  return std::exchange(interrupted_, false);
}

std::uint64_t Bridge::interrupts() {
  std::lock_guard lock(mutex_);
  return interrupts_;
}

Message Bridge::NextRequest() {
  std::unique_lock lock(mutex_);
  request_ready_.wait(lock, [this] { return !requests_.empty(); });
  Message message = std::move(requests_.front());
  requests_.pop_front();
  return message;
}

void Bridge::Respond(Message message) {
  {
    std::lock_guard lock(mutex_);
    writer_.Push(std::move(message));
  }
  Wake();
}

void Bridge::ReportContextText() {
  Respond(
      {.type = MessageType::kLog, .json = {{"level", sandbox::kContextTextLevel}, {"text", ""}}});
}

void Bridge::BeginBlock(std::uint32_t block, std::uint64_t output_limit) {
  {
    std::lock_guard lock(mutex_);
    block_ = block;
    late_block_ = last_block_;
    interrupted_ = false;
  }
  capture_->Begin(output_limit);
}

void Bridge::SendAnswer(std::string text, std::uint32_t block) {
  {
    std::lock_guard lock(mutex_);
    Message piece{.type = MessageType::kAnswer, .id = NewId(), .block = block};
    piece.raw = std::move(text);
    writer_.Push(std::move(piece));
  }
  Wake();
}

void Bridge::EndBlock(Message done) {
  {
    std::lock_guard lock(mutex_);
    done_ = std::move(done);
    for (auto& [id, waiting] : waiting_) {
      waiting->outcome = Failure("cancelled", "the block that made this call has ended");
      waiting->done = true;
      waiting->changed.notify_all();
      ++credit_requests_;
    }
    waiting_.clear();
    finished_.clear();
    last_block_ = std::exchange(block_, 0);
    credit_ready_.notify_all();
  }
  Wake();
}

void Bridge::SendHead() {
  std::lock_guard lock(mutex_);
  if (block_ == 0) return;  // ended meanwhile: FinishBlock sends what is left
  std::uint64_t at = 0;
  std::string head = capture_->TakeHead(&at);
  SendOutput(std::move(head), block_, at);
}

// With mutex_ held.
void Bridge::SendOutput(std::string text, std::uint32_t block, std::uint64_t at,
                        std::uint32_t late) {
  if (text.empty()) return;
  Message message{.type = MessageType::kOutput, .id = NewId(), .block = block};
  message.json = {{"late", static_cast<std::int64_t>(late)}, {"at", static_cast<std::int64_t>(at)}};
  message.raw = std::move(text);
  writer_.Push(std::move(message));
}

void Bridge::FinishBlock() {
  {
    std::lock_guard lock(mutex_);
    if (!done_) return;
  }
  while (out_.valid() && ReadPipe(out_.get())) {
  }
  while (err_.valid() && ReadPipe(err_.get())) {
  }
  std::string late = capture_->TakeLate();  // written before this block began
  OutputCapture::Rest rest = capture_->Finish();
  std::lock_guard lock(mutex_);
  Message done = std::move(*done_);
  done_.reset();
  run_handed_ = false;
  SendOutput(std::move(rest.head), done.block, rest.head_at);
  SendOutput(std::move(rest.tail), done.block, rest.tail_at);
  SendOutput(std::move(late), done.block, 0, late_block_);
  done.json["out_bytes"] = static_cast<std::int64_t>(rest.total);
  done.json["out_chars"] = static_cast<std::int64_t>(rest.characters);
  done.json["dropped"] = static_cast<std::int64_t>(rest.dropped);
  writer_.Push(std::move(done));
}

tl::expected<Bridge::Outgoing, CallOutcome> Bridge::MakeCall(std::string method, JsonObject args,
                                                             std::string raw, std::int64_t thread) {
  Outgoing call{.message = {.type = MessageType::kCall}};
  call.message.json = {
      {"method", std::move(method)}, {"args", std::move(args)}, {"thread", thread}};
  call.message.raw = std::move(raw);
  call.json = boost::json::serialize(call.message.json);
  const std::uint64_t bytes = call.json.size() + call.message.raw.size();
  if (call.json.size() <= sandbox::kMaxJson && bytes <= sandbox::kMaxToHost) return call;
  const bool raw_fits = call.json.size() > sandbox::kMaxJson;
  return tl::unexpected(Failure(
      "too_large",
      fmt::format("the call has {} bytes; the limit is {}", raw_fits ? call.json.size() : bytes,
                  raw_fits ? sandbox::kMaxJson : sandbox::kMaxToHost)));
}

bool Bridge::Interrupted(std::unique_lock<std::mutex>& lock, std::uint64_t* seen,
                         const std::function<bool()>& check) const {
  if (interrupts_ == *seen) return false;
  *seen = interrupts_;
  lock.unlock();
  const bool stop = check();
  lock.lock();
  return stop;
}

tl::expected<std::uint64_t, CallOutcome> Bridge::SendCall(std::unique_lock<std::mutex>& lock,
                                                          Outgoing* call,
                                                          const std::shared_ptr<Waiting>& waiting,
                                                          const std::function<bool()>& check) {
  const std::uint32_t block = block_;
  call->seen = interrupts_;
  while (block != 0 && block_ == block && (credit_requests_ <= 0 || credit_bytes_ <= 0)) {
    credit_ready_.wait(lock);
    if (Interrupted(lock, &call->seen, check)) {
      return tl::unexpected(CallOutcome{.kind = CallOutcome::Kind::kInterrupted});
    }
  }
  if (block == 0 || block_ != block) {
    return tl::unexpected(Failure("cancelled", "no block is running"));
  }
  --credit_requests_;
  credit_bytes_ -= static_cast<std::int64_t>(call->json.size() + call->message.raw.size());
  call->message.id = NewId();
  call->message.block = block;
  const std::uint64_t id = call->message.id;
  waiting_.emplace(id, waiting);
  writer_.PushSerialized(std::move(call->message), std::move(call->json));
  lock.unlock();
  Wake();
  lock.lock();
  return id;
}

CallOutcome Bridge::Call(std::string method, JsonObject args, std::string raw, std::int64_t thread,
                         const std::function<bool()>& check) {
  auto call = MakeCall(std::move(method), std::move(args), std::move(raw), thread);
  if (!call) return std::move(call.error());
  auto waiting = std::make_shared<Waiting>();
  std::unique_lock lock(mutex_);
  auto id = SendCall(lock, &*call, waiting, check);
  if (!id) return std::move(id.error());
  std::uint64_t seen = call->seen;
  while (!waiting->done) {
    waiting->changed.wait(lock, [&] { return waiting->done || interrupts_ != seen; });
    if (!waiting->done && Interrupted(lock, &seen, check) && !waiting->done) {
      waiting_.erase(*id);
      ++credit_requests_;
      writer_.Push({.type = MessageType::kCancel, .json = {{"id", static_cast<std::int64_t>(*id)}}},
                   Urgency::kUrgent);
      Wake();
      return {.kind = CallOutcome::Kind::kInterrupted, .items = std::move(waiting->outcome.items)};
    }
  }
  return std::move(waiting->outcome);
}

tl::expected<std::uint64_t, CallOutcome> Bridge::Begin(std::string method, JsonObject args,
                                                       std::string raw,
                                                       const std::function<bool()>& check) {
  auto call = MakeCall(std::move(method), std::move(args), std::move(raw), 1);
  if (!call) return tl::unexpected(std::move(call.error()));
  auto waiting = std::make_shared<Waiting>();
  waiting->begun = true;
  std::unique_lock lock(mutex_);
  return SendCall(lock, &*call, waiting, check);
}

std::optional<std::pair<std::uint64_t, CallOutcome>> Bridge::NextOutcome(
    std::optional<Clock::Steady> end) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return !finished_.empty() || interrupted_; };
  if (end) {
    finished_ready_.wait_until(lock, *end, ready);
  } else {
    finished_ready_.wait(lock, ready);
  }
  if (finished_.empty() || interrupted_) return std::nullopt;
  auto outcome = std::move(finished_.front());
  finished_.pop_front();
  return outcome;
}

}  // namespace dossier::worker
