#include "base/random.h"

#include <sys/random.h>

namespace dossier {
namespace {

void AppendUtf8(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

std::uint64_t Random::Next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t Random::Below(std::uint64_t limit) { return Next() % limit; }

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

std::string Random::Utf8(std::size_t max_bytes) {
  constexpr char32_t kLimits[] = {0x80, 0x80, 0x800, 0x10000, 0x110000};
  const std::size_t target = max_bytes == 0 ? 0 : Below(max_bytes + 1);
  std::string out;
  while (true) {
    char32_t c = static_cast<char32_t>(Below(kLimits[Below(5)]));
    if (c >= 0xD800 && c < 0xE000) c -= 0x1000;  // surrogates are no code points of a text
    const std::size_t before = out.size();
    AppendUtf8(c, out);
    if (out.size() > target) {
      out.resize(before);
      return out;
    }
  }
}

std::string Random::Bytes(std::size_t count) {
  std::string out(count, '\0');
  for (char& c : out) c = static_cast<char>(Next());
  return out;
}

std::uint64_t SystemEntropy() {
  std::uint64_t value = 0;
  // Cannot fail for 8 bytes once the pool is up; a short read leaves zeros, never stale memory.
  [[maybe_unused]] auto got = getrandom(&value, sizeof value, 0);
  return value;
}

std::string RandomHex(std::size_t digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  while (out.size() < digits) {
    std::uint64_t bits = SystemEntropy();
    for (int i = 0; i < 16 && out.size() < digits; ++i, bits >>= 4) out += kDigits[bits & 15];
  }
  return out;
}

}  // namespace dossier
