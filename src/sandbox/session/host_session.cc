#include "sandbox/session/host_session.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sandbox/session/host_block.h"

namespace dossier::sandbox {
namespace {

// From what a worker reports of a block to what the host hands on.
//
//   DOSSIER_ASSIGN_OR_RETURN(BlockResult result, ReadBlockResult(std::move(outcome), limits));
//
// All texts of the result are valid UTF-8. Thread-safety: pure functions.

constexpr std::size_t kPreviewCharacters = 200;
constexpr std::size_t kMaxVariables = 10'000;

// A string or a blob of `raw`; null and absent are empty.
Result<std::string> Text(const Json* value, std::string_view raw) {
  if (!value || value->is_null()) return std::string();
  auto text = ResolveText(*value, raw, {});
  if (!text) return MakeError(ErrorCode::kProtocol, "bridge: {}", text.error().message);
  return text;
}

BlockError ReadError(const Json& value) {
  return {.type = TextAt(value, "type"),
          .message = TextAt(value, "message"),
          .line = static_cast<int>(FindInt(value, "line").value_or(0)),
          .source = TextAt(value, "source"),
          .traceback = TextAt(value, "traceback")};
}

Result<BlockStatus> ReadStatus(std::string_view name) {
  for (const BlockStatus status : {BlockStatus::kOk, BlockStatus::kError, BlockStatus::kFinal,
                                   BlockStatus::kNotRun, BlockStatus::kInterrupted}) {
    if (name == BlockStatusName(status)) return status;
  }
  return MakeError(ErrorCode::kProtocol, "bridge: done with an unknown status");
}

Result<std::optional<HandedAnswer>> ReadAnswer(const Json* value, std::string_view raw) {
  if (!value || value->is_null()) return std::nullopt;
  using Form = HandedAnswer::Form;
  static constexpr std::pair<std::string_view, Form> kForms[] = {
      {"answer_dict", Form::kAnswerDict}, {"answer", Form::kAnswerDict},
      {"submit", Form::kSubmit},          {"final", Form::kFinal},
      {"final_var", Form::kFinalVar},     {"partial", Form::kPartial}};
  HandedAnswer answer;
  const std::string_view name = FindString(*value, "form").value_or("");
  const auto row = std::find_if(std::begin(kForms), std::end(kForms),
                                [&](const auto& form) { return form.first == name; });
  if (row == std::end(kForms)) {
    return MakeError(ErrorCode::kProtocol, "bridge: an answer of an unknown form");
  }
  answer.form = row->second;
  DOSSIER_ASSIGN_OR_RETURN(answer.text, Text(Find(*value, "text"), raw));
  if (const Json* json = Find(*value, "value"); json && !json->is_null()) answer.value = *json;
  answer.numbers_as_text = FindBool(*value, "numbers_as_text").value_or(false);
  return answer;
}

std::vector<VariableInfo> ReadVariables(const Json* list) {
  std::vector<VariableInfo> variables;
  if (!list || !list->is_array()) return variables;
  for (const Json& value : list->get_array()) {
    if (variables.size() == kMaxVariables) break;
    VariableInfo info{.name = TextAt(value, "name"), .type = TextAt(value, "type")};
    info.preview =
        std::string(utf8::Prefix(FindString(value, "preview").value_or(""), kPreviewCharacters));
    info.size =
        static_cast<std::uint64_t>(std::max<std::int64_t>(FindInt(value, "size").value_or(0), 0));
    variables.push_back(std::move(info));
  }
  return variables;
}

// [["Only 100 of 3,000 rows …", 100, []], ["Only 1 of 9 documents …", 1, ["a.txt"]]]
std::vector<BlockResult::Gap> ReadGaps(const Json* list) {
  std::vector<BlockResult::Gap> gaps;
  if (!list || !list->is_array()) return gaps;
  for (const Json& item : list->get_array()) {
    const JsonArray* parts = item.if_array();
    if (!parts || parts->size() != 3 || !(*parts)[0].is_string() || !(*parts)[1].is_int64())
      continue;
    const std::int64_t rows = std::max<std::int64_t>((*parts)[1].get_int64(), 0);
    gaps.push_back({std::string((*parts)[0].get_string()), static_cast<std::uint64_t>(rows),
                    StringsOf(&(*parts)[2])});
  }
  return gaps;
}

void ReadEvidence(const JsonObject& json, BlockResult* result) {
  if (FindBool(Json(json), "touches_data").value_or(false)) {
    result->ground = BlockResult::Ground::kData;
  }
  result->typed = StringsOf(json.if_contains("typed"));
  result->searched = StringsOf(json.if_contains("searched"));
  result->days = StringsOf(json.if_contains("days"));
  result->unmatched = StringsOf(json.if_contains("unmatched"));
  result->settled = StringsOf(json.if_contains("settled"));
  if (FindBool(Json(json), "proves_nothing").value_or(false)) {
    result->nothing = BlockResult::Nothing::kProved;
  }
  result->gaps = ReadGaps(json.if_contains("gaps"));
  const Json* read = json.if_contains("read");
  if (!read || !read->is_array()) return;
  for (const Json& part : read->get_array()) {
    const JsonArray* three = part.if_array();
    const bool whole_numbers =
        three && three->size() == 3 && std::ranges::all_of(*three, [](const Json& number) {
          return number.is_int64() && number.get_int64() >= 0;
        });
    if (!whole_numbers) continue;
    result->read.push_back({static_cast<std::size_t>((*three)[0].get_int64()),
                            static_cast<std::uint64_t>((*three)[1].get_int64()),
                            static_cast<std::uint64_t>((*three)[2].get_int64())});
  }
}

// "Block stopped after 60 s without a sub-call (line 3). …": the limit, and what to do.
std::string StopSentence(InterruptReason reason, const BlockOutcome& outcome, const Limits& limits,
                         int line) {
  const auto seconds = [](Millis time) {
    return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                    : fmt::format("{} ms", time.count());
  };
  const std::string where = line > 0 ? fmt::format(" (line {})", line) : "";
  switch (reason) {
    case InterruptReason::kSilence:
      return fmt::format(
          "Block stopped after {} {}{}. Do less in one block and keep what is done in variables; "
          "the user may allow more with --cell-time.",
          seconds(limits.silence),
          limits.counts == Limits::Counts::kIdle ? "without work or a sub-call"
                                                 : "outside of sub-calls",
          where);
    case InterruptReason::kCpu:
      return fmt::format(
          "Block stopped after {} of CPU time{}. Do less in one block and keep what is done in "
          "variables; the user may allow more with --cell-cpu.",
          seconds(limits.cpu), where);
    case InterruptReason::kDeadline:
      return fmt::format("Block stopped: the run's time is over{}.", where);
    case InterruptReason::kUser:
      break;
  }
  return fmt::format("Block stopped by the user after {}{}.", seconds(outcome.wall), where);
}

void AddLateOutput(const BlockOutput& output, BlockResult* result) {
  if (output.late.empty()) return;
  result->notes.push_back(
      fmt::format("late output of block {}: {}", output.late_block, utf8::Sanitize(output.late)));
}

// For an outcome that ended with `done`. Errors: kProtocol for values of the wrong kind.
Result<BlockResult> ReadBlockResult(BlockOutcome outcome, const Limits& limits) {
  const JsonObject& json = outcome.done.json;
  const std::string& raw = outcome.done.raw;
  BlockResult result;
  DOSSIER_ASSIGN_OR_RETURN(result.status, ReadStatus(json.at("status").get_string()));
  result.out = utf8::Sanitize(outcome.output.text);
  result.out_bytes = outcome.output.total;
  result.out_dropped = outcome.output.dropped;
  const Json* characters = json.if_contains("out_chars");
  result.out_chars = characters && result.out_dropped > 0
                         ? static_cast<std::uint64_t>(characters->get_int64())
                         : utf8::CodePoints(result.out);
  DOSSIER_ASSIGN_OR_RETURN(result.last, Text(json.if_contains("last"), raw));
  DOSSIER_ASSIGN_OR_RETURN(result.refused, Text(json.if_contains("refused"), raw));
  if (const Json* error = json.if_contains("error"); error && error->is_object()) {
    result.error = ReadError(*error);
  }
  DOSSIER_ASSIGN_OR_RETURN(result.answer, ReadAnswer(json.if_contains("answer"), raw));
  if (result.answer) result.answer->text.insert(0, outcome.answer);
  if (const Json* draft = json.if_contains("draft"); draft && !draft->is_null()) {
    DOSSIER_ASSIGN_OR_RETURN(result.draft, Text(draft, raw));
  }
  result.notes = StringsOf(json.if_contains("notes"));
  result.variables = ReadVariables(json.if_contains("vars"));
  ReadEvidence(json, &result);
  const Json& usage = json.at("usage");
  result.cpu = Millis(FindInt(usage, "cpu_ms").value_or(0));
  result.wall = outcome.wall;
  result.peak_bytes =
      std::max(outcome.peak_bytes, static_cast<std::uint64_t>(FindInt(usage, "peak").value_or(0)));
  AddLateOutput(outcome.output, &result);
  if (!outcome.interrupted || result.status != BlockStatus::kInterrupted) return result;
  const InterruptReason reason = *outcome.interrupted;
  if (reason == InterruptReason::kCpu || reason == InterruptReason::kDeadline) {
    result.status = BlockStatus::kLimit;
  }
  result.stopped = StopSentence(reason, outcome, limits, result.error ? result.error->line : 0);
  result.notes.insert(result.notes.begin(), result.stopped);
  return result;
}

Result<CheckResult> ReadCheckResult(const Message& checked) {
  CheckResult result;
  result.ok = checked.json.at("ok").get_bool();
  const Json* error = checked.json.if_contains("error");
  if (error && error->is_object()) result.error = ReadError(*error);
  const auto flag = [&](std::string_view name) {
    const Json* value = checked.json.if_contains(name);
    return value && value->get_bool();
  };
  result.incomplete = flag("incomplete");
  result.has_effect = flag("has_effect");
  result.computes = flag("computes");
  return result;
}

// The names that a block assigned; of one that was stopped those that it came to.
std::vector<std::string> PresentNames(const BlockOutcome& outcome) {
  std::vector<std::string> names = StringsOf(outcome.done.json.if_contains("assigned"));
  if (!outcome.interrupted) return names;
  std::set<std::string> there;
  for (VariableInfo& variable : ReadVariables(outcome.done.json.if_contains("vars"))) {
    there.insert(std::move(variable.name));
  }
  std::erase_if(names, [&](const std::string& name) { return !there.contains(name); });
  return names;
}

constexpr int kMaxDeaths = 3;
// Replies that are kept for a replay, of all blocks of a session. A block that needs one that is
// not kept stops there when it is run again.
constexpr std::uint64_t kMostRecordBytes = 128u << 20;
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

}  // namespace

std::uint64_t HostSession::RecordedBlock::bytes() const {
  std::uint64_t sum = 0;
  for (const CallRecord& record : records) sum += record.bytes();
  return sum;
}

std::uint64_t HostSession::RecordBytesLeft() const {
  std::uint64_t left = kMostRecordBytes;
  for (const RecordedBlock& block : recorded_) left -= std::min(left, block.bytes());
  return left;
}

HostSession::HostSession(std::shared_ptr<ZygoteSource> zygotes, SessionSpec spec,
                         CancelToken cancel)
    : zygotes_(std::move(zygotes)), spec_(std::move(spec)), cancel_(std::move(cancel)) {}

Result<std::unique_ptr<Session>> HostSession::Open(std::shared_ptr<ZygoteSource> zygotes,
                                                   SessionSpec spec, const CancelToken& cancel) {
  std::unique_ptr<HostSession> session(
      new HostSession(std::move(zygotes), std::move(spec), cancel));
  DOSSIER_RETURN_IF_ERROR(session->KeepContexts());
  DOSSIER_RETURN_IF_ERROR(session->FinishOpening());
  return session;
}

Result<std::unique_ptr<Opening>> HostSession::Begin(std::shared_ptr<ZygoteSource> zygotes,
                                                    SessionSpec spec, const CancelToken& cancel) {
  class Begun final : public Opening {
   public:
    explicit Begun(std::unique_ptr<HostSession> session) : session_(std::move(session)) {}
    Result<std::unique_ptr<Session>> Finish() override {
      DOSSIER_RETURN_IF_ERROR(session_->FinishOpening());
      return std::move(session_);
    }

   private:
    std::unique_ptr<HostSession> session_;
  };
  std::unique_ptr<HostSession> session(
      new HostSession(std::move(zygotes), std::move(spec), cancel));
  DOSSIER_RETURN_IF_ERROR(session->KeepContexts());
  // What cannot be begun without waiting is done whole by Finish.
  auto worker = HostWorker::Begin(*session->zygotes_, session->spec_, session->waker_);
  if (worker) session->worker_ = std::move(*worker);
  return std::make_unique<Begun>(std::move(session));
}

// A worker that was begun may have died since: then another one is started, which says what is
// wrong if that is no accident.
Status HostSession::FinishOpening() {
  if (worker_) {
    const Status ready = worker_->Finish(*zygotes_, cancel_);
    if (!ready) worker_.reset();
    if (!ready && ready.error().code == ErrorCode::kCancelled) return ready;
  }
  if (!worker_) DOSSIER_RETURN_IF_ERROR(StartWorker());
  report_ = worker_->report();
  start_time_ = worker_->start_time();
  return {};
}

// Copies of the caller's descriptors: a replacement maps them again, perhaps much later.
Status HostSession::KeepContexts() {
  for (ContextText& context : spec_.contexts) {
    if (context.owner) continue;
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

Status HostSession::NeedWorker(const BlockTimes& run) {
  if (worker_) return {};
  if (lost_ == Lost::kForGood) {
    return MakeError(ErrorCode::kDied, "the session has no worker any more; it died {} times",
                     deaths_);
  }
  DOSSIER_RETURN_IF_ERROR(StartWorker());
  lost_ = Lost::kForGood;
  return Replay(run).map([](const std::vector<std::string>&) {});
}

Result<BlockResult> HostSession::Run(std::string_view code, const BlockOptions& options,
                                     BridgeHandler& handler) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  if (control_.closed) return MakeError(ErrorCode::kCancelled, "the session is closed");
  if (options.cancel.cancelled()) {
    return MakeError(ErrorCode::kCancelled, "{}", options.cancel.reason());
  }
  DOSSIER_RETURN_IF_ERROR(NeedWorker(options.Times()));
  if (!utf8::IsValid(code)) {
    return Refused(fmt::format("the code is not valid UTF-8 at byte {}", utf8::FirstInvalid(code)));
  }
  BlockTask task{.code = std::string(code),
                 .block = next_block_++,
                 .spec = &spec_,
                 .control = &control_,
                 .waker = waker_.get(),
                 .options = options,
                 .handler = &handler,
                 .most_record_bytes = RecordBytesLeft()};
  control_.interrupt = -1;
  const std::shared_ptr<Waker> waker = waker_;
  const std::uint64_t watching = options.cancel.OnCancel([waker] { waker->Wake(); });
  BlockOutcome outcome = RunInWorker(*worker_, task);
  options.cancel.Forget(watching);
  if (outcome.context_text) zygotes_->WantContextText(spec_);
  if (outcome.cancelled && outcome.end == BlockEnd::kDied) {
    worker_.reset();  // nobody waits for a replacement now
    lost_ = Lost::kWithItsBlock;
    return MakeError(ErrorCode::kCancelled, "{}", options.cancel.reason());
  }
  return Finish(std::move(outcome), task);
}

Result<BlockResult> HostSession::Finish(BlockOutcome outcome, const BlockTask& task) {
  switch (outcome.end) {
    case BlockEnd::kClosed:
      return MakeError(ErrorCode::kCancelled, "{}", outcome.death_reason);
    case BlockEnd::kProtocol:
      worker_.reset();
      return MakeError(ErrorCode::kProtocol, "{}", outcome.death_reason);
    case BlockEnd::kDied:
      return Recover(std::move(outcome), task);
    case BlockEnd::kDone:
      break;
  }
  RecordedBlock recorded{.code = task.code, .block = next_block_ - 1};
  recorded.records = std::move(outcome.records);
  recorded.assigned = StringsOf(outcome.done.json.if_contains("assigned"));
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

Result<BlockResult> HostSession::Recover(BlockOutcome outcome, const BlockTask& task) {
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
  DOSSIER_ASSIGN_OR_RETURN(result.names_kept, Replay(task.options.Times()));
  if (const auto checked = Request(CodeMessage(MessageType::kCheck, task.code))) {
    const auto assigned = StringsOf(checked->json.if_contains("assigns"));
    wanted.insert(assigned.begin(), assigned.end());
  }
  for (const std::string& name : result.names_kept) wanted.erase(name);
  result.names_lost.assign(wanted.begin(), wanted.end());
  return result;
}

// Runs the recorded blocks again, as far as the end of the run allows; the names that are there
// afterwards, sorted.
Result<std::vector<std::string>> HostSession::Replay(const BlockTimes& run) {
  std::set<std::string> names;
  Millis left = kReplayCpu;
  BlockTimes times;
  if (run.deadline && run.end) {
    times = {.deadline = *run.deadline + (*run.end - *run.deadline) * 3 / 4, .end = run.end};
  }
  const BlockOptions options{.times = [times] { return times; }, .cancel = cancel_};
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
                   .options = options,
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
    const auto present = PresentNames(outcome);
    names.insert(present.begin(), present.end());
    left = std::max(left - outcome.cpu, Millis(0));
    const bool late = times.deadline && std::chrono::steady_clock::now() >= *times.deadline;
    if (left == Millis(0) || late) break;
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Status HostSession::Reset(const std::vector<std::string>& keep) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  DOSSIER_RETURN_IF_ERROR(NeedWorker({}));
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
    DOSSIER_RETURN_IF_ERROR(Replay({}));
  }
  return MakeError(ErrorCode::kDied, "the worker was replaced: {}", why);
}

Result<CheckResult> HostSession::Check(std::string_view code) {
  const std::unique_lock lock(running_, std::try_to_lock);
  if (!lock.owns_lock()) return MakeError(ErrorCode::kRefused, "the session is running a block");
  DOSSIER_RETURN_IF_ERROR(NeedWorker({}));
  if (!utf8::IsValid(code)) {
    CheckResult refused;
    refused.error = {
        .type = "SyntaxError",
        .message = fmt::format("the code is not valid UTF-8 at byte {}", utf8::FirstInvalid(code))};
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
  DOSSIER_RETURN_IF_ERROR(NeedWorker({}));
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
  const std::vector<std::string> nearest = StringsOf(value.json.if_contains("nearest"));
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
