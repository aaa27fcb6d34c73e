#include "research/files/npy_list.h"

#include "base/files/file.h"
#include "base/files/walk.h"
#include "research/files/npy.h"

namespace dossier::research {

Result<Json> NpyList(const std::string& workspace) {
  JsonArray arrays;
  if (!Exists(workspace)) return arrays;
  DOSSIER_ASSIGN_OR_RETURN(
      const WalkResult walked,
      WalkFolder(workspace, {.ignore = IgnoreRules::kDisregard, .max_files = 100'000}));
  for (const std::string& path : walked.files) {
    if (!path.ends_with(".npy")) continue;
    if (arrays.size() == kMaxListedArrays) break;
    const Result<NpyHeader> header = ReadNpyHeader(path);
    arrays.push_back(JsonObject{{"path", path.substr(workspace.size() + 1)},
                                {"schema", header ? NpySchema(*header) : header.error().message}});
  }
  return arrays;
}

}  // namespace dossier::research
