#include "cli/wiring/memory_setup.h"

#include "base/text/parse.h"

namespace dossier::cli {
namespace {

class FixedClock final : public Clock {
 public:
  explicit FixedClock(Wall now) : now_(now) {}
  Steady Now() const override { return SystemClock()->Now(); }
  Wall WallNow() const override { return now_; }

 private:
  Wall now_;
};

}  // namespace

Result<std::shared_ptr<const Clock>> ClockOf(const std::string& now) {
  if (now.empty()) return SystemClock();
  const auto time = ParseTime(now);
  if (!time) return MakeError(ErrorCode::kUsage, "--now: {}", time.error().message);
  return std::make_shared<FixedClock>(*time);
}

Result<memory::Micros> ReadMoment(std::string_view flag, const std::string& text, DayEdge edge) {
  constexpr std::size_t kDay = 10;  // bytes of "2026-03-01"
  const std::string_view rest = edge == DayEdge::kBegin ? "T00:00:00Z" : "T23:59:59.999999Z";
  const auto time = ParseTime(text.size() == kDay ? fmt::format("{}{}", text, rest) : text);
  if (!time) {
    return MakeError(ErrorCode::kUsage,
                     "{} \"{}\" is no time: write 2026-03-01T10:00:00Z, or a day alone", flag,
                     text);
  }
  return std::chrono::floor<std::chrono::microseconds>(time->time_since_epoch()).count();
}

}  // namespace dossier::cli
