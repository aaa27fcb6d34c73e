#include "memory/records/embedder.h"

#include <algorithm>
#include <cmath>

namespace dossier::memory {

Vector ToVector(std::span<const float> sum) {
  constexpr float kLargest = 127;
  float largest = 0;
  for (const float part : sum) {
    if (!std::isfinite(part)) return {};
    largest = std::max(largest, std::abs(part));
  }
  if (largest == 0) return {};
  Vector vector(sum.size());
  std::ranges::transform(sum, vector.begin(), [&](float part) {
    return static_cast<std::int8_t>(std::lround(part / largest * kLargest));
  });
  return vector;
}

std::int64_t Dot(std::span<const std::int8_t> a, std::span<const std::int8_t> b) {
  constexpr std::size_t kBlock = 64;  // known to the compiler, which makes vector code of it
  std::int64_t total = 0;
  std::size_t at = 0;
  for (; at + kBlock <= a.size(); at += kBlock) {
    const std::int8_t* const x = a.data() + at;
    const std::int8_t* const y = b.data() + at;
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += std::int16_t{x[i]} * std::int16_t{y[i]};
    total += sum;
  }
  for (; at < a.size(); ++at) total += std::int32_t{a[at]} * b[at];
  return total;
}

double Cosine(std::span<const std::int8_t> a, std::span<const std::int8_t> b) {
  const auto product = static_cast<double>(Dot(a, b));
  const double lengths = static_cast<double>(Dot(a, a)) * static_cast<double>(Dot(b, b));
  return lengths > 0 ? product / std::sqrt(lengths) : 0;
}

}  // namespace dossier::memory
