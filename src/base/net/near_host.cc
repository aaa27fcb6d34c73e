#include "base/net/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>

namespace dossier {
namespace {

using Six = std::array<std::uint8_t, 16>;

// This host, loopback, link-local, private, shared by a provider's customers, and reserved.
bool IsNearNumber(std::uint32_t address) {
  const auto in = [&](std::uint32_t net, unsigned bits) {
    return (address >> (32 - bits)) == (net >> (32 - bits));
  };
  return in(0, 8) || in(0x7f000000, 8) || in(0xa9fe0000, 16) || in(0x0a000000, 8) ||
         in(0xac100000, 12) || in(0xc0a80000, 16) || in(0x64400000, 10) || in(0xe0000000, 3);
}

// Each of these prefixes is followed by the IPv4 address that a gateway, or this machine itself,
// leads to.
struct Carrier {
  std::size_t bytes;  // of the prefix
  Six prefix;
};
constexpr Carrier kCarriers[] = {
    {12, {}},                                          // compatible; ::1 and :: too
    {12, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}},  // mapped
    {12, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}},  // translated
    {12, {0, 0x64, 0xff, 0x9b}},                       // NAT64
    {2, {0x20, 0x02}},                                 // 6to4
};

std::optional<std::uint32_t> CarriedBy(const Six& address) {
  for (const Carrier& one : kCarriers) {
    const auto end = one.prefix.begin() + static_cast<std::ptrdiff_t>(one.bytes);
    if (!std::equal(one.prefix.begin(), end, address.begin())) continue;
    std::uint32_t four = 0;
    for (std::size_t i = 0; i < 4; ++i) four = four << 8 | address[one.bytes + i];
    return four;
  }
  return std::nullopt;
}

bool IsNearSix(const Six& address) {
  if (const auto four = CarriedBy(address)) return IsNearNumber(*four);
  constexpr Six kLocalNat64 = {0, 0x64, 0xff, 0x9b, 0, 1};  // the local-use prefix
  return std::equal(address.begin(), address.begin() + 6, kLocalNat64.begin()) ||
         (address[0] & 0xfe) == 0xfc || (address[0] == 0xfe && address[1] >= 0x80) ||
         address[0] == 0xff;
}

bool IsPlain(char c) {
  return static_cast<unsigned char>(c) < 0x80 &&
         (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
          c == ':');
}

}  // namespace

bool IsNear(const Url& url) {
  std::string name = url.host;
  if (!std::ranges::all_of(name, IsPlain)) return true;
  while (name.ends_with('.')) name.pop_back();
  if (name.find(':') != name.npos) {
    Six six{};
    return inet_pton(AF_INET6, name.c_str(), six.data()) != 1 || IsNearSix(six);
  }
  in_addr four{};  // "127.1", "0x7f.1" and "2130706433" lead to the same place
  if (inet_aton(name.c_str(), &four) == 1) return IsNearNumber(ntohl(four.s_addr));
  return name.find('.') == name.npos || name.ends_with(".localhost");
}

}  // namespace dossier
