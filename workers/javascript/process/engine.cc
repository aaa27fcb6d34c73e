#include "engine.h"

#include <js/CompilationAndEvaluation.h>
#include <js/ContextOptions.h>
#include <js/Exception.h>
#include <js/GCAPI.h>
#include <js/HelperThreadAPI.h>
#include <js/Initialization.h>
#include <js/SourceText.h>
#include <jsfriendapi.h>
#include <malloc.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "values.h"

namespace dossier::worker {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kStack = 4u << 20;  // of 8 MiB that a main thread has
constexpr std::size_t kHelperStack = 1u << 20;

constexpr JSClass kGlobalClass = {"global", JSCLASS_GLOBAL_FLAGS, &JS::DefaultGlobalClassOps};

// The engine knows only process-wide callbacks here, and a process has one engine.
Engine* the_engine = nullptr;

// Work that the engine hands to another thread: compiling hot code, sweeping.
struct HelperTasks {
  std::mutex mutex;
  std::condition_variable ready;
  int waiting = 0;
};

HelperTasks& Tasks() {
  static HelperTasks& tasks = *new HelperTasks;  // its thread runs to the end of the process
  return tasks;
}

void OnHelperTask(JS::DispatchReason) {
  std::lock_guard lock(Tasks().mutex);
  ++Tasks().waiting;
  Tasks().ready.notify_one();
}

// What objects take, and what they hold outside the engine's heap.
constexpr std::uint32_t kNursery = 2u << 20;  // bytes

std::uint64_t UsedBytes(JSContext* cx) {
  const struct mallinfo2 held = mallinfo2();
  return JS_GetGCParameter(cx, JSGC_BYTES) + held.uordblks + held.hblkhd;
}

void RunHelperTasks() {
  while (true) {
    {
      std::unique_lock lock(Tasks().mutex);
      Tasks().ready.wait(lock, [] { return Tasks().waiting > 0; });
      --Tasks().waiting;
    }
    JS::RunHelperThreadTask();
  }
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Make() {
  if (!JS_Init()) return dossier::MakeError(ErrorCode::kUnavailable, "SpiderMonkey does not start");
  JS::SetHelperThreadTaskCallback(OnHelperTask, 1, kHelperStack);
  std::unique_ptr<Engine> engine(new Engine);
  the_engine = engine.get();
  engine->cx_ = JS_NewContext(JS::DefaultHeapMaxBytes);
  if (!engine->cx_ || !JS::InitSelfHostedCode(engine->cx_)) {
    return dossier::MakeError(ErrorCode::kUnavailable, "SpiderMonkey has no memory to start");
  }
  DOSSIER_RETURN_IF_ERROR(engine->MakeRealm());
  return engine;
}

Status Engine::MakeRealm() {
  JS_SetNativeStackQuota(cx_, kStack);
  JS_SetGCParameter(cx_, JSGC_MAX_BYTES, 0xffff'ffff);  // a low one makes it collect for ever
  // New objects may hold eight times this much outside of the nursery before it is collected.
  JS_SetGCParameter(cx_, JSGC_MAX_NURSERY_BYTES, kNursery);
  JS::SetJobQueue(cx_, this);
  JS_AddInterruptCallback(cx_, OnInterrupt);
  JS_SetGCCallback(cx_, OnGc, this);
  JS::SetGCNurseryCollectionCallback(cx_, OnNurseryGc);
  JS::RealmOptions options;
  options.creationOptions().setSharedMemoryAndAtomicsEnabled(false);
  global_.init(cx_);
  make_error_.init(cx_);
  global_ = JS_NewGlobalObject(cx_, &kGlobalClass, nullptr, JS::FireOnNewGlobalHook, options);
  if (!global_) return dossier::MakeError(ErrorCode::kUnavailable, "SpiderMonkey has no memory");
  JS::EnterRealm(cx_, global_);  // for good: there is no other
  if (!JS::InitRealmStandardClasses(cx_) || !JS_InitReflectParse(cx_, global_)) {
    return dossier::MakeError(ErrorCode::kUnavailable, "SpiderMonkey has no memory");
  }
  return {};
}

bool Engine::Evaluate(std::string_view code, const char* file, int line,
                      JS::MutableHandleValue out) {
  JS::SourceText<mozilla::Utf8Unit> source;
  if (!source.init(cx_, code.data(), code.size(), JS::SourceOwnership::Borrowed)) return false;
  JS::CompileOptions options(cx_);
  options.setFileAndLine(file, static_cast<unsigned>(line));
  return JS::Evaluate(cx_, options, source, out);
}

bool Engine::Evaluate(JS::HandleString code, const char* file, int line,
                      JS::MutableHandleValue out) {
  const std::string text = TextOf(cx_, code);
  return Evaluate(std::string_view(text), file, line, out);
}

std::string Engine::TakeError() {
  JS::ExceptionStack stack(cx_);
  if (!JS_IsExceptionPending(cx_) || !JS::StealPendingExceptionStack(cx_, &stack)) {
    return "stopped without an error";
  }
  JS::ErrorReportBuilder report(cx_);
  if (!report.init(cx_, stack, JS::ErrorReportBuilder::NoSideEffects)) return "an unknown error";
  return report.toStringResult().c_str();
}

void Engine::Enter(Bridge* bridge, std::uint64_t memory) {
  bridge_ = bridge;
  // Below the hard limit, at which the engine itself would end.
  memory_ = UsedBytes(cx_) + memory / 4 * 3;
}

Status Engine::StartHelper() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // signals are the main thread's
  Status started;
  try {
    std::thread(RunHelperTasks).detach();
  } catch (const std::system_error& error) {
    started = dossier::MakeError(ErrorCode::kUnavailable, "helper thread: {}", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void Engine::RequestStop(int) {
  the_engine->interrupted_ = true;
  // Sets flags, and takes a lock that only Atomics.wait holds, which is not there. The other
  // request would not stop a regular expression.
  JS_RequestInterruptCallback(the_engine->cx_);
}

bool Engine::OnInterrupt(JSContext*) {
  Engine& engine = *the_engine;
  if (engine.memory_high_ && !engine.file_.empty()) {
    JS_GC(engine.cx_);  // what is over the limit may be garbage
    engine.memory_high_ = false;
    if (UsedBytes(engine.cx_) >= engine.memory_) engine.out_of_memory_ = true;
  }
  if (!engine.stopped()) return true;
  engine.NoteLine();
  return false;  // code cannot catch it
}

void Engine::NoteLine() {
  JS::AutoFilename file;
  unsigned line = 0;
  if (stopped_line_ > 0 || !JS::DescribeScriptedCaller(cx_, &file, &line)) return;
  if (file.get() && file_ == file.get()) stopped_line_ = static_cast<int>(line);
}

// A heap maximum would make the engine collect again and again instead of ending the block.
void Engine::OnGc(JSContext*, JSGCStatus status, JS::GCReason, void*) {
  if (status == JSGC_END) the_engine->CheckMemory();
}

// Between two whole collections the heap may double.
void Engine::OnNurseryGc(JSContext*, JS::GCNurseryProgress progress, JS::GCReason) {
  if (progress == JS::GCNurseryProgress::GC_NURSERY_COLLECTION_END) the_engine->CheckMemory();
}

void Engine::CheckMemory() {
  if (file_.empty() || memory_high_ || UsedBytes(cx_) < memory_) return;
  memory_high_ = true;
  JS_RequestInterruptCallback(cx_);
}

void Engine::BeginBlock(std::string file) {
  file_ = std::move(file);
  interrupted_ = out_of_memory_ = memory_high_ = false;
  handed_.reset();
  stopped_line_ = 0;
}

std::size_t Engine::EndBlock() {
  const std::size_t open = calls_.size();
  jobs_.clear();
  timers_.clear();
  calls_.clear();
  return open;
}

JSObject* Engine::getIncumbentGlobal(JSContext* cx) { return JS::CurrentGlobalOrNull(cx); }

bool Engine::enqueuePromiseJob(JSContext* cx, JS::HandleObject, JS::HandleObject job,
                               JS::HandleObject, JS::HandleObject) {
  jobs_.emplace_back(cx, job);
  return true;
}

// False: the block is stopped.
bool Engine::RunJobs() {
  JS::RootedObject job(cx_);
  JS::RootedValue ignored(cx_);
  while (!jobs_.empty() && !stopped()) {
    job = jobs_.front();
    jobs_.pop_front();
    if (JS::Call(cx_, JS::UndefinedHandleValue, job, JS::HandleValueArray::empty(), &ignored)) {
      continue;
    }
    if (!JS_IsExceptionPending(cx_)) return false;
    JS_ClearPendingException(cx_);  // of a thenable: its promise has it
  }
  return !stopped();
}

// Runs the timer that is due first; false if none is.
bool Engine::RunTimer() {
  const auto first = std::min_element(
      timers_.begin(), timers_.end(),
      [](const Timer& a, const Timer& b) { return std::tie(a.due, a.id) < std::tie(b.due, b.id); });
  if (first == timers_.end() || first->due > steady_clock::now()) return false;
  JS::RootedObject callback(cx_, first->callback);
  timers_.erase(first);
  JS::RootedValue ignored(cx_);
  if (!JS::Call(cx_, JS::UndefinedHandleValue, callback, JS::HandleValueArray::empty(), &ignored)) {
    JS_ClearPendingException(cx_);  // our own half reports what a callback throws
  }
  return true;
}

// Waits for a reply or a timer. False: there is nothing to wait for.
bool Engine::Wait() {
  if (calls_.empty() && timers_.empty()) return false;
  std::optional<Clock::Steady> due;
  for (const Timer& timer : timers_) due = due ? std::min(*due, timer.due) : timer.due;
  if (auto next = bridge_->NextOutcome(due)) SettleCall(next->first, next->second);
  return true;
}

Engine::End Engine::Settle(JS::HandleObject promise) {
  while (RunJobs()) {
    if (JS::GetPromiseState(promise) != JS::PromiseState::Pending) return End::kSettled;
    if (RunTimer()) continue;
    if (!Wait()) return End::kStuck;
  }
  return StoppedBy();
}

void Engine::Hand(Handed handed) {
  if (!handed_) handed_ = std::move(handed);
}

std::optional<Handed> Engine::TakeHanded() { return std::exchange(handed_, std::nullopt); }

bool Engine::MakeError(const CallOutcome& outcome, JS::MutableHandleValue out) {
  JS::RootedValueArray<3> arguments(cx_);
  JSString* text = MakeString(cx_, outcome.code);
  if (!text) return false;
  arguments[0].setString(text);
  if (!(text = MakeString(cx_, outcome.message))) return false;
  arguments[1].setString(text);
  arguments[2].setBoolean(outcome.retryable);
  return JS::Call(cx_, JS::UndefinedHandleValue, make_error_, arguments, out);
}

// Always false: an exception is pending, or none where the block is stopped.
bool Engine::ThrowOutcome(const CallOutcome& outcome) {
  JS::RootedValue error(cx_);
  if (outcome.kind == CallOutcome::Kind::kInterrupted) return NoteLine(), false;
  if (MakeError(outcome, &error)) JS_SetPendingException(cx_, error);
  return false;
}

JSObject* Engine::BeginCall(std::string method, JsonObject args, std::string raw) {
  JS::RootedObject promise(cx_, JS::NewPromiseObject(cx_, nullptr));
  if (!promise) return nullptr;
  const auto id = bridge_->Begin(std::move(method), std::move(args), std::move(raw),
                                 [this] { return interrupted_.load(); });
  if (id) {
    calls_.emplace(*id, JS::PersistentRootedObject(cx_, promise));
    return promise;
  }
  if (id.error().kind == CallOutcome::Kind::kInterrupted) return ThrowOutcome(id.error()), nullptr;
  JS::RootedValue error(cx_);
  return MakeError(id.error(), &error) && JS::RejectPromise(cx_, promise, error) ? promise.get()
                                                                                 : nullptr;
}

bool Engine::SettleCall(std::uint64_t id, const CallOutcome& outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return true;
  JS::RootedObject promise(cx_, found->second);
  calls_.erase(found);
  JS::RootedValue value(cx_);
  if (outcome.kind != CallOutcome::Kind::kOk) {
    return MakeError(outcome, &value) && JS::RejectPromise(cx_, promise, value);
  }
  if (FromJsonValue(cx_, outcome.value, outcome.raw, &value)) {
    return JS::ResolvePromise(cx_, promise, value);
  }
  if (!JS_GetPendingException(cx_, &value)) return false;
  JS_ClearPendingException(cx_);
  return JS::RejectPromise(cx_, promise, value);
}

bool Engine::SetTimer(JS::HandleObject callback, double ms, std::uint32_t* id) {
  constexpr double kLongest = 1e9;
  const auto wait = std::chrono::duration<double, std::milli>(std::clamp(ms, 0.0, kLongest));
  *id = next_timer_++;
  timers_.push_back(
      {.due = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(wait),
       .id = *id,
       .callback = JS::PersistentRootedObject(cx_, callback)});
  return true;
}

void Engine::ClearTimer(std::uint32_t id) {
  std::erase_if(timers_, [id](const Timer& timer) { return timer.id == id; });
}

}  // namespace dossier::worker
