// The parts of an http or https URL that decide which host may get a key and whether it is this
// machine or its network.
//
//   DOSSIER_ASSIGN_OR_RETURN(Url url, ParseUrl("http://127.0.0.1:8080/v1"));
//   url.origin();      // "http://127.0.0.1:8080"
//   IsNear(url);       // true: a client from elsewhere must not be sent there
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_NET_URL_H_
#define DOSSIER_BASE_NET_URL_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier {

struct Url {
  std::string scheme, host, path;  // host in lower case, IPv6 without brackets
  int port = 0;                    // the scheme's default if none is written

  std::string origin() const;  // scheme, host and port: a key is given to one origin
  bool is_loopback() const;    // 127.0.0.0/8, ::1, localhost
};

// Returns true if a place is an address and not a file: "https://…", "http://…".
inline bool IsWebAddress(std::string_view place) {
  return place.starts_with("https://") || place.starts_with("http://");
}

// A listen address: "127.0.0.1:8780", "[::1]:8780", ":8780", "8780"; localhost is 127.0.0.1.
struct ListenAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one

  bool is_loopback() const;  // of this machine alone
  std::string url() const;   // "http://[::1]:8780"
};
// Errors: kUsage, with `flag` at the front.
Result<ListenAddress> ParseListenAddress(std::string_view flag, std::string_view text);

// Decodes percent escapes ("a%20b"); malformed ones stay as they are.
std::string PercentDecoded(std::string_view text);

// Errors: kConfig for a scheme other than http and https, no host, a user name, an invalid port.
Result<Url> ParseUrl(std::string_view text);

// Recognises numeric addresses in any notation, including those inside an IPv6 address; names
// without a dot; and any host with a character that others may read as another one ("%2e", a
// backslash, full-width digits). It looks no name up, so it does not know the addresses of others.
bool IsNear(const Url& url);

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_URL_H_
