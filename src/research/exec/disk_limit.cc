#include "research/exec/disk_limit.h"

#include <fmt/format.h>
#include <fts.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/text/text.h"

namespace dossier::research {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Millis kMostOften{100}, kLeastOften{10'000};  // between two measurements
constexpr std::uint64_t kBlock = 512;                   // unit of st_blocks, on every file system
constexpr std::size_t kKeptOutput = 64 << 10;           // for a command that was ended

constexpr std::uint64_t kLeastFile = 4096;      // minimum for any file or folder, even an empty one
constexpr std::uint64_t kReservedFiles = 4096;  // number of files that must still be possible

// Returns why the disk itself is full; "" if it is not.
std::string FullDisk(const std::string& folder, std::uint64_t reserve) {
  struct statvfs facts;
  if (statvfs(folder.c_str(), &facts) != 0) return "";
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  if (free < reserve) {
    return fmt::format("the disk of the run has {} left; make room there", FormatSize(free));
  }
  // Some file systems do not have this number.
  if (reserve == 0 || facts.f_files == 0 || facts.f_favail >= kReservedFiles) return "";
  return fmt::format("the disk of the run has room for {} more files; make room there",
                     facts.f_favail);
}

void ForEachEntry(const std::string& folder, const std::function<void(const std::string&)>& see) {
  std::error_code error;  // of what ended meanwhile, or is another user's
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    see(entry->path().string());
  }
}

// Returns the disk space of files without a name that the sandbox's processes have open. A process
// is of the sandbox if it finds the workspace at its mount; on other machines none is seen. The
// sandbox's own /tmp is memory.
std::uint64_t UnnamedUseOf(const std::string& workspace, const std::string& mount) {
  struct stat home;
  if (mount.empty() || stat(workspace.c_str(), &home) != 0) return 0;
  std::set<std::pair<dev_t, ino_t>> seen;
  std::uint64_t bytes = 0;
  const auto add = [&](const std::string& descriptor) {
    struct stat facts;
    struct statfs system;
    if (stat(descriptor.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    if (facts.st_nlink > 0 || !seen.emplace(facts.st_dev, facts.st_ino).second) return;
    const bool memory = statfs(descriptor.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
    if (memory && facts.st_dev != home.st_dev) return;
    bytes += static_cast<std::uint64_t>(facts.st_blocks) * kBlock;
  };
  ForEachEntry("/proc", [&](const std::string& process) {
    struct stat place;
    if (stat(fmt::format("{}/root{}", process, mount).c_str(), &place) != 0) return;
    if (place.st_dev != home.st_dev || place.st_ino != home.st_ino) return;
    ForEachEntry(process + "/fd", add);
  });
  return bytes;
}

// Measures the folders until it is ended; calls `full` at most once, from its own thread.
class Watch {
 public:
  // The first folder is the workspace, which commands see at `mount`.
  Watch(std::vector<std::string> folders, std::string mount, DiskLimit limit,
        std::function<void()> full)
      : folders_(std::move(folders)),
        mount_(std::move(mount)),
        limit_(limit),
        full_(std::move(full)),
        thread_([this](const std::stop_token& stop) { LookAgain(stop); }) {}

  // Ends the watch after a last look. Returns why the command was ended; "": it kept the limit.
  std::string End() {
    thread_.request_stop();
    thread_.join();
    if (reason_.empty()) reason_ = Look();
    return reason_;
  }

 private:
  std::string Look() const {
    std::uint64_t used = UnnamedUseOf(folders_.front(), mount_);
    for (const std::string& folder : folders_) {
      const DiskUse use = DiskUseOf(folder);
      if (use.seen == DiskUse::Seen::kSome) {
        return "folders are nested too deep or closed to their own user, so that their files "
               "cannot "
               "be counted (exec.disk)";
      }
      used += use.bytes;
    }
    if (used > limit_.bytes) {
      return fmt::format("{} on the disk, and {} are allowed (exec.disk)", FormatSize(used),
                         FormatSize(limit_.bytes));
    }
    return FullDisk(folders_.front(), limit_.reserve);
  }

  void LookAgain(const std::stop_token& stop) {
    for (Millis pause = kMostOften; !IsOver(stop, pause);) {
      const auto begin = SteadyClock::now();
      reason_ = Look();
      if (!reason_.empty()) return full_();
      const auto took = std::chrono::duration_cast<Millis>(SteadyClock::now() - begin);
      pause = std::clamp(took * 9, kMostOften, kLeastOften);
    }
  }

  bool IsOver(const std::stop_token& stop, Millis pause) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
  }

  const std::vector<std::string> folders_;
  const std::string mount_;
  const DiskLimit limit_;
  const std::function<void()> full_;
  std::string reason_;  // owned by the thread until it has ended
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

class LimitedBackend final : public ExecBackend {
 public:
  LimitedBackend(std::unique_ptr<ExecBackend> inner, DiskLimit limit)
      : inner_(std::move(inner)), limit_(limit) {}

  Status Start(const SandboxSpec& spec) override {
    folders_ = {spec.workspace};
    mount_ = spec.mount;
    // Only the layer that commands write to: the kernel's folder beside it is unreadable.
    if (!spec.system.empty()) folders_.push_back(spec.system + "/upper");
    return inner_->Start(spec);
  }

  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    if (folders_.empty()) return inner_->Run(command, cancel);
    ExecCommand watched = command;
    std::string kept;
    watched.on_output = [&](std::string_view text) {
      kept.append(text.substr(0, kKeptOutput - std::min(kKeptOutput, kept.size())));
      if (command.on_output) command.on_output(text);
    };
    CancelSource end(cancel);
    const auto begin = SteadyClock::now();
    Watch watch(folders_, mount_, limit_, [&] { end.Cancel("disk"); });
    Result<ExecResult> result = inner_->Run(watched, end.token());
    const std::string reason = watch.End();
    const bool ended = !result && result.error().code == ErrorCode::kCancelled;
    if (reason.empty() || cancel.cancelled() || (!result && !ended)) return result;
    if (!result) result = Ended(begin, kept);
    if (result->status == 0) result->status = 1;
    result->err += fmt::format("\n[ended by the sandbox: {}]\n", reason);
    result->out_bytes = std::max<std::uint64_t>(result->out_bytes, result->out.size());
    result->err_bytes = std::max<std::uint64_t>(result->err_bytes, result->err.size());
    return result;
  }

  Result<ImageRef> Snapshot(std::string_view name) override { return inner_->Snapshot(name); }
  SandboxFacts Facts() const override { return inner_->Facts(); }
  void Stop() noexcept override {
    folders_.clear();
    inner_->Stop();
  }

 private:
  ExecResult Ended(SteadyClock::time_point begin, const std::string& out) const {
    const std::chrono::duration<double> took = SteadyClock::now() - begin;
    return {.status = 128 + SIGKILL,
            .signal = SIGKILL,
            .out = out,
            .seconds = took.count(),
            .layers = inner_->Facts().layers};
  }

  const std::unique_ptr<ExecBackend> inner_;
  const DiskLimit limit_;
  std::vector<std::string> folders_;
  std::string mount_;
};

}  // namespace

DiskUse DiskUseOf(const std::string& folder) {
  std::string root = folder;
  char* const roots[] = {root.data(), nullptr};
  FTS* const tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
  if (tree == nullptr) return {};
  DiskUse use;
  std::set<std::pair<dev_t, ino_t>> seen;  // files with several names
  while (const FTSENT* entry = fts_read(tree)) {
    const bool failed = entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR;
    // fts_errno is meaningless elsewhere. Files removed meanwhile use nothing.
    if (failed && entry->fts_errno != ENOENT && entry->fts_level > 0)
      use.seen = DiskUse::Seen::kSome;
    if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS) continue;  // second visit; missing
    const struct stat& facts = *entry->fts_statp;
    const bool again = entry->fts_info == FTS_F && facts.st_nlink > 1 &&
                       !seen.emplace(facts.st_dev, facts.st_ino).second;
    if (again) continue;
    use.bytes += std::max(static_cast<std::uint64_t>(facts.st_blocks) * kBlock, kLeastFile);
  }
  fts_close(tree);
  return use;
}

BackendFactory WithDiskLimit(BackendFactory inner, DiskLimit limit) {
  return [inner = std::move(inner),
          limit](std::string_view worker) -> Result<std::unique_ptr<ExecBackend>> {
    DOSSIER_ASSIGN_OR_RETURN(auto backend, inner(worker));
    return std::make_unique<LimitedBackend>(std::move(backend), limit);
  };
}

}  // namespace dossier::research
