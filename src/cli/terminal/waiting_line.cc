#include "cli/terminal/waiting_line.h"

#include "base/text/utf8.h"
#include "cli/terminal/display_width.h"
#include "cli/terminal/terminal_filter.h"

namespace dossier::cli {
namespace {

constexpr std::string_view kFrames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};

}  // namespace

void WaitingLine::Start(std::string_view what) {
  if (terminal_.err != Terminal::Kind::kTerminal) return;
  Stop();
  std::lock_guard lock(thread_mutex_);
  stopping_ = false;
  thread_ = std::thread([this, what = utf8::CleanForTerminal(what)] { Draw(what); });
}

void WaitingLine::Stop() {
  std::lock_guard lock(thread_mutex_);
  if (!thread_.joinable()) return;
  {
    std::lock_guard state(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WaitingLine::Draw(const std::string& what) {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kQuiet, [this] { return stopping_; })) return;
  // Spaces over it, not an escape sequence: this also holds under NO_COLOR.
  std::size_t width = 0;
  for (std::size_t frame = 0; !stopping_; ++frame) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
    const std::string line =
        fmt::format("{} {} {} s", kFrames[frame % std::size(kFrames)], what, seconds.count());
    const std::string_view shown = DisplayPrefix(line, ColumnsNow(terminal_) - 1);
    width = std::max(width, static_cast<std::size_t>(DisplayWidth(shown)));
    err_ << Own("\r") << shown << std::flush;
    changed_.wait_for(lock, kStep, [this] { return stopping_; });
  }
  err_ << Own("\r") << std::string(width, ' ') << Own("\r") << std::flush;
}

}  // namespace dossier::cli
