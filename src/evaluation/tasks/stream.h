// Seeded random numbers that are the same on every machine: one stream per window and purpose.
//
//   RandomStream stream = RandomStream::For("aggregate", 1, "16384/window/0");
//   std::uint64_t user = 10000 + stream.Below(90000);
//   stream.Shuffle(&lines);
//
// The generator is xoshiro256**; SplitMix64 fills its four words. Numbers below a limit are drawn
// by Lemire's multiply and reject. Not for secrets. Thread-safety: one owner.

#ifndef DOSSIER_EVALUATION_TASKS_STREAM_H_
#define DOSSIER_EVALUATION_TASKS_STREAM_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::evaluation {

// Returns the first 8 bytes, little-endian, of the SHA-256 of schema, family, seed and path.
std::uint64_t StreamSeed(std::string_view family, std::uint64_t seed, std::string_view path);

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed);
  explicit RandomStream(const std::array<std::uint64_t, 4>& state) : state_(state) {}
  static RandomStream For(std::string_view family, std::uint64_t seed, std::string_view path) {
    return RandomStream(StreamSeed(family, seed, path));
  }

  std::uint64_t Next();
  std::uint64_t Below(std::uint64_t limit);  // 0 to limit - 1; limit > 0
  // Both ends included.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(high - low) + 1));
  }
  template <typename Value>
  const Value& Pick(std::span<const Value> from) {
    return from[Below(from.size())];
  }
  template <typename Value>
  const Value& Pick(const std::vector<Value>& from) {
    return from[Below(from.size())];
  }

  // Fisher-Yates, from the last index down.
  template <typename Value>
  void Shuffle(std::vector<Value>* values) {
    for (std::size_t i = values->size(); i > 1; --i) {
      std::swap((*values)[i - 1], (*values)[Below(i)]);
    }
  }
  // Draws `count` different numbers below `limit`, in drawing order; all of them if there are
  // fewer.
  std::vector<std::uint32_t> Sample(std::size_t limit, std::size_t count);

  // Returns lower-case hex digits in the form of a version 4 UUID.
  std::string Uuid();
  // Returns `count` decimal digits; the first is not 0.
  std::string Digits(std::size_t count);

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_STREAM_H_
