#include "sandbox/walls/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <unordered_map>

#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

std::string ReadSmall(int proc, const std::string& path) {
  const UniqueFd fd(openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[1024];
  const ssize_t got = fd.valid() ? read(fd.get(), buffer, sizeof(buffer)) : -1;
  return std::string(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
}

// Returns nullopt if it cannot be read, or ended before its first byte. A program controls the
// length of such a text; more than the limit is cut.
std::optional<std::string> ReadWhole(int proc, const std::string& path) {
  constexpr std::size_t kMost = 16 << 20;
  const UniqueFd fd(openat(proc, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string text;
  char block[64 << 10];
  for (ssize_t got; text.size() < kMost && (got = read(fd.get(), block, sizeof(block))) > 0;) {
    text.append(block, static_cast<std::size_t>(got));
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::vector<pid_t> AllProcesses(int proc) {
  std::vector<pid_t> pids;
  // A new description, because a shared one would also share its position.
  const int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd >= 0 ? fdopendir(fd) : nullptr;
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return pids;
  }
  while (const dirent* entry = readdir(folder)) {
    if (const auto pid = ExactNumber<pid_t>(entry->d_name)) pids.push_back(*pid);
  }
  closedir(folder);
  return pids;
}

using Table = std::unordered_map<pid_t, TreeProcess>;

// Returns true if the chain of parents reaches `root`. Chains are short and have no cycles, but
// /proc is read piece by piece, so the walk is bounded.
bool Descends(const Table& table, pid_t pid, pid_t root) {
  constexpr int kMaxDepth = 4096;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto found = table.find(pid);
    if (found == table.end()) return false;
    if (found->second.parent == root) return true;
    pid = found->second.parent;
  }
  return false;
}

}  // namespace

std::optional<TreeProcess> ParseProcessStat(std::string_view text) {
  // The name is in parentheses and may contain any byte, including parentheses.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string head(text.substr(0, text.find(' '))), tail(text.substr(name_end + 1));
  TreeProcess process;
  if (std::sscanf(head.c_str(), "%d", &process.pid) != 1) return std::nullopt;
  // proc(5): state 3, ppid 4, utime 14, stime 15, cutime 16, cstime 17, num_threads 20.
  unsigned long long user = 0, system = 0;
  long long children_user = 0, children_system = 0;
  if (std::sscanf(tail.c_str(),
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %d",
                  &process.state, &process.parent, &user, &system, &children_user, &children_system,
                  &process.threads) != 7) {
    return std::nullopt;
  }
  const auto ticks = static_cast<std::int64_t>(user + system) + children_user + children_system;
  process.cpu = Millis(ticks * 1000 / sysconf(_SC_CLK_TCK));
  return process;
}

std::vector<TreeProcess> Descendants(int proc, pid_t root) {
  Table table;
  for (const pid_t pid : AllProcesses(proc)) {
    if (const auto process = ParseProcessStat(ReadSmall(proc, fmt::format("{}/stat", pid)))) {
      table.emplace(pid, *process);
    }
  }
  std::vector<TreeProcess> tree;
  for (const auto& [pid, process] : table) {
    if (pid != root && Descends(table, pid, root)) tree.push_back(process);
  }
  return tree;
}

std::uint64_t PrivateBytes(int proc, pid_t pid) {
  unsigned long long resident = 0, shared = 0;  // pages
  const std::string text = ReadSmall(proc, fmt::format("{}/statm", pid));
  if (std::sscanf(text.c_str(), "%*u %llu %llu", &resident, &shared) != 2) return 0;
  return (resident - std::min(resident, shared)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void AddSharedPieces(std::string_view maps, SharedPieces* pieces) {
  // The kernel's names for memory without a file of a mounted file system.
  constexpr std::string_view kNames[] = {"/dev/zero (deleted)", "/memfd:", "/anon_hugepage"};
  for (const std::string_view line : Split(maps, '\n')) {
    // "7f01…-7f02… rw-s 00000000 00:01 2051   /dev/zero (deleted)"
    const std::size_t name_at = line.find('/');
    if (name_at == std::string_view::npos) continue;
    const std::string_view name = line.substr(name_at);
    const bool counts = std::any_of(std::begin(kNames), std::end(kNames),
                                    [&](std::string_view n) { return name.starts_with(n); });
    if (!counts) continue;
    unsigned long long begin = 0, end = 0, offset = 0, inode = 0;
    char rights[8] = {}, device[24] = {};
    const std::string head(line.substr(0, name_at));
    if (std::sscanf(head.c_str(), "%llx-%llx %7s %llx %23s %llu", &begin, &end, rights, &offset,
                    device, &inode) != 6) {
      continue;
    }
    std::uint64_t& bytes = (*pieces)[fmt::format("{} {}", device, inode)];
    bytes = std::max<std::uint64_t>(bytes, offset + (end - begin));
  }
}

std::uint64_t SharedBytes(int proc, const std::vector<TreeProcess>& processes) {
  SharedPieces pieces;
  std::uint64_t bytes = 0;
  for (const TreeProcess& process : processes) {
    const std::string pid = std::to_string(process.pid);
    if (const auto maps = ReadWhole(proc, pid + "/maps")) {
      AddSharedPieces(*maps, &pieces);
      continue;
    }
    constexpr std::string_view kResident = "RssShmem:";
    const std::string status = ReadWhole(proc, pid + "/status").value_or("");
    const std::size_t at = status.find(kResident);
    if (at == std::string::npos) continue;
    bytes += std::strtoull(status.c_str() + at + kResident.size(), nullptr, 10) << 10;
  }
  for (const auto& [piece, size] : pieces) bytes += size;
  return bytes;
}

std::uint64_t ParseIpcTable(std::string_view text) {
  std::uint64_t bytes = 0;
  const std::vector<std::string_view> lines = Split(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {  // after the column names
    unsigned long long size = 0;
    if (std::sscanf(std::string(lines[i]).c_str(), "%*d %*d %*o %llu", &size) == 1) bytes += size;
  }
  return bytes;
}

std::uint64_t IpcBytes(int proc) {
  std::uint64_t bytes = 0;
  for (const char* table : {"sysvipc/shm", "sysvipc/msg"}) {
    bytes += ParseIpcTable(ReadWhole(proc, table).value_or(""));
  }
  return bytes;
}

std::optional<pid_t> NewestPid(int proc) {
  // "0.20 0.18 0.12 1/80 11206"
  const std::string text = ReadSmall(proc, "loadavg");
  pid_t pid = 0;
  if (std::sscanf(text.c_str(), "%*s %*s %*s %*s %d", &pid) != 1) return std::nullopt;
  return pid;
}

int ThreadsOfUser(int proc, uid_t user) {
  int threads = 0;
  for (const pid_t pid : AllProcesses(proc)) {
    const std::string name = std::to_string(pid);
    struct stat info;
    if (fstatat(proc, name.c_str(), &info, 0) != 0 || info.st_uid != user) continue;
    if (const auto process = ParseProcessStat(ReadSmall(proc, name + "/stat"))) {
      threads += process->threads;
    }
  }
  return threads;
}

}  // namespace dossier::sandbox
