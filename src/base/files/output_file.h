// Writes a file that the user named, for example with --out.
//
//   DOSSIER_RETURN_IF_ERROR(WriteOutput(arguments.out, {text}, {.mode = 0600}));
//
// A symbolic link stays and its target is replaced, as with a shell's `>`. If the links lead to an
// open descriptor (/dev/stdout, /dev/fd/3), the text goes there. For files that the program finds
// or names itself, in a project or a store, use WriteFileAtomic: somebody else may have put a link
// there, and it replaces the link.
//
// Thread-safety: functions may be called from many threads.

#ifndef DOSSIER_BASE_FILES_OUTPUT_FILE_H_
#define DOSSIER_BASE_FILES_OUTPUT_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier {

// As ReplaceFile, with the file at the end of the links. Errors: the same; kIo for a cycle of
// links.
Status WriteOutput(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options = {});

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_OUTPUT_FILE_H_
