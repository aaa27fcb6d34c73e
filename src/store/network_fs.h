// File systems on which SQLite's write-ahead log is unsafe, because its shared memory is not shared
// between machines.
//
//   DOSSIER_RETURN_IF_ERROR(RefuseNetworkFileSystem(folder));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_STORE_NETWORK_FS_H_
#define DOSSIER_STORE_NETWORK_FS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::store {

// The name of the network file system with statfs's `f_type`; none for a local one.
std::optional<std::string_view> NetworkFileSystemName(std::uint32_t f_type);

// Errors: kConfig naming `folder`, the file system and the way out; as stat() if it cannot be read.
Status RefuseNetworkFileSystem(const std::string& folder);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_NETWORK_FS_H_
