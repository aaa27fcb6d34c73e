// Whether a file that is to come fits on the disk.
//
//   DOSSIER_RETURN_IF_ERROR(CheckSpace("my.gguf", folder, 1'117'320'768, {}));
//
// Thread-safety: a function over the file system.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_SPACE_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::model {

// `bytes` must be free in `folder`, where `free` are; unset: asked of the file system.
// Errors: kIo, naming how many are missing.
Status CheckSpace(std::string_view what, const std::string& folder, std::uint64_t bytes,
                  std::optional<std::uint64_t> free);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_SPACE_H_
