#include "sandbox/jail/jail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string_view>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/process/child.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "sandbox/jail/jail_plan.h"
#include "sandbox/walls/process_layer.h"

namespace dossier::sandbox {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The keeper ends everything within one grace after the request. If it has not by then, it cannot.
constexpr Millis kKeeperTime{5'000};
constexpr std::size_t kMaxReport = 1 << 20;  // bytes of JSON before the program runs

Status CheckPath(const std::string& path, std::string_view what) {
  if (path.starts_with('/') && path.find('\0') == std::string::npos &&
      path.find_first_not_of('/') != std::string::npos) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "{} {}: name an absolute path, and one below /, which would show everything",
                   what, path);
}

Status CheckText(const std::string& text, std::string_view what) {
  if (text.find('\0') == std::string::npos) return {};
  return MakeError(ErrorCode::kInvalidArgument, "{} holds a NUL byte", what);
}

Status CheckLimits(const JailLimits& limits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const auto number = [](std::uint64_t value) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMost + 1));
  };
  const struct {
    std::string_view name;
    std::int64_t value, low, high;
  } table[] = {{"cpu (ms)", limits.cpu.count(), 1, kMost},
               {"wall (ms)", limits.wall.value_or(Millis(1)).count(), 1, kMost},
               {"memory", number(limits.memory), 0, kMost},
               {"tmp", number(limits.tmp), 0, kMost},
               {"grace (ms)", limits.grace.count(), 0, 60'000},
               {"output", number(limits.output), 0, kMost},
               {"processes", limits.processes, 1, 4096},
               {"files", limits.files, 8, 65536}};
  for (const auto& entry : table) {
    if (entry.value >= entry.low && entry.value <= entry.high) continue;
    return MakeError(ErrorCode::kInvalidArgument, "limit {}: {} is not between {} and {}",
                     entry.name, entry.value, entry.low, entry.high);
  }
  return {};
}

Status CheckOverlay(const JailOverlay& overlay) {
  DOSSIER_RETURN_IF_ERROR(CheckPath(overlay.place, "place of an overlay"));
  for (const std::string& path : overlay.lower) {
    DOSSIER_RETURN_IF_ERROR(CheckPath(path, "layer of an overlay"));
  }
  if (overlay.upper.empty() && overlay.work.empty()) return {};
  DOSSIER_RETURN_IF_ERROR(CheckPath(overlay.upper, "upper layer of an overlay"));
  return CheckPath(overlay.work, "work folder of an overlay");
}

Status CheckSpec(const JailSpec& spec, std::span<const std::string> argv) {
  if (argv.empty() || argv[0].empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "a program needs argv");
  }
  for (const std::string& text : argv) DOSSIER_RETURN_IF_ERROR(CheckText(text, "an argument"));
  for (const std::string& text : spec.environment) {
    DOSSIER_RETURN_IF_ERROR(CheckText(text, "the environment"));
  }
  for (const std::string& path : spec.read) DOSSIER_RETURN_IF_ERROR(CheckPath(path, "read root"));
  for (const std::string& path : spec.write) DOSSIER_RETURN_IF_ERROR(CheckPath(path, "write root"));
  for (const std::string& path : spec.system) {
    DOSSIER_RETURN_IF_ERROR(CheckPath(path, "system folder"));
  }
  for (const std::string& path : spec.devices) DOSSIER_RETURN_IF_ERROR(CheckPath(path, "device"));
  for (const JailMount& mount : spec.mounts) {
    DOSSIER_RETURN_IF_ERROR(CheckPath(mount.host, "mounted folder"));
    DOSSIER_RETURN_IF_ERROR(CheckPath(mount.inside, "place of a mount"));
  }
  for (const JailOverlay& overlay : spec.overlays) {
    DOSSIER_RETURN_IF_ERROR(CheckOverlay(overlay));
  }
  DOSSIER_RETURN_IF_ERROR(CheckLimits(spec.limits));
  if (spec.folder.empty() || spec.folder == "/") return {};
  return CheckPath(spec.folder, "working folder");
}

// The user that root becomes: the owner of the files that the program works on. Others could
// neither change them nor, in a private folder, read them; and git trusts only its own user's.
UserIds OwnerOf(const JailSpec& spec) {
  UserIds ids;
  const auto written =
      std::find_if(spec.mounts.begin(), spec.mounts.end(),
                   [](const JailMount& mount) { return mount.access != JailMount::Access::kRead; });
  const std::string* root = !spec.write.empty()            ? &spec.write.front()
                            : written != spec.mounts.end() ? &written->host
                            : !spec.read.empty()           ? &spec.read.front()
                            : !spec.mounts.empty()         ? &spec.mounts.front().host
                                                           : nullptr;
  struct stat info;
  if (root == nullptr || stat(root->c_str(), &info) != 0) return ids;
  return {info.st_uid, info.st_gid};
}

UniqueFd AboveStandard(UniqueFd fd) {
  if (!fd.valid() || fd.get() > 2) return fd;
  return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}

struct Ends {
  UniqueFd host, inside;
};

Result<Ends> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  Ends result{AboveStandard(UniqueFd(ends[0])), AboveStandard(UniqueFd(ends[1]))};
  if (!result.host.valid() || !result.inside.valid()) return MakeErrnoError(errno, "pipe");
  return result;
}

Result<UniqueFd> OpenInput(const JailInput& input) {
  UniqueFd fd;
  if (const int* given = std::get_if<int>(&input)) {
    fd = UniqueFd(fcntl(*given, F_DUPFD_CLOEXEC, 3));
  } else if (const std::string* bytes = std::get_if<std::string>(&input)) {
    // A file in memory: needs no pipe to feed, and no SIGPIPE if it is not read.
    fd = AboveStandard(UniqueFd(memfd_create("dossier-input", MFD_CLOEXEC)));
    if (fd.valid()) DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), *bytes));
    if (fd.valid()) (void)lseek(fd.get(), 0, SEEK_SET);
  } else {
    fd = AboveStandard(UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  }
  if (!fd.valid()) return MakeErrnoError(errno, "input of the program");
  return fd;
}

// Reads the report of the forked side from before the program ran.
Status ReadReport(std::string_view text, IsolationReport* report) {
  bool found = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto line = ParseJson(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line) break;
    if (const Json* error = Find(*line, "error")) {
      return tl::unexpected(Error{static_cast<ErrorCode>(FindInt(*error, "code").value_or(0)),
                                  TextAt(*error, "message")});
    }
    if (const Json* json = Find(*line, "report")) {
      DOSSIER_ASSIGN_OR_RETURN(*report, IsolationReport::FromJson(*json));
      found = true;
    }
  }
  if (found) return {};
  return MakeError(ErrorCode::kDied, "sandbox: the jail ended before its program started");
}

class JailRun {
 public:
  JailRun(const JailSpec& spec, std::span<const std::string> argv, const Io& io)
      : spec_(spec), io_(io) {
    plan_.spec = &spec;
    plan_.argv.assign(argv.begin(), argv.end());
    plan_.system = spec.system.empty() ? SystemFolders(spec.network) : spec.system;
    plan_.folder = !spec.folder.empty()  ? spec.folder
                   : !spec.write.empty() ? spec.write.front()
                   : !spec.read.empty()  ? spec.read.front()
                                         : "/";
    plan_.ids = OwnerOf(spec);
    FindControlFiles();
    MakeCgroup();
  }
  ~JailRun() {
    if (pid_ <= 0) return;
    if (!kept_) SendSignal(pid_, SIGKILL);  // otherwise it is about to end and reaps the keeper
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  Result<Exit> Run() {
    const auto begin = SteadyClock::now();
    if (spec_.limits.wall) ends_ = begin + *spec_.limits.wall;
    DOSSIER_RETURN_IF_ERROR(Start());
    const std::uint64_t id = io_.cancel.OnCancel([fd = wake_.get()] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof(one));
    });
    const Status exchanged = Exchange();
    io_.cancel.Forget(id);
    DOSSIER_RETURN_IF_ERROR(exchanged);
    // The caller may request the end before the program has started.
    const Status reported = ReadReport(report_text_, &exit_.report);
    if (!reported && !(asked_ && reported.error().code == ErrorCode::kDied)) {
      return tl::unexpected(reported.error());
    }
    if (!kept_ && !asked_) {
      return MakeError(ErrorCode::kDied, "sandbox: the jail was killed from outside");
    }
    const KeeperReport kept = kept_ ? *kept_ : WithoutKeeper();
    TellSetAside(kept);
    exit_.wall = std::chrono::duration_cast<Millis>(SteadyClock::now() - begin);
    exit_.cpu = Millis(kept.cpu_ms);
    exit_.peak_bytes = kept.peak_bytes;
    if (exit_.stop == JailStop::kNothing) exit_.stop = kept.stop;
    if (exit_.stop == JailStop::kNothing && cgroup_ && cgroup_->memory_kills() > 0) {
      exit_.stop = JailStop::kMemory;
    }
    const int status = kept.wait_status;
    if (WIFEXITED(status)) exit_.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
    return std::move(exit_);
  }

 private:
  void FindControlFiles() {
    std::vector<ControlFiles::Path> folders;
    for (const std::string& path : spec_.write) folders.push_back({path, path});
    for (const JailMount& mount : spec_.mounts) {
      if (mount.access == JailMount::Access::kWrite) folders.push_back({mount.host, mount.inside});
    }
    plan_.control_files = ControlFiles::Find(folders);
  }

  void MakeCgroup() {
    Result<Cgroup> made = [&]() -> Result<Cgroup> {
      const auto& disabled = spec_.disabled_layers;
      if (std::find(disabled.begin(), disabled.end(), "cgroup") != disabled.end()) {
        return MakeError(ErrorCode::kUnavailable, "switched off");
      }
      DOSSIER_ASSIGN_OR_RETURN(const std::string parent, Cgroup::FindParent(spec_.cgroups));
      return Cgroup::Make(parent, {.processes = spec_.limits.processes + kOwnProcesses,
                                   .memory = spec_.limits.memory});
    }();
    if (!made) {
      plan_.cgroup_reason = made.error().message;
      return;
    }
    cgroup_.emplace(std::move(*made));
    plan_.cgroup = cgroup_->entrance();
  }

  // It was killed before it could look for files that the program made.
  KeeperReport WithoutKeeper() const {
    KeeperReport report{.wait_status = SIGKILL};
    const auto lines =
        plan_.control_files.SetAsideNew(ControlFiles::View::kHost, ControlFiles::Depth::kAll);
    report.set_aside = static_cast<int>(lines.size());
    if (!lines.empty()) lines[0].copy(report.first_set_aside, sizeof(report.first_set_aside) - 1);
    return report;
  }

  void TellSetAside(const KeeperReport& kept) {
    exit_.set_aside = kept.set_aside;
    if (kept.set_aside == 0) return;
    std::string line = fmt::format("dossier: a program in a jail may not make this: {}",
                                   std::string_view(kept.first_set_aside));
    if (kept.set_aside > 1) line += fmt::format("; and {} more", kept.set_aside - 1);
    Take(Stream::kErr, line + "\n");
  }

  Status Start() {
    HideMemory();
    DOSSIER_ASSIGN_OR_RETURN(Ends out, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(Ends err, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(Ends report, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(const UniqueFd in, OpenInput(spec_.input));
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
      return MakeErrnoError(errno, "socketpair");
    }
    control_ = AboveStandard(UniqueFd(pair[0]));
    const UniqueFd keeper_end = AboveStandard(UniqueFd(pair[1]));
    wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.valid() || !control_.valid() || !keeper_end.valid()) {
      return MakeErrnoError(errno, "sandbox: descriptors");
    }
    plan_.in = in.get();
    plan_.out = out.inside.get();
    plan_.err = err.inside.get();
    plan_.report = report.inside.get();
    plan_.control = keeper_end.get();
    pid_ = fork();
    if (pid_ < 0) return MakeError(ErrorCode::kUnavailable, "sandbox: fork: {}", ErrnoText(errno));
    if (pid_ == 0) RunInside(plan_);
    out_ = std::move(out.host);
    err_ = std::move(err.host);
    report_ = std::move(report.host);
    return {};
  }

  static std::string ErrnoText(int number) { return ErrnoError(number, "").message; }

  // Runs until the keeper has reported or is gone; then reads what is left in the pipes.
  Status Exchange() {
    while (control_.valid()) {
      pollfd waits[] = {{out_.get(), POLLIN, 0},
                        {err_.get(), POLLIN, 0},
                        {report_.get(), POLLIN, 0},
                        {control_.get(), POLLIN, 0},
                        {asked_ ? -1 : wake_.get(), POLLIN, 0}};
      const int ready = poll(waits, std::size(waits), WaitMillis());
      if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "poll");
      if (ready > 0) {
        if (waits[0].revents != 0) ReadOutput(Stream::kOut);
        if (waits[1].revents != 0) ReadOutput(Stream::kErr);
        if (waits[2].revents != 0) ReadReportText();
        if (waits[4].revents != 0) End(JailStop::kCancel);
        if (waits[3].revents != 0) ReadControl();
      }
      KeepTime();
    }
    Drain();
    return {};
  }

  int WaitMillis() const {
    if (!ends_) return -1;
    const auto left = std::chrono::ceil<Millis>(*ends_ - SteadyClock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void KeepTime() {
    if (!ends_ || SteadyClock::now() < *ends_) return;
    if (!asked_) return End(JailStop::kTime);
    SendSignal(pid_, SIGKILL);  // also ends the keeper, and with it the pid namespace
    control_.Reset();
  }

  void End(JailStop stop) {
    if (asked_) return;
    asked_ = true;
    exit_.stop = stop;
    const char order = static_cast<char>(JailOrder::kEnd);
    (void)send(control_.get(), &order, 1, MSG_NOSIGNAL);
    ends_ = SteadyClock::now() + spec_.limits.grace + kKeeperTime;
  }

  void ReadOutput(Stream stream) {
    UniqueFd& fd = stream == Stream::kOut ? out_ : err_;
    char block[64 << 10];
    const ssize_t got = read(fd.get(), block, sizeof(block));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return fd.Reset();
    Take(stream, {block, static_cast<std::size_t>(got)});
  }

  void Take(Stream stream, std::string_view text) {
    const bool to_out = stream == Stream::kOut;
    (to_out ? exit_.out_bytes : exit_.err_bytes) += text.size();
    if (io_.on_output) return io_.on_output(stream, text);
    std::string& kept = to_out ? exit_.out : exit_.err;
    const std::size_t fits = std::min<std::uint64_t>(
        text.size(),
        spec_.limits.output - std::min<std::uint64_t>(spec_.limits.output, kept.size()));
    kept.append(text.substr(0, fits));
    (to_out ? exit_.out_dropped : exit_.err_dropped) += text.size() - fits;
  }

  void ReadReportText() {
    char block[16 << 10];
    const ssize_t got = read(report_.get(), block, sizeof(block));
    if (got < 0 && errno == EINTR) return;
    if (got <= 0 || report_text_.size() > kMaxReport) return report_.Reset();
    report_text_.append(block, static_cast<std::size_t>(got));
  }

  void ReadControl() {
    KeeperReport report;
    const ssize_t got = recv(control_.get(), &report, sizeof(report), MSG_WAITALL);
    if (got < 0 && errno == EINTR) return;
    if (got == sizeof(report)) kept_ = report;
    control_.Reset();
  }

  // Every writer is gone, so this never blocks.
  void Drain() {
    while (report_.valid() && HasMore(report_)) ReadReportText();
    while (out_.valid() && HasMore(out_)) ReadOutput(Stream::kOut);
    while (err_.valid() && HasMore(err_)) ReadOutput(Stream::kErr);
  }

  static bool HasMore(const UniqueFd& fd) {
    pollfd wait = {fd.get(), POLLIN, 0};
    return poll(&wait, 1, 0) > 0;
  }

  const JailSpec& spec_;
  const Io& io_;
  JailPlan plan_;
  Exit exit_;
  std::optional<Cgroup> cgroup_;  // destroyed after the processes, which the destructor waits for
  pid_t pid_ = -1;
  UniqueFd out_, err_, report_, control_, wake_;
  std::string report_text_;
  std::optional<KeeperReport> kept_;
  bool asked_ = false;  // the keeper was told to end it
  std::optional<SteadyClock::time_point> ends_;
};

}  // namespace

std::string_view JailStopName(JailStop stop) {
  switch (stop) {
    case JailStop::kNothing:
      return "";
    case JailStop::kTime:
      return "time";
    case JailStop::kCancel:
      return "cancelled";
    case JailStop::kCpu:
      return "cpu";
    case JailStop::kMemory:
      return "memory";
    case JailStop::kProcesses:
      return "processes";
  }
  return "";
}

Result<Exit> RunJailed(const JailSpec& spec, std::span<const std::string> argv, const Io& io) {
  DOSSIER_RETURN_IF_ERROR(CheckSpec(spec, argv));
  return JailRun(spec, argv, io).Run();
}

std::vector<std::string> SystemFolders(JailNetwork network) {
  std::vector<std::string> folders = {
      "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
      // looked up by the linker, the C library and Debian's alternatives
      "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
      "/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/magic", "/etc/mime.types",
      "/etc/python3", "/etc/python3.11", "/etc/perl", "/etc/terminfo", "/etc/gitconfig"};
  if (network == JailNetwork::kAny) {
    folders.insert(folders.end(),
                   {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf",
                    "/etc/services", "/etc/protocols", "/etc/ssl/certs", "/etc/gai.conf"});
  }
  return folders;
}

namespace {

// The layers of strict isolation; to run without one, the user must name it.
constexpr std::array<std::string_view, 6> kLayers = {"process", "namespaces", "flags",
                                                     "rlimits", "landlock",   "seccomp"};

}  // namespace

Status CheckLayerNames(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (IsOneOf(name, kLayers)) continue;
    return MakeError(ErrorCode::kUsage, "--degraded {}: no such layer; it must be {}", name,
                     OneOf(name, kLayers));
  }
  return {};
}

void AcceptMissing(std::span<const std::string> names, JailSpec* spec) {
  spec->mode = names.empty() ? IsolationMode::kStrict : IsolationMode::kDegraded;
  for (const std::string_view layer : kLayers) {
    if (!IsOneOf(layer, names)) spec->required_layers.emplace_back(layer);
  }
}

std::string WayOut(const Error& error) {
  if (error.code != ErrorCode::kUnavailable) return "";
  for (const std::string_view layer : kLayers) {
    if (error.message.find(fmt::format(" {} ", layer)) == std::string::npos) continue;
    return fmt::format("; `--degraded {}` runs without it", layer);
  }
  return "";
}

std::vector<std::string> MissingLayers(const IsolationReport& report) {
  std::vector<std::string> missing;
  for (const std::string_view layer : kLayers) {
    if (!report.Applied(layer)) missing.emplace_back(layer);
  }
  return missing;
}

}  // namespace dossier::sandbox
