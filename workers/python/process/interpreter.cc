#include "interpreter.h"

#include <dlfcn.h>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "code_archive.h"
#include "module.h"

#define DOSSIER_TEXT_INNER(x) #x
#define DOSSIER_TEXT(x) DOSSIER_TEXT_INNER(x)

extern "C" const char dossier_python_code[], dossier_python_code_end[];  // cmake/PythonCode.cmake

namespace dossier::worker {
namespace {

constexpr char kVersion[] = DOSSIER_TEXT(PY_MAJOR_VERSION) "." DOSSIER_TEXT(PY_MINOR_VERSION);
constexpr char kLibraryName[] =
    "python" DOSSIER_TEXT(PY_MAJOR_VERSION) "." DOSSIER_TEXT(PY_MINOR_VERSION);

constexpr char kLoader[] = "dossier_loader";
constexpr char kExtensionMark = '+';

PyStatus Configure(const std::string& library, PyConfig* config) {
  PyConfig_InitIsolatedConfig(config);
  config->site_import = 0;
  config->write_bytecode = 0;
  config->install_signal_handlers =
      1;  // SIGINT raises KeyboardInterrupt; an interrupt of the host sets it off
  config->use_hash_seed = 1;
  config->hash_seed = 0;
  config->buffered_stdio = 0;
  config->module_search_paths_set = 1;
  PyStatus status = PyConfig_SetString(config, &config->home, L"/usr");
  if (PyStatus_Exception(status)) return status;
  status = PyConfig_SetString(config, &config->program_name, L"python3");
  for (const std::string& folder : StandardLibraryFolders(library)) {
    if (PyStatus_Exception(status)) return status;
    wchar_t* const wide = Py_DecodeLocale(folder.c_str(), nullptr);
    if (wide == nullptr) return PyStatus_NoMemory();
    status = PyWideStringList_Append(&config->module_search_paths, wide);
    PyMem_RawFree(wide);
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

std::vector<std::string> PreloadNames() {
  std::vector<std::string> names;
  const std::string_view text = BuiltInAsset("workers/python/preload.txt").value_or("");
  for (std::string_view line : Split(text, '\n')) {
    line = TrimSpace(line.substr(0, line.find('#')));
    if (!line.empty()) names.emplace_back(line);
  }
  return names;
}

std::string ExtensionFile(const std::string& library, std::string_view name) {
  return fmt::format("{}/lib-dynload/{}.cpython-{}{}-x86_64-linux-gnu.so", library, name,
                     PY_MAJOR_VERSION, PY_MINOR_VERSION);
}

// Those that are imported by name: an extension is imported by what needs it.
Ref PreloadList() {
  Ref list(PyList_New(0));
  for (const std::string& name : PreloadNames()) {
    if (name.front() == kExtensionMark) continue;
    Ref text(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    if (!list || !text || PyList_Append(list.get(), text.get()) < 0) return Ref();
  }
  return list;
}

// Runs dossier_loader, the one module that nothing can find yet.
Ref ImportLoader(PyObject* code, PyObject* sources) {
  PyObject* found = PyDict_GetItemString(code, kLoader);
  Ref compiled(Py_XNewRef(found));
  if (!compiled) {
    PyObject* text = PyDict_GetItemString(sources, kLoader);
    const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
    if (!bytes) return Ref();
    compiled = Ref(Py_CompileString(bytes, "<dossier:dossier_loader>", Py_file_input));
  }
  return compiled ? Ref(PyImport_ExecCodeModule(kLoader, compiled.get())) : Ref();
}

Error PythonError(std::string_view what) {
  return Error{ErrorCode::kInternal, fmt::format("python: {}{}", what, TakeError())};
}

}  // namespace

std::string FindStandardLibrary() {
  if (auto beside = FindInstalled(kLibraryName)) return std::move(*beside);
  return fmt::format("/usr/lib/{}", kLibraryName);
}

std::vector<std::string> StandardLibraryFolders(const std::string& library) {
  return {library, library + "/lib-dynload"};
}

Status StartInterpreter(const std::string& library) {
  // Python's own message for this is thirty lines, none of which says it.
  if (!Exists(library + "/encodings")) {
    return MakeError(
        ErrorCode::kUnavailable,
        "the sandbox cannot read Python's library {}: it is not there (packages libpython{} "
        "and libpython{}-stdlib), or it lies in a folder that only root may enter, and the "
        "sandbox gives up root's rights; install dossier elsewhere, such as in /opt",
        library, kVersion, kVersion);
  }
  DOSSIER_RETURN_IF_ERROR(RegisterModule());
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&before);
  PyConfig config;
  if (!PyStatus_Exception(status)) {
    status = Configure(library, &config);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
  }
  if (!PyStatus_Exception(status)) return {};
  return MakeError(ErrorCode::kUnavailable,
                   "python does not start: {}; the packages libpython{} and libpython{}-stdlib are "
                   "needed, or --dialect javascript",
                   status.err_msg ? status.err_msg : "unknown", kVersion, kVersion);
}

void MapExtensions(const std::string& library) {
  for (const std::string& name : PreloadNames()) {
    // Never closed. Python opens it again by the same name, which maps nothing.
    if (name.front() != kExtensionMark) continue;
    const std::string file = ExtensionFile(library, std::string_view(name).substr(1));
    (void)dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
}

Result<Runtime> LoadRuntime() {
  const Ref sources = SourcesDict(), names = PreloadList();
  const std::string_view archive(
      dossier_python_code, static_cast<std::size_t>(dossier_python_code_end - dossier_python_code));
  const Ref code = ReadCodeArchive(archive, PyImport_GetMagicNumber());
  if (!sources || !names || !code) return tl::unexpected(PythonError(""));
  const Ref loader = ImportLoader(code.get(), sources.get());
  if (!loader) return tl::unexpected(PythonError("the loader: "));
  Ref rest(
      PyObject_CallMethod(loader.get(), "load", "OOO", code.get(), sources.get(), names.get()));
  if (!rest) return tl::unexpected(PythonError("loading our modules: "));
  Ref module(PyImport_ImportModule("dossier_runtime"));
  if (!module) return tl::unexpected(PythonError(""));
  return Runtime(std::move(module), std::move(rest));
}

bool Runtime::PreloadNext() {
  const Ref more(PyIter_Next(rest_.get()));
  if (!more) PyErr_Clear();
  return more.get() == Py_True;
}

std::string InterpreterVersion() {
  const std::string_view text = Py_GetVersion();
  return std::string(text.substr(0, text.find(' ')));
}

}  // namespace dossier::worker
