#include "research/exec/system_layers.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

using sandbox::JailMount;
using sandbox::JailOverlay;

struct Place {
  std::string_view path, name;  // name: of its folder in the skeleton and in a node's layer
  enum class Host : std::uint8_t { kNo, kYes } host = Host::kYes;  // kYes: it is a layer
};

// /usr contains /bin, /sbin and /lib* too, through links. Nothing else of the host's /etc, /run and
// /var is shown: they contain services' data and secrets.
constexpr Place kPlaces[] = {{"/usr", "usr"},
                             {"/opt", "opt"},
                             {"/etc", "etc", Place::Host::kNo},
                             {"/run", "run", Place::Host::kNo},
                             {"/var", "var", Place::Host::kNo},
                             {"/var/lib/dpkg", "var-lib-dpkg"},
                             {"/var/lib/apt/lists", "var-lib-apt-lists"},
                             {"/var/lib/texmf", "var-lib-texmf"},
                             {"/var/cache/fontconfig", "var-cache-fontconfig"}};

// apt settings without credentials: never auth.conf, auth.conf.d.
constexpr const char* kSources[] = {
    "/etc/apt/sources.list",  "/etc/apt/sources.list.d",     "/etc/apt/preferences",
    "/etc/apt/preferences.d", "/etc/apt/trusted.gpg",        "/etc/apt/trusted.gpg.d",
    "/etc/apt/keyrings",      "/etc/apt/apt.conf.d",         "/etc/dpkg",
    "/etc/debconf.conf",      "/etc/debian_version",         "/etc/ca-certificates.conf",
    "/etc/ca-certificates",   "/etc/ssl/openssl.cnf",        "/etc/ucf.conf",
    "/etc/adduser.conf",      "/etc/deluser.conf",           "/etc/login.defs",
    "/var/lib/apt/lists",     "/var/lib/apt/extended_states"};

constexpr std::string_view kScript = "data/research/system_skeleton.sh";
constexpr std::string_view kInside = "/skeleton";
constexpr std::string_view kStamp = "of";  // file that names the system of a skeleton or layer
constexpr Millis kMakeTime{120'000};
constexpr unsigned kPrivate = 0700;  // a program may leave set-user-id files in a node's layer

std::string In(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

// Identifies the host's system by what installations change: a layer would not fit another system.
std::string HostSystem() {
  std::string text = "1";
  for (const char* path : {"/usr", "/usr/bin", "/var/lib/dpkg/status"}) {
    struct stat info = {};
    if (stat(path, &info) != 0) continue;
    text += fmt::format(" {}:{}:{}.{}", info.st_dev, info.st_ino, info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec);
  }
  return text;
}

// Makes a single folder; its parent must exist.
Status MakeOwned(const std::string& path, FileOwner owner) {
  if (mkdir(path.c_str(), kPrivate) != 0 && errno != EEXIST) return MakeErrnoError(errno, path);
  if (geteuid() == 0 && chown(path.c_str(), owner.uid, owner.gid) != 0) {
    return MakeErrnoError(errno, path);
  }
  return {};
}

bool IsEmpty(const std::string& folder) {
  std::error_code error;
  const bool empty = fs::is_empty(folder, error);
  return empty || error;
}

sandbox::JailSpec MakerJail(const std::string& folder) {
  sandbox::JailSpec jail;
  jail.read.assign(std::begin(kShownPaths), std::end(kShownPaths));
  jail.read.insert(jail.read.end(), std::begin(kSources), std::end(kSources));
  const std::vector<std::string> known = sandbox::SystemFolders(sandbox::JailNetwork::kAny);
  jail.system = known;  // names of hosts and certificates too, but no network
  jail.mounts = {{folder, std::string(kInside), JailMount::Access::kWriteAll}};
  jail.folder = kInside;
  jail.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  jail.limits.wall = kMakeTime;
  return jail;
}

std::string Upper(const std::string& node, const Place& place) {
  return fmt::format("{}/upper/{}", node, place.name);
}

}  // namespace

Result<FileOwner> OwnerOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  return FileOwner{info.st_uid, info.st_gid};
}

Status SystemLayers::Prepare(FileOwner owner) {
  const std::lock_guard lock(mutex_);
  if (!made_) made_ = Make(owner);
  return *made_;
}

Status SystemLayers::Make(FileOwner owner) {
  if (folder_.empty()) return MakeError(ErrorCode::kUnavailable, "there is no folder for it");
  const std::string system = HostSystem();
  if (ReadFile(In(folder_, kStamp), 1 << 10).value_or("") == system) return {};
  DOSSIER_RETURN_IF_ERROR(RemoveAll(folder_));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_.substr(0, folder_.rfind('/'))));
  DOSSIER_RETURN_IF_ERROR(MakeOwned(folder_, owner));
  std::vector<std::string> argv = {"/bin/sh", "-c",
                                   std::string(BuiltInAsset(kScript).value_or("exit 1")), "sh"};
  for (const Place& place : kPlaces) {
    if (place.host == Place::Host::kNo) continue;
    const auto theirs = OwnerOf(std::string(place.path));
    argv.emplace_back(place.path);
    argv.emplace_back(place.name);
    argv.emplace_back(theirs && theirs->uid == owner.uid ? "ours" : "theirs");
  }
  const sandbox::JailSpec jail = MakerJail(folder_);
  argv.emplace_back("--");
  for (const std::vector<std::string>* paths : {&jail.system, &jail.read}) {
    std::copy_if(paths->begin(), paths->end(), std::back_inserter(argv),
                 [](const std::string& path) { return path.starts_with("/etc/"); });
  }
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit, sandbox::RunJailed(jail, argv));
  if (exit.shell_status() != 0) {
    return MakeError(ErrorCode::kUnavailable, "its skeleton could not be made: {}",
                     exit.timed_out() ? "it took too long" : TrimSpace(exit.err));
  }
  const std::string_view left_out = TrimSpace(exit.out);
  if (!left_out.empty()) {
    left_out_ = fmt::format("not shown to commands, for there are passwords in them: {}",
                            fmt::join(Split(left_out, '\n'), ", "));
  }
  // Not to be merged with the host's, which only apt's download user may read.
  const std::string partial = In(folder_, "var-lib-apt-lists/partial");
  if (Exists(partial) && setxattr(partial.c_str(), "user.overlay.opaque", "y", 1, 0) != 0) {
    return MakeError(ErrorCode::kUnavailable, "{} keeps no user attributes: {}", folder_,
                     std::strerror(errno));
  }
  return WriteFileAtomic(In(folder_, kStamp), system);
}

Result<SystemLayers::Found> SystemLayers::Open(const std::string& node, FileOwner owner) const {
  const std::string system = HostSystem();
  if (ReadFile(In(node, kStamp), 1 << 10).value_or("") == system) return Found::kKept;
  DOSSIER_RETURN_IF_ERROR(RemoveAll(node));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(node.substr(0, node.rfind('/'))));
  DOSSIER_RETURN_IF_ERROR(MakeOwned(node, owner));
  DOSSIER_RETURN_IF_ERROR(MakeOwned(In(node, "upper"), owner));
  for (const Place& place : kPlaces) {
    DOSSIER_RETURN_IF_ERROR(MakeOwned(Upper(node, place), owner));
    // Programs see this folder's mode.
    if (chmod(Upper(node, place).c_str(), 0755) != 0) return MakeErrnoError(errno, node);
  }
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(In(node, kStamp), system));
  return Found::kFresh;
}

Result<std::vector<JailOverlay>> SystemLayers::Writable(const std::string& node,
                                                        FileOwner owner) const {
  const std::string work = In(node, "work");
  DOSSIER_RETURN_IF_ERROR(RemoveAll(work));
  DOSSIER_RETURN_IF_ERROR(MakeOwned(work, owner));
  std::vector<JailOverlay> overlays;
  for (const Place& place : kPlaces) {
    if (!Exists(In(folder_, place.name))) continue;  // the host does not have it either
    DOSSIER_RETURN_IF_ERROR(MakeOwned(In(work, place.name), owner));
    JailOverlay overlay{std::string(place.path),
                        {In(folder_, place.name)},
                        Upper(node, place),
                        In(work, place.name)};
    if (place.host == Place::Host::kYes) overlay.lower.emplace_back(place.path);
    overlays.push_back(std::move(overlay));
  }
  return overlays;
}

std::vector<JailOverlay> SystemLayers::ReadOnly(const std::string& node) const {
  std::vector<JailOverlay> overlays;
  if (node.empty() || !Exists(In(node, kStamp))) return overlays;
  const auto is_below_one = [&](std::string_view path) {
    return std::any_of(overlays.begin(), overlays.end(), [&](const JailOverlay& overlay) {
      return path.starts_with(overlay.place + "/");
    });
  };
  for (const Place& place : kPlaces) {
    const std::string upper = Upper(node, place);
    const bool changed = !IsEmpty(upper);
    if (!changed && !is_below_one(place.path)) continue;
    JailOverlay overlay{.place = std::string(place.path)};
    if (changed) overlay.lower.push_back(upper);
    overlay.lower.push_back(place.host == Place::Host::kYes ? std::string(place.path)
                                                            : In(folder_, place.name));
    if (Exists(overlay.lower.back())) overlays.push_back(std::move(overlay));
  }
  return overlays;
}

Status LinkSystem(const std::string& base, const std::string& node) {
  if (!Exists(base)) return {};
  DOSSIER_RETURN_IF_ERROR(RemoveAll(node));
  const fs::path place(node);
  std::error_code error;
  fs::create_symlink(fs::path(base).lexically_relative(place.parent_path()), place, error);
  if (error) return MakeErrnoError(error.value(), node);
  return {};
}

std::vector<std::string> InstallEnvironment(std::string_view path) {
  return {fmt::format("PATH={}:/usr/local/sbin:/usr/sbin:/sbin", path),
          "DEBIAN_FRONTEND=noninteractive", "PIP_BREAK_SYSTEM_PACKAGES=1",
          "PIP_ROOT_USER_ACTION=ignore"};
}

}  // namespace dossier::research
