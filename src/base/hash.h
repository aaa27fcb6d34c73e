// SHA-256, which names every stored body, and its keyed form; SHA-1 only for git's object names.
//
//   std::string name = Sha256Hex("abc");       // ba7816bf…
//   Sha256 hash; hash.Update(a); hash.Update(b); std::string name = hash.Hex();
//
// Thread-safety: one owner per Sha256; the function is pure.

#ifndef DOSSIER_BASE_HASH_H_
#define DOSSIER_BASE_HASH_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dossier {

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view bytes);
  // 64 lower-case hex digits. Ends the computation: call once.
  std::string Hex();

 private:
  alignas(8) std::array<unsigned char, 128> state_;  // libcrypto's context, kept out of this header
};

std::string Sha256Hex(std::string_view bytes);
// HMAC (RFC 2104), which only a holder of the key can compute: 64 lower-case hex digits.
std::string HmacSha256Hex(std::string_view key, std::string_view message);
// Returns true if `text` has the form of such a hash.
bool IsSha256Hex(std::string_view text);

enum class GitHash : std::uint8_t { kSha1, kSha256 };  // the two object formats of git
// The name that git gives a file's content: the hash of "blob SIZE", NUL and the bytes, in hex.
std::string GitBlobName(std::string_view content, GitHash hash);

}  // namespace dossier

#endif  // DOSSIER_BASE_HASH_H_
