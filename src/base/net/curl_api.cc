#include "base/net/curl_api.h"

#include "base/process/shared_library.h"

namespace dossier {
namespace {

Result<CurlApi> Load() {
  DOSSIER_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Load("libcurl.so.4", "libcurl4"));
  CurlApi api{};
  library.Find("curl_global_init", api.global_init);
  library.Find("curl_easy_init", api.easy_init);
  library.Find("curl_easy_cleanup", api.easy_cleanup);
  library.Find("curl_easy_reset", api.easy_reset);
  library.Find("curl_easy_setopt", api.easy_setopt);
  library.Find("curl_easy_getinfo", api.easy_getinfo);
  library.Find("curl_easy_pause", api.easy_pause);
  library.Find("curl_easy_strerror", api.easy_strerror);
  library.Find("curl_slist_append", api.slist_append);
  library.Find("curl_slist_free_all", api.slist_free_all);
  library.Find("curl_multi_init", api.multi_init);
  library.Find("curl_multi_cleanup", api.multi_cleanup);
  library.Find("curl_multi_setopt", api.multi_setopt);
  library.Find("curl_multi_add_handle", api.multi_add_handle);
  library.Find("curl_multi_remove_handle", api.multi_remove_handle);
  library.Find("curl_multi_perform", api.multi_perform);
  library.Find("curl_multi_poll", api.multi_poll);
  library.Find("curl_multi_wakeup", api.multi_wakeup);
  library.Find("curl_multi_info_read", api.multi_info_read);
  DOSSIER_RETURN_IF_ERROR(library.Check("version 7.68 or newer is needed (package libcurl4)"));
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
