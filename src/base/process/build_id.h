// Which build of a program this is, for reports that must name it.
//
//   BuildId()                          // "705460f34c82711a357791d40905781e4d883711"
//   BuildIdOf("/usr/libexec/helper")   // of a program that does not run
//
// The id is the note that the linker writes (--build-id): a hash of what was linked. Two builds of
// the same sources by the same tools have the same id. That of the running program is read from
// memory, so it is right even if the file was replaced since the start. Thread-safety: only reads.

#ifndef DOSSIER_BASE_PROCESS_BUILD_ID_H_
#define DOSSIER_BASE_PROCESS_BUILD_ID_H_

#include <string>

#include "base/result.h"

namespace dossier {

// Lower-case hexadecimal digits; "" if the program was linked without one.
std::string BuildId();

// Of the program in a file, which may be anything. Errors: kIo, kNotFound, kDamaged (no 64-bit ELF
// file of this byte order).
Result<std::string> BuildIdOf(const std::string& path);

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_BUILD_ID_H_
