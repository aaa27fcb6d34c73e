#include "evaluation/tasks/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/hash.h"
#include "base/random.h"
#include "base/text/parse.h"

namespace dossier::evaluation {

std::uint64_t StreamSeed(std::string_view family, std::uint64_t seed, std::string_view path) {
  constexpr std::string_view kSchema("dossier.eval/1\0", 15);
  std::string bytes(kSchema);
  bytes.append(family).push_back('\0');
  bytes.append(std::to_string(seed)).push_back('\0');
  bytes.append(path);
  const std::string hex = Sha256Hex(bytes);
  // Little-endian: the first byte of the hash is the lowest.
  return __builtin_bswap64(
      ExactNumber<std::uint64_t>(std::string_view(hex).substr(0, 16), 16).value_or(0));
}

RandomStream::RandomStream(std::uint64_t seed) {
  Random fill(seed);
  for (std::uint64_t& word : state_) word = fill.Next();
}

std::uint64_t RandomStream::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t RandomStream::Below(std::uint64_t limit) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(Next()) * limit;
  if (static_cast<std::uint64_t>(product) < limit) {
    const std::uint64_t threshold = -limit % limit;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(Next()) * limit;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::vector<std::uint32_t> RandomStream::Sample(std::size_t limit, std::size_t count) {
  count = std::min(count, limit);
  // A shuffle of all numbers that stores only those that were moved.
  std::unordered_map<std::size_t, std::size_t> moved;
  const auto at = [&](std::size_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<std::uint32_t> numbers;
  numbers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t drawn = i + Below(limit - i);
    numbers.push_back(static_cast<std::uint32_t>(at(drawn)));
    moved[drawn] = at(i);
  }
  return numbers;
}

std::string RandomStream::Uuid() {
  const std::uint64_t high = (Next() & ~0xf000ull) | 0x4000ull;
  const std::uint64_t low = (Next() & ~(0xc0ull << 56)) | (0x80ull << 56);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffull);
}

std::string RandomStream::Digits(std::size_t count) {
  std::string digits(1, static_cast<char>('1' + Below(9)));
  while (digits.size() < count) digits.push_back(static_cast<char>('0' + Below(10)));
  return digits;
}

}  // namespace dossier::evaluation
