#include "base/clock.h"

#include <fmt/format.h>

#include <ctime>

namespace dossier {
namespace {

class RealClock final : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace

std::shared_ptr<const Clock> SystemClock() { return std::make_shared<RealClock>(); }

std::string FormatTime(Clock::Wall time) {
  using std::chrono::duration_cast;
  const auto millis = duration_cast<Millis>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(millis / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     millis % 1000);
}

}  // namespace dossier
