#include "base/hash.h"

#include <openssl/sha.h>

namespace dossier {
namespace {

static_assert(sizeof(SHA256_CTX) <= 128);

SHA256_CTX* Context(std::array<unsigned char, 128>& state) {
  return reinterpret_cast<SHA256_CTX*>(state.data());
}

}  // namespace

Sha256::Sha256() { SHA256_Init(Context(state_)); }

void Sha256::Update(std::string_view bytes) {
  SHA256_Update(Context(state_), bytes.data(), bytes.size());
}

std::string Sha256::Hex() {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, Context(state_));
  std::string out;
  out.reserve(sizeof digest * 2);
  for (const unsigned char byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

}  // namespace dossier
