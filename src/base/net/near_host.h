// Recognises addresses that lead to this machine or its network, which clients from elsewhere must
// not reach.
//
//   if (IsNear(*ParseUrl("http://169.254.169.254/latest"))) …
//
// Thread-safety: pure; no name is looked up.

#ifndef DOSSIER_BASE_NET_NEAR_HOST_H_
#define DOSSIER_BASE_NET_NEAR_HOST_H_

#include "base/net/url.h"

namespace dossier {

// Recognises numeric addresses in any notation, including those inside an IPv6 address; names
// without a dot; and any host with a character that others may read as another one ("%2e", a
// backslash, full-width digits). It does not know the addresses of other names.
bool IsNear(const Url& url);

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_NEAR_HOST_H_
