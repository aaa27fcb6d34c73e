#include "config/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/text/utf8.h"

namespace dossier::config {
namespace {

Result<std::string> RealPathOf(int fd, const std::string& path) {
  std::string real(PATH_MAX, '\0');
  const ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), real.data(), real.size());
  if (length > 0) {
    real.resize(static_cast<std::size_t>(length));
    return real;
  }
  char* resolved = realpath(path.c_str(), real.data());
  if (!resolved) return MakeErrnoError(errno, path);
  real.resize(real.find('\0'));
  return real;
}

Result<std::string> ReadBytes(int fd, const std::string& path) {
  std::string bytes(kMaxConfigBytes + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxConfigBytes) {
    return tl::unexpected(PlaceError(path, 1, 1, "the file is larger than 1.0 MiB"));
  }
  bytes.resize(size);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

Result<std::optional<ConfigFile>> ReadConfigFile(const std::string& path) {
  // Not blocking: a pipe of that name must not hang every command.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return MakeErrnoError(errno, path);
  }
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return MakeErrnoError(errno, path);
  DOSSIER_RETURN_IF_ERROR(CheckFileOwner(info, path));
  ConfigFile file{.path = path};
  DOSSIER_ASSIGN_OR_RETURN(file.real_path, RealPathOf(fd.get(), path));
  DOSSIER_ASSIGN_OR_RETURN(file.bytes, ReadBytes(fd.get(), path));
  return file;
}

bool LeadsOut(const ConfigFile& file, const std::string& top) {
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(top, error);
  const std::string below = std::filesystem::path(file.real_path).lexically_relative(folder);
  return !file.real_path.empty() && (error || below.empty() || below.starts_with(".."));
}

Result<Value> ParseConfigFile(const ConfigFile& file) {
  if (!utf8::IsValid(file.bytes)) {
    return tl::unexpected(PlaceError(file.path, 1, 1, "the file is not UTF-8"));
  }
  DOSSIER_ASSIGN_OR_RETURN(
      YamlNode root, assembly::ReadYaml(file.bytes, file.path, {.max_bytes = kMaxConfigBytes}));
  if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
  if (root.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(
        PlaceError(file.path, root.line, root.column, "must contain a dictionary"));
  }
  return FromYaml(std::move(root), file.path);
}

}  // namespace dossier::config
