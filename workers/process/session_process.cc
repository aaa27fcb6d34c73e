#include "session_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"
#include "sandbox/session/session_open.h"

namespace dossier::worker {

using sandbox::Message;
using sandbox::MessageType;

namespace {

// A spare waits for its session as long as its host lives; the end of that closes the bridge.
constexpr Millis kSpareTime = std::chrono::hours(24 * 20);  // fits the int of poll()

constexpr std::size_t kInlineText = 4096;  // longer texts of a result travel in the raw part
constexpr std::uint64_t kMostRaw = sandbox::kMaxToHost - sandbox::kMaxJson;  // bytes
constexpr std::size_t kAnswerPiece = 32u << 20;

std::int64_t Milliseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void InstallInterruptHandler(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(SIGUSR2, &action, nullptr);  // without SA_RESTART: sleeps and waits end
  signal(SIGPIPE, SIG_IGN);
}

std::int64_t ResidentBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Replaces the string in `slot` by a blob in `raw` if it is long. False: it does not fit there.
bool MoveToRaw(Json* slot, std::string* raw) {
  if (!slot || !slot->is_string() || slot->get_string().size() <= kInlineText) return true;
  const std::string_view text = slot->get_string();
  const std::uint64_t at = raw->size();
  if (text.size() > kMostRaw - at) return false;
  raw->append(text);
  *slot = JsonObject{{"blob", JsonArray{at, text.size()}}};
  return true;
}

// Moves the long texts of a block's result out of its JSON. A draft that does not fit is dropped.
// False: the message would be too large.
bool MoveTextsToRaw(Message* done) {
  Json* answer = done->json.if_contains("answer");
  if (answer && answer->is_object() &&
      !MoveToRaw(answer->get_object().if_contains("text"), &done->raw)) {
    return false;
  }
  for (const char* name : {"last", "refused"}) {
    if (!MoveToRaw(done->json.if_contains(name), &done->raw)) return false;
  }
  if (!MoveToRaw(done->json.if_contains("draft"), &done->raw)) done->json.erase("draft");
  // What it says later of usage and output is short.
  constexpr std::size_t kRest = 4096;
  return boost::json::serialize(done->json).size() + kRest <= sandbox::kMaxJson;
}

// What is said instead of a result that no message holds: what the block bound is there.
JsonObject TooLarge(JsonObject result) {
  JsonObject less{{"status", "error"}};
  less["error"] = {{"type", "ValueError"},
                   {"message", fmt::format("the answer is too large to be handed over: a text may "
                                           "have {} MiB, another value as JSON {} MiB",
                                           sandbox::kMaxAnswer >> 20, sandbox::kMaxJson >> 20)}};
  if (Json* assigned = result.if_contains("assigned")) less["assigned"] = std::move(*assigned);
  return less;
}

// A field that says nothing: null, or an empty text or list.
bool IsEmpty(const Json& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty());
}

class SessionProcess {
 public:
  explicit SessionProcess(SessionProcessParts parts)
      : parts_(std::move(parts)), language_(*parts_.language) {}

  [[noreturn]] void Run() {
    const Status opened = Open();
    if (!opened) Refuse(opened.error());
    while (true) Serve(language_.NextRequest(*bridge_));
  }

 private:
  Status Open();
  Status Lock(std::int64_t started, std::uint64_t id);
  void Rehearse();
  [[noreturn]] void Refuse(const Error& error);
  void Serve(Message request);
  void RunBlock(Message request);
  void SendAnswerAhead(Message* done);
  void Check(const Message& request);
  void Get(Message request);
  void Reset(const Message& request);

  SessionProcessParts parts_;
  Language& language_;
  OutputCapture capture_;
  std::unique_ptr<Bridge> bridge_;
  SessionParts session_;
  sandbox::Limits limits_;
};

Status SessionProcess::Open() {
  sandbox::MessageDecoder decoder(sandbox::Side::kHost);
  std::vector<UniqueFd> fds;
  parts_.plan->EnterSession();
  Rehearse();
  DOSSIER_ASSIGN_OR_RETURN(const Message message,
                           sandbox::ReceiveMessage(parts_.socket.get(), decoder, &fds, kSpareTime));
  const std::int64_t started = Milliseconds(CLOCK_MONOTONIC);
  DOSSIER_ASSIGN_OR_RETURN(sandbox::SessionOpening opening, sandbox::ReadOpenMessage(message));
  DOSSIER_ASSIGN_OR_RETURN(session_.contexts, MapContexts(std::move(opening.contexts), fds));
  fds.clear();
  limits_ = opening.limits;
  session_.features = std::move(opening.features);
  session_.sql = std::make_shared<SqlSession>(TakeDatabases(&session_.contexts), session_.features);
  session_.capture = &capture_;
  bridge_ = std::make_unique<Bridge>(std::move(parts_.socket), std::move(decoder), &capture_);
  session_.bridge = bridge_.get();
  DOSSIER_RETURN_IF_ERROR(bridge_->Prepare());
  InstallInterruptHandler(language_.interrupt_handler());
  DOSSIER_RETURN_IF_ERROR(language_.Attach(&session_));
  return Lock(started, message.id);
}

// A spare has the time to copy what each session writes to from its parent's memory, until somebody
// asks for one: that takes some milliseconds, most of what a session and its first block cost.
void SessionProcess::Rehearse() {
  if (parts_.rehearsal == SessionProcessParts::Rehearsal::kNo) return;
  const auto asked_for = [this] {
    pollfd entry{parts_.socket.get(), POLLIN, 0};
    return poll(&entry, 1, 0) != 0;
  };
  while (!asked_for() && language_.Rehearse()) continue;
}

Status SessionProcess::Lock(std::int64_t started, std::uint64_t id) {
  sandbox::SessionLock lock{.bridge_fd = bridge_->fd(),
                            .private_fds = bridge_->private_fds(),
                            .keep_fds = {bridge_->wake_fd()}};
  lock.context_memory = language_.TextMemory();
  lock.limits = &limits_;
  lock.start_bridge = [this] { return bridge_->Start(); };
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::IsolationReport report, parts_.plan->LockSession(lock));
  DOSSIER_RETURN_IF_ERROR(language_.StartSession());
  Message opened{.type = MessageType::kOpened, .id = id};
  opened.json = {{"ms", Milliseconds(CLOCK_MONOTONIC) - started},
                 {"rss", ResidentBytes()},
                 {"report", report.ToJson()}};
  bridge_->Respond(std::move(opened));
  return {};
}

// The reason goes to the host as a log line, on whichever way is still open.
void SessionProcess::Refuse(const Error& error) {
  Message log{.type = MessageType::kLog,
              .json = {{"level", ErrorName(error.code)}, {"text", error.message}}};
  if (parts_.socket.valid()) {
    (void)sandbox::SendWithFds(parts_.socket.get(), sandbox::MessageWriter::Encode(log), {});
  } else if (bridge_) {
    const std::string bytes = sandbox::MessageWriter::Encode(log);
    [[maybe_unused]] const ssize_t written = write(bridge_->fd(), bytes.data(), bytes.size());
    bridge_->Respond(std::move(log));
    usleep(100'000);
  }
  _exit(sandbox::kBrokenBridgeExit);
}

void SessionProcess::Serve(Message request) {
  try {
    if (request.type == MessageType::kRun) return RunBlock(std::move(request));
    if (request.type == MessageType::kCheck) return Check(std::move(request));
    if (request.type == MessageType::kReset) return Reset(request);
    return Get(std::move(request));
  } catch (const std::bad_alloc&) {
    _exit(sandbox::kOutOfMemoryExit);
  }
}

std::string CodeOf(const Message& request) {
  const Json& code = request.json.at("code");
  return code.is_string() ? std::string(code.get_string()) : request.raw;
}

// No message holds a long answer: all but its end goes ahead, in pieces of whole characters.
void SessionProcess::SendAnswerAhead(Message* done) {
  Json* answer = done->json.if_contains("answer");
  Json* text = answer && answer->is_object() ? answer->get_object().if_contains("text") : nullptr;
  if (!text || !text->is_string() || text->get_string().size() > sandbox::kMaxAnswer) return;
  std::string_view rest = text->get_string();
  if (rest.size() <= kAnswerPiece) return;
  while (rest.size() > kAnswerPiece) {
    std::size_t end = kAnswerPiece;
    while ((static_cast<unsigned char>(rest[end]) & 0xC0) == 0x80) --end;
    bridge_->SendAnswer(std::string(rest.substr(0, end)), done->block);
    rest.remove_prefix(end);
  }
  *text = Json(std::string(rest));
}

void SessionProcess::RunBlock(Message request) {
  const std::int64_t cpu = Milliseconds(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t wall = Milliseconds(CLOCK_MONOTONIC);
  bridge_->BeginBlock(request.block, limits_.output);
  JsonObject result = language_.RunBlock(CodeOf(request), request.block);
  const bool interrupted = bridge_->TakeInterrupted();
  if (interrupted) language_.AfterInterrupt();
  if (const Json* failed = result.if_contains("failed")) {
    Json error = *failed;
    result = {{"status", interrupted ? "interrupted" : "error"}, {"error", std::move(error)}};
  }
  Message done{.type = MessageType::kDone, .id = request.id, .block = request.block};
  for (auto& [name, value] : result) {
    if (!IsEmpty(value)) done.json.emplace(name, std::move(value));
  }
  SendAnswerAhead(&done);
  if (!MoveTextsToRaw(&done)) {
    done.raw.clear();
    done.json = TooLarge(std::move(done.json));
  }
  done.json["usage"] = JsonObject{{"cpu_ms", Milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu},
                                  {"wall_ms", Milliseconds(CLOCK_MONOTONIC) - wall},
                                  {"peak", ResidentBytes()}};
  bridge_->EndBlock(std::move(done));
}

void SessionProcess::Check(const Message& request) {
  Message checked{.type = MessageType::kChecked, .id = request.id};
  checked.json = language_.Check(CodeOf(request));
  if (const Json* failed = checked.json.if_contains("failed")) {
    Json error = *failed;
    checked.json = {{"ok", false}, {"error", std::move(error)}};
  }
  bridge_->Respond(std::move(checked));
}

void SessionProcess::Get(Message request) {
  JsonObject result = language_.Get(std::string(request.json.at("name").get_string()),
                                    request.json.at("max").get_int64());
  Message value{.type = MessageType::kValue, .id = request.id};
  const Json* found = result.if_contains("found");
  value.json["found"] = found && found->is_bool() && found->get_bool();
  if (const Json* text = result.if_contains("text"); text && text->is_string()) {
    value.raw = std::string(text->get_string());
  }
  if (const Json* nearest = result.if_contains("nearest")) value.json["nearest"] = *nearest;
  bridge_->Respond(std::move(value));
}

// Without an answer: requests are served in order, so the next block finds it done.
void SessionProcess::Reset(const Message& request) {
  if (!language_.Reset(request.json.at("keep"))) _exit(sandbox::kBrokenBridgeExit);
}

}  // namespace

void RunSessionProcess(SessionProcessParts parts) {
  // Never destroyed: the process ends by _exit.
  auto process = std::make_unique<SessionProcess>(std::move(parts));
  process.release()->Run();
}

}  // namespace dossier::worker
