#include "cli/wiring/memory_flags.h"

#include <iostream>

#include "base/text/parse.h"
#include "cli/wiring/run_setup.h"

namespace dossier::cli {
namespace {

app::MemoryWish WishOf(const MemoryFlags& flags) {
  using Use = app::MemoryWish::Use;
  app::MemoryWish wish{.branch = flags.branch};
  if (!flags.store.empty()) wish.use = Use::kOn;
  if (flags.off) wish.use = Use::kOff;
  if (flags.store != kAnyStore) wish.store = flags.store;
  return wish;
}

Status CheckFlags(const MemoryFlags& flags, const app::MemoryConfig& config) {
  if (flags.off && !flags.store.empty()) {
    return MakeError(ErrorCode::kUsage, "--memory and --no-memory exclude each other");
  }
  if (!flags.branch.empty() && !app::IsOn(WishOf(flags), config)) {
    return MakeError(ErrorCode::kUsage, "--memory-branch {} needs --memory", flags.branch);
  }
  return {};
}

}  // namespace

Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need) {
  DOSSIER_ASSIGN_OR_RETURN(const app::MemoryConfig settings, app::ReadMemoryConfig(config));
  DOSSIER_RETURN_IF_ERROR(CheckFlags(flags, settings));
  return app::OpenPromptMemory(WishOf(flags), config, need);
}

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

Result<memory::Summarizer> OpenSummarizer(const ModelFlags& flags,
                                          const app::MemoryConfig& settings,
                                          const config::Config& config, const GlobalFlags& global,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings model, SettingsOf(flags));
  model.offline = global.offline;
  if (global.verbose > 0) model.announce = app::ModelSettings::Announce::kYes;
  return app::OpenSummarizer(
      std::move(model), settings, config,
      [&] { return LayoutSourcesFor(global, cancel, std::cerr); }, say, cancel);
}

}  // namespace dossier::cli
