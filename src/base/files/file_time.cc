#include "base/files/file_time.h"

#include <limits>

namespace dossier {

std::int64_t NanosSinceEpoch(const timespec& time) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(std::int64_t{time.tv_sec}, kPerSecond, &nanos) ||
      __builtin_add_overflow(nanos, std::int64_t{time.tv_nsec}, &nanos)) {
    return time.tv_sec < 0 ? Limits::min() : Limits::max();
  }
  return nanos;
}

}  // namespace dossier
