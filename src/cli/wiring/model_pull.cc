#include "cli/wiring/model_pull.h"

#include "base/text/text.h"
#include "cli/terminal/terminal_filter.h"

namespace dossier::cli {
namespace {

std::string Megabytes(std::uint64_t bytes) { return GroupDigits(bytes / 1'000'000) + " MB"; }

// "[######......] 52 %  581 MB of 1,117 MB  95 MB/s  6 s left"; `seconds` since the start.
std::string PullLine(const model::PullProgress& progress, double seconds) {
  constexpr std::uint64_t kWidth = 20;
  if (progress.total == 0) return fmt::format("{}", Megabytes(progress.done));
  const std::uint64_t done = std::min(progress.done, progress.total);
  const auto filled = static_cast<std::size_t>(static_cast<double>(done) /
                                               static_cast<double>(progress.total) * kWidth);
  std::string line = fmt::format(
      "[{}{}] {:>3.0f} %  {} of {}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
      100.0 * static_cast<double>(done) / static_cast<double>(progress.total), Megabytes(done),
      Megabytes(progress.total));
  // What was here before says nothing about the rate.
  const std::uint64_t fetched = done - std::min(done, progress.resumed);
  if (seconds < 0.5 || fetched == 0) return line;
  const double rate = static_cast<double>(fetched) / seconds;
  line += fmt::format("  {:.1f} MB/s", rate / 1e6);
  if (done < progress.total) {
    line += fmt::format("  {:.0f} s left", static_cast<double>(progress.total - done) / rate);
  }
  return line;
}

}  // namespace

void PullView::Show(const model::PullProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!started_) started_ = now;
  const double seconds = std::chrono::duration<double>(now - *started_).count();
  if (terminal_.err == Terminal::Kind::kTerminal) {
    err_ << Own("\r\x1b[K") << PullLine(progress, seconds) << std::flush;
    line_open_ = true;
    return;
  }
  if (progress.total == 0) return;
  const std::uint64_t tenth = std::min(progress.done, progress.total) * 10 / progress.total;
  if (tenth < next_tenth_) return;
  next_tenth_ = tenth + 1;
  err_ << "dossier: " << PullLine(progress, seconds) << "\n" << std::flush;
}

void PullView::End() {
  if (line_open_) err_ << "\n" << std::flush;
  line_open_ = false;
}

model::Say SayTo(std::ostream& err) {
  return [&err](std::string_view line) { err << "dossier: " << Safe(line) << "\n" << std::flush; };
}

Status PullDefaultModel(const std::string& data, const CancelToken& cancel, std::ostream& out,
                        std::ostream& err) {
  const model::WeightsSource source = model::DefaultWeights();
  PullView view(Terminal::Detect(), err);
  model::PullOptions options;
  options.progress = [&view](const model::PullProgress& progress) { view.Show(progress); };
  auto pulled = model::PullWeights(source, data, options, cancel);
  view.End();
  DOSSIER_RETURN_IF_ERROR(pulled);
  // The runtime too, so that the first question needs no network.
  DOSSIER_ASSIGN_OR_RETURN(const model::Runtime runtime,
                           model::EnsureRuntime(data, SayTo(err), cancel));
  const bool present = pulled->outcome == model::PullResult::Outcome::kPresent;
  out << fmt::format("{} is {} ({}, {}): {}\n", source.name,
                     present ? "here" : "fetched and checked", FormatSize(source.bytes),
                     runtime.kind, pulled->weights.path);
  return {};
}

}  // namespace dossier::cli
