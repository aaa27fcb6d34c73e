#include "agents/engine/process_jail.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "sandbox/jail/jail.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;
using sandbox::JailMount;
using Access = JailMount::Access;

constexpr Millis kNoCpuLimit = std::chrono::hours(24 * 365);  // only the time limit ends it
constexpr int kProcesses = 1024;                              // threads included
constexpr int kFiles = 4096;
constexpr std::uint64_t kTmp = 1ull << 30;  // bytes of the private /tmp, besides TMPDIR

// Paths that builds read besides the system folders.
constexpr const char* kShown[] = {"/opt", "/etc/os-release", "/sys/devices/system/cpu"};

// Files beside `bin` that mark a folder as one program: a Python virtual environment, a Node
// package.
constexpr const char* kPackageMarks[] = {"pyvenv.cfg", "package.json"};

std::string ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (variable.size() > name.size() && variable.starts_with(name) &&
        variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return "";
}

bool Covers(const std::string& folder, const std::string& path) {
  return path == folder || folder == "/" ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

std::string RealPath(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

// Returns the path without a final slash, `.` and `..`.
std::string Plain(const std::string& path) {
  std::string plain = fs::path(path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

bool IsSystem(const std::string& path) {
  static const std::vector<std::string> kSystem =
      sandbox::SystemFolders(sandbox::JailNetwork::kNone);
  return std::any_of(kSystem.begin(), kSystem.end(),
                     [&](const std::string& folder) { return Covers(folder, path); });
}

bool IsPackage(const fs::path& folder) {
  return std::any_of(std::begin(kPackageMarks), std::end(kPackageMarks),
                     [&](const char* mark) { return Exists((folder / mark).string()); });
}

// Adds a program folder and what belongs to it. In the home, which also contains other files, only
// a package is shown as a whole.
void AddProgramFolder(const std::string& given, const std::string& home,
                      std::vector<std::string>* out) {
  const std::string folder = Plain(given);
  if (!folder.starts_with('/') || IsSystem(folder)) return;
  const auto covers_home = [&](const std::string& path) {
    return Covers(path, home) || Covers(RealPath(path), RealPath(home));
  };
  if (covers_home(folder)) return;                // the home or a parent of it
  if (access(folder.c_str(), X_OK) != 0) return;  // another user's: it cannot be shown
  out->push_back(folder);
  const fs::path prefix = fs::path(folder).parent_path();
  const bool in_home = Covers(home, folder) || Covers(RealPath(home), RealPath(folder));
  const bool whole = IsPackage(prefix) || (!in_home && fs::path(folder).filename() == "bin");
  if (whole && prefix != "/" && !covers_home(prefix.string())) out->push_back(prefix.string());
}

void AddMounts(const std::vector<std::string>& paths, Access access, sandbox::JailSpec* spec) {
  for (const std::string& path : paths) {
    spec->mounts.push_back({Plain(path), Plain(path), access});
  }
}

// Adds an empty home at the real one's path, unless that was given itself.
Status AddHome(const ProcessPlaces& places, const std::string& home, const std::string& temporary,
               sandbox::JailSpec* spec) {
  if (!home.starts_with('/') || Covers(home, "/tmp") || IsSystem(home)) return {};
  for (const auto* given : {&places.own, &places.writable, &places.readable}) {
    for (const std::string& path : *given) {
      if (Covers(Plain(path), home)) return {};
    }
  }
  const std::string empty = temporary + "/home";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(empty, 0700));
  spec->mounts.push_back({empty, home, Access::kWriteAll});
  return {};
}

// Mounts an empty folder over each hidden one that would be visible in a shown one.
Status Hide(const ProcessPlaces& places, const std::string& temporary, sandbox::JailSpec* spec) {
  for (const std::string& hidden : places.hidden) {
    const auto covers = [&](const std::string& folder) { return Covers(folder, hidden); };
    const bool shown =
        IsSystem(hidden) || std::any_of(spec->read.begin(), spec->read.end(), covers);
    std::set<std::string> visible;
    if (shown) visible.insert(hidden);
    // A mount may lead there by a link, and then shows it below its own path.
    const std::string real = RealPath(hidden);
    for (const JailMount& mount : spec->mounts) {
      if (mount.host != mount.inside) continue;
      if (covers(mount.inside)) visible.insert(hidden);
      const std::string host = RealPath(mount.host);
      if (Covers(host, real)) visible.insert(Plain(mount.inside + real.substr(host.size())));
    }
    if (visible.empty()) continue;
    const std::string empty = temporary + "/hidden";
    DOSSIER_RETURN_IF_ERROR(MakeFolders(empty, 0700));
    for (const std::string& path : visible) {
      spec->mounts.push_back({empty, path, Access::kWriteAll});
    }
  }
  return {};
}

sandbox::JailLimits LimitsFor(const ConfinedProcess& process) {
  sandbox::JailLimits limits;
  limits.wall = process.time_limit;
  limits.grace = process.grace;
  limits.cpu = kNoCpuLimit;
  const auto pages = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  limits.memory = std::max(limits.memory, pages * static_cast<std::uint64_t>(getpagesize()));
  limits.file_size = std::numeric_limits<std::uint64_t>::max();
  limits.tmp = kTmp;
  limits.processes = kProcesses;
  limits.files = kFiles;
  return limits;
}

}  // namespace

std::vector<std::string> ProgramFolders(std::string_view path, const std::string& home,
                                        const std::string& program) {
  std::vector<std::string> folders;
  for (const std::string_view folder : Split(path, ':')) {
    AddProgramFolder(std::string(folder), home, &folders);
  }
  // A name on PATH is often a link to the real installation.
  std::error_code error;
  if (const auto found = FindProgram(program); found && found->starts_with('/')) {
    const fs::path real = fs::canonical(*found, error);
    // A program named by its path may be in the checkout, beside files that must not be seen.
    const bool by_path = program.find('/') != std::string::npos;
    if (!error && by_path && !IsSystem(real.string())) {
      folders.push_back(real.string());
      const fs::path prefix = real.parent_path().parent_path();
      if (Exists((prefix / kPackageMarks[0]).string())) folders.push_back(prefix.string());
    }
    if (!error && !by_path) AddProgramFolder(real.parent_path().string(), home, &folders);
  }
  return folders;
}

Result<sandbox::JailSpec> JailFor(const ConfinedProcess& process, const std::string& temporary) {
  sandbox::JailSpec spec;
  const std::string given_home = ValueOf(process.environment, "HOME");
  const std::string home = given_home.empty() ? given_home : Plain(given_home);
  spec.read.assign(std::begin(kShown), std::end(kShown));
  // If we are root, the program runs as the owner of the first writable folder.
  AddMounts(process.places.own, Access::kWriteAll, &spec);
  spec.mounts.push_back({temporary, temporary, Access::kWriteAll});
  AddMounts(process.places.writable, Access::kWrite, &spec);
  AddMounts(process.places.readable, Access::kRead, &spec);
  AddMounts(ProgramFolders(ValueOf(process.environment, "PATH"), home, process.argv.front()),
            Access::kRead, &spec);
  DOSSIER_RETURN_IF_ERROR(Hide(process.places, temporary, &spec));
  DOSSIER_RETURN_IF_ERROR(AddHome(process.places, home, temporary, &spec));
  if (process.network == ConfinedProcess::Network::kAny) {
    spec.network = sandbox::JailNetwork::kAny;
  }
  spec.folder = process.folder;
  spec.environment = process.environment;
  spec.environment.push_back("TMPDIR=" + temporary);
  if (!process.input.empty()) spec.input = process.input;
  spec.limits = LimitsFor(process);
  if (!process.walls.degraded.empty()) sandbox::AcceptMissing(process.walls.degraded, &spec);
  return spec;
}

std::vector<sandbox::JailKind> AgentJails() {
  const auto kind = [](std::string name, ConfinedProcess::Network network) {
    const auto spec = [network](const std::string& project) {
      ConfinedProcess process{.argv = {"/bin/sh"},
                              .folder = project,
                              .environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"},
                              .network = network};
      process.places.own = {project + "/own"};
      process.places.writable = {project};
      return JailFor(process, project + "/own");
    };
    return sandbox::JailKind{std::move(name), sandbox::JailKind::Folder::kWrite,
                             network == ConfinedProcess::Network::kAny
                                 ? sandbox::JailNetwork::kAny
                                 : sandbox::JailNetwork::kNone,
                             spec};
  };
  return {kind("engine of agents", ConfinedProcess::Network::kAny),
          kind("check of agents", ConfinedProcess::Network::kNone)};
}

}  // namespace dossier::agents
