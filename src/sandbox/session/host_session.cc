#include "sandbox/session/host_session.h"

#include <fcntl.h>

#include <cerrno>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sandbox/session/host_result.h"

namespace dossier::sandbox {
namespace {

constexpr int kMaxDeaths = 3;
constexpr Millis kReplayCpu{60'000};
constexpr Millis kRequestTime{10'000};

Message CodeMessage(MessageType type, std::string_view code) {
  Message message{.type = type};
  message.json = {{"code", JsonObject{{"blob", JsonArray{0, code.size()}}}}};
  message.raw = std::string(code);
  return message;
}

BlockResult Refused(std::string why) {
  BlockResult result;
  result.status = BlockStatus::kNotRun;
  result.refused = std::move(why);
  return result;
}

void KeepOnly(const std::vector<std::string>& keep, std::set<std::string>* names) {
  std::erase_if(*names, [&](const std::string& name) {
    return std::find(keep.begin(), keep.end(), name) == keep.end();
  });
}

// The offset of the first byte that is not UTF-8.
std::size_t FirstInvalid(std::string_view text) {
  std::size_t low = 0, high = text.size();
  while (low + 1 < high) {  // the longest valid prefix, to the byte
    const std::size_t middle = utf8::FloorBoundary(text, low + (high - low) / 2);
    if (middle <= low) break;
    (utf8::IsValid(text.substr(0, middle)) ? low : high) = middle;
  }
  return low;
}

}  // namespace

HostSession::HostSession(std::shared_ptr<ZygoteSource> zygotes, SessionSpec spec,
                         CancelToken cancel)
    : zygotes_(std::move(zygotes)), spec_(std::move(spec)), cancel_(std::move(cancel)) {}

Result<std::unique_ptr<Session>> HostSession::Open(std::shared_ptr<ZygoteSource> zygotes,
                                                   SessionSpec spec, const CancelToken& cancel) {
  std::unique_ptr<HostSession> session(
      new HostSession(std::move(zygotes), std::move(spec), cancel));
  DOSSIER_RETURN_IF_ERROR(session->KeepContexts());
  DOSSIER_RETURN_IF_ERROR(session->StartWorker());
  session->report_ = session->worker_->report();
  session->start_time_ = session->worker_->start_time();
  return session;
}

// Copies of the caller's descriptors: a replacement maps them again, perhaps much later.
Status HostSession::KeepContexts() {
  for (Context& context : spec_.contexts) {
    UniqueFd copy(fcntl(context.fd, F_DUPFD_CLOEXEC, 0));
    if (!copy.valid()) return MakeErrnoError(errno, "context " + context.name);
    context.fd = copy.get();
    context_fds_.push_back(std::move(copy));
  }
  return {};
}

Status HostSession::StartWorker() {
  worker_.reset();
  DOSSIER_ASSIGN_OR_RETURN(worker_, HostWorker::Open(*zygotes_, spec_, waker_, cancel_));
  return {};
}

Result<BlockResult> HostSession::Run(std::string_view code, const BlockOptions& options,
                                     BridgeHandler& handler) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  if (control_.closed) return MakeError(ErrorCode::kCancelled, "the session is closed");
  if (!worker_) return MakeError(ErrorCode::kDied, "the session's worker died {} times", deaths_);
  if (options.cancel.cancelled()) {
    return MakeError(ErrorCode::kCancelled, "{}", options.cancel.reason());
  }
  if (!utf8::IsValid(code)) {
    return Refused(fmt::format("the code is not valid UTF-8 at byte {}", FirstInvalid(code)));
  }
  BlockTask task{.code = std::string(code),
                 .block = next_block_++,
                 .spec = &spec_,
                 .control = &control_,
                 .waker = waker_.get(),
                 .options = options,
                 .handler = &handler};
  control_.interrupt = -1;
  const std::shared_ptr<Waker> waker = waker_;
  const std::uint64_t watching = options.cancel.OnCancel([waker] { waker->Wake(); });
  BlockOutcome outcome = RunInWorker(*worker_, task);
  options.cancel.Forget(watching);
  if (outcome.context_text) zygotes_->WantContextText(spec_);
  if (outcome.cancelled && outcome.end == BlockEnd::kDied) {
    worker_.reset();  // nobody waits for a replacement
    return MakeError(ErrorCode::kCancelled, "{}", options.cancel.reason());
  }
  return Finish(std::move(outcome), task.code);
}

Result<BlockResult> HostSession::Finish(BlockOutcome outcome, const std::string& code) {
  switch (outcome.end) {
    case BlockEnd::kClosed:
      return MakeError(ErrorCode::kCancelled, "{}", outcome.death_reason);
    case BlockEnd::kProtocol:
      worker_.reset();
      return MakeError(ErrorCode::kProtocol, "{}", outcome.death_reason);
    case BlockEnd::kDied:
      return Recover(std::move(outcome), code);
    case BlockEnd::kDone:
      break;
  }
  RecordedBlock recorded{.code = code, .block = next_block_ - 1};
  recorded.records = std::move(outcome.records);
  recorded.assigned = StringList(outcome.done.json.if_contains("assigned"));
  Result<BlockResult> result = ReadBlockResult(std::move(outcome), spec_.limits);
  if (!result) {
    worker_.reset();
    return result;
  }
  const bool stopped =
      result->status == BlockStatus::kInterrupted || result->status == BlockStatus::kLimit;
  if (stopped) recorded.interrupted_after = std::max(result->cpu, Millis(10)) + Millis(100);
  if (result->status != BlockStatus::kNotRun) recorded_.push_back(std::move(recorded));
  return result;
}

Result<BlockResult> HostSession::Recover(BlockOutcome outcome, const std::string& code) {
  BlockResult result;
  result.status = BlockStatus::kDied;
  result.out = utf8::Sanitize(outcome.output.text);
  result.out_bytes = outcome.output.end;
  result.out_chars = utf8::CodePoints(result.out);
  result.cpu = outcome.cpu;
  result.wall = outcome.wall;
  result.peak_bytes = outcome.peak_bytes;
  result.death_reason = std::move(outcome.death_reason);
  if (++deaths_ >= kMaxDeaths) {
    worker_.reset();
    return MakeError(ErrorCode::kDied, "the worker died for the {}rd time: {}", deaths_,
                     result.death_reason);
  }
  std::set<std::string> wanted;
  for (const RecordedBlock& block : recorded_) {
    if (block.keep) KeepOnly(*block.keep, &wanted);
    wanted.insert(block.assigned.begin(), block.assigned.end());
  }
  DOSSIER_RETURN_IF_ERROR(StartWorker());
  DOSSIER_ASSIGN_OR_RETURN(result.names_kept, Replay());
  if (const auto checked = Request(CodeMessage(MessageType::kCheck, code))) {
    const auto assigned = StringList(checked->json.if_contains("assigns"));
    wanted.insert(assigned.begin(), assigned.end());
  }
  for (const std::string& name : result.names_kept) wanted.erase(name);
  result.names_lost.assign(wanted.begin(), wanted.end());
  return result;
}

// Runs the recorded blocks again; the names that are there afterwards, sorted.
Result<std::vector<std::string>> HostSession::Replay() {
  std::set<std::string> names;
  Millis left = kReplayCpu;
  for (const RecordedBlock& block : recorded_) {
    if (block.keep) {
      SendReset(*block.keep);
      KeepOnly(*block.keep, &names);
      continue;
    }
    BlockTask task{.code = block.code,
                   .block = block.block,
                   .spec = &spec_,
                   .control = &control_,
                   .waker = waker_.get(),
                   .options = {.cancel = cancel_},
                   .records = &block.records,
                   .interrupt_after = block.interrupted_after,
                   .cpu_limit = left};
    const std::shared_ptr<Waker> waker = waker_;
    const std::uint64_t watching = cancel_.OnCancel([waker] { waker->Wake(); });
    const BlockOutcome outcome = RunInWorker(*worker_, task);
    cancel_.Forget(watching);
    if (outcome.cancelled) {
      worker_.reset();  // half of the names are no session
      return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
    }
    if (outcome.end == BlockEnd::kClosed) {
      return MakeError(ErrorCode::kCancelled, "{}", outcome.death_reason);
    }
    if (outcome.end != BlockEnd::kDone) {
      // A replay that dies is not tried again: an empty session is better than none.
      ++deaths_;
      DOSSIER_RETURN_IF_ERROR(StartWorker());
      recorded_.clear();
      return std::vector<std::string>();
    }
    const auto present = StringList(outcome.done.json.if_contains("assigned"));
    names.insert(present.begin(), present.end());
    left = std::max(left - outcome.cpu, Millis(0));
    if (left == Millis(0)) break;
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Status HostSession::Reset(const std::vector<std::string>& keep) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  if (!worker_) return MakeError(ErrorCode::kDied, "the session has no worker");
  for (const std::string& name : keep) {
    if (!utf8::IsValid(name)) {
      return MakeError(ErrorCode::kInvalidArgument, "a name to keep is not valid UTF-8");
    }
  }
  SendReset(keep);
  if (keep.empty()) recorded_.clear();  // nothing of it is seen again
  if (!keep.empty()) recorded_.push_back({.keep = keep});
  return {};
}

// No answer comes; what the socket does not take now goes ahead of the next block.
void HostSession::SendReset(const std::vector<std::string>& keep) {
  JsonArray names(keep.begin(), keep.end());
  worker_->bridge().Send({.type = MessageType::kReset, .json = {{"keep", std::move(names)}}});
  (void)worker_->bridge().Flush(worker_->fd());
}

Result<Message> HostSession::Request(Message message) {
  Result<Message> answer = worker_->Request(std::move(message), kRequestTime, cancel_);
  if (answer) return answer;
  if (answer.error().code == ErrorCode::kCancelled) {
    worker_.reset();  // its answer would be taken for the next one's
    return answer;
  }
  // Only the prelude runs here; one that hangs or breaks leaves a session that cannot be trusted.
  const std::string why = answer.error().message;
  worker_->Kill();
  if (++deaths_ >= kMaxDeaths) {
    worker_.reset();
  } else {
    DOSSIER_RETURN_IF_ERROR(StartWorker());
    DOSSIER_RETURN_IF_ERROR(Replay());
  }
  return MakeError(ErrorCode::kDied, "the worker was replaced: {}", why);
}

Result<CheckResult> HostSession::Check(std::string_view code) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  if (!worker_) return MakeError(ErrorCode::kDied, "the session has no worker");
  if (!utf8::IsValid(code)) {
    CheckResult refused;
    refused.error = {
        .type = "SyntaxError",
        .message = fmt::format("the code is not valid UTF-8 at byte {}", FirstInvalid(code))};
    return refused;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Message checked, Request(CodeMessage(MessageType::kCheck, code)));
  if (checked.type != MessageType::kChecked) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} instead of checked",
                     MessageTypeName(checked.type));
  }
  return ReadCheckResult(checked);
}

Result<std::string> HostSession::Get(std::string_view name, std::uint64_t max_bytes) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  if (!worker_) return MakeError(ErrorCode::kDied, "the session has no worker");
  if (!utf8::IsValid(name)) return MakeError(ErrorCode::kNotFound, "no variable of that name");
  const std::uint64_t most = std::min(max_bytes, kMaxToHost - kMaxJson);
  Message get{.type = MessageType::kGet};
  get.json = {{"name", name}, {"max", static_cast<std::int64_t>(most)}};
  DOSSIER_ASSIGN_OR_RETURN(Message value, Request(std::move(get)));
  if (value.type != MessageType::kValue) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} instead of value",
                     MessageTypeName(value.type));
  }
  if (value.json.at("found").get_bool()) {
    if (value.raw.size() > most) value.raw.resize(utf8::FloorBoundary(value.raw, most));
    return utf8::Sanitize(value.raw);
  }
  const std::vector<std::string> nearest = StringList(value.json.if_contains("nearest"));
  return MakeError(ErrorCode::kNotFound, "there is no variable {}{}{}", name,
                   nearest.empty() ? "" : "; nearest: ", Join(nearest, ", "));
}

void HostSession::Interrupt(InterruptReason reason) {
  control_.interrupt = static_cast<int>(reason);
  waker_->Wake();
}

void HostSession::Close() {
  control_.closed = true;
  waker_->Wake();
  const std::lock_guard lock(running_);  // a block that runs ends at once
  worker_.reset();
}

}  // namespace dossier::sandbox
