#include "module.h"

#include "base/hash.h"
#include "context_string.h"

namespace dossier::worker {
namespace {

struct State {
  ModuleSession* session;
  PyObject* bridge_error;
  unsigned long long unknown_versions;  // that dict_version gave for lack of a real one
};

State* StateOf(PyObject* module) { return static_cast<State*>(PyModule_GetState(module)); }

ModuleSession* SessionOf(PyObject* module) {
  ModuleSession* session = StateOf(module)->session;
  if (!session) PyErr_SetString(PyExc_RuntimeError, "no session");
  return session;
}

// Gives the interpreter's lock away for its lifetime.
class WithoutLock {
 public:
  WithoutLock() : saved_(PyEval_SaveThread()) {}
  ~WithoutLock() { PyEval_RestoreThread(saved_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

  // True if a signal's handler raised; the error is then set.
  bool CheckSignals() {
    PyEval_RestoreThread(saved_);
    const bool raised = PyErr_CheckSignals() != 0;
    saved_ = PyEval_SaveThread();
    return raised;
  }

 private:
  PyThreadState* saved_;
};

// With the interpreter's lock held.
bool IsMainThread() { return PyThreadState_Next(PyThreadState_Get()) == nullptr; }

PyObject* RaiseBridgeError(PyObject* module, const CallOutcome& outcome) {
  Ref error(PyObject_CallFunction(StateOf(module)->bridge_error, "ssO", outcome.code.c_str(),
                                  outcome.message.c_str(), outcome.retryable ? Py_True : Py_False));
  if (!error) return nullptr;
  PyObject_SetAttrString(error.get(), "retryable", outcome.retryable ? Py_True : Py_False);
  const Ref code(PyUnicode_FromString(outcome.code.c_str()));
  const Ref message(PyUnicode_FromString(outcome.message.c_str()));
  if (code) PyObject_SetAttrString(error.get(), "code", code.get());
  if (message) PyObject_SetAttrString(error.get(), "message", message.get());
  PyErr_SetObject(StateOf(module)->bridge_error, error.get());
  return nullptr;
}

PyObject* RaiseBadArgument(PyObject* module, const std::string& message) {
  return RaiseBridgeError(module, {.code = "bad_argument", .message = message});
}

// Of a session that is only rehearsed.
PyObject* RaiseNoHost(PyObject* module) {
  return RaiseBridgeError(module, {.code = "failed", .message = "there is no host"});
}

PyObject* CallOrThrow(PyObject* module, PyObject* args, PyObject* keywords) {
  static const char* kNames[] = {"method", "args", "raw", nullptr};
  const char* method = nullptr;
  PyObject* arguments = nullptr;
  Py_buffer raw{};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO!|y*:call", const_cast<char**>(kNames),
                                   &method, &PyDict_Type, &arguments, &raw)) {
    return nullptr;
  }
  std::string bytes(static_cast<const char*>(raw.buf), static_cast<std::size_t>(raw.len));
  if (raw.obj) PyBuffer_Release(&raw);
  ModuleSession* session = SessionOf(module);
  if (!session) return nullptr;
  if (!session->bridge) return RaiseNoHost(module);
  Result<Json> json = ToJsonValue(arguments, "args");
  if (!json) return RaiseBadArgument(module, json.error().message);

  const std::int64_t number =
      IsMainThread() ? 0 : static_cast<std::int64_t>(PyThreadState_Get()->id);
  const std::string name = method;
  CallOutcome outcome;
  {
    WithoutLock unlocked;
    outcome = session->bridge->Call(name, std::move(json->get_object()), std::move(bytes), number,
                                    [&unlocked] { return unlocked.CheckSignals(); });
  }
  const bool interrupted = outcome.kind == CallOutcome::Kind::kInterrupted;
  if (interrupted || outcome.code == "too_large") session->items = std::move(outcome.items);
  if (interrupted) return nullptr;  // the error is set
  if (outcome.kind == CallOutcome::Kind::kError) return RaiseBridgeError(module, outcome);
  Ref value = FromJsonValue(outcome.value);
  Ref raw_out(
      PyBytes_FromStringAndSize(outcome.raw.data(), static_cast<Py_ssize_t>(outcome.raw.size())));
  if (!value || !raw_out) return nullptr;
  return PyTuple_Pack(2, value.get(), raw_out.get());
}

// The memory limit of code is ours too: what does not fit is a MemoryError, not the end.
PyObject* Call(PyObject* module, PyObject* args, PyObject* keywords) {
  try {
    return CallOrThrow(module, args, keywords);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* SqlOrThrow(PyObject* module, PyObject* args) {
  const char* query = nullptr;
  Py_ssize_t size = 0;
  PyObject* values = nullptr;
  if (!PyArg_ParseTuple(args, "s#O!:sql", &query, &size, &PyList_Type, &values)) return nullptr;
  ModuleSession* session = SessionOf(module);
  if (!session) return nullptr;
  if (!session->bridge) return RaiseNoHost(module);
  Result<Json> params = ToJsonValue(values, "params");
  if (!params) return RaiseBadArgument(module, params.error().message);
  const std::string text(query, static_cast<std::size_t>(size));
  // Handlers of signals run in the main thread alone, so a query of another one counts interrupts.
  const bool is_main = IsMainThread();
  const std::uint64_t before = session->bridge->interrupts();
  CallOutcome outcome;
  {
    WithoutLock unlocked;
    outcome = session->sql->Query(text, params->get_array(), *session->bridge, 0, [&] {
      return is_main ? unlocked.CheckSignals() : session->bridge->interrupts() != before;
    });
  }
  if (outcome.kind == CallOutcome::Kind::kInterrupted) {
    if (!is_main) PyErr_SetNone(PyExc_KeyboardInterrupt);  // else the handler has set the error
    return nullptr;
  }
  if (outcome.kind == CallOutcome::Kind::kError) return RaiseBridgeError(module, outcome);
  return FromJsonValue(outcome.value).Release();
}

PyObject* Sql(PyObject* module, PyObject* args) {
  try {
    return SqlOrThrow(module, args);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* TakeItems(PyObject* module, PyObject*) {
  ModuleSession* session = SessionOf(module);
  Ref list(session ? PyList_New(0) : nullptr);
  if (!list) return nullptr;
  for (const CallItem& item : std::exchange(session->items, {})) {
    Ref value = FromJsonValue(item.value);
    Ref entry(value ? Py_BuildValue("LOy#", static_cast<long long>(item.index), value.get(),
                                    item.raw.data(), static_cast<Py_ssize_t>(item.raw.size()))
                    : nullptr);
    if (!entry || PyList_Append(list.get(), entry.get()) < 0) return nullptr;
  }
  return list.Release();
}

PyObject* ContextCount(PyObject* module, PyObject*) {
  ModuleSession* session = SessionOf(module);
  return session ? PyLong_FromSize_t(session->contexts.size()) : nullptr;
}

// The index in `args`, or -1 with an error set.
Py_ssize_t IndexOf(ModuleSession* session, PyObject* index) {
  const Py_ssize_t i = PyLong_AsSsize_t(index);
  if (i == -1 && PyErr_Occurred()) return -1;
  if (i < 0 || static_cast<std::size_t>(i) >= session->contexts.size()) {
    PyErr_Format(PyExc_IndexError, "context %zd of %zu", i, session->contexts.size());
    return -1;
  }
  return i;
}

PyObject* ContextInfo(PyObject* module, PyObject* index) {
  ModuleSession* session = SessionOf(module);
  if (!session) return nullptr;
  const Py_ssize_t i = IndexOf(session, index);
  if (i < 0) return nullptr;
  const sandbox::ContextText& context =
      session->contexts[static_cast<std::size_t>(i)].description();
  Ref meta = FromJsonValue(context.meta);
  if (!meta) return nullptr;
  return Py_BuildValue("{s:s#,s:K,s:K,s:O}", "name", context.name.data(),
                       static_cast<Py_ssize_t>(context.name.size()), "bytes",
                       static_cast<unsigned long long>(context.bytes), "characters",
                       static_cast<unsigned long long>(context.characters), "meta", meta.get());
}

PyObject* ContextView(PyObject* module, PyObject* index) {
  ModuleSession* session = SessionOf(module);
  if (!session) return nullptr;
  const Py_ssize_t i = IndexOf(session, index);
  if (i < 0) return nullptr;
  const std::string_view bytes = session->contexts[static_cast<std::size_t>(i)].bytes();
  return PyMemoryView_FromMemory(const_cast<char*>(bytes.data()),
                                 static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ);
}

PyObject* ContextText(PyObject* module, PyObject* index) {
  ModuleSession* session = SessionOf(module);
  if (!session) return nullptr;
  const Py_ssize_t i = IndexOf(session, index);
  if (i < 0) return nullptr;
  Ref& text = session->texts[static_cast<std::size_t>(i)];
  if (!text) {
    text = MakeContextString(session->contexts[static_cast<std::size_t>(i)].bytes());
    if (text && session->bridge) session->bridge->ReportContextText();
  }
  return Py_XNewRef(text.get());
}

PyObject* DictVersion(PyObject* module, PyObject* value) {
#if PY_VERSION_HEX < 0x030c0000
  if (PyDict_CheckExact(value)) {
    const auto* dict = reinterpret_cast<const PyDictObject*>(value);
    return PyLong_FromUnsignedLongLong(dict->ma_version_tag);
  }
#endif
  return PyLong_FromUnsignedLongLong(~StateOf(module)->unknown_versions++);
}

// Python's own is in an extension module that takes as long to load as all of `json` and `re`.
PyObject* Sha256Of(PyObject*, PyObject* data) {
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(data, &bytes, &size) < 0) return nullptr;
  const std::string hash = Sha256Hex({bytes, static_cast<std::size_t>(size)});
  return PyUnicode_FromStringAndSize(hash.data(), static_cast<Py_ssize_t>(hash.size()));
}

PyObject* Features(PyObject* module, PyObject*) {
  ModuleSession* session = SessionOf(module);
  return session ? FromJsonValue(session->features).Release() : nullptr;
}

PyObject* Write(PyObject* module, PyObject* args) {
  int stream = 0;
  Py_buffer data{};
  if (!PyArg_ParseTuple(args, "iy*:write", &stream, &data)) return nullptr;
  ModuleSession* session = SessionOf(module);
  bool written = false;
  try {
    if (session) {
      const auto size = static_cast<std::size_t>(data.len);
      session->capture->Write({static_cast<const char*>(data.buf), size});
      written = true;
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  PyBuffer_Release(&data);
  if (!written) return nullptr;
  Py_RETURN_NONE;
}

int Execute(PyObject* module) {
  State* state = StateOf(module);
  state->session = nullptr;
  state->unknown_versions = 0;
  state->bridge_error = PyErr_NewExceptionWithDoc(
      "_dossier.BridgeError", "A refused call: code, message, retryable.", nullptr, nullptr);
  if (!state->bridge_error) return -1;
  return PyModule_AddObjectRef(module, "BridgeError", state->bridge_error);
}

PyMethodDef kMethods[] = {
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Call)),
     METH_VARARGS | METH_KEYWORDS, "call(method, args, raw=b'') -> (value, raw)"},
    {"sql", Sql, METH_VARARGS, "sql(query, params) -> rows as dicts; raises BridgeError"},
    {"take_items", TakeItems, METH_NOARGS, "What an interrupted batch had finished."},
    {"context_count", ContextCount, METH_NOARGS, "The number of contexts."},
    {"context_info", ContextInfo, METH_O, "Name, sizes and metadata of context i."},
    {"context_view", ContextView, METH_O, "The bytes of context i, read-only."},
    {"context_text", ContextText, METH_O, "The text of context i, decoded once."},
    {"dict_version", DictVersion, METH_O, "A number that changes with the dict."},
    {"sha256", Sha256Of, METH_O, "The SHA-256 of bytes, in hexadecimal digits."},
    {"features", Features, METH_NOARGS, "What this session offers."},
    {"write", Write, METH_VARARGS, "write(stream, data): output of the running block."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef_Slot kSlots[] = {{Py_mod_exec, reinterpret_cast<void*>(Execute)}, {0, nullptr}};

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "_dossier",
                       nullptr,
                       sizeof(State),
                       kMethods,
                       kSlots,
                       nullptr,
                       nullptr,
                       nullptr};

PyObject* InitModule() { return PyModuleDef_Init(&kModule); }

}  // namespace

Status RegisterModule() {
  if (PyImport_AppendInittab("_dossier", InitModule) < 0) {
    return MakeError(ErrorCode::kInternal, "python: no memory for the module table");
  }
  return {};
}

Status AttachSession(ModuleSession* session) {
  Ref module(PyImport_ImportModule("_dossier"));
  if (!module) return MakeError(ErrorCode::kInternal, "python: {}", TakeError());
  if (session) session->texts.resize(session->contexts.size());
  StateOf(module.get())->session = session;
  return {};
}

}  // namespace dossier::worker
