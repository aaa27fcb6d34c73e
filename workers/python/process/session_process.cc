#include "session_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"
#include "contexts.h"
#include "interpreter.h"
#include "module.h"
#include "sandbox/session/session_open.h"

namespace dossier::worker {

using sandbox::Message;
using sandbox::MessageType;

namespace {

// A spare waits for its session as long as its host lives; the end of that closes the bridge.
constexpr Millis kSpareTime = std::chrono::hours(24 * 20);  // fits the int of poll()

constexpr std::size_t kInlineText = 4096;  // longer texts of a result travel in the raw part

std::int64_t Milliseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Only the main thread's own handler makes the interpreter stop a busy loop.
void OnInterruptSignal(int) { PyErr_SetInterruptEx(SIGINT); }

void InstallInterruptHandler() {
  struct sigaction action{};
  action.sa_handler = OnInterruptSignal;
  sigaction(SIGUSR2, &action, nullptr);  // without SA_RESTART: sleeps and waits end
  signal(SIGPIPE, SIG_IGN);
}

std::int64_t ResidentBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Replaces the string in `slot` by a blob in `raw` if it is long.
void MoveToRaw(Json* slot, std::string* raw) {
  if (!slot || !slot->is_string() || slot->get_string().size() <= kInlineText) return;
  const std::string_view text = slot->get_string();
  const std::uint64_t at = raw->size();
  raw->append(text);
  *slot = JsonObject{{"blob", JsonArray{at, text.size()}}};
}

// A field that says nothing: null, or an empty text or list.
bool IsEmpty(const Json& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty());
}

class SessionProcess {
 public:
  explicit SessionProcess(SessionProcessParts parts) : parts_(std::move(parts)) {}

  [[noreturn]] void Run() {
    const Status opened = Open();
    if (!opened) Refuse(opened.error());
    while (true) {
      Message request;
      Py_BEGIN_ALLOW_THREADS;
      request = bridge_->NextRequest();
      Py_END_ALLOW_THREADS;
      Serve(std::move(request));
    }
  }

 private:
  Status Open();
  Status Lock(std::int64_t started, std::uint64_t id);
  void Rehearse();
  [[noreturn]] void Refuse(const Error& error);
  void Serve(Message request);
  void RunBlock(Message request);
  void Check(const Message& request);
  void Get(Message request);
  void Reset(const Message& request);
  void StopOtherThreads();
  JsonObject CallForObject(const char* name, Ref args);

  SessionProcessParts parts_;
  OutputCapture capture_;
  std::unique_ptr<Bridge> bridge_;
  ModuleSession session_;
  sandbox::Limits limits_;
};

Status SessionProcess::Open() {
  sandbox::MessageDecoder decoder(sandbox::Side::kHost);
  std::vector<UniqueFd> fds;
  parts_.plan->EnterSession();
  Rehearse();
  const std::int64_t started = Milliseconds(CLOCK_MONOTONIC);
  DOSSIER_ASSIGN_OR_RETURN(const Message message,
                           sandbox::ReceiveMessage(parts_.socket.get(), decoder, &fds, kSpareTime));
  DOSSIER_ASSIGN_OR_RETURN(sandbox::SessionOpening opening, sandbox::ReadOpenMessage(message));
  DOSSIER_ASSIGN_OR_RETURN(session_.contexts, MapContexts(std::move(opening.contexts), fds));
  fds.clear();
  if (parts_.texts.size() == session_.contexts.size()) session_.texts = std::move(parts_.texts);
  limits_ = opening.limits;
  session_.features = std::move(opening.features);
  session_.capture = &capture_;
  bridge_ = std::make_unique<Bridge>(std::move(parts_.socket), std::move(decoder), &capture_);
  session_.bridge = bridge_.get();
  DOSSIER_RETURN_IF_ERROR(bridge_->Prepare());
  InstallInterruptHandler();
  DOSSIER_RETURN_IF_ERROR(AttachSession(&session_));
  return Lock(started, message.id);
}

// A process that waits for its session, and for nothing else, has the time to copy what each
// session writes to from its parent's memory: over a millisecond of the first block's time.
void SessionProcess::Rehearse() {
  pollfd entry{parts_.socket.get(), POLLIN, 0};
  if (poll(&entry, 1, 0) != 0) return;  // it is here
  const Ref done(PyObject_CallMethod(parts_.runtime, "rehearse", nullptr));
  if (!done) PyErr_Clear();  // a session says what is wrong, when it does the same
}

Status SessionProcess::Lock(std::int64_t started, std::uint64_t id) {
  sandbox::SessionLock lock{.bridge_fd = bridge_->fd(),
                            .private_fds = bridge_->private_fds(),
                            .keep_fds = {bridge_->wake_fd()}};
  for (std::size_t i = 0; i < session_.contexts.size(); ++i) {
    if (session_.texts[i]) continue;  // counted in what is there already
    const sandbox::Context& context = session_.contexts[i].description();
    const bool ascii = context.bytes == context.characters;
    lock.context_memory += (ascii ? 1 : 4) * context.characters;  // 4: a str of the widest kind
  }
  lock.limits = &limits_;
  lock.start_bridge = [this] { return bridge_->Start(); };
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::IsolationReport report, parts_.plan->LockSession(lock));
  const Ref done(PyObject_CallMethod(parts_.runtime, "start_session", nullptr));
  if (!done) return MakeError(ErrorCode::kInternal, "python: start_session: {}", TakeError());
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

JsonObject SessionProcess::CallForObject(const char* name, Ref args) {
  const Ref function(PyObject_GetAttrString(parts_.runtime, name));
  const Ref result(function && args ? PyObject_CallObject(function.get(), args.get()) : nullptr);
  if (!result) {
    PyErr_CheckSignals();  // one that arrived too late for the block
    JsonObject error{{"type", "RuntimeError"}, {"message", TakeError()}};
    return {{"failed", std::move(error)}};
  }
  Result<Json> json = ToJsonValue(result.get(), name);
  if (json && json->is_object()) return std::move(json->get_object());
  return {{"failed", JsonObject{{"type", "RuntimeError"},
                                {"message", json ? "no dict" : json.error().message}}}};
}

std::string CodeOf(const Message& request) {
  const Json& code = request.json.at("code");
  return code.is_string() ? std::string(code.get_string()) : request.raw;
}

Ref TextObject(std::string_view text) {
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Other threads of an interrupted block would go on. SystemExit ends those that run Python code,
// and `threading` prints nothing about it.
void SessionProcess::StopOtherThreads() {
  PyThreadState* own = PyThreadState_Get();
  std::vector<unsigned long> ids;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); thread;
       thread = PyThreadState_Next(thread)) {
    if (thread != own) ids.push_back(thread->thread_id);
  }
  for (const unsigned long id : ids) PyThreadState_SetAsyncExc(id, PyExc_SystemExit);
}

void SessionProcess::RunBlock(Message request) {
  const std::int64_t cpu = Milliseconds(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t wall = Milliseconds(CLOCK_MONOTONIC);
  const Ref code = TextObject(CodeOf(request));
  const bool replay = request.json.at("replay").get_bool();
  Ref args(Py_BuildValue("OIO", code.get(), static_cast<unsigned>(request.block),
                         replay ? Py_True : Py_False));
  bridge_->BeginBlock(request.block, limits_.output);
  JsonObject result = CallForObject("run_block", std::move(args));
  const bool interrupted = bridge_->TakeInterrupted();
  if (interrupted) {
    StopOtherThreads();
    if (PyErr_CheckSignals() < 0) PyErr_Clear();  // a repeat that came behind the end
  }
  if (const Json* failed = result.if_contains("failed")) {
    Json error = *failed;
    result = {{"status", interrupted ? "interrupted" : "error"}, {"error", std::move(error)}};
  }
  Message done{.type = MessageType::kDone, .id = request.id, .block = request.block};
  for (auto& [name, value] : result) {
    if (!IsEmpty(value)) done.json.emplace(name, std::move(value));
  }
  for (const char* name : {"last", "draft", "refused"}) {
    MoveToRaw(done.json.if_contains(name), &done.raw);
  }
  if (Json* answer = done.json.if_contains("answer"); answer && answer->is_object()) {
    MoveToRaw(answer->get_object().if_contains("text"), &done.raw);
  }
  done.json["usage"] = JsonObject{{"cpu_ms", Milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu},
                                  {"wall_ms", Milliseconds(CLOCK_MONOTONIC) - wall},
                                  {"peak", ResidentBytes()}};
  bridge_->EndBlock(std::move(done));
}

void SessionProcess::Check(const Message& request) {
  const Ref code = TextObject(CodeOf(request));
  Message checked{.type = MessageType::kChecked, .id = request.id};
  checked.json = CallForObject("check_code", Ref(PyTuple_Pack(1, code.get())));
  if (const Json* failed = checked.json.if_contains("failed")) {
    Json error = *failed;
    checked.json = {{"ok", false}, {"error", std::move(error)}};
  }
  bridge_->Respond(std::move(checked));
}

void SessionProcess::Get(Message request) {
  const std::string name(request.json.at("name").get_string());
  Ref args(Py_BuildValue("s#L", name.data(), static_cast<Py_ssize_t>(name.size()),
                         static_cast<long long>(request.json.at("max").get_int64())));
  JsonObject result = CallForObject("get_variable", std::move(args));
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
  const Ref keep = FromJsonValue(request.json.at("keep"));
  const Ref done(PyObject_CallMethod(parts_.runtime, "reset_session", "O", keep.get()));
  if (!done) _exit(sandbox::kBrokenBridgeExit);  // half a reset is no session
}

}  // namespace

void RunSessionProcess(SessionProcessParts parts) {
  // Never destroyed: the process ends by _exit.
  auto process = std::make_unique<SessionProcess>(std::move(parts));
  process.release()->Run();
}

}  // namespace dossier::worker
