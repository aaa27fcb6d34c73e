#include "memory/embedder.h"

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
  std::int64_t total = 0;
  constexpr std::size_t kBlock = 1 << 16;  // whose sum fits into 32 bits
  for (std::size_t start = 0; start < a.size(); start += kBlock) {
    const std::size_t end = std::min(start + kBlock, a.size());
    std::int32_t sum = 0;
    for (std::size_t i = start; i < end; ++i) sum += std::int32_t{a[i]} * std::int32_t{b[i]};
    total += sum;
  }
  return total;
}

double Cosine(std::span<const std::int8_t> a, std::span<const std::int8_t> b) {
  const auto product = static_cast<double>(Dot(a, b));
  const double lengths = static_cast<double>(Dot(a, a)) * static_cast<double>(Dot(b, b));
  return lengths > 0 ? product / std::sqrt(lengths) : 0;
}

}  // namespace dossier::memory
