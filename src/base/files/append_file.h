// Opens a file that the program appends to and that the user did not name: it has a fixed name in a
// folder that somebody else may have sent, such as a project's.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForAppend(folder + "/memory_calls.jsonl",
//   0600));
//
// Makes the file with `mode` if it is absent. Errors: kRefused for a link, for a file that has a
// second name, and for one of another user; kConfig for anything but a regular file; kNotFound,
// kPermission and kIo with the path. Thread-safety: any thread.

#ifndef DOSSIER_BASE_FILES_APPEND_FILE_H_
#define DOSSIER_BASE_FILES_APPEND_FILE_H_

#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier {

Result<UniqueFd> OpenForAppend(const std::string& path, unsigned mode);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_APPEND_FILE_H_
