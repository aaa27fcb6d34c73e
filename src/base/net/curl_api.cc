#include "base/net/curl_api.h"

#include <dlfcn.h>

namespace dossier {
namespace {

template <typename Function>
void Find(void* library, const char* name, Function& out, const char*& missing) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (!out && !missing) missing = name;
}

Result<CurlApi> Load() {
  // Lazy: binding all that its 30 libraries need of each other costs more than a request.
  void* library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    return MakeError(ErrorCode::kUnavailable,
                     "libcurl.so.4 cannot be loaded ({}); install the package libcurl4", dlerror());
  }
  CurlApi api{};
  const char* missing = nullptr;
  Find(library, "curl_global_init", api.global_init, missing);
  Find(library, "curl_easy_init", api.easy_init, missing);
  Find(library, "curl_easy_cleanup", api.easy_cleanup, missing);
  Find(library, "curl_easy_reset", api.easy_reset, missing);
  Find(library, "curl_easy_setopt", api.easy_setopt, missing);
  Find(library, "curl_easy_getinfo", api.easy_getinfo, missing);
  Find(library, "curl_easy_pause", api.easy_pause, missing);
  Find(library, "curl_easy_strerror", api.easy_strerror, missing);
  Find(library, "curl_slist_append", api.slist_append, missing);
  Find(library, "curl_slist_free_all", api.slist_free_all, missing);
  Find(library, "curl_multi_init", api.multi_init, missing);
  Find(library, "curl_multi_cleanup", api.multi_cleanup, missing);
  Find(library, "curl_multi_setopt", api.multi_setopt, missing);
  Find(library, "curl_multi_add_handle", api.multi_add_handle, missing);
  Find(library, "curl_multi_remove_handle", api.multi_remove_handle, missing);
  Find(library, "curl_multi_perform", api.multi_perform, missing);
  Find(library, "curl_multi_poll", api.multi_poll, missing);
  Find(library, "curl_multi_wakeup", api.multi_wakeup, missing);
  Find(library, "curl_multi_info_read", api.multi_info_read, missing);
  if (missing) {
    return MakeError(ErrorCode::kUnavailable,
                     "libcurl.so.4 has no {}; version 7.68 or newer is needed (package libcurl4)",
                     missing);
  }
  if (api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return MakeError(ErrorCode::kUnavailable, "libcurl cannot be initialised");
  }
  return api;
}

}  // namespace

Result<const CurlApi*> LoadCurl() {
  static const Result<CurlApi> api = Load();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

}  // namespace dossier
