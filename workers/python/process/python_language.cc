#include "python_language.h"

#include <signal.h>

#include <thread>
#include <vector>

#include "context_string.h"
#include "interpreter.h"
#include "module.h"

namespace dossier::worker {
namespace {

// Only the main thread's own handler makes the interpreter stop a busy loop.
void OnInterruptSignal(int) { PyErr_SetInterruptEx(SIGINT); }

Ref TextObject(std::string_view text) {
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

class PythonLanguage final : public Language {
 public:
  explicit PythonLanguage(Runtime runtime) : runtime_(std::move(runtime)) {}

  void BeforeFork() override { PyOS_BeforeFork(); }
  void AfterFork(ForkSide side) override {
    side == ForkSide::kParent ? PyOS_AfterFork_Parent() : PyOS_AfterFork_Child();
  }
  bool LoadMore() override { return runtime_.PreloadNext(); }
  Status LoadTexts(const std::vector<MappedContext>& contexts) override;

  bool Rehearse() override;
  Status Attach(SessionParts* parts) override;
  std::uint64_t TextMemory() const override;
  Status StartSession() override;
  sandbox::Message NextRequest(Bridge& bridge) override;
  void (*interrupt_handler() const)(int) override { return OnInterruptSignal; }

  JsonObject RunBlock(std::string_view code, std::uint32_t block) override;
  void AfterInterrupt() override;
  JsonObject Check(std::string_view code) override;
  JsonObject Get(std::string_view name, std::int64_t max_bytes) override;
  bool Reset(const Json& keep) override;

 private:
  // A session over a text that is nobody's.
  struct Rehearsal {
    OutputCapture printed;
    ModuleSession session;
    Ref steps;
  };

  Status BeginRehearsal();
  void EndRehearsal();
  JsonObject CallForObject(const char* name, Ref args);

  Runtime runtime_;
  std::unique_ptr<Rehearsal> rehearsal_;
  std::vector<Ref> texts_;  // of the contexts, in a zygote that has them
  ModuleSession session_;
};

Status PythonLanguage::LoadTexts(const std::vector<MappedContext>& contexts) {
  for (const MappedContext& context : contexts) {
    texts_.push_back(MakeContextString(context.bytes()));
    if (!texts_.back()) return MakeError(ErrorCode::kLimit, "{}", TakeError());
  }
  return {};
}

bool PythonLanguage::Rehearse() {
  if (!rehearsal_ && !BeginRehearsal()) return false;
  const Ref step(PyIter_Next(rehearsal_->steps.get()));
  if (step) return true;
  PyErr_Clear();  // a session says what is wrong, when it does the same
  EndRehearsal();
  return false;
}

Status PythonLanguage::BeginRehearsal() {
  static constexpr char kText[] =
      "a line of text\nanother one, not much longer\n"
      "                                                                ";  // read past the end
  constexpr std::uint64_t kBytes = sizeof(kText) - 65;
  auto rehearsal = std::make_unique<Rehearsal>();
  rehearsal->session.capture = &rehearsal->printed;
  rehearsal->session.features = {{"profile", "large"}, {"depth", 1}};
  rehearsal->session.contexts.push_back(
      MappedContext::Of({.name = "text", .bytes = kBytes, .characters = kBytes}, kText));
  DOSSIER_RETURN_IF_ERROR(AttachSession(&rehearsal->session));
  rehearsal_ = std::move(rehearsal);
  rehearsal_->steps = Ref(PyObject_CallMethod(runtime_.module(), "rehearse", nullptr));
  if (rehearsal_->steps) return {};
  const std::string reason = TakeError();
  EndRehearsal();
  return MakeError(ErrorCode::kInternal, "python: rehearse: {}", reason);
}

// The steps undo what they did when they are closed.
void PythonLanguage::EndRehearsal() {
  if (!rehearsal_) return;
  rehearsal_->steps = Ref();
  (void)AttachSession(nullptr);
  rehearsal_.reset();
}

Status PythonLanguage::Attach(SessionParts* parts) {
  EndRehearsal();
  static_cast<SessionParts&>(session_) = std::move(*parts);
  if (texts_.size() == session_.contexts.size()) session_.texts = std::move(texts_);
  return AttachSession(&session_);
}

std::uint64_t PythonLanguage::TextMemory() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < session_.contexts.size(); ++i) {
    if (session_.texts[i]) continue;  // counted in what is there already
    const sandbox::ContextText& context = session_.contexts[i].description();
    const bool ascii = context.bytes == context.characters;
    bytes += (ascii ? 1 : 4) * context.characters;  // 4: a str of the widest kind
  }
  return bytes;
}

Status PythonLanguage::StartSession() {
  const Ref done(PyObject_CallMethod(runtime_.module(), "start_session", nullptr));
  if (!done) return MakeError(ErrorCode::kInternal, "python: start_session: {}", TakeError());
  return {};
}

sandbox::Message PythonLanguage::NextRequest(Bridge& bridge) {
  sandbox::Message request;
  Py_BEGIN_ALLOW_THREADS;
  request = bridge.NextRequest();
  Py_END_ALLOW_THREADS;
  return request;
}

JsonObject PythonLanguage::CallForObject(const char* name, Ref args) {
  const Ref function(PyObject_GetAttrString(runtime_.module(), name));
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

JsonObject PythonLanguage::RunBlock(std::string_view code, std::uint32_t block) {
  const Ref text = TextObject(code);
  return CallForObject("run_block",
                       Ref(Py_BuildValue("OI", text.get(), static_cast<unsigned>(block))));
}

// Other threads of an interrupted block would go on. SystemExit ends those that run Python code,
// and `threading` prints nothing about it.
void PythonLanguage::AfterInterrupt() {
  PyThreadState* own = PyThreadState_Get();
  std::vector<unsigned long> ids;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); thread;
       thread = PyThreadState_Next(thread)) {
    if (thread != own) ids.push_back(thread->thread_id);
  }
  for (const unsigned long id : ids) PyThreadState_SetAsyncExc(id, PyExc_SystemExit);
  if (PyErr_CheckSignals() < 0) PyErr_Clear();  // a repeat that came behind the end
}

JsonObject PythonLanguage::Check(std::string_view code) {
  const Ref text = TextObject(code);
  return CallForObject("check_code", Ref(PyTuple_Pack(1, text.get())));
}

JsonObject PythonLanguage::Get(std::string_view name, std::int64_t max_bytes) {
  return CallForObject("get_variable",
                       Ref(Py_BuildValue("s#L", name.data(), static_cast<Py_ssize_t>(name.size()),
                                         static_cast<long long>(max_bytes))));
}

bool PythonLanguage::Reset(const Json& keep) {
  const Ref names = FromJsonValue(keep);
  return Ref(PyObject_CallMethod(runtime_.module(), "reset_session", "O", names.get())).get() !=
         nullptr;
}

Result<Runtime> Load(const std::string& library) {
  DOSSIER_RETURN_IF_ERROR(StartInterpreter(library));
  return LoadRuntime();
}

}  // namespace

Result<std::unique_ptr<Language>> StartPython(const std::string& library) {
  // On a thread of its own, while the interpreter starts.
  std::thread mapping([&library] { MapExtensions(library); });
  Result<Runtime> runtime = Load(library);
  mapping.join();
  if (!runtime) return tl::unexpected(runtime.error());
  return std::make_unique<PythonLanguage>(std::move(*runtime));
}

}  // namespace dossier::worker
