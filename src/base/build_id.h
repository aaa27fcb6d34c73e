// Which build of a program this is, for reports that must name it (REC-85).
//
//   BuildId()    // "705460f34c82711a357791d40905781e4d883711"
//
// It is the note that the linker writes (--build-id): a hash of what was linked, so two builds of
// the same sources by the same tools have the same one, and a file system that lies about the file,
// or replaced it since the start, changes nothing. Thread-safety: reads the loaded program only.

#ifndef DOSSIER_BASE_BUILD_ID_H_
#define DOSSIER_BASE_BUILD_ID_H_

#include <string>

namespace dossier {

// Lower-case hexadecimal digits; "" if the program was linked without one.
std::string BuildId();

}  // namespace dossier

#endif  // DOSSIER_BASE_BUILD_ID_H_
