#include "interpreter.h"

#include "base/assets.h"
#include "base/text.h"
#include "module.h"

#define DOSSIER_TEXT_INNER(x) #x
#define DOSSIER_TEXT(x) DOSSIER_TEXT_INNER(x)

namespace dossier::worker {
namespace {

constexpr char kVersion[] = DOSSIER_TEXT(PY_MAJOR_VERSION) "." DOSSIER_TEXT(PY_MINOR_VERSION);
constexpr char kLibrary[] =
    "/usr/lib/python" DOSSIER_TEXT(PY_MAJOR_VERSION) "." DOSSIER_TEXT(PY_MINOR_VERSION);

// Finds our modules by name among the files compiled into the program. Their code objects carry
// <dossier:NAME> as file name, so that tracebacks can leave them out.
constexpr char kLoader[] = R"(
import sys
from importlib.machinery import ModuleSpec

class Finder:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name in sources else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(sources[name], f"<dossier:{name}>", "exec", dont_inherit=True), module.__dict__)

finder = Finder()
sys.meta_path.insert(0, finder)
try:
    for name in preload:
        try:
            __import__(name)
        except ImportError:
            pass
    for name in sorted(sources):
        __import__(name)
finally:
    sys.meta_path.remove(finder)
import gc
gc.collect()
gc.freeze()
)";

PyStatus Configure(PyConfig* config) {
  PyConfig_InitIsolatedConfig(config);
  config->site_import = 0;
  config->write_bytecode = 0;
  config->install_signal_handlers = 1;  // SIGINT raises KeyboardInterrupt; SBX-43 sets it off
  config->use_hash_seed = 1;            // SBX-48
  config->hash_seed = 0;
  config->buffered_stdio = 0;
  config->module_search_paths_set = 1;
  PyStatus status = PyConfig_SetString(config, &config->home, L"/usr");
  if (PyStatus_Exception(status)) return status;
  status = PyConfig_SetString(config, &config->program_name, L"python3");
  for (const std::string& folder : StandardLibraryFolders()) {
    if (PyStatus_Exception(status)) return status;
    const std::wstring wide(folder.begin(), folder.end());
    status = PyWideStringList_Append(&config->module_search_paths, wide.c_str());
  }
  return status;
}

Ref SourcesDict() {
  constexpr std::string_view kFolder = "workers/python/";
  Ref sources(PyDict_New());
  for (const std::string_view path : BuiltInAssets(kFolder)) {
    if (!path.ends_with(".py")) continue;
    const std::string_view name = path.substr(kFolder.size(), path.size() - kFolder.size() - 3);
    const std::string_view text = *BuiltInAsset(path);
    Ref value(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
    if (!value || PyDict_SetItemString(sources.get(), std::string(name).c_str(), value.get()) < 0) {
      return Ref();
    }
  }
  return sources;
}

Ref PreloadList() {
  Ref list(PyList_New(0));
  const std::string_view text = BuiltInAsset("workers/python/preload.txt").value_or("");
  for (std::string_view line : Split(text, '\n')) {
    line = TrimSpace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    Ref name(PyUnicode_FromStringAndSize(line.data(), static_cast<Py_ssize_t>(line.size())));
    if (!name || PyList_Append(list.get(), name.get()) < 0) return Ref();
  }
  return list;
}

}  // namespace

std::vector<std::string> StandardLibraryFolders() {
  return {kLibrary, std::string(kLibrary) + "/lib-dynload"};
}

Status StartInterpreter() {
  DOSSIER_RETURN_IF_ERROR(RegisterModule());
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&before);
  PyConfig config;
  if (!PyStatus_Exception(status)) {
    status = Configure(&config);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
  }
  if (!PyStatus_Exception(status)) return {};
  return MakeError(ErrorCode::kUnavailable,
                   "python does not start: {}; the packages libpython{} and libpython{}-stdlib are "
                   "needed, or --dialect javascript",
                   status.err_msg ? status.err_msg : "unknown", kVersion,
                   kVersion);
}

Result<Ref> LoadRuntime() {
  Ref globals(PyDict_New());
  const Ref sources = SourcesDict(), preload = PreloadList();
  if (!globals || !sources || !preload ||
      PyDict_SetItemString(globals.get(), "sources", sources.get()) < 0 ||
      PyDict_SetItemString(globals.get(), "preload", preload.get()) < 0) {
    return MakeError(ErrorCode::kInternal, "python: {}", TakeError());
  }
  const Ref done(PyRun_String(kLoader, Py_file_input, globals.get(), globals.get()));
  if (!done) return MakeError(ErrorCode::kInternal, "python: loading our modules: {}", TakeError());
  Ref runtime(PyImport_ImportModule("dossier_runtime"));
  if (!runtime) return MakeError(ErrorCode::kInternal, "python: {}", TakeError());
  return runtime;
}

std::string InterpreterVersion() {
  const std::string_view text = Py_GetVersion();
  return std::string(text.substr(0, text.find(' ')));
}

Status SeedRandom(std::uint64_t seed) {
  const Ref random(PyImport_ImportModule("random"));
  if (!random) return MakeError(ErrorCode::kInternal, "python: {}", TakeError());
  const Ref done(PyObject_CallMethod(random.get(), "seed", "K", static_cast<unsigned long long>(seed)));
  if (!done) return MakeError(ErrorCode::kInternal, "python: {}", TakeError());
  return {};
}

}  // namespace dossier::worker
