#include "sandbox/session/host_block.h"

#include <poll.h>

#include <deque>

#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;

constexpr Millis kWatchEvery{50};
constexpr Millis kInterruptEvery{200};
constexpr Millis kCancelGrace{400};  // a run ends within a second of Ctrl-C
constexpr std::size_t kMaxOpenCalls = 256;
constexpr std::uint64_t kMemorySlack = 64u << 20;  // over RLIMIT_DATA, which should act first
constexpr int kOwnThreads = 2;                     // main and bridge

std::string_view ReasonName(InterruptReason reason) {
  switch (reason) {
    case InterruptReason::kUser:
      return "user";
    case InterruptReason::kDeadline:
      return "deadline";
    case InterruptReason::kSilence:
      return "silence";
    case InterruptReason::kCpu:
      return "cpu";
  }
  return "user";
}

class BlockRunner {
 public:
  BlockRunner(HostWorker& worker, const BlockTask& task) : worker_(worker), task_(task) {}

  BlockOutcome Run();

 private:
  using Steady = Clock::Steady;

  void SendRun();
  void Step();
  void Wait();
  Steady NextEvent(Steady now) const;
  void ReadMessages();
  void Handle(Message message);
  void HandleCall(Message message);
  void AnswerFromRecord(const BridgeCall& call, BridgeReply& reply);
  void HandleOutput(Message message);
  void CheckTime(Steady now);
  Steady SilentUntil() const;
  void CountCalls();
  Steady KillTime() const;
  void CountWork(Steady now, Millis cpu, ProcessUsage::State state);
  void Watch(Steady now);
  void Interrupt(InterruptReason reason, Steady now);
  void Kill(std::string reason);
  void End(BlockEnd end, std::string reason);

  HostWorker& worker_;
  const BlockTask& task_;
  BlockOutcome outcome_;
  bool ended_ = false;
  std::uint64_t run_id_ = 0;
  Steady start_, last_activity_, next_watch_;
  std::optional<Steady> call_open_;     // since then; unset: no call is open
  Steady::duration in_calls_{0};        // time in which a call was open, as far as counted
  Millis cpu_start_{0};
  Steady active_{}, watched_{};  // of the silence that `worked_` belongs to; the newest watch
  Millis worked_{0};             // of that silence; where only idle time counts
  std::optional<Steady> first_interrupt_;
  Steady next_interrupt_{};
  std::string kill_reason_;
  std::map<std::string, std::deque<const CallRecord*>> recorded_;
};

BlockOutcome BlockRunner::Run() {
  const Waker::Waiter waiter(*task_.waker);
  if (task_.records) {
    for (const CallRecord& record : *task_.records) recorded_[record.key].push_back(&record);
  }
  worker_.Resume();
  worker_.bridge().EndBlock("");
  worker_.bridge().BeginBlock(task_.most_record_bytes);
  start_ = last_activity_ = steady_clock::now();
  next_watch_ = start_ + kWatchEvery;
  watched_ = start_;
  cpu_start_ = ProcessCpu(worker_.pid()).value_or(Millis(0));
  SendRun();
  // An error of it shows in the first step.
  if (worker_.bridge().Flush(worker_.fd())) worker_.OrderNext();
  while (!ended_) Step();
  outcome_.records = worker_.bridge().EndBlock("the block has ended");
  outcome_.wall = duration_cast<Millis>(steady_clock::now() - start_);
  // Threads that the code has left must not work while a model is awaited.
  const auto usage = ReadProcessUsage(worker_.pid());
  if (outcome_.end == BlockEnd::kDone && usage && usage->threads > kOwnThreads) worker_.Hold();
  return std::move(outcome_);
}

void BlockRunner::SendRun() {
  Message run{.type = MessageType::kRun, .block = static_cast<std::uint32_t>(task_.block)};
  run.json = {{"code", JsonObject{{"blob", JsonArray{0, task_.code.size()}}}},
              {"replay", task_.records != nullptr}};
  run.raw = task_.code;
  run_id_ = worker_.bridge().Send(std::move(run));
}

void BlockRunner::Step() {
  if (!worker_.bridge().Flush(worker_.fd())) return End(BlockEnd::kDied, "");
  ReadMessages();
  if (ended_) return;
  if (!worker_.bridge().Flush(worker_.fd())) return End(BlockEnd::kDied, "");
  CountCalls();
  const Steady now = steady_clock::now();
  CheckTime(now);
  if (!ended_) Wait();
}

void BlockRunner::Wait() {
  const Steady now = steady_clock::now();
  const auto left = duration_cast<Millis>(NextEvent(now) - now) + Millis(1);
  const bool pending = worker_.bridge().pending();
  pollfd fds[] = {{worker_.fd(), static_cast<short>(POLLIN | (pending ? POLLOUT : 0)), 0},
                  {task_.waker->fd(), POLLIN, 0}};
  poll(fds, 2, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  if (fds[1].revents) task_.waker->Drain();
  if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  if (!ReadSome(worker_.fd(), worker_.decoder())) {
    ReadMessages();  // what arrived before the end
    if (!ended_) End(BlockEnd::kDied, "");
  }
}

Clock::Steady BlockRunner::NextEvent(Steady now) const {
  Steady next = next_watch_;
  if (first_interrupt_) next = std::min(next, next_interrupt_);
  if (worker_.bridge().open_calls() == 0) next = std::min(next, SilentUntil());
  if (const auto deadline = task_.options.Times().deadline) next = std::min(next, *deadline);
  return std::max(next, now);
}

void BlockRunner::ReadMessages() {
  while (!ended_) {
    Result<std::optional<Message>> message = worker_.decoder().Next();
    if (!message) {
      worker_.Kill();
      return End(BlockEnd::kProtocol, message.error().message);
    }
    if (!*message) return;
    Handle(std::move(**message));
  }
}

void BlockRunner::Handle(Message message) {
  switch (message.type) {
    case MessageType::kCall:
      return HandleCall(std::move(message));
    case MessageType::kOutput:
      return HandleOutput(std::move(message));
    case MessageType::kAnswer:
      outcome_.answer += message.raw;
      if (outcome_.answer.size() > kMaxAnswer) break;
      return;
    case MessageType::kDone:
      if (message.id != run_id_) break;
      outcome_.output.total = static_cast<std::uint64_t>(message.json.at("out_bytes").get_int64());
      outcome_.output.dropped = static_cast<std::uint64_t>(message.json.at("dropped").get_int64());
      outcome_.done = std::move(message);
      return End(BlockEnd::kDone, "");
    case MessageType::kCancel:
      return worker_.bridge().CancelCall(
          static_cast<std::uint64_t>(message.json.at("id").get_int64()),
          "the code was interrupted");
    case MessageType::kLog:
      outcome_.context_text |= message.json.at("level").get_string() == kContextTextLevel;
      return;
    case MessageType::kCredit:
    case MessageType::kPong:
      return;
    default:
      break;
  }
  worker_.Kill();
  End(BlockEnd::kProtocol, fmt::format("bridge: {} in a block", MessageTypeName(message.type)));
}

void BlockRunner::HandleCall(Message message) {
  CountCalls();
  last_activity_ = steady_clock::now();
  if (!call_open_) call_open_ = last_activity_;
  if (worker_.bridge().open_calls() >= kMaxOpenCalls) {
    worker_.Kill();
    return End(BlockEnd::kProtocol, "bridge: more calls than its credit");
  }
  BridgeCall call{.id = message.id, .block = static_cast<int>(message.block)};
  const std::uint64_t too_large = message.too_large;
  if (too_large == 0) {
    call.method = std::string(message.json.at("method").get_string());
    call.args = std::move(message.json.at("args").get_object());
    call.raw = std::move(message.raw);
  }
  const std::shared_ptr<BridgeReply> reply = worker_.bridge().OpenCall(call, message.wire_bytes);
  if (too_large > 0) {
    return reply->Fail(
        "too_large", fmt::format("the call has {} bytes; the limit is {}", too_large, kMaxToHost));
  }
  if (call.block != task_.block) return reply->Fail("cancelled", "the block has ended");
  if (task_.records) return AnswerFromRecord(call, *reply);
  task_.handler->OnCall(std::move(call), reply);
}

void BlockRunner::AnswerFromRecord(const BridgeCall& call, BridgeReply& reply) {
  const auto found = recorded_.find(CallKey(call));
  if (found == recorded_.end() || found->second.empty()) {
    return reply.Fail("cancelled", "the reply that this call had before is not kept");
  }
  const CallRecord* record = found->second.front();
  found->second.pop_front();
  worker_.bridge().Repeat(call.id, *record);
}

void BlockRunner::HandleOutput(Message message) {
  const auto at = static_cast<std::uint64_t>(message.json.at("at").get_int64());
  const std::int64_t late = message.json.at("late").get_int64();
  if (late > 0) {
    outcome_.output.late = std::move(message.raw);
    outcome_.output.late_block = static_cast<int>(late);
    return;
  }
  // The worker keeps within the limit; more is a broken worker, not a reason to grow.
  if (outcome_.output.text.size() + message.raw.size() > task_.spec->limits.output + 4096) {
    worker_.Kill();
    return End(BlockEnd::kProtocol, "bridge: more output than its limit");
  }
  outcome_.output.Add(message.raw, at);
}

void BlockRunner::CheckTime(Steady now) {
  if (task_.control->closed) {
    worker_.Kill();
    return End(BlockEnd::kClosed, "the session was closed");
  }
  if (task_.options.cancel.cancelled()) {
    outcome_.cancelled = true;
    Interrupt(InterruptReason::kUser, now);
  }
  const int asked = task_.control->interrupt.exchange(-1);
  if (asked >= 0) Interrupt(static_cast<InterruptReason>(asked), now);
  const auto deadline = task_.options.Times().deadline;
  if (deadline && now >= *deadline) Interrupt(InterruptReason::kDeadline, now);
  if (worker_.bridge().open_calls() == 0 && now >= SilentUntil()) {
    Interrupt(InterruptReason::kSilence, now);
  }
  if (task_.interrupt_after && now >= start_ + *task_.interrupt_after) {
    Interrupt(InterruptReason::kUser, now);
  }
  if (now >= next_watch_) Watch(now);
  if (!first_interrupt_ || now < next_interrupt_) return;
  const Steady kill = KillTime();
  if (now >= kill) {
    const auto waited = duration_cast<Millis>(kill - *first_interrupt_);
    Kill(fmt::format("it did not stop within {} ms of being interrupted", waited.count()));
  } else {
    worker_.bridge().Send(
        {.type = MessageType::kInterrupt, .json = {{"reason", ReasonName(*outcome_.interrupted)}}},
        Urgency::kUrgent);
    (void)worker_.bridge().Flush(worker_.fd());
  }
  next_interrupt_ = now + kInterruptEvery;
  if (now < kill) next_interrupt_ = std::min(next_interrupt_, kill);
}

// When a block dies that was interrupted and goes on: behind its grace, of which the end of the run
// may leave less.
Clock::Steady BlockRunner::KillTime() const {
  Millis grace = task_.spec->limits.grace;
  if (outcome_.cancelled) grace = std::min(kCancelGrace, grace);
  const Steady kill = *first_interrupt_ + grace;
  const BlockTimes run = task_.options.Times();
  if (!run.deadline || !run.end) return kill;
  const Steady halfway = *run.deadline + (*run.end - *run.deadline) / 2;
  return std::min(kill, std::max(halfway, *first_interrupt_));
}

// Adds the time of the calls that were open until the last reply.
void BlockRunner::CountCalls() {
  if (!call_open_ || worker_.bridge().open_calls() > 0) return;
  in_calls_ += std::max(worker_.bridge().last_reply() - *call_open_, Steady::duration(0));
  call_open_.reset();
}

// Where all time counts, only that of open calls does not: a call that is answered at once must not
// give the block its whole time again.
Clock::Steady BlockRunner::SilentUntil() const {
  if (task_.spec->limits.counts == Limits::Counts::kWall) {
    return start_ + task_.spec->limits.silence + in_calls_;
  }
  const Steady active = std::max(last_activity_, worker_.bridge().last_reply());
  const Millis worked = active == active_ ? worked_ : Millis(0);
  return active + task_.spec->limits.silence + worked;
}

// Where only idle time counts, the time since the last watch does not if the block used a tenth of
// a processor in it, or waits for one that others have: on a busy machine work takes long. The
// CPU limit ends what works for ever.
void BlockRunner::CountWork(Steady now, Millis cpu, ProcessUsage::State state) {
  const auto passed = duration_cast<Millis>(now - watched_);
  watched_ = now;
  if (task_.spec->limits.counts != Limits::Counts::kIdle) return;
  const Steady active = std::max(last_activity_, worker_.bridge().last_reply());
  if (active != std::exchange(active_, active)) worked_ = Millis(0);
  if (cpu * 10 >= passed || state == ProcessUsage::State::kRunnable) worked_ += passed;
}

void BlockRunner::Watch(Steady now) {
  next_watch_ = now + kWatchEvery;
  const Millis cpu_limit = task_.cpu_limit.value_or(task_.spec->limits.cpu), before = outcome_.cpu;
  if (const auto cpu = ProcessCpu(worker_.pid())) {
    outcome_.cpu = *cpu - cpu_start_;
    if (outcome_.cpu >= cpu_limit) Interrupt(InterruptReason::kCpu, now);
  }
  const auto usage = ReadProcessUsage(worker_.pid());
  if (!usage) return;
  CountWork(now, outcome_.cpu - before, usage->state);
  outcome_.peak_bytes = std::max(outcome_.peak_bytes, usage->peak_bytes);
  std::uint64_t allowed = worker_.base_bytes() + task_.spec->limits.memory + kMemorySlack;
  for (const ContextText& context : task_.spec->contexts) allowed += context.copies * context.bytes;
  if (usage->private_bytes > allowed) {
    Kill(fmt::format("it used {} of memory; the limit is {}", FormatSize(usage->private_bytes),
                     FormatSize(task_.spec->limits.memory)));
  } else if (usage->threads > task_.spec->limits.threads + kOwnThreads) {
    Kill(fmt::format("it ran {} threads; the limit is {}", usage->threads - kOwnThreads,
                     task_.spec->limits.threads));
  }
}

void BlockRunner::Interrupt(InterruptReason reason, Steady now) {
  if (first_interrupt_) return;
  outcome_.interrupted = reason;
  first_interrupt_ = next_interrupt_ = now;
}

void BlockRunner::Kill(std::string reason) {
  if (kill_reason_.empty()) kill_reason_ = std::move(reason);
  worker_.Kill();
}

void BlockRunner::End(BlockEnd end, std::string reason) {
  ended_ = true;
  outcome_.end = end;
  if (end == BlockEnd::kDied) reason = kill_reason_.empty() ? worker_.DeathReason() : kill_reason_;
  outcome_.death_reason = std::move(reason);
}

}  // namespace

void BlockOutput::Add(std::string_view piece, std::uint64_t at) {
  if (at > end) text += fmt::format("\n… {} bytes of output not kept …\n", GroupDigits(at - end));
  text.append(piece);
  end = at + piece.size();
}

BlockOutcome RunInWorker(HostWorker& worker, const BlockTask& task) {
  return BlockRunner(worker, task).Run();
}

}  // namespace dossier::sandbox
