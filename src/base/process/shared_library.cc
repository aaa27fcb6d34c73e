#include "base/process/shared_library.h"

#include <dlfcn.h>

namespace dossier {

Result<SharedLibrary> SharedLibrary::Load(const char* file, std::string_view package) {
  // Lazy: binding all symbols of a library's dependencies costs more than its work.
  void* handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (handle) return SharedLibrary(file, handle);
  return MakeError(ErrorCode::kUnavailable, "{} cannot be loaded ({}); install the package {}",
                   file, dlerror(), package);
}

Status SharedLibrary::Check(std::string_view needed) const {
  if (missing_.empty()) return {};
  return MakeError(ErrorCode::kUnavailable, "{} has no {}; {}", file_, missing_, needed);
}

void* SharedLibrary::Symbol(const char* name) {
  void* symbol = dlsym(handle_, name);
  if (!symbol && missing_.empty()) missing_ = name;
  return symbol;
}

}  // namespace dossier
