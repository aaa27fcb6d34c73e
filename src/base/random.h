// Seeded randomness: the same seed gives the same sequence on every machine.
//
//   Random random(7);
//   std::uint64_t die = random.Below(6) + 1;
//
// Not for secrets: use SystemEntropy for keys. Thread-safety: none; one owner.

#ifndef DOSSIER_BASE_RANDOM_H_
#define DOSSIER_BASE_RANDOM_H_

#include <cstdint>
#include <string>

namespace dossier {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next();                      // any 64-bit value (SplitMix64)
  std::uint64_t Below(std::uint64_t limit);  // 0 to limit - 1; limit > 0
  double Unit();                             // 0 <= x < 1
  // Valid UTF-8 of at most `max_bytes` bytes with code points of every length, for property tests.
  std::string Utf8(std::size_t max_bytes);
  std::string Bytes(std::size_t count);  // any bytes

 private:
  std::uint64_t state_;
};

// Returns 64 random bits from the kernel.
std::uint64_t SystemEntropy();
// Returns `digits` random lower-case hex digits from the kernel, for keys and ids.
std::string RandomHex(std::size_t digits);

}  // namespace dossier

#endif  // DOSSIER_BASE_RANDOM_H_
