// Recognises addresses that lead to this machine or its network, which clients from elsewhere must
// not reach.
//
//   if (IsNear(*ParseUrl("http://169.254.169.254/latest"))) …
//
// Thread-safety: pure; no name is looked up.

#ifndef DOSSIER_SERVER_HTTP_NEAR_HOST_H_
#define DOSSIER_SERVER_HTTP_NEAR_HOST_H_

#include "base/net/url.h"

namespace dossier::server {

// Numbers count in whatever way they are written, and names without a dot. What another name leads
// to is not known.
bool IsNear(const Url& url);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_NEAR_HOST_H_
