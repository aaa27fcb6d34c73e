// The arrays of a workspace, for prompts: where each lies and what is in it, without opening it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Json arrays, NpyList(workspace));
//   request.sections.push_back({"npy", arrays});
//
// A file whose header cannot be read is listed with the reason. Errors: kIo of the folder.

#ifndef DOSSIER_RESEARCH_FILES_NPY_LIST_H_
#define DOSSIER_RESEARCH_FILES_NPY_LIST_H_

#include <string>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

inline constexpr std::size_t kMaxListedArrays = 100;

// [{"path": "working/x.npy", "schema": "float64, shape (3, 4)"}], by path.
Result<Json> NpyList(const std::string& workspace);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_NPY_LIST_H_
