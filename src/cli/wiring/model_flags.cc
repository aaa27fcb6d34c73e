#include "cli/wiring/model_flags.h"

#include <iostream>

#include "base/files/locations.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/shared_flags.h"

namespace dossier::cli {
namespace {

// Parses K=V; V is JSON if it parses as such, else text.
Result<JsonObject> ParseParams(const std::vector<std::string>& params) {
  JsonObject out;
  for (const std::string& param : params) {
    const auto equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kUsage, "--param {}: write it as NAME=VALUE", param);
    }
    const std::string value = param.substr(equals + 1);
    auto json = ParseJson(value);
    out[param.substr(0, equals)] = json ? std::move(*json) : Json(value);
  }
  return out;
}

// `-m script:FILE`, as the C++ and Python packages write it, and --script alone are the model
// `scripted`. Here and not in `app`: a client of a server could name any file.
void TakeScript(app::ModelSettings* settings) {
  constexpr std::string_view kScript = "script:", kScripted = "scripted";
  if (settings->model.starts_with(kScript)) {
    settings->script = settings->model.substr(kScript.size());
    settings->model = kScripted;
  }
  const bool other = !settings->model.empty() || !settings->base_url.empty();
  if (!settings->script.empty() && !other) settings->model = kScripted;
}

}  // namespace

Result<app::ModelSettings> SettingsOf(const ModelFlags& flags) {
  app::ModelSettings settings = flags;
  TakeScript(&settings);
  DOSSIER_ASSIGN_OR_RETURN(settings.sent, ParseParams(flags.params));
  DOSSIER_ASSIGN_OR_RETURN(settings.deadline, ReadTimeFlag("--timeout", flags.timeout));
  DOSSIER_ASSIGN_OR_RETURN(settings.idle_limit, ReadTimeFlag("--idle-timeout", flags.idle_timeout));
  return settings;
}

Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global) {
  TakeScript(&flags);
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(config, &flags));
  flags.offline = global.offline;
  flags.first_use = OfferFirstUse(global);
  return flags;
}

Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const app::ModelSettings settings, SettingsOf(flags));
  return app::OpenModel(settings, say, cancel);
}

Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings settings, SettingsOf(flags));
  settings.offline = global.offline;
  settings.first_use = OfferFirstUse(global);
  if (global.verbose > 0) settings.announce = app::ModelSettings::Announce::kYes;
  return app::OpenChatModel(std::move(settings), config, say, cancel);
}

namespace {

Result<std::string> Offer(const GlobalFlags& flags, const app::FirstUse& found,
                          const CancelToken& cancel) {
  // Not the message stream: a progress line must not go into a log file.
  std::ostream& err = std::cerr;
  // A user who has pressed Ctrl-C wants no question.
  if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  for (const model::LocalServer& server : found.servers) {
    if (server.models.empty()) continue;
    const std::string name = server.provider + "/" + server.models[0];
    DOSSIER_ASSIGN_OR_RETURN(
        const bool use, Confirm(flags,
                                fmt::format("No key is set. A server answers at {}: ask its {}?",
                                            server.base_url, server.models[0]),
                                "-m " + ShellQuote(name), err, DefaultAnswer::kYes));
    if (use) {
      err << fmt::format("`dossier config set model {}` asks it from now on, unasked\n",
                         ShellQuote(name));
      return name;
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(const bool fetch,
                           Confirm(flags, "Fetch the local model, 1.1 GB?", "`dossier models pull`",
                                   err, DefaultAnswer::kYes));
  if (!fetch) return MakeError(ErrorCode::kNotFound, "{}", app::DescribeFirstUse(found));
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_RETURN_IF_ERROR(PullDefaultModel(data, cancel, err, err));
  return std::string("local");
}

}  // namespace

decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags) {
  if (flags.offline || (!flags.yes && !MayAsk(flags))) return {};
  return [flags](const app::FirstUse& found, const CancelToken& cancel) {
    return Offer(flags, found, cancel);
  };
}

namespace {

std::string Megabytes(std::uint64_t bytes) { return GroupDigits(bytes / 1'000'000) + " MB"; }

// Returns "[######......] 52 %  581 MB of 1,117 MB  95 MB/s  6 s left"; `seconds` since the start.
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
  // Data from an earlier download says nothing about the rate.
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
  // Also downloads the runtime, so that the first question needs no network.
  DOSSIER_ASSIGN_OR_RETURN(const model::LocalRuntime runtime,
                           model::EnsureRuntime(data, SayTo(err), cancel));
  const bool present = pulled->outcome == model::PullResult::Outcome::kPresent;
  out << fmt::format("{} is {} ({}, {}): {}\n", source.name,
                     present ? "here" : "fetched and checked", FormatSize(source.bytes),
                     runtime.kind, pulled->weights.path);
  return {};
}

}  // namespace dossier::cli
