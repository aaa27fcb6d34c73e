#include "server/http/near_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace dossier::server {
namespace {

// This host, loopback, link-local, private, and what a provider shares among customers.
bool IsNearNumber(std::uint32_t address) {
  const auto in = [&](std::uint32_t net, unsigned bits) {
    return (address >> (32 - bits)) == (net >> (32 - bits));
  };
  return in(0, 8) || in(0x7f000000, 8) || in(0xa9fe0000, 16) || in(0x0a000000, 8) ||
         in(0xac100000, 12) || in(0xc0a80000, 16) || in(0x64400000, 10);
}

bool IsNearSix(const in6_addr& address) {
  const std::uint8_t* bytes = address.s6_addr;
  const auto last = [&](int at) { return std::uint32_t{bytes[at]} << (8 * (15 - at)); };
  const bool mapped = std::all_of(bytes, bytes + 10, [](std::uint8_t byte) { return byte == 0; }) &&
                      bytes[10] == 0xff && bytes[11] == 0xff;
  if (mapped) return IsNearNumber(last(12) | last(13) | last(14) | last(15));
  return std::all_of(bytes, bytes + 15, [](std::uint8_t byte) { return byte == 0; }) ||
         (bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80);
}

}  // namespace

bool IsNear(const Url& url) {
  std::string name = url.host;
  while (name.ends_with('.')) name.pop_back();
  if (name.find(':') != name.npos) {
    in6_addr six{};
    return inet_pton(AF_INET6, name.c_str(), &six) != 1 || IsNearSix(six);
  }
  in_addr four{};  // "127.1", "0x7f.1" and "2130706433" lead to the same place
  if (inet_aton(name.c_str(), &four) == 1) return IsNearNumber(ntohl(four.s_addr));
  return name.find('.') == name.npos || name.ends_with(".localhost");
}

}  // namespace dossier::server
