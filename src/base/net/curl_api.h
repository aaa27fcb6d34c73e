// Loads libcurl with dlopen when it is first needed. Linking it and its thirty libraries would cost
// every start of the program 13 ms.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CurlApi* curl, LoadCurl());
//   CURL* easy = curl->easy_init();
//
// Only for .cc files of this module. Thread-safety: LoadCurl from any thread; libcurl's own rules
// for the rest. The library is never unloaded.

#ifndef DOSSIER_BASE_NET_CURL_API_H_
#define DOSSIER_BASE_NET_CURL_API_H_

#include <curl/curl.h>

#include "base/result.h"

namespace dossier {

// Pointers to the functions in use, named without "curl_". The type checks of curl.h are macros
// over the full names, so they do not apply to calls through these pointers.
struct CurlApi {
  CURLcode (*global_init)(long flags);
  CURL* (*easy_init)();
  void (*easy_cleanup)(CURL* easy);
  void (*easy_reset)(CURL* easy);
  CURLcode (*easy_setopt)(CURL* easy, CURLoption option, ...);
  CURLcode (*easy_getinfo)(CURL* easy, CURLINFO info, ...);
  CURLcode (*easy_pause)(CURL* easy, int bits);
  const char* (*easy_strerror)(CURLcode code);
  curl_slist* (*slist_append)(curl_slist* list, const char* text);
  void (*slist_free_all)(curl_slist* list);
  CURLM* (*multi_init)();
  CURLMcode (*multi_cleanup)(CURLM* multi);
  CURLMcode (*multi_setopt)(CURLM* multi, CURLMoption option, ...);
  CURLMcode (*multi_add_handle)(CURLM* multi, CURL* easy);
  CURLMcode (*multi_remove_handle)(CURLM* multi, CURL* easy);
  CURLMcode (*multi_perform)(CURLM* multi, int* running);
  CURLMcode (*multi_poll)(CURLM* multi, curl_waitfd* extra, unsigned count, int millis, int* ready);
  CURLMcode (*multi_wakeup)(CURLM* multi);
  CURLMsg* (*multi_info_read)(CURLM* multi, int* left);
};

// Errors: kUnavailable, naming the package.
Result<const CurlApi*> LoadCurl();

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_CURL_API_H_
