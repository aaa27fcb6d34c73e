// HMAC-SHA-256 (RFC 2104): a hash that can be computed only with the key.
//
//   HmacSha256Hex("key", "message")
//
// Thread-safety: a pure function.

#ifndef DOSSIER_BASE_HMAC_H_
#define DOSSIER_BASE_HMAC_H_

#include <string>
#include <string_view>

namespace dossier {

// 64 lower-case hex digits.
std::string HmacSha256Hex(std::string_view key, std::string_view message);

}  // namespace dossier

#endif  // DOSSIER_BASE_HMAC_H_
