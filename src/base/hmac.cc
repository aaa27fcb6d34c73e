#include "base/hmac.h"

#include <array>

#include "base/hash.h"

namespace dossier {
namespace {

constexpr std::size_t kBlock = 64;  // bytes of a block of SHA-256

std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

std::string HmacSha256Hex(std::string_view key, std::string_view message) {
  const std::string short_key = key.size() > kBlock ? FromHex(Sha256Hex(key)) : std::string(key);
  std::string inner(kBlock, '\x36'), outer(kBlock, '\x5c');
  for (std::size_t i = 0; i < short_key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ short_key[i]);
    outer[i] = static_cast<char>(outer[i] ^ short_key[i]);
  }
  return Sha256Hex(outer + FromHex(Sha256Hex(inner + std::string(message))));
}

}  // namespace dossier
