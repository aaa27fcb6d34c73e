#include "cli/terminal/edit_api.h"

#include <dlfcn.h>

namespace dossier::cli {
namespace {

Result<EditApi> Load() {
  void* library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return MakeError(ErrorCode::kUnavailable,
                     "libedit.so.2 cannot be loaded ({}); install the package libedit2", dlerror());
  }
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && !missing) missing = name;
  };
  EditApi api{};
  find("el_init", api.init);
  find("el_end", api.end);
  find("el_gets", api.gets);
  find("el_wgetc", api.wgetc);
  find("el_set", api.set);
  find("el_get", api.get);
  find("el_line", api.line);
  find("el_insertstr", api.insertstr);
  find("el_deletestr", api.deletestr);
  find("el_cursor", api.cursor);
  find("el_resize", api.resize);
  find("el_source", api.source);
  find("history_init", api.history_init);
  find("history_end", api.history_end);
  find("history", api.history);
  if (missing) {
    return MakeError(ErrorCode::kUnavailable,
                     "libedit.so.2 has no {}; version 3.1 is needed (package libedit2)", missing);
  }
  return api;
}

}  // namespace

Result<const EditApi*> LoadEdit() {
  static const Result<EditApi> api = Load();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

}  // namespace dossier::cli
