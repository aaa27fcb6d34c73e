#include "store/network_fs.h"

#include <sys/vfs.h>

#include <cerrno>

namespace dossier::store {
namespace {

struct Row {
  std::uint32_t f_type;
  std::string_view name;
};

// From statfs(2) and the file systems' own headers.
constexpr Row kRows[] = {
    {0x6969, "NFS"},      {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
    {0x00C36400, "Ceph"}, {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},   {0x517B, "SMB"},
    {0x5346414F, "AFS"},  {0x73757245, "Coda"},   {0xAAD7AAEA, "PanFS"},
};

}  // namespace

std::optional<std::string_view> NetworkFileSystemName(std::uint32_t f_type) {
  for (const Row& row : kRows) {
    if (row.f_type == f_type) return row.name;
  }
  return std::nullopt;
}

Status RefuseNetworkFileSystem(const std::string& folder) {
  struct statfs info{};
  if (statfs(folder.c_str(), &info) != 0) return MakeErrnoError(errno, folder);
  if (const auto name = NetworkFileSystemName(static_cast<std::uint32_t>(info.f_type))) {
    return MakeError(
        ErrorCode::kConfig,
        "{} is on {}, where the journal's database is not safe: set XDG_DATA_HOME to a "
        "folder on a local disk",
        folder, *name);
  }
  return {};
}

}  // namespace dossier::store
