#include "sandbox/walls/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>

namespace dossier::sandbox {
namespace {

tl::unexpected<Error> NoOverlay(std::string_view place, std::string_view what, int reason) {
  return MakeError(ErrorCode::kUnavailable, "sandbox: no overlay of {} ({}: {})", place, what,
                   std::strerror(reason));
}

UniqueFd OpenLayer(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Paths may contain the commas and colons that separate mount options.
std::string Name(const UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

constexpr int kMaxLinks = 40;
constexpr const char* kNewRoot = "/tmp";  // where it is built; any folder that always exists

Status WriteProc(int proc, const char* name, const std::string& text) {
  const UniqueFd fd(openat(proc, name, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, fmt::format("open /proc/{}", name));
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return MakeErrnoError(errno, fmt::format("write /proc/{}", name));
  }
  return {};
}

struct IdPair {
  uid_t uid;
  gid_t gid;
};

// Maps the one id that an unprivileged process may map.
Status MapIds(int proc, IdPair inner, IdPair outer) {
  // An outer namespace may have denied setgroups already; if this fails for another reason, gid_map
  // fails too.
  (void)WriteProc(proc, "self/setgroups", "deny");
  DOSSIER_RETURN_IF_ERROR(
      WriteProc(proc, "self/uid_map", fmt::format("{} {} 1", inner.uid, outer.uid)));
  return WriteProc(proc, "self/gid_map", fmt::format("{} {} 1", inner.gid, outer.gid));
}

// A new network has this interface, but it is down.
Status RaiseLoopback() {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  if (fd.valid() && ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0) return {};
  return MakeErrnoError(errno, "the loopback of a new network");
}

// A folder or file of the old root that appears in the new one.
struct Bind {
  std::string path;  // in the new root, without symbolic links
  UniqueFd source;
  // In mount order for the same path: the last one takes effect.
  enum class Access { kGuard, kRead, kDevice, kWrite } access = Access::kRead;
  bool folder = true;
  std::optional<OpenedOverlay> overlay;  // instead of the source
};

struct Layout {
  std::vector<Bind> binds;
  std::vector<std::pair<std::string, std::string>> links;  // path, target
};

// Fails with ELOOP if the path contains a symbolic link; ENOSYS before Linux 5.6.
UniqueFd OpenWithoutLinks(const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(syscall(__NR_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
}

Status AddBind(Bind bind, Layout& layout) {
  struct stat info;
  if (fstat(bind.source.get(), &info) != 0) return MakeErrnoError(errno, bind.path);
  bind.folder = S_ISDIR(info.st_mode);
  layout.binds.push_back(std::move(bind));
  return {};
}

// Walks `path`, records the symbolic links in it, and opens its target.
Status Resolve(std::string path, Bind::Access access, Layout& layout) {
  if (UniqueFd plain = OpenWithoutLinks(path); plain.valid()) {
    return AddBind({path, std::move(plain), access}, layout);
  }
  for (int hops = 0; hops < kMaxLinks; ++hops) {
    bool followed = false;
    for (std::size_t end = path.find('/', 1); !followed; end = path.find('/', end + 1)) {
      const std::string prefix = path.substr(0, end);
      char target[PATH_MAX];
      const ssize_t length = readlink(prefix.c_str(), target, sizeof(target));
      if (length > 0) {
        const std::string text(target, static_cast<std::size_t>(length));
        layout.links.emplace_back(prefix, text);
        const std::string rest = end == std::string::npos ? "" : path.substr(end);
        const std::string parent = prefix.substr(0, prefix.rfind('/') + 1);
        path = (text.front() == '/' ? text : parent + text) + rest;
        followed = true;
      }
      if (end == std::string::npos) break;
    }
    if (followed) continue;
    Bind bind{path, UniqueFd(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), access};
    if (!bind.source.valid()) return errno == ENOENT ? Status{} : MakeErrnoError(errno, path);
    return AddBind(std::move(bind), layout);
  }
  return MakeError(ErrorCode::kUnavailable, "{}: too many symbolic links", path);
}

// Adds the target of `mount` at its path in the new root. A missing source is skipped.
Status AddMount(const RootSpec::Mount& mount, Layout& layout) {
  const auto access =
      mount.access == RootSpec::Mount::Access::kWrite ? Bind::Access::kWrite : Bind::Access::kRead;
  Bind bind{mount.path, UniqueFd(open(mount.source.c_str(), O_PATH | O_CLOEXEC)), access};
  while (bind.path.size() > 1 && bind.path.ends_with('/')) bind.path.pop_back();
  if (!bind.source.valid()) return errno == ENOENT ? Status{} : MakeErrnoError(errno, mount.source);
  return AddBind(std::move(bind), layout);
}

// It may exist already, in a folder that is shown whole, perhaps read-only.
bool MakeLast(const std::string& place, bool folder) {
  if (folder) return mkdir(place.c_str(), 0755) == 0 || errno == EEXIST;
  const UniqueFd file(open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  return file.valid() || errno == EEXIST;
}

// Most have a parent already, and there are many.
Status MakePlace(const std::string& root, const std::string& path, bool folder) {
  const std::string place = root + path;
  if (MakeLast(place, folder)) return {};
  if (errno != ENOENT) return MakeErrnoError(errno, place);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(place.substr(0, place.rfind('/'))));
  return MakeLast(place, folder) ? Status{} : MakeErrnoError(errno, place);
}

Status SetMountFlags(const std::string& path, std::uint64_t set, unsigned flags) {
  mount_attr attributes = {};
  attributes.attr_set = set;
  if (mount_setattr(AT_FDCWD, path.c_str(), flags, &attributes, sizeof(attributes)) == 0) return {};
  return MakeErrnoError(errno, "mount flags of " + path);
}

constexpr std::uint64_t kQuietMount = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

std::uint64_t MountFlags(Bind::Access access) {
  switch (access) {
    case Bind::Access::kGuard:
    case Bind::Access::kRead:
      break;
    case Bind::Access::kWrite:
      return kQuietMount;
    case Bind::Access::kDevice:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
  }
  return kQuietMount | MOUNT_ATTR_RDONLY;
}

// Adds a path inside a writable folder. A program of another jail may change that folder meanwhile,
// so no name in the path is trusted.
Status AddGuard(const RootSpec::Guard& guard, Layout& layout) {
  Bind bind{guard.path, OpenWithoutLinks(guard.source), Bind::Access::kGuard};
  if (bind.source.valid()) return AddBind(std::move(bind), layout);
  // Gone meanwhile, or not accessible to the program or to us: a host that runs as root finds more
  // than the user as whom the program runs.
  if (errno == ENOENT || errno == EACCES) return {};
  return MakeErrnoError(errno, guard.source);
}

Status MountGuard(const std::string& root, const Bind& guard) {
  const UniqueFd place = OpenWithoutLinks(root + guard.path);
  if (!place.valid()) return errno == ENOENT ? Status{} : MakeErrnoError(errno, guard.path);
  const UniqueFd copy(open_tree(
      guard.source.get(), "",
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | static_cast<unsigned>(AT_EMPTY_PATH)));
  mount_attr attributes = {};
  attributes.attr_set = MountFlags(guard.access);
  if (!copy.valid() ||
      mount_setattr(copy.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                    sizeof(attributes)) != 0 ||
      move_mount(copy.get(), "", place.get(), "",
                 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return MakeErrnoError(errno, "mount " + guard.path);
  }
  return {};
}

Status BindInto(const std::string& root, const Bind& bind) {
  if (bind.access == Bind::Access::kGuard) return MountGuard(root, bind);
  DOSSIER_RETURN_IF_ERROR(MakePlace(root, bind.path, bind.folder));
  const std::string place = root + bind.path;
  if (bind.overlay) {
    DOSSIER_RETURN_IF_ERROR(MountOverlay(*bind.overlay, place));
    return SetMountFlags(place, MountFlags(bind.access), AT_RECURSIVE);
  }
  const std::string source = fmt::format("/proc/self/fd/{}", bind.source.get());
  if (mount(source.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return MakeErrnoError(errno, "mount " + bind.path);
  }
  return SetMountFlags(place, MountFlags(bind.access), AT_RECURSIVE);
}

Status MakeLinks(const std::string& root, const Layout& layout) {
  for (const auto& [path, target] : layout.links) {
    const std::string place = root + path;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(place.substr(0, place.rfind('/'))));
    if (symlink(target.c_str(), place.c_str()) != 0 && errno != EEXIST) {
      return MakeErrnoError(errno, "link " + path);
    }
  }
  return {};
}

Status SwitchRoot(const std::string& root) {
  if (chdir(root.c_str()) != 0) return MakeErrnoError(errno, "new root");
  if (syscall(__NR_pivot_root, ".", ".") != 0) return MakeErrnoError(errno, "pivot_root");
  // The old root is mounted on top of the new one; "." is detached.
  if (umount2(".", MNT_DETACH) != 0) return MakeErrnoError(errno, "old root");
  return chdir("/") == 0 ? Status{} : MakeErrnoError(errno, "chdir /");
}

bool Covers(const std::string& folder, const std::string& path) {
  return path == folder || path.starts_with(folder + "/");
}

// Nested folders cannot come and go separately: the one that stays wins.
void DropOverlaps(const Layout& read, Layout& load) {
  std::vector<Bind> kept;
  for (Bind& bind : load.binds) {
    const auto overlaps = [&](const Bind& other) {
      return Covers(bind.path, other.path) || Covers(other.path, bind.path);
    };
    if (std::none_of(read.binds.begin(), read.binds.end(), overlaps) &&
        std::none_of(kept.begin(), kept.end(), overlaps)) {
      kept.push_back(std::move(bind));
    }
  }
  load.binds = std::move(kept);
}

// The overlay replaces everything else that was to be read at its place.
Status AddOverlay(const OverlayLayers& layers, Layout& layout) {
  std::erase_if(layout.binds, [&](const Bind& bind) {
    return !bind.overlay && bind.access == Bind::Access::kRead && Covers(layers.place, bind.path);
  });
  std::erase_if(layout.links, [&](const auto& link) { return Covers(layers.place, link.first); });
  DOSSIER_ASSIGN_OR_RETURN(OpenedOverlay opened, OpenOverlay(layers));
  Bind bind{.path = layers.place,
            .source = {},
            .access = layers.upper.empty() ? Bind::Access::kRead : Bind::Access::kWrite};
  bind.overlay = std::move(opened);
  layout.binds.push_back(std::move(bind));
  return {};
}

Status MakePlaces(const std::string& root, const RootSpec& spec) {
  for (const std::string& path : spec.folders) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(root + path));
  }
  for (const RootSpec::Text& file : spec.files) {
    DOSSIER_RETURN_IF_ERROR(MakePlace(root, file.path, /*folder=*/false));
    const UniqueFd fd(open((root + file.path).c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return MakeErrnoError(errno, file.path);
    DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), file.content));
  }
  Layout links;
  for (const RootSpec::Link& link : spec.links) links.links.emplace_back(link.path, link.target);
  return MakeLinks(root, links);
}

// Fills the new root and makes it the root. A bind inside another one comes after it.
Status BuildRoot(const RootSpec& spec, const Layout& layout) {
  const std::string root = kNewRoot;
  DOSSIER_RETURN_IF_ERROR(MakePlaces(root, spec));
  DOSSIER_RETURN_IF_ERROR(MakeLinks(root, layout));
  std::vector<const Bind*> order;
  for (const Bind& bind : layout.binds) order.push_back(&bind);
  std::sort(order.begin(), order.end(), [](const Bind* a, const Bind* b) {
    return std::tie(a->path, a->access) < std::tie(b->path, b->access);
  });
  for (const Bind* bind : order) DOSSIER_RETURN_IF_ERROR(BindInto(root, *bind));
  if (!Exists(root + "/tmp")) DOSSIER_RETURN_IF_ERROR(MakeFolders(root + "/tmp"));
  DOSSIER_RETURN_IF_ERROR(SwitchRoot(root));
  return SetMountFlags("/", MountFlags(Bind::Access::kRead), 0);
}

// Returns a copy of the mount at `path` that can be attached elsewhere.
UniqueFd CloneMount(const std::string& path) {
  return UniqueFd(
      open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

// Returns a new /proc that is not attached yet. Invalid with errno if the kernel refuses: only a
// process that sees a whole /proc may get another.
UniqueFd NewProc() {
  const UniqueFd context(fsopen("proc", FSOPEN_CLOEXEC));
  if (!context.valid()) return {};
  if (fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
  return UniqueFd(fsmount(context.get(), FSMOUNT_CLOEXEC, kQuietMount | MOUNT_ATTR_NOEXEC));
}

// Ids beyond the number of processes: a program must not meet the id of one that has just ended.
constexpr int kSpareIds = 4096;

// Each pid namespace has its own bound since then. Before, the file is the machine's, and a process
// with root's id may write it, even without privileges.
bool IdsAreBoundedByNamespace() {
  utsname kernel;
  int major = 0, minor = 0;
  if (uname(&kernel) != 0 || std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2)
    return false;
  return std::pair(major, minor) >= std::pair(6, 14);
}

void BoundIds(const UniqueFd& proc, int processes) {
  if (!IdsAreBoundedByNamespace()) return;
  const UniqueFd fd(openat(proc.get(), "sys/kernel/pid_max", O_WRONLY | O_CLOEXEC));
  const std::string bound = std::to_string(kSpareIds + processes);
  if (fd.valid()) (void)WriteAll(fd.get(), bound);
}

Status MakeReadOnly(const UniqueFd& mount) {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(mount.get(), "", AT_EMPTY_PATH, &attributes, sizeof(attributes)) == 0)
    return {};
  return MakeErrnoError(errno, "read-only /proc");
}

}  // namespace

Result<OpenedOverlay> OpenOverlay(const OverlayLayers& layers) {
  OpenedOverlay opened{.place = layers.place};
  for (const std::string& path : layers.lower) {
    UniqueFd fd = OpenLayer(path);
    if (fd.valid()) {
      opened.lower.push_back(std::move(fd));
    } else if (errno != ENOENT) {
      return NoOverlay(layers.place, path, errno);
    }
  }
  if (opened.lower.empty()) return NoOverlay(layers.place, "its layers", ENOENT);
  if (layers.upper.empty()) return opened;
  opened.upper = OpenLayer(layers.upper);
  if (!opened.upper.valid()) return NoOverlay(layers.place, layers.upper, errno);
  opened.work = OpenLayer(layers.work);
  if (!opened.work.valid()) return NoOverlay(layers.place, layers.work, errno);
  return opened;
}

Status MountOverlay(const OpenedOverlay& overlay, const std::string& place) {
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (!overlay.upper.valid() && overlay.lower.size() == 1) {  // nothing to overlay
    if (mount(Name(overlay.lower[0]).c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0) {
      return {};
    }
    return NoOverlay(overlay.place, "mount", errno);
  }
  std::string options = "userxattr,index=off,lowerdir=";
  for (const UniqueFd& lower : overlay.lower) {
    if (!options.ends_with('=')) options.push_back(':');
    options += Name(lower);
  }
  if (overlay.upper.valid()) {
    // volatile: otherwise unmounting would wait until the whole file system is on its disk.
    options +=
        fmt::format(",volatile,upperdir={},workdir={}", Name(overlay.upper), Name(overlay.work));
  } else {
    flags |= MS_RDONLY;
  }
  if (mount("overlay", place.c_str(), "overlay", flags, options.c_str()) == 0) return {};
  return NoOverlay(overlay.place, "mount", errno);
}

Status Namespaces::OpenProc() {
  proc_ = UniqueFd(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return proc_.valid() ? Status{} : MakeErrnoError(errno, "/proc");
}

Status Namespaces::Enter(const RootSpec& spec) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (!proc_.valid()) return MakeError(ErrorCode::kUnavailable, "/proc is not mounted");
  const int network = spec.network == RootSpec::Network::kShared ? 0 : CLONE_NEWNET;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | network) != 0) {
    return MakeError(ErrorCode::kUnavailable, "user namespaces are not allowed here: {}",
                     std::strerror(errno));
  }
  // After a fork by a host that hides its memory, we could not write to our own /proc/self.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  DOSSIER_RETURN_IF_ERROR(MapIds(proc_.get(), {spec.inner_uid, spec.inner_gid}, {uid, gid}));
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return MakeErrnoError(errno, "private mounts");
  }
  sethostname(kInnerHost, std::strlen(kInnerHost));
  if (spec.network == RootSpec::Network::kLoopback) DOSSIER_RETURN_IF_ERROR(RaiseLoopback());
  Layout stays, load;
  const std::pair<const std::vector<std::string>&, Bind::Access> table[] = {
      {spec.read, Bind::Access::kRead},
      {spec.write, Bind::Access::kWrite},
      {spec.devices, Bind::Access::kDevice}};
  for (const auto& [paths, access] : table) {
    for (const std::string& path : paths) {
      DOSSIER_RETURN_IF_ERROR(Resolve(path, access, stays));
    }
  }
  for (const OverlayLayers& layers : spec.overlays) {
    DOSSIER_RETURN_IF_ERROR(AddOverlay(layers, stays));
  }
  for (const RootSpec::Mount& mount : spec.mounts) {
    DOSSIER_RETURN_IF_ERROR(AddMount(mount, stays));
  }
  for (const RootSpec::Guard& guard : spec.guards) {
    DOSSIER_RETURN_IF_ERROR(AddGuard(guard, stays));
  }
  for (const std::string& path : spec.load) {
    DOSSIER_RETURN_IF_ERROR(Resolve(path, Bind::Access::kRead, load));
  }
  DropOverlaps(stays, load);
  // The sources are open, so what this hides stays reachable.
  if (mount("dossier", kNewRoot, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0) {
    return MakeErrnoError(errno, "mount of a new root");
  }
  for (const Bind& bind : load.binds) load_.push_back(bind.path);
  for (const Bind& bind : stays.binds) {
    // A guard moves with the folder that contains it.
    if (bind.access == Bind::Access::kGuard || !Covers("/tmp", bind.path)) continue;
    below_tmp_.push_back({bind.path, bind.folder});
  }
  std::move(load.binds.begin(), load.binds.end(), std::back_inserter(stays.binds));
  std::move(load.links.begin(), load.links.end(), std::back_inserter(stays.links));
  if (const Status built = BuildRoot(spec, stays); !built) {
    umount2(kNewRoot, MNT_DETACH);
    return built;
  }
  entered_ = true;
  return {};
}

Status Namespaces::CloseLoadFolders() {
  for (const std::string& path : std::exchange(load_, {})) {
    if (umount2(path.c_str(), MNT_DETACH) != 0) return MakeErrnoError(errno, "unmount " + path);
  }
  return {};
}

Status Namespaces::ResizeTmp(std::uint64_t bytes) const {
  const std::string options = fmt::format("mode=0700,size={},nr_inodes=16384", bytes);
  if (mount(nullptr, "/tmp", nullptr, MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_NOEXEC,
            options.c_str()) != 0) {
    return MakeErrnoError(errno, "size of /tmp");
  }
  return {};
}

Status Namespaces::MountTmp(std::uint64_t bytes, Programs programs) const {
  std::vector<UniqueFd> mounts;
  for (const Place& place : below_tmp_) {
    mounts.push_back(CloneMount(place.path));
    if (!mounts.back().valid()) return MakeErrnoError(errno, "copy the mount of " + place.path);
  }
  const std::string options = fmt::format("mode=0700,size={},nr_inodes=16384", bytes);
  const unsigned long noexec = programs == Programs::kRefuse ? MS_NOEXEC : 0;
  if (mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | noexec, options.c_str()) != 0) {
    return MakeErrnoError(errno, "mount of /tmp");
  }
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Place& place = below_tmp_[i];
    DOSSIER_RETURN_IF_ERROR(MakePlace("", place.path, place.folder));
    if (move_mount(mounts[i].get(), "", AT_FDCWD, place.path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) !=
        0) {
      return MakeErrnoError(errno, "mount " + place.path);
    }
  }
  return {};
}

Status Namespaces::EnterSession(std::uint64_t tmp_bytes) const {
  DOSSIER_RETURN_IF_ERROR(MapIds(proc_.get(), {kInnerId, kInnerId}, {kInnerId, kInnerId}));
  DOSSIER_RETURN_IF_ERROR(MountTmp(tmp_bytes, Programs::kRefuse));
  return chdir("/tmp") == 0 ? Status{} : MakeErrnoError(errno, "chdir /tmp");
}

Status Namespaces::EnterJail(const Jail& jail) {
  constexpr unsigned long kQuiet = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  DOSSIER_RETURN_IF_ERROR(MountTmp(jail.tmp_bytes, Programs::kAllow));
  const std::string options = fmt::format("mode=0700,size={},nr_inodes=16384", jail.tmp_bytes);
  if (Exists("/dev/shm") && mount("shm", "/dev/shm", "tmpfs", kQuiet, options.c_str()) != 0) {
    return MakeErrnoError(errno, "mount of /dev/shm");
  }
  const UniqueFd proc = NewProc();
  DOSSIER_RETURN_IF_ERROR(CloseLoadFolders());
  if (!proc.valid()) return {};
  if (jail.processes > 0) BoundIds(proc, jail.processes);
  DOSSIER_RETURN_IF_ERROR(MakeReadOnly(proc));
  if (move_mount(proc.get(), "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) == 0) return {};
  return MakeErrnoError(errno, "mount of /proc");
}

UniqueFd Namespaces::OpenProcesses() const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  return UniqueFd(entered_ ? open("/proc", kFlags) : openat(proc_.get(), ".", kFlags));
}

std::uint64_t Namespaces::DataMemory() const {
  const UniqueFd fd(openat(proc_.get(), "self/statm", O_RDONLY | O_CLOEXEC));
  char text[256] = {};
  if (!fd.valid() || read(fd.get(), text, sizeof(text) - 1) <= 0) return 0;
  unsigned long long data = 0;  // pages; the sixth number: data and stack
  if (std::sscanf(text, "%*u %*u %*u %*u %*u %llu", &data) != 1) return 0;
  return data * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace dossier::sandbox
